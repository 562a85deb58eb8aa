//! Tables of text with columns as wide as their content, numbers to the right.

use crate::text::columns;

/// A table that grows row by row.
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// Columns that hold words, which stand to the left.
    words: Vec<bool>,
}

impl Table {
    /// Headings; one that begins with `<` is of a column of words.
    pub(crate) fn new(headings: &[&'static str]) -> Table {
        let words = headings.iter().map(|h| h.starts_with('<')).collect();
        let headings = headings.iter().map(|h| h.trim_start_matches('<')).collect();
        Table { headings, rows: Vec::new(), words }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| columns(&row[i]));
            cells.chain([columns(self.headings[i])]).max().unwrap_or(0)
        };
        (0..self.headings.len()).map(width).collect()
    }

    /// Width of a line.
    pub(crate) fn width(&self) -> usize {
        self.widths().iter().sum::<usize>() + self.headings.len().saturating_sub(1)
    }

    /// The heading line, then the lines of the rows.
    pub(crate) fn lines(&self) -> (String, Vec<String>) {
        let widths = self.widths();
        let line = |cells: &[String]| {
            let padded =
                cells.iter().zip(&widths).zip(&self.words).map(|((cell, width), words)| {
                    let pad = " ".repeat(width - columns(cell));
                    if *words { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
                });
            padded.collect::<Vec<_>>().join(" ").trim_end().to_owned()
        };
        let headings: Vec<String> = self.headings.iter().map(|h| (*h).to_owned()).collect();
        (line(&headings), self.rows.iter().map(|row| line(row)).collect())
    }
}
