//! Command lines and what comes of them: each file of `cases/cli` is a test. It is run in `examples`.
//! Above the line stands the command, below it stdout, then stderr where there is any, then the exit code.
//! `| head -N` takes the first lines and closes the pipe. `UPDATE=1` writes what came below the line.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use libtest_mimic::{Arguments, Failed, Trial};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/cli");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// What a command line comes to, as it stands in a case.
fn came(line: &str) -> String {
    let (line, head) = match line.split_once(" | head -") {
        Some((line, n)) => (line, n.parse().unwrap()),
        None => (line, usize::MAX),
    };
    let args: Vec<&str> = line.split_whitespace().skip(1).collect();
    let mut command = support::afterspark(&args);
    command.current_dir(EXAMPLES).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<String> = stdout.lines().take(head).map(Result::unwrap).collect();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let code = child.wait().unwrap().code();
    let mut out = String::new();
    for line in lines {
        writeln!(out, "{line}").unwrap();
    }
    if !stderr.is_empty() {
        write!(out, "--- stderr\n{stderr}").unwrap();
    }
    writeln!(out, "--- code {}", code.map_or("none".to_owned(), |code| code.to_string())).unwrap();
    out
}

fn check(path: &Path) -> Result<(), Failed> {
    let case = fs::read_to_string(path)?;
    let (line, expected) = case.split_once("\n---\n").unwrap_or((case.trim_end(), ""));
    let got = came(line);
    if got == expected {
        return Ok(());
    }
    if std::env::var_os("UPDATE").is_some() {
        return Ok(fs::write(path, format!("{line}\n---\n{got}"))?);
    }
    let differs = got.lines().zip(expected.lines()).find(|(got, expected)| got != expected);
    Err(format!("{line}\n{differs:?}\ncame to:\n{got}").into())
}

fn main() {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "case"));
    paths.sort();
    let test = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Trial::test(name, move || check(&path))
    };
    libtest_mimic::run(&Arguments::from_args(), paths.into_iter().map(test).collect()).exit();
}
