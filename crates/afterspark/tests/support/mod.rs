//! The binary, and folders to run it in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[path = "../../../ingest/tests/support/mod.rs"]
pub(crate) mod logs;

pub(crate) const FORMATS: [&str; 4] = ["text", "json", "csv", "markdown"];

/// The program, with nothing of the user's surroundings.
pub(crate) fn afterspark(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterspark"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

/// What it answers; anything on stderr or another code than 0 fails the test.
pub(crate) fn answer(args: &[&str]) -> Vec<u8> {
    let output = afterspark(args).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {}", talk(&output));
    output.stdout
}

pub(crate) fn talk(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// An empty folder of this name.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

pub(crate) fn as_text(path: &Path) -> &str {
    path.to_str().unwrap()
}
