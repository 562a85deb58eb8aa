//! `xtask tidy`: style that a program checks, and every fault in one message.
//!
//! A test runs it on the repository (`xtask/tests/tidy.rs`), and on small made-up trees for its own sake.

mod documents;
mod layout;
mod manifests;
mod samples;
mod sources;
mod tree;

use std::path::PathBuf;

use clap::Args;

use self::tree::Tree;
use crate::Outcome;

#[derive(Args)]
pub(crate) struct Options {
    /// Tree to look at: the tracked files where it is a git repository, else all files.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."), hide_default_value = true)]
    root: PathBuf,
}

/// What is wrong, as `file: what`.
type Faults = Vec<String>;

/// An exception: a path and why it may be so.
type Excuses = [(&'static str, &'static str)];

pub(crate) fn run(options: &Options) -> Outcome<()> {
    let tree = Tree::of(&options.root)?;
    let mut faults = Faults::new();
    for check in [sources::check, manifests::check, layout::check, documents::check, samples::check]
    {
        check(&tree, &mut faults);
    }
    println!("{} packages in Cargo.lock", manifests::n_locked(&tree));
    if faults.is_empty() {
        return Ok(());
    }
    faults.sort();
    faults.dedup();
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")).into())
}

/// Whether a path is listed with a reason.
fn excused(excuses: &Excuses, path: &str) -> bool {
    excuses.iter().any(|(listed, reason)| *listed == path && !reason.is_empty())
}
