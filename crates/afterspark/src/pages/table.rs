//! Tables that are sorted, filtered, paged and exported through the address, so that what is seen can be shared. Parameters
//! are `TABLE.sort` (a column's title), `TABLE.desc`, `TABLE.page`, `TABLE.pageSize`, as Spark's own tables have them, and
//! `TABLE.filter`, `TABLE.column` (shown ones, repeated) and `TABLE.export`.

use std::cmp::Ordering;

use form_urlencoded::Serializer;

use crate::api::{Answer, Query};
use crate::text;

/// Rows of a page when nothing is asked; as Spark.
const PAGE_SIZE: usize = 100;
pub(super) const PAGE_SIZE_MAX: usize = 1_000;

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
    pub(super) tone: Tone,
    /// More links behind the text.
    pub(super) links: Vec<Link>,
    /// Shares of a bar, of what is done, runs and failed; they come to 1 at most.
    pub(super) bar: Option<[f64; 3]>,
    /// What unfolds.
    pub(super) details: String,
    /// A small histogram.
    pub(super) bins: Option<Box<[u32; views::BINS]>>,
}

/// A text that leads somewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) text: String,
    pub(super) to: String,
}

/// How what is shown is to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    /// Something went wrong.
    Bad,
    /// Something costs time.
    Costly,
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

    pub(super) fn links(mut self, links: Vec<Link>) -> Cell {
        self.links = links;
        self
    }

    pub(super) fn bad_if(mut self, is_bad: bool) -> Cell {
        if is_bad {
            self.tone = Tone::Bad;
        }
        self
    }

    pub(super) fn costly_if(mut self, is_costly: bool) -> Cell {
        if is_costly && self.tone == Tone::Plain {
            self.tone = Tone::Costly;
        }
        self
    }

    pub(super) fn bar(mut self, bar: [f64; 3]) -> Cell {
        self.bar = Some(bar);
        self
    }

    /// A long text: its first line, of which the rest unfolds.
    pub(super) fn folded(full: &str, width: usize) -> Cell {
        let first = text::one_line(full.lines().next().unwrap_or_default(), width);
        let details = if first == full { String::new() } else { full.to_owned() };
        Cell { text: first, details, ..Cell::default() }
    }

    /// Heights of the bars of its histogram, of 20.
    pub(super) fn heights(&self) -> Vec<f64> {
        let Some(bins) = &self.bins else { return Vec::new() };
        let largest = f64::from(bins.iter().copied().max().unwrap_or(1).max(1));
        // a single task is to be seen
        let height =
            |n: &u32| if *n == 0 { 0.0 } else { (f64::from(*n) / largest * 20.0).max(1.5) };
        bins.iter().map(|n| (height(n) * 10.0).round() / 10.0).collect()
    }

    /// Name of a class for its tone.
    pub(super) fn class(&self) -> &'static str {
        match self.tone {
            Tone::Plain => "",
            Tone::Bad => " bad",
            Tone::Costly => " costly",
        }
    }

    /// What a file has of it: the exact value where there is one.
    pub(super) fn value(self) -> String {
        let mut value = if self.exact.is_empty() { self.text } else { self.exact };
        for link in self.links {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(&link.text);
        }
        if self.details.is_empty() { value } else { self.details }
    }

    fn is_blank(&self) -> bool {
        self.text.is_empty()
            && self.links.is_empty()
            && self.details.is_empty()
            && self.bins.is_none()
    }

    fn contains(&self, needle: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(needle);
        has(&self.text) || has(&self.details) || self.links.iter().any(|link| has(&link.text))
    }
}

/// A column of rows of a kind.
pub(super) struct Column<'c, R> {
    pub(super) title: &'static str,
    /// What it means.
    pub(super) hint: &'static str,
    pub(super) is_number: bool,
    /// Left out until it is asked for.
    pub(super) is_optional: bool,
    pub(super) key: Box<dyn Fn(&R) -> Key + 'c>,
    pub(super) cell: Box<dyn Fn(&R) -> Cell + 'c>,
}

