//! Differences that are known and meant: a table of them, by name.
//!
//! A row is specific: it names what is asked, where in the answer, and what both servers say there. `*` stands for
//! anything, but a row must not leave open both what is asked and where the difference is.

use std::fs;
use std::path::Path;

use super::Outcome;
use super::difference::Difference;
use super::record::Record;

/// The columns, in order.
const COLUMNS: [&str; 7] = ["name", "class", "path", "place", "spark", "afterspark", "reason"];

#[derive(Debug)]
pub struct Exception {
    pub name: String,
    /// Class of endpoint and path of the question.
    class: String,
    path: String,
    /// Of the difference, with what the two servers say.
    place: String,
    golden: String,
    ours: String,
    pub reason: String,
}

#[derive(Default)]
pub struct Exceptions(Vec<Exception>);

impl Exceptions {
    /// # Errors
    /// When the file cannot be read or a row excepts too much.
    pub fn load(path: &Path) -> Outcome<Exceptions> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Exceptions::parse(&text).map_err(|e| format!("{}: {e}", path.display()).into())
    }

    fn parse(text: &str) -> Outcome<Exceptions> {
        let mut rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let heading = rows.next().unwrap_or_default();
        if !heading.split('\t').eq(COLUMNS) {
            return Err(format!("the columns are not {}", COLUMNS.join(", ")).into());
        }
        rows.map(row).collect::<Outcome<_>>().map(Exceptions)
    }

    /// The names of the exceptions that cover all differences of an answer; `None` when one is not covered.
    pub fn cover(&self, golden: &Record, differences: &[Difference]) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        for difference in differences {
            let exception = self.0.iter().find(|e| e.covers(golden, difference))?;
            if !names.contains(&exception.name.as_str()) {
                names.push(&exception.name);
            }
        }
        Some(names)
    }

    pub fn all(&self) -> &[Exception] {
        &self.0
    }
}

fn row(line: &str) -> Outcome<Exception> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [name, class, path, place, golden, ours, reason] = cells[..] else {
        return Err(format!("{} columns and not {}: {line}", cells.len(), COLUMNS.len()).into());
    };
    let is_open = |cell: &str| cell.chars().all(|c| c == '*' || c == '$');
    if name.is_empty() || reason.is_empty() {
        return Err(format!("without name or reason: {line}").into());
    }
    if is_open(place) || is_open(class) && is_open(path) {
        return Err(format!("{name}: says neither what is asked nor where it differs").into());
    }
    let owned = str::to_owned;
    Ok(Exception {
        name: owned(name),
        class: owned(class),
        path: owned(path),
        place: owned(place),
        golden: owned(golden),
        ours: owned(ours),
        reason: owned(reason),
    })
}

impl Exception {
    fn covers(&self, golden: &Record, difference: &Difference) -> bool {
        matches(&self.class, &golden.class)
            && matches(&self.path, &golden.path)
            && matches(&self.place, &difference.place)
            && matches(&self.golden, &difference.golden)
            && matches(&self.ours, &difference.ours)
    }
}

/// Whether a text is of a form in which `*` stands for any text.
fn matches(form: &str, text: &str) -> bool {
    let mut pieces = form.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Answer;

    #[test]
    fn stars() {
        for (form, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("*b*d", "abcd", true),
            ("*b*d", "abc", false),
            ("$[*].duration", "$[12].duration", true),
        ] {
            assert_eq!(matches(form, text), expected, "{form} {text}");
        }
    }

    #[test]
    fn all_differences_must_be_covered() {
        let table = "# known\nname\tclass\tpath\tplace\tspark\tafterspark\treason\n\
                     uptime\texecutors\t*\t$[*].totalDuration\t*\t0\tno clock\n";
        let table = Exceptions::parse(table).unwrap();
        let answer = Answer { status: 200, headers: Vec::new(), body: Vec::new() };
        let of = |class| Record::of("/x", class, &answer);
        let difference = |place: &str, ours: &str| Difference {
            place: place.to_owned(),
            golden: "12".to_owned(),
            ours: ours.to_owned(),
        };
        let known = difference("$[0].totalDuration", "0");
        let other = difference("$[0].totalDuration", "1");
        let covered = |class, list: &[Difference]| table.cover(&of(class), list).is_some();
        assert!(covered("executors", std::slice::from_ref(&known)));
        assert!(!covered("jobs", std::slice::from_ref(&known)));
        assert!(!covered("executors", &[known, other]));
    }

    #[test]
    fn rows_that_except_too_much() {
        let head = "name\tclass\tpath\tplace\tspark\tafterspark\treason\n";
        for row in
            ["a\t*\t*\tstatus\t*\t*\tr", "a\tjobs\t*\t$*\t*\t*\tr", "a\tjobs\t*\tstatus\t*\t*\t"]
        {
            assert!(Exceptions::parse(&format!("{head}{row}\n")).is_err(), "{row}");
        }
        assert!(Exceptions::parse("name\n").is_err());
    }
}
