//! Each bundled log's report against what Spark's own history server answers about it: a test for each log.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use xtask::compare;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

fn check(log: &Path, name: &str) -> Result<(), Failed> {
    let golden = Path::new(EXAMPLES).join("golden/rest/4.2");
    let report = compare::report(Path::new(env!("CARGO_BIN_EXE_afterspark")), log)?;
    let apps = report["applications"].as_array().ok_or("no applications")?;
    if apps.len() != 1 {
        return Err(format!("{} applications", apps.len()).into());
    }
    let comparison = compare::compare_app(&apps[0], name, &golden)?;
    if !comparison.has_golden {
        return Err("no answers of the history server".into());
    }
    if !comparison.differences.is_empty() {
        return Err(comparison.differences.join("\n").into());
    }
    if comparison.n_equal < 10 {
        return Err(format!("only {} numbers were compared", comparison.n_equal).into());
    }
    Ok(())
}

fn main() {
    let logs = fs::read_dir(Path::new(EXAMPLES).join("logs")).unwrap();
    let mut logs: Vec<PathBuf> = logs.map(|entry| entry.unwrap().path()).collect();
    logs.sort();
    let mut tests: Vec<Trial> = Vec::new();
    for log in &logs {
        let (log, name) = (log.clone(), log.file_name().unwrap().to_string_lossy().into_owned());
        tests.push(Trial::test(name.clone(), move || check(&log, &name)));
    }
    let n = tests.len();
    tests.push(Trial::test("there are logs", move || {
        if n >= 42 { Ok(()) } else { Err(format!("{n} logs").into()) }
    }));
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