impl<R> Column<'_, R> {
    /// Left out until it is asked for.
    pub(super) fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }
}

/// A table as its template needs it.
#[derive(Default)]
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
    pub(super) as_markdown: String,
    /// All columns, for choosing.
    pub(super) choices: Vec<Choice>,
    /// The parameters that stay when columns are chosen.
    pub(super) kept_by_columns: Vec<(String, String)>,
    /// The parameters that stay when a page is asked for.
    pub(super) kept_by_pages: Vec<(String, String)>,
    pub(super) page_size: usize,
    /// Why there are no rows at all, and what would bring some.
    pub(super) empty: &'static str,
    /// Filters that are often wanted.
    pub(super) chips: Vec<Link>,
    /// A few rows that nobody filters.
    pub(super) is_plain: bool,
}

/// A column that can be shown.
pub(super) struct Choice {
    pub(super) title: &'static str,
    pub(super) is_shown: bool,
}

pub(super) struct Head {
    pub(super) title: &'static str,
    pub(super) hint: &'static str,
    pub(super) is_number: bool,
    /// `ascending`, `descending` or nothing.
    pub(super) sorted: &'static str,
    pub(super) link: String,
}

impl Head {
    /// `sorted` is whether the table is sorted by it downwards; `link` writes the address with changed parameters.
    pub(super) fn of(
        title: &'static str,
        hint: &'static str,
        is_number: bool,
        sorted: Option<bool>,
        link: impl Fn(&[(&str, &str)]) -> String,
    ) -> Head {
        // numbers are looked at from the largest
        let desc = sorted.map_or(is_number, |descending| !descending);
        let desc = if desc { "true" } else { "false" };
        let sorted = match sorted {
            None => "",
            Some(false) => "ascending",
            Some(true) => "descending",
        };
        let link = link(&[("sort", title), ("desc", desc), ("page", "")]);
        Head { title, hint, is_number, sorted, link }
    }
}

/// How a table begins when nothing is asked.
pub(super) struct Shown {
    pub(super) tag: &'static str,
    pub(super) title: &'static str,
    pub(super) sort: &'static str,
    pub(super) descending: bool,
    /// Why there are no rows at all, and what would bring some.
    pub(super) empty: &'static str,
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
    let (column, descending) = order(query, shown, columns);
    let filter = asked("filter").unwrap_or_default();
    let needle = filter.to_lowercase();
    let column_of = of("column");
    let chosen: Vec<&str> = query.all(&column_of).collect();
    let is_shown = |column: &Column<'_, R>| match chosen.as_slice() {
        [] => !column.is_optional,
        chosen => chosen.contains(&column.title),
    };
    let mut shown_columns: Vec<_> = columns.iter().filter(|column| is_shown(column)).collect();
    if shown_columns.is_empty() {
        shown_columns.extend(columns.first());
    }
    let found = |row: &&R| {
        needle.is_empty() || shown_columns.iter().any(|column| (column.cell)(row).contains(&needle))
    };
    let mut keyed: Vec<(Key, &R)> =
        rows.iter().filter(found).map(|row| ((column.key)(row), row)).collect();
    // rows that have an order of their own keep it until they are sorted
    let is_sorted = !shown.sort.is_empty() || asked("sort").is_some();
    if is_sorted {
        keyed.sort_by(|(a, _), (b, _)| a.order(b, descending));
    }
    if let Some(form) = asked("export") {
        let heads: Vec<_> = shown_columns.iter().map(|c| (c.title, c.is_number)).collect();
        let values = |row: &R| shown_columns.iter().map(|c| (c.cell)(row).value()).collect();
        return Err(file(form, tag, &heads, keyed.iter().map(|(_, row)| values(row))));
    }
    let page_size = number("pageSize").unwrap_or(PAGE_SIZE).clamp(1, PAGE_SIZE_MAX);
    let n_found = keyed.len();
    let n_pages = n_found.div_ceil(page_size).max(1);
    let page = number("page").unwrap_or(1).clamp(1, n_pages);
    let link = |changes: &[(&str, &str)]| address(query, tag, changes);
    let rows_shown = keyed.iter().skip((page - 1) * page_size).take(page_size);
    let cells = |row: &R| shown_columns.iter().map(|column| (column.cell)(row)).collect();
    let mut cells: Vec<Vec<Cell>> = rows_shown.map(|(_, row)| cells(row)).collect();
    if chosen.is_empty() {
        drop_blank(&mut shown_columns, &mut cells);
    }
    let heads = shown_columns.iter().map(|head| {
        let sorted = (is_sorted && head.title == column.title).then_some(descending);
        Head::of(head.title, head.hint, head.is_number, sorted, link)
    });
    let to = |page: usize| link(&[("page", &page.to_string())]);
    let table = Table {
        tag,
        title: shown.title,
        n_all: rows.len(),
        n_found,
        filter: filter.to_owned(),
        kept: kept(query, &[of("filter"), of("page")]),
        kept_by_columns: kept(query, &[of("column")]),
        kept_by_pages: kept(query, &[of("page"), of("pageSize")]),
        page_size,
        heads: heads.collect(),
        rows: cells,
        page,
        n_pages,
        previous: (page > 1).then(|| to(page - 1)),
        next: (page < n_pages).then(|| to(page + 1)),
        choices: columns.iter().map(|c| Choice { title: c.title, is_shown: is_shown(c) }).collect(),
        empty: shown.empty,
        ..Table::default()
    };
    Ok(seal(table, link))
}

