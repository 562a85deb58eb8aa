//! Tables that are sorted, filtered, paged and exported through the address, so that what is seen can be shared. Parameters
//! are `TABLE.sort` (a column's title), `TABLE.desc`, `TABLE.page`, `TABLE.pageSize`, as Spark's own tables have them, and
//! `TABLE.filter` and `TABLE.export`.

use std::cmp::Ordering;

use form_urlencoded::Serializer;

use crate::api::{Answer, Query};
use crate::text;

/// Rows of a page when nothing is asked; as Spark.
const PAGE_SIZE: usize = 100;
const PAGE_SIZE_MAX: usize = 1_000;

/// What a cell is sorted by. What is missing comes last, whatever the direction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Number(i64),
    Text(String),
    Missing,
}

impl Key {
    pub(super) fn of(number: Option<i64>) -> Key {
        number.map_or(Key::Missing, Key::Number)
    }

    fn order(&self, other: &Key, descending: bool) -> Ordering {
        let order = match (self, other) {
            (Key::Missing, Key::Missing) => return Ordering::Equal,
            (Key::Missing, _) => return Ordering::Greater,
            (_, Key::Missing) => return Ordering::Less,
            (Key::Number(a), Key::Number(b)) => a.cmp(b),
            (Key::Text(a), Key::Text(b)) => a.cmp(b),
            (Key::Number(_), Key::Text(_)) => Ordering::Less,
            (Key::Text(_), Key::Number(_)) => Ordering::Greater,
        };
        if descending { order.reverse() } else { order }
    }
}

/// What a cell shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// The exact value, told when asked.
    pub(super) exact: String,
    /// Empty for none.
    pub(super) link: String,
    /// Something went wrong.
    pub(super) is_bad: bool,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    pub(super) fn exact(mut self, exact: impl Into<String>) -> Cell {
        self.exact = exact.into();
        self
    }

    pub(super) fn link(mut self, link: impl Into<String>) -> Cell {
        self.link = link.into();
        self
    }

    pub(super) fn bad_if(mut self, is_bad: bool) -> Cell {
        self.is_bad = is_bad;
        self
    }
}

/// A column of rows of a kind.
pub(super) struct Column<'c, R> {
    pub(super) title: &'static str,
    /// What it means.
    pub(super) hint: &'static str,
    pub(super) is_number: bool,
    pub(super) key: Box<dyn Fn(&R) -> Key + 'c>,
    pub(super) cell: Box<dyn Fn(&R) -> Cell + 'c>,
}

/// A table as its template needs it.
pub(super) struct Table {
    pub(super) tag: &'static str,
    pub(super) title: &'static str,
    pub(super) n_all: usize,
    pub(super) n_found: usize,
    pub(super) filter: String,
    /// The parameters of everything else on the page, for the form that filters.
    pub(super) kept: Vec<(String, String)>,
    pub(super) heads: Vec<Head>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) page: usize,
    pub(super) n_pages: usize,
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
    pub(super) as_csv: String,
    pub(super) as_json: String,
}

pub(super) struct Head {
    pub(super) title: &'static str,
    pub(super) hint: &'static str,
    pub(super) is_number: bool,
    /// `ascending`, `descending` or nothing.
    pub(super) sorted: &'static str,
    pub(super) link: String,
}

/// How a table begins when nothing is asked.
pub(super) struct Shown {
    pub(super) tag: &'static str,
    pub(super) title: &'static str,
    pub(super) sort: &'static str,
    pub(super) descending: bool,
}

