//! Names, sizes and places of files.

use super::tree::{File, Tree, file_name, parent};
use super::{Excuses, Faults, excused};

/// Words in a name that say a file has a twin.
const TWINS: [&str; 11] =
    ["old", "new", "backup", "copy", "final", "fixed", "v2", "tmp", "enhanced", "modern", "simple"];

const LINES_MAX: usize = 600;
const LONG: &Excuses = &[];

const BLOB_BYTES_MAX: u64 = 200_000;
const LARGE: &Excuses = &[];

const SCRIPT_ENDINGS: [&str; 8] = [".sh", ".bash", ".py", ".pl", ".rb", ".ps1", ".bat", "Makefile"];
const SCRIPT_FOLDERS: [&str; 2] = ["lab/", ".ci/"];

pub(super) fn check(tree: &Tree, faults: &mut Faults) {
    for (path, file) in tree.files() {
        twin(path, faults);
        size(path, file, faults);
        place(path, file, faults);
        if let Some((owner, case)) = split_case(path) {
            owned(tree, path, owner, case, faults);
        }
    }
}

/// Whether a path is a sample or a case, which are named for what they show.
fn is_sample(path: &str) -> bool {
    path.starts_with("examples/") || split_case(path).is_some()
}

fn twin(path: &str, faults: &mut Faults) {
    if is_sample(path) {
        return;
    }
    let name = file_name(path).to_lowercase();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    for word in stem.split(|c: char| !c.is_alphanumeric()).filter(|word| TWINS.contains(word)) {
        faults.push(format!("{path}: \"{word}\" in a file name: there is one of each thing"));
    }
}

fn size(path: &str, file: &File, faults: &mut Faults) {
    if file.size_bytes > BLOB_BYTES_MAX && !excused(LARGE, path) {
        let (bytes, max) = (file.size_bytes, BLOB_BYTES_MAX);
        faults.push(format!(
            "{path}: {bytes} bytes, over {max} and not in LARGE of xtask/src/tidy/layout.rs"
        ));
    }
    let is_written =
        [".rs", ".py", ".js", ".css", ".html", ".md"].iter().any(|end| path.ends_with(end));
    let n_lines =
        file.text.as_deref().filter(|_| is_written).map_or(0, |text| text.lines().count());
    // the one file that only grows
    if n_lines > LINES_MAX && path != "CHANGELOG.md" && !excused(LONG, path) {
        faults.push(format!(
            "{path}: {n_lines} lines, over {LINES_MAX} and not in LONG of xtask/src/tidy/layout.rs"
        ));
    }
}

fn place(path: &str, file: &File, faults: &mut Faults) {
    if path.starts_with(".github/") {
        faults.push(format!("{path}: what a machine runs on each change is .ci/run"));
    }
    let is_script = SCRIPT_ENDINGS.iter().any(|ending| path.ends_with(ending))
        || file.text.as_deref().is_some_and(|text| text.starts_with("#!/"));
    if is_script && !SCRIPT_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        faults.push(format!("{path}: a script outside lab and .ci: make it an xtask"));
    }
}

/// `crates/a` and `b/c.case` of `crates/a/cases/b/c.case`.
fn split_case(path: &str) -> Option<(&str, &str)> {
    path.split_once("/cases/")
}

/// A case must be found by a test: one that walks its folder and takes files with its ending, or one that names it, as
/// may another case (for a log that several use).
fn owned(tree: &Tree, path: &str, owner: &str, case: &str, faults: &mut Faults) {
    let folder = case.split_once('/').map_or("cases", |(folder, _)| folder);
    let name = file_name(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let sources = || tree.texts(".rs").filter(|(rs, _)| parent(rs).starts_with(owner));
    let walks = |text: &str| {
        text.contains(&format!("cases/{folder}"))
            || text.contains("cases\"") && text.contains(&format!("\"{folder}"))
    };
    let is_walked = sources().any(|(_, text)| {
        (walks(text) || folder == "cases" && text.contains("cases"))
            && !ending.is_empty()
            && text.contains(ending)
    });
    let others = || {
        tree.files()
            .filter(|(other, _)| *other != path && other.starts_with(&format!("{owner}/cases/")))
    };
    let is_named = || {
        sources().any(|(_, text)| text.contains(name))
            || others()
                .any(|(_, file)| file.text.as_deref().is_some_and(|text| text.contains(name)))
    };
    if !is_walked && !is_named() {
        faults.push(format!(
            "{path}: a case without an owner: no test of {owner} walks its folder or names it"
        ));
    }
}
