//! The files of a repository, read once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;

/// Sample logs and goldens are compressed; nothing in them is looked at.
const UNREAD: [&str; 2] = ["examples/logs/", "examples/golden/"];

pub(super) struct File {
    pub(super) size_bytes: u64,
    /// `None` for a file that is not text, and for a sample log.
    pub(super) text: Option<String>,
}

/// By path from the root, with `/` between components.
pub(super) struct Tree(BTreeMap<String, File>);

impl Tree {
    pub(super) fn of(root: &Path) -> Outcome<Tree> {
        let paths = tracked(root).map_or_else(|| walk(root), Ok)?;
        let mut files = BTreeMap::new();
        for path in paths {
            // Tracked, but deleted and not yet committed; or a link, which has no content of its own.
            let Ok(meta) = fs::symlink_metadata(root.join(&path)) else { continue };
            if !meta.is_file() {
                continue;
            }
            let is_read = !UNREAD.iter().any(|folder| path.starts_with(folder));
            let bytes = if is_read { fs::read(root.join(&path))? } else { Vec::new() };
            let text = String::from_utf8(bytes).ok().filter(|text| is_read && !text.contains('\0'));
            files.insert(path, File { size_bytes: meta.len(), text });
        }
        Ok(Tree(files))
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.0.iter().map(|(path, file)| (path.as_str(), file))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Text files with this ending.
    pub(super) fn texts(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files()
            .filter(move |(path, _)| path.ends_with(ending))
            .filter_map(|(path, file)| Some((path, file.text.as_deref()?)))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path)?.text.as_deref()
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// A file, or a folder with a file in it; the root is the empty path.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty() || self.has_file(path) || self.under(path).next().is_some()
    }

    /// Paths below a folder, from the root.
    pub(super) fn under(&self, folder: &str) -> impl Iterator<Item = &str> {
        let folder = format!("{folder}/");
        self.0
            .range(folder.clone()..)
            .map(|(path, _)| path.as_str())
            .take_while(move |path| path.starts_with(&folder))
    }
}

/// What git tracks; `None` outside a repository or without git.
fn tracked(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    // a clone that another user made is still the tree to look at
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "ls-files", "-z"]).current_dir(root);
    let out = git.output().ok().filter(|out| out.status.success())?;
    let names = String::from_utf8(out.stdout).ok()?;
    Some(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn walk(root: &Path) -> Outcome<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}{name}");
            if !entry.file_type()?.is_dir() {
                paths.push(path);
            } else if !["target", "lab-work", ".git", "__pycache__"].contains(&name.as_str()) {
                folders.push(path + "/");
            }
        }
    }
    Ok(paths)
}

/// The folder of a path; empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// `path` as seen from `folder`; `None` when it leaves the root.
pub(super) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
