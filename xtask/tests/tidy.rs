//! Style as a test: `xtask tidy` on this repository, and on small made-up trees.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, and a number to be seen"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_repository_is_tidy() {
    let faults = tidy(None);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What every tree has, and nothing is wrong with.
const BARE: [(&str, &str); 6] = [
    (
        "ARCHITECTURE.md",
        "# Architecture\n`scan` cuts [lines](crates/scan/src/line.rs): `Line`, `line::Line`.\n",
    ),
    ("CHANGELOG.md", "# Changes\n\n## Unreleased\n"),
    ("Cargo.lock", "[[package]]\nname = \"scan\"\n"),
    (
        "crates/scan/Cargo.toml",
        "[package]\nname = \"scan\"\n\n[dependencies]\nmemchr.workspace = true\n",
    ),
    ("crates/scan/src/lib.rs", "mod line;\n"),
    ("crates/scan/src/line.rs", "pub struct Line;\n"),
];

#[test]
fn a_bare_tree_is_tidy() {
    made_up("bare", &[], &[]);
}

#[test]
fn a_source_that_nothing_leads_to() {
    made_up(
        "unbuilt",
        &[
            (
                "crates/scan/src/line.rs",
                "pub struct Line;\n#[cfg(test)]\nmod tests;\npub(crate) mod cut;\n",
            ),
            ("crates/scan/src/line/cut.rs", "#[path = \"other.rs\"]\nmod elsewhere;\n"),
            ("crates/scan/src/line/other.rs", ""),
            ("crates/scan/src/line/tests.rs", ""),
            ("crates/scan/src/cut.rs", ""),
            ("crates/scan/src/word.md", "# A page\n"),
            ("crates/scan/tests/lines.rs", "mod support;\n"),
            ("crates/scan/tests/support/mod.rs", ""),
        ],
        &[
            "crates/scan/src/cut.rs: not built: no mod declaration leads here",
            "crates/scan/src/word.md: not built: no source of crates/scan names it",
        ],
    );
}

#[test]
fn arrows_between_crates() {
    made_up(
        "arrows",
        &[
            (
                "crates/store/Cargo.toml",
                "[dependencies]\nhashbrown = \"0.17\"\n[dependencies.scan]\nworkspace = true\n",
            ),
            ("crates/store/src/lib.rs", "pub struct Store;\n"),
            (
                "crates/views/Cargo.toml",
                "[target.'cfg(unix)'.dependencies]\nlines = { package = \"scan\", workspace = true }\n\
                 [dev-dependencies]\nscan.workspace = true\n[lints]\nworkspace = true\n",
            ),
            ("crates/views/src/lib.rs", "#![forbid(unsafe_code)]\n"),
            ("crates/extra/Cargo.toml", "[package]\nname = \"extra\"\n"),
        ],
        &[
            "crates/extra/Cargo.toml: crate extra has no line in ARROWS of xtask/src/tidy/manifests.rs",
            "crates/store/Cargo.toml: hashbrown is not taken from the workspace table, where versions stand",
            "crates/store/Cargo.toml: store must not use scan",
            "crates/store/src/lib.rs: lacks #![forbid(unsafe_code)]",
            "crates/views/Cargo.toml: views must not use scan",
        ],
    );
}

#[test]
fn documents_with_broken_parts() {
    made_up(
        "documents",
        &[
            (
                "ARCHITECTURE.md",
                "# A\n`Line` and `line::Word`, `cut_at()`, `crates/scan/src`, `crates/scan/no.rs`.\n",
            ),
            (".ci/run", "exec </dev/null\nexec cargo test\n"),
            ("README.md", "# A\n`cargo nextest run`, see line.rs:12\n"),
            (
                "docs/page.md",
                "# A\n## B\n```sh\n# no title\n```\n[up](../CHANGELOG.md#unreleased) [out](../../x.md)\n",
            ),
            (
                "docs/none.md",
                "no title, `[no](link)`, [gone](gone.md \"title\"), [far](https://example.org)\n",
            ),
            ("docs/place.md", concat!("# A\nin /home/user/x, lab/wo", "rk/x and /ro", "ot/x\n")),
        ],
        &[
            ".ci/run: does not end with a command that README.md names",
            "ARCHITECTURE.md: `crates/scan/no.rs` is not in the tree",
            "ARCHITECTURE.md: `cut_at()` is not in the sources",
            "ARCHITECTURE.md: `line::Word` is not in the sources",
            "README.md: names a line of a source by its number",
            "docs/none.md: 0 titles",
            "docs/none.md: link to gone.md, which is not there",
            "docs/page.md: link to ../../x.md, which is not there",
            concat!("docs/place.md: a path of one machine: ", "/ro", "ot/x"),
        ],
    );
}

