//! Documents: one title each, links that lead somewhere, names that exist, no path of somebody's machine.

use std::collections::BTreeSet;

use super::Faults;
use super::tree::{Tree, join, parent};

/// Folders below `/home` that stand for anybody's.
const ANYBODY: [&str; 2] = ["spark", "user"];

pub(super) fn check(tree: &Tree, faults: &mut Faults) {
    for (path, text) in tree.texts(".md") {
        let prose = prose(text);
        let n_titles = prose.lines().filter(|line| line.starts_with("# ")).count();
        if n_titles != 1 {
            faults.push(format!("{path}: {n_titles} titles"));
        }
        for target in links(&without_code(&prose)) {
            follow(tree, path, target, faults);
        }
        for (at, _) in text.match_indices(".rs:") {
            if text[at + 4..].starts_with(|c: char| c.is_ascii_digit()) {
                faults.push(format!("{path}: names a line of a source by its number"));
            }
        }
    }
    test_command(tree, faults);
    match tree.text("CHANGELOG.md") {
        Some(text) if text.lines().any(|line| line.trim_end() == "## Unreleased") => {}
        _ => faults.push("CHANGELOG.md: no block \"## Unreleased\"".to_owned()),
    }
    names(tree, faults);
    for (path, file) in tree.files().filter(|(path, _)| !path.starts_with("examples/")) {
        let found = machine_paths(file.text.as_deref().unwrap_or_default());
        faults.extend(
            found.into_iter().map(|found| format!("{path}: a path of one machine: {found}")),
        );
    }
}

/// The README's test command is the one that `.ci/run` ends with.
fn test_command(tree: &Tree, faults: &mut Faults) {
    let Some(script) = tree.text(".ci/run") else { return };
    let readme = tree.text("README.md").unwrap_or_default();
    match script.lines().filter_map(|line| line.strip_prefix("exec cargo ")).next_back() {
        Some(command) if readme.contains(&format!("cargo {command}")) => {}
        _ => faults.push(".ci/run: does not end with a command that README.md names".to_owned()),
    }
}

/// The text without fenced blocks.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        if !fenced && !is_fence {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Every second piece between backticks is code; an unpaired backtick ends with its paragraph.
fn code_spans(prose: &str) -> impl Iterator<Item = &str> {
    prose.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2))
}

fn without_code(prose: &str) -> String {
    let kept = |paragraph: &str| paragraph.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    prose.split("\n\n").map(kept).collect::<Vec<_>>().join("\n\n")
}

/// Targets of `[text](target)` and of `[text]: target` lines.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let listed = prose
        .lines()
        .filter(|line| line.starts_with('['))
        .filter_map(|line| line.split_once("]: "));
    inline.chain(listed.map(|(_, target)| target.trim()))
}

fn follow(tree: &Tree, path: &str, target: &str, faults: &mut Faults) {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return;
    }
    let found =
        join(parent(path), target).filter(|found| !target.starts_with('/') && tree.has(found));
    if found.is_none() {
        faults.push(format!("{path}: link to {target}, which is not there"));
    }
}

/// Names in ARCHITECTURE.md that look like a type, a path or a constant must occur in the sources, and paths of files in
/// the tree.
fn names(tree: &Tree, faults: &mut Faults) {
    let path = "ARCHITECTURE.md";
    let Some(text) = tree.text(path) else {
        faults.push(format!("{path}: not there"));
        return;
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for (_, text) in tree.texts(".rs") {
        words.extend(text.split(|c| !is_word(c)));
    }
    words.extend(tree.paths().filter_map(|path| path.strip_prefix("crates/")?.split('/').next()));
    let prose = prose(text);
    for span in code_spans(&prose) {
        let name = span.trim_end_matches("()");
        let segments: Vec<&str> = name.split("::").collect();
        let is_name =
            segments.iter().all(|segment| !segment.is_empty() && segment.chars().all(is_word));
        if is_name
            && looks_like_code(name)
            && segments.iter().any(|segment| !words.contains(segment))
        {
            faults.push(format!("{path}: `{span}` is not in the sources"));
        }
        let is_path = name.contains('/') && !name.contains([' ', '*', '…', '<', ':']);
        let top = name.split('/').next().unwrap_or_default();
        if is_path && !top.is_empty() && tree.has(top) && !tree.has(name) {
            faults.push(format!("{path}: `{span}` is not in the tree"));
        }
    }
}

fn looks_like_code(name: &str) -> bool {
    let is_type = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.contains(|c: char| c.is_ascii_lowercase());
    // `_ms` and `n_` are parts of names
    let is_affix = name.starts_with('_') || name.ends_with('_');
    !is_affix && (name.contains("::") || name.contains('_') || is_type)
}

/// Absolute paths below the folders that developers and their machines work in.
fn machine_paths(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for top in ["work", "root", "home"] {
        let prefix = format!("/{top}/");
        for (at, _) in text.match_indices(&prefix) {
            let is_absolute = !text[..at].ends_with(|c: char| {
                c.is_alphanumeric() || ['.', '_', '-', '}', '>', '~', '/'].contains(&c)
            });
            let rest = &text[at + prefix.len()..];
            let next: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || ['-', '_'].contains(c))
                .collect();
            let is_anybody = top == "home" && (next.is_empty() || ANYBODY.contains(&next.as_str()));
            if is_absolute && !is_anybody {
                found.insert(format!("{prefix}{next}"));
            }
        }
    }
    found
}