/// The column that a table is sorted by, and whether downwards.
fn order<'a, 'c, R>(
    query: &Query,
    shown: &Shown,
    columns: &'a [Column<'c, R>],
) -> (&'a Column<'c, R>, bool) {
    let asked = |name: &str| query.first(&format!("{}.{name}", shown.tag));
    let wanted = asked("sort").unwrap_or(shown.sort);
    let at = columns.iter().position(|column| column.title == wanted);
    let descending = match (asked("desc"), asked("sort")) {
        (Some(desc), _) => desc.eq_ignore_ascii_case("true"),
        (None, Some(_)) => false,
        (None, None) => shown.descending,
    };
    (&columns[at.unwrap_or(0)], descending)
}

/// Leaves out columns of texts that no row has anything in; the first stays.
fn drop_blank<R>(columns: &mut Vec<&Column<'_, R>>, rows: &mut [Vec<Cell>]) {
    if rows.is_empty() {
        return;
    }
    let is_told =
        |at: usize| at == 0 || columns[at].is_number || rows.iter().any(|row| !row[at].is_blank());
    let told: Vec<bool> = (0..columns.len()).map(is_told).collect();
    let mut at = 0..told.len();
    columns.retain(|_| at.next().is_some_and(|at| told[at]));
    for row in rows {
        let mut at = 0..told.len();
        row.retain(|_| at.next().is_some_and(|at| told[at]));
    }
}