/// A table, or the file that is asked for in its place.
pub(super) fn table<R>(
    query: &Query,
    shown: &Shown,
    columns: &[Column<'_, R>],
    rows: &[R],
) -> Result<Table, Answer> {
    let tag = shown.tag;
    let of = |name: &str| format!("{tag}.{name}");
    let asked = |name: &str| query.first(&of(name));
    let number = |name: &str| asked(name).and_then(|value| value.parse::<usize>().ok());
    let wanted = asked("sort").unwrap_or(shown.sort);
    let at = columns.iter().position(|column| column.title == wanted);
    let column = &columns[at.unwrap_or(0)];
    let descending = match (asked("desc"), asked("sort")) {
        (Some(desc), _) => desc.eq_ignore_ascii_case("true"),
        (None, Some(_)) => false,
        (None, None) => shown.descending,
    };
    let filter = asked("filter").unwrap_or_default();
    let needle = filter.to_lowercase();
    let found = |row: &&R| {
        let has = |cell: Cell| cell.text.to_lowercase().contains(&needle);
        needle.is_empty() || columns.iter().any(|column| has((column.cell)(row)))
    };
    let mut keyed: Vec<(Key, &R)> =
        rows.iter().filter(found).map(|row| ((column.key)(row), row)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.order(b, descending));
    if let Some(form) = asked("export") {
        let rows = keyed.iter().map(|(_, row)| *row);
        return Err(export(form, tag, columns, rows));
    }
    let page_size = number("pageSize").unwrap_or(PAGE_SIZE).clamp(1, PAGE_SIZE_MAX);
    let n_found = keyed.len();
    let n_pages = n_found.div_ceil(page_size).max(1);
    let page = number("page").unwrap_or(1).clamp(1, n_pages);
    let link = |changes: &[(&str, &str)]| address(query, tag, changes);
    let heads = columns.iter().map(|head| {
        let is_sorted = head.title == column.title;
        // numbers are looked at from the largest
        let desc = if is_sorted { !descending } else { head.is_number };
        let desc = if desc { "true" } else { "false" };
        Head {
            title: head.title,
            hint: head.hint,
            is_number: head.is_number,
            sorted: match (is_sorted, descending) {
                (false, _) => "",
                (true, false) => "ascending",
                (true, true) => "descending",
            },
            link: link(&[("sort", head.title), ("desc", desc), ("page", "")]),
        }
    });
    let to = |page: usize| link(&[("page", &page.to_string())]);
    let rows_shown = keyed.iter().skip((page - 1) * page_size).take(page_size);
    Ok(Table {
        tag,
        title: shown.title,
        n_all: rows.len(),
        n_found,
        filter: filter.to_owned(),
        kept: query
            .pairs()
            .filter(|(name, _)| *name != of("filter") && *name != of("page"))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        heads: heads.collect(),
        rows: rows_shown
            .map(|(_, row)| columns.iter().map(|column| (column.cell)(row)).collect())
            .collect(),
        page,
        n_pages,
        previous: (page > 1).then(|| to(page - 1)),
        next: (page < n_pages).then(|| to(page + 1)),
        as_csv: link(&[("export", "csv"), ("page", "")]),
        as_json: link(&[("export", "json"), ("page", "")]),
    })
}

/// The same page with some parameters of a table changed; those that are empty are left out.
fn address(query: &Query, tag: &str, changes: &[(&str, &str)]) -> String {
    let changed = |name: &str| {
        let own = name.strip_prefix(tag).and_then(|rest| rest.strip_prefix('.'));
        own.is_some_and(|own| changes.iter().any(|(name, _)| *name == own))
    };
    let mut out = Serializer::new(String::new());
    for (name, value) in query.pairs().filter(|(name, _)| !changed(name)) {
        out.append_pair(name, value);
    }
    for (name, value) in changes.iter().filter(|(_, value)| !value.is_empty()) {
        out.append_pair(&format!("{tag}.{name}"), value);
    }
    format!("?{}#{tag}", out.finish())
}

fn export<'r, R: 'r>(
    form: &str,
    tag: &str,
    columns: &[Column<'_, R>],
    rows: impl Iterator<Item = &'r R>,
) -> Answer {
    // the exact value where there is one
    let value = |cell: Cell| if cell.exact.is_empty() { cell.text } else { cell.exact };
    let values = rows.map(|row| columns.iter().map(|column| value((column.cell)(row))));
    match form {
        "csv" => {
            let mut out = String::new();
            let titles = columns.iter().map(|column| column.title.to_owned());
            push_line(&mut out, titles);
            values.for_each(|line| push_line(&mut out, line));
            let name = format!("attachment; filename={tag}.csv");
            Answer::of(200, "text/csv; charset=utf-8", out.into_bytes())
                .with_header("content-disposition", name)
        }
        "json" => {
            let titles = || columns.iter().map(|column| column.title.to_owned());
            let objects: Vec<serde_json::Map<String, serde_json::Value>> = values
                .map(|line| titles().zip(line.map(serde_json::Value::String)).collect())
                .collect();
            let body = serde_json::to_vec(&objects).unwrap_or_default();
            Answer::of(200, "application/json", body)
        }
        _ => Answer::text(400, "export is csv or json"),
    }
}

/// A line of CSV (RFC 4180). What a spreadsheet would take for a formula is made a text.
fn push_line(out: &mut String, values: impl Iterator<Item = String>) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push(',');
        }
        let is_formula = value.starts_with(['=', '@', '\t', '\r'])
            || value.starts_with(['+', '-']) && value.parse::<f64>().is_err();
        let value = if is_formula { format!("'{value}") } else { value };
        if value.contains([',', '"', '\n', '\r']) {
            out.extend(["\"", &value.replace('"', "\"\""), "\""]);
        } else {
            out.push_str(&value);
        }
    }
    out.push_str("\r\n");
}

/// A column of numbers, of which some may be missing.
pub(super) fn number<'c, R>(
    title: &'static str,
    hint: &'static str,
    write: fn(i64) -> String,
    of: impl Fn(&R) -> Option<i64> + Copy + 'c,
) -> Column<'c, R> {
    Column {
        title,
        hint,
        is_number: true,
        key: Box::new(move |row| Key::of(of(row))),
        cell: Box::new(move |row| {
            let value = of(row);
            let exact = value.map_or_else(String::new, |value| value.to_string());
            Cell::text(text::or_missing(value, write)).exact(exact)
        }),
    }
}

/// A column of texts.
pub(super) fn words<'c, R>(
    title: &'static str,
    hint: &'static str,
    cell: impl Fn(&R) -> Cell + Copy + 'c,
) -> Column<'c, R> {
    Column {
        title,
        hint,
        is_number: false,
        key: Box::new(move |row| Key::Text(cell(row).text.to_lowercase())),
        cell: Box::new(cell),
    }
}
