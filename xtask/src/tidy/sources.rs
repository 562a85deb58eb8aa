//! Rust files: that they are built, and that nothing in them waits to be finished or is computed to be dropped.

use std::collections::BTreeSet;

use super::Faults;
use super::tree::{Tree, file_name, join, parent};

/// Files that name what they look for.
const OWN: [&str; 2] = ["xtask/src/tidy", "xtask/tests/tidy.rs"];

const UNFINISHED: [&str; 7] =
    ["todo!", "unimplemented!", "#[ignore", "allow(dead_code", "FIXME", "TODO", "coming soon"];

pub(super) fn check(tree: &Tree, faults: &mut Faults) {
    unbuilt(tree, faults);
    for (path, text) in tree.texts(".rs") {
        if !OWN.iter().any(|own| path.starts_with(own)) {
            unfinished(path, text, faults);
        }
        if path.starts_with("crates/") && path.contains("/src/") {
            dropped(path, text, faults);
        }
    }
    for (path, text) in tree.texts(".md").filter(|(_, text)| text.contains("coming soon")) {
        unfinished(path, text, faults);
    }
}

fn unfinished(path: &str, text: &str, faults: &mut Faults) {
    let found = UNFINISHED.iter().filter(|word| text.contains(*word));
    faults.extend(found.map(|word| format!("{path}: {word}")));
}

/// `let _name = …` computes something to drop it, unless it is a guard that is held.
fn dropped(path: &str, text: &str, faults: &mut Faults) {
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("let _") else { continue };
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let is_guard = name.ends_with("guard") || name.ends_with("lock");
        if !name.is_empty() && !is_guard && rest[name.len()..].trim_start().starts_with(['=', ':'])
        {
            faults.push(format!("{path}: computed to be dropped: let _{name}"));
        }
    }
}

/// Every Rust file of a package must be a target of Cargo's or be reached from one by `mod`; every other file beside the
/// sources must be named in one.
fn unbuilt(tree: &Tree, faults: &mut Faults) {
    let packages: Vec<&str> =
        tree.paths().filter(|p| p.ends_with("/Cargo.toml")).map(parent).collect();
    let mut reached = BTreeSet::new();
    for package in &packages {
        let mut waiting: Vec<String> = tree
            .under(package)
            .filter(|path| is_target(tree, package, path))
            .map(str::to_owned)
            .collect();
        let targets: BTreeSet<String> = waiting.iter().cloned().collect();
        while let Some(path) = waiting.pop() {
            let text = tree.text(&path).unwrap_or_default();
            waiting.extend(
                modules(tree, &path, text, targets.contains(&path))
                    .filter(|m| !reached.contains(m)),
            );
            reached.insert(path);
        }
    }
    for path in tree.paths().filter(|path| is_rust(path) && !reached.contains(*path)) {
        faults.push(format!("{path}: not built: no mod declaration leads here"));
    }
    for package in packages {
        let inside = |path: &&str| path.contains("/src/") && !is_rust(path);
        for path in tree.under(package).filter(inside) {
            let name = file_name(path);
            if !tree.texts(".rs").any(|(rs, text)| rs.starts_with(package) && text.contains(name)) {
                faults.push(format!("{path}: not built: no source of {package} names it"));
            }
        }
    }
}

fn is_rust(path: &str) -> bool {
    path.strip_suffix(".rs").is_some()
}

/// Whether Cargo builds the file on its own, by place or by the manifest.
fn is_target(tree: &Tree, package: &str, path: &str) -> bool {
    let inside = &path[package.len() + 1..];
    let in_folder = |folder: &str| {
        let rest = inside.strip_prefix(folder).unwrap_or_default();
        is_rust(rest)
            && (!rest.contains('/') || rest.matches('/').count() == 1 && rest.ends_with("/main.rs"))
    };
    let manifest = tree.text(&format!("{package}/Cargo.toml")).unwrap_or_default();
    ["src/main.rs", "src/lib.rs", "build.rs"].contains(&inside)
        || ["src/bin/", "tests/", "examples/", "benches/"].into_iter().any(in_folder)
        || is_rust(inside) && manifest.contains(&format!("path = \"{inside}\""))
}

/// The files of `mod name;` declarations. Those within an inline module are not followed.
fn modules(tree: &Tree, path: &str, text: &str, is_target: bool) -> impl Iterator<Item = String> {
    let folder = parent(path);
    let own = if is_target || file_name(path) == "mod.rs" {
        folder
    } else {
        path.trim_end_matches(".rs")
    };
    let mut found = Vec::new();
    let mut other_path = None;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("#[path = \"") {
            other_path = rest.split('"').next();
        }
        let Some(name) = module_name(line) else { continue };
        let candidates = match other_path.take() {
            Some(other) => vec![join(folder, other)],
            None => vec![join(own, &format!("{name}.rs")), join(own, &format!("{name}/mod.rs"))],
        };
        found.extend(candidates.into_iter().flatten().filter(|path| tree.has_file(path)));
    }
    found.into_iter()
}

/// `name` of `mod name;`, `pub mod name;`, `pub(crate) mod name;`.
fn module_name(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    rest.trim_start().strip_prefix("mod ")?.split_once(';').map(|(name, _)| name.trim())
}