/// The parameters but for some, for a form that sets those.
pub(super) fn kept(query: &Query, without: &[String]) -> Vec<(String, String)> {
    let pairs = query.pairs().filter(|(name, _)| !without.iter().any(|own| own == name));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The same page with some parameters of a table changed, or with an empty tag some of the page; those that are empty are
/// left out.
pub(super) fn address(query: &Query, tag: &str, changes: &[(&str, &str)]) -> String {
    let full = |name: &str| if tag.is_empty() { name.to_owned() } else { format!("{tag}.{name}") };
    let is_changed = |have: &str| changes.iter().any(|(name, _)| full(name) == have);
    let mut out = Serializer::new(String::new());
    for (name, value) in query.pairs().filter(|(name, _)| !is_changed(name)) {
        out.append_pair(name, value);
    }
    for (name, value) in changes.iter().filter(|(_, value)| !value.is_empty()) {
        out.append_pair(&full(name), value);
    }
    let place = if tag.is_empty() { String::new() } else { format!("#{tag}") };
    format!("?{}{place}", out.finish())
}

/// Rows as a file of a form.
pub(super) fn file(
    form: &str,
    tag: &str,
    heads: &[(&'static str, bool)],
    rows: impl Iterator<Item = Vec<String>>,
) -> Answer {
    let titles = || heads.iter().map(|(title, _)| (*title).to_owned());
    match form {
        "csv" => {
            let mut out = String::new();
            push_line(&mut out, titles());
            rows.for_each(|line| push_line(&mut out, line.into_iter()));
            let name = format!("attachment; filename={tag}.csv");
            Answer::of(200, "text/csv; charset=utf-8", out.into_bytes())
                .with_header("content-disposition", name)
        }
        "json" => {
            let objects: Vec<serde_json::Map<String, serde_json::Value>> = rows
                .map(|line| titles().zip(line.into_iter().map(serde_json::Value::String)).collect())
                .collect();
            let body = serde_json::to_vec(&objects).unwrap_or_default();
            Answer::of(200, "application/json", body)
        }
        "md" => {
            let mut out = String::new();
            push_row(&mut out, titles());
            let rule = |(_, is_number): &(&str, bool)| if *is_number { "--:" } else { "---" };
            push_row(&mut out, heads.iter().map(|head| rule(head).to_owned()));
            rows.for_each(|line| push_row(&mut out, line.into_iter()));
            Answer::of(200, "text/plain; charset=utf-8", out.into_bytes())
        }
        _ => Answer::text(400, "export is csv, json or md"),
    }
}

/// With the links to the same rows as files.
pub(super) fn seal(mut table: Table, link: impl Fn(&[(&str, &str)]) -> String) -> Table {
    table.as_csv = link(&[("export", "csv"), ("page", "")]);
    table.as_json = link(&[("export", "json"), ("page", "")]);
    table.as_markdown = link(&[("export", "md"), ("page", "")]);
    table
}

/// A row of a Markdown table.
fn push_row(out: &mut String, values: impl Iterator<Item = String>) {
    for value in values {
        let value = text::one_line(&value, usize::MAX).replace('\\', "\\\\").replace('|', "\\|");
        out.extend(["| ", &value, " "]);
    }
    out.push_str("|\n");
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
    write: impl Fn(i64) -> String + 'c,
    of: impl Fn(&R) -> Option<i64> + Copy + 'c,
) -> Column<'c, R> {
    let cell = move |row: &R| {
        let value = of(row);
        let exact = value.map_or_else(String::new, |value| value.to_string());
        Cell::text(text::or_missing(value, &write)).exact(exact)
    };
    sorted(title, hint, of, cell)
}

/// A column that is sorted by a number and shows anything.
pub(super) fn sorted<'c, R>(
    title: &'static str,
    hint: &'static str,
    key: impl Fn(&R) -> Option<i64> + 'c,
    cell: impl Fn(&R) -> Cell + 'c,
) -> Column<'c, R> {
    Column {
        title,
        hint,
        is_number: true,
        is_optional: false,
        key: Box::new(move |row| Key::of(key(row))),
        cell: Box::new(cell),
    }
}

/// A column of texts.
pub(super) fn words<'c, R>(
    title: &'static str,
    hint: &'static str,
    cell: impl Fn(&R) -> Cell + Clone + 'c,
) -> Column<'c, R> {
    let of = cell.clone();
    Column {
        title,
        hint,
        is_number: false,
        is_optional: false,
        key: Box::new(move |row| Key::Text(of(row).text.to_lowercase())),
        cell: Box::new(cell),
    }
}
