//! Cargo manifests: who may use whom, where versions stand, and which crates forbid `unsafe`.

use super::Faults;
use super::tree::Tree;

/// Which of our crates a crate may use. Changing this is a change to ARCHITECTURE.md in the same commit.
const ARROWS: [(&str, &[&str]); 6] = [
    ("scan", &[]),
    ("store", &[]),
    ("ingest", &["scan", "store"]),
    ("views", &["store"]),
    ("fleet", &["ingest"]),
    ("afterspark", &["scan", "store", "ingest", "views", "fleet"]),
];

/// The one crate that may lift the workspace's denial of `unsafe`.
const MAY_BE_UNSAFE: &str = "scan";

pub(super) fn check(tree: &Tree, faults: &mut Faults) {
    let crates: Vec<&str> = tree.paths().filter_map(crate_name).collect();
    for (path, text) in tree.texts("/Cargo.toml") {
        let arrows =
            crate_name(path).map(|name| (name, ARROWS.iter().find(|(known, _)| *known == name)));
        if let Some((name, None)) = arrows {
            faults.push(format!(
                "{path}: crate {name} has no line in ARROWS of xtask/src/tidy/manifests.rs"
            ));
        }
        for dependency in dependencies(text) {
            let name = dependency.name;
            if !dependency.is_from_workspace {
                faults.push(format!(
                    "{path}: {name} is not taken from the workspace table, where versions stand"
                ));
            }
            let forbidden = |allowed: &[&str]| crates.contains(&name) && !allowed.contains(&name);
            if let Some((own, Some((_, allowed)))) = arrows
                && dependency.is_shipped
                && forbidden(allowed)
            {
                faults.push(format!("{path}: {own} must not use {name}"));
            }
        }
        let package = path.trim_end_matches("/Cargo.toml");
        if crate_name(path) != Some(MAY_BE_UNSAFE)
            && (path.starts_with("crates/") || package == "xtask")
        {
            forbids_unsafe(tree, package, faults);
        }
    }
}

/// `x` of `crates/x/Cargo.toml`.
fn crate_name(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").filter(|name| !name.contains('/'))
}

fn forbids_unsafe(tree: &Tree, package: &str, faults: &mut Faults) {
    for root in ["lib.rs", "main.rs"] {
        let path = format!("{package}/src/{root}");
        if tree.text(&path).is_some_and(|text| !text.contains("#![forbid(unsafe_code)]")) {
            faults.push(format!("{path}: lacks #![forbid(unsafe_code)]"));
        }
    }
}

struct Dependency<'a> {
    name: &'a str,
    is_from_workspace: bool,
    /// Not for tests only.
    is_shipped: bool,
}

/// The dependencies of a manifest in the usual forms: `a.workspace = true`, `a = …`, `[dependencies.a]`.
fn dependencies(text: &str) -> Vec<Dependency<'_>> {
    let mut found: Vec<Dependency<'_>> = Vec::new();
    let (mut inside, mut table, mut is_shipped) = (false, None, false);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            let (before, name) = section.rsplit_once("dependencies").unwrap_or(("none.none", ""));
            inside = before.is_empty() || before.ends_with(['.', '-']) && before != "none.none";
            is_shipped = !before.ends_with("dev-");
            table = name.strip_prefix('.').filter(|_| inside);
            if let Some(name) = table {
                found.push(Dependency { name, is_from_workspace: false, is_shipped });
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else { continue };
        let (key, value) = (key.trim(), value.trim());
        let from_workspace = |key: &str, value: &str| {
            key.ends_with("workspace") && value == "true" || value.contains("workspace = true")
        };
        match (table, found.last_mut()) {
            (Some(_), Some(last)) => last.is_from_workspace |= from_workspace(key, value),
            _ => {
                let renamed =
                    value.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
                let name = renamed.unwrap_or_else(|| key.split('.').next().unwrap_or(key));
                found.push(Dependency {
                    name,
                    is_from_workspace: from_workspace(key, value),
                    is_shipped,
                });
            }
        }
    }
    found
}

/// Shown with every run, so that growth is seen.
pub(super) fn n_locked(tree: &Tree) -> usize {
    tree.text("Cargo.lock").map_or(0, |text| text.matches("[[package]]").count())
}