#[test]
fn leftovers() {
    made_up(
        "leftovers",
        &[
            (
                "crates/scan/src/lib.rs",
                "mod line;\nmod line_v2;\nfn f() { let _held_lock = g(); let _ = g(); todo!() }\n",
            ),
            ("crates/scan/src/line_v2.rs", "fn f() { let _kind: u8 = g(); }\n"),
            ("crates/scan/src/line.rs", &"pub struct Line;\n".repeat(601)),
            ("docs/build.sh", "cargo build\n"),
            ("lab/build.sh", "cargo build\n"),
            ("docs/large.bin", &"x".repeat(200_001)),
        ],
        &[
            "crates/scan/src/lib.rs: todo!",
            "crates/scan/src/line.rs: 601 lines, over 600 and not in LONG of xtask/src/tidy/layout.rs",
            "crates/scan/src/line_v2.rs: \"v2\" in a file name: there is one of each thing",
            "crates/scan/src/line_v2.rs: computed to be dropped: let _kind",
            "docs/build.sh: a script outside lab and .ci: make it an xtask",
            "docs/large.bin: 200001 bytes, over 200000 and not in LARGE of xtask/src/tidy/layout.rs",
        ],
    );
}

#[test]
fn samples_and_cases() {
    made_up(
        "samples",
        &[
            (
                "examples/README.md",
                "# Logs\n| file |\n| --- |\n| `app-1.zstd` |\n| `eventlog_v2_app-2/` |\n| `app-9` |\n",
            ),
            ("examples/logs/app-1.zstd", ""),
            ("examples/logs/eventlog_v2_app-2/events_1_app-2", ""),
            ("examples/logs/app-3_1.lz4.inprogress", ""),
            ("examples/golden/rest/4.2/_server.jsonl.zst", ""),
            ("examples/golden/rest/4.2/app-1.jsonl.zst", ""),
            ("examples/golden/rest/4.2/app-2.jsonl.zst", ""),
            ("examples/golden/rest/4.2/app-4.jsonl.zst", ""),
            ("crates/scan/tests/cases.rs", "const FOLDER: &str = \"cases/cut\"; // *.case\n"),
            ("crates/scan/cases/cut/one.case", "logs/small\n"),
            ("crates/scan/cases/logs/small", ""),
            ("crates/scan/cases/logs/unused", ""),
            ("crates/scan/cases/join/one.case", ""),
        ],
        &[
            "crates/scan/cases/join/one.case: a case without an owner: no test of crates/scan walks its folder or names it",
            "crates/scan/cases/logs/unused: a case without an owner: no test of crates/scan walks its folder or names it",
            "examples/README.md: a row for app-9, which is not in examples/logs",
            "examples/golden/rest/4.2: answers about app-4, which is not in examples/logs",
            "examples/logs/app-3_1.lz4.inprogress: no row in examples/README.md",
            "examples/logs/app-3_1.lz4.inprogress: not in examples/golden/rest/4.2, nor in WITHOUT_GOLDEN of xtask/src/tidy/samples.rs",
        ],
    );
}

/// Writes a tree of its own, `files` over the bare one, and compares what is found.
#[track_caller]
fn made_up(name: &str, files: &[(&str, &str)], expected: &[&str]) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tidy").join(name);
    if root.exists() {
        fs::remove_dir_all(&root).unwrap();
    }
    for (path, text) in BARE.iter().chain(files) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    assert_eq!(tidy(Some(&root)), expected);
}

/// The faults of a tree; by default, of this repository.
fn tidy(root: Option<&Path>) -> Vec<String> {
    let out = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("tidy").args(root).output().unwrap();
    let (said, complaint) =
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(said.ends_with(" packages in Cargo.lock\n"), "{said}{complaint}");
    print!("{said}");
    let faults: Vec<String> =
        complaint.lines().filter_map(|line| line.strip_prefix("  ")).map(str::to_owned).collect();
    assert_eq!(out.status.success(), faults.is_empty(), "{complaint}");
    faults
}
