//! `xtask test`: everything that must hold before a change is taken, with what this machine has installed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Format, lints, tests; stops at the first that fails. The runner's own closing line comes last.
pub(crate) fn run() -> Outcome<()> {
    if has("fmt") {
        step(&["fmt", "--all", "--check"])?;
    }
    if has("clippy") {
        step(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    }
    if has("nextest") {
        // nextest leaves the examples in documentation to cargo
        step(&["test", "--workspace", "--locked", "--doc", "--quiet"])?;
        step(&["nextest", "run", "--workspace", "--locked"])
    } else {
        step(&["test", "--workspace", "--locked"])
    }
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(Path::new(ROOT)).stdin(Stdio::null());
    cargo
}

/// Whether a subcommand is installed; what is not is left out, and said.
fn has(command: &str) -> bool {
    let asked =
        cargo().args([command, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = asked.is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("cargo {command} is not installed and is left out");
    }
    is_there
}

fn step(args: &[&str]) -> Outcome<()> {
    let line = args.join(" ");
    eprintln!("cargo {line}");
    if cargo().args(args).status()?.success() {
        Ok(())
    } else {
        Err(format!("failed: cargo {line}").into())
    }
}
