//! Sections of docs/performance.md, each written by the command that measured it and left alone by the others.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::Outcome;

/// Headings of the sections that are not part of the page that `bench` writes.
pub(super) const LISTING: &str = "## Many logs";
pub(super) const LOAD: &str = "## Many clients";

/// Replaces the page and keeps the sections of others.
pub(super) fn write_page(path: &Path, page: &str) -> Outcome<()> {
    let was = fs::read_to_string(path).unwrap_or_default();
    let mut text = page.to_owned();
    for heading in [LISTING, LOAD] {
        if let Some(section) = find(&was, heading) {
            text.extend(["\n", section.trim_end(), "\n"]);
        }
    }
    Ok(fs::write(path, text)?)
}

/// Replaces one section, or appends it. The text begins with its heading.
pub(super) fn write(path: &Path, heading: &str, text: &str) -> Outcome<()> {
    let was = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(fs::write(path, put(&was, heading, text))?)
}

/// Writes raw numbers, a line for each value.
pub(super) fn record(folder: &Path, name: &str, lines: &[Value]) -> Outcome<()> {
    fs::create_dir_all(folder)?;
    let mut file = File::create(folder.join(name))?;
    for line in lines {
        writeln!(file, "{line}")?;
    }
    Ok(())
}

fn put(page: &str, heading: &str, text: &str) -> String {
    match find(page, heading) {
        Some(section) => {
            let ending = if page.ends_with(section) { "" } else { "\n" };
            page.replacen(section, &format!("{}\n{ending}", text.trim_end()), 1)
        }
        None => format!("{}\n\n{}\n", page.trim_end(), text.trim_end()),
    }
}

/// From a heading to the next one of its level.
fn find<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let line = format!("\n{heading}\n");
    let from = page.find(&line)? + 1;
    let rest = &page[from..];
    let to = rest[1..].find("\n## ").map_or(rest.len(), |at| at + 2);
    Some(&rest[..to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_section_is_replaced() {
        let page = "# P\n\n## A\n\na\n\n## B\n\nb\n\n## C\n\nc\n";
        let expected = |b: &str| format!("# P\n\n## A\n\na\n\n## B\n\n{b}\n\n## C\n\nc\n");
        assert_eq!(put(page, "## B", "## B\n\nother\n\n"), expected("other"));
        assert_eq!(put(page, "## C", "## C\n\nc"), page);
        assert_eq!(put(page, "## D", "## D\n\nd"), format!("{page}\n## D\n\nd\n"));
    }
}
