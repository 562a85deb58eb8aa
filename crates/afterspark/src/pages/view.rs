//! What a page about an application consists of: blocks, one below the other.

use super::table::{Cell, Link, Table};

/// See the module.
#[derive(Default)]
pub(super) struct View {
    pub(super) heading: String,
    /// What leads here: where one comes from, outermost first.
    pub(super) trail: Vec<Link>,
    pub(super) blocks: Vec<Block>,
    /// Names of the modules that the page wants.
    pub(super) scripts: Vec<&'static str>,
    /// 404 for a page that says that there is no such thing.
    pub(super) status: u16,
}

/// A part of a page.
pub(super) enum Block {
    Facts(Vec<Fact>),
    Table(Box<Table>),
    /// A heading and the name of its place.
    Heading {
        id: &'static str,
        text: String,
    },
    /// A sentence to be read.
    Note(String),
    /// Something went wrong: a sentence, and what unfolds.
    Alarm {
        text: String,
        details: String,
    },
    /// A long text that unfolds.
    Text {
        id: &'static str,
        title: String,
        text: String,
        is_open: bool,
    },
    /// Two texts side by side, line by line.
    Beside {
        left: String,
        right: String,
        lines: Vec<[Line; 2]>,
    },
    Links {
        title: &'static str,
        links: Vec<Link>,
    },
    Markup(Markup),
}

impl Block {
    pub(super) fn table(table: Table) -> Block {
        Block::Table(Box::new(table))
    }
}

/// A line of one of two texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// The other text does not have it.
    pub(super) is_changed: bool,
}

/// A name and a value.
pub(super) struct Fact {
    pub(super) name: &'static str,
    /// What it means.
    pub(super) hint: &'static str,
    pub(super) cell: Cell,
}

/// Markup that is made by this program, in which what strangers wrote is escaped.
#[derive(Default)]
pub(super) struct Markup(String);

impl std::fmt::Display for Markup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Markup {}

impl Markup {
    /// Markup as it stands in the source.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Markup {
        self.0.push_str(markup);
        self
    }

    /// Text of any origin, escaped for content and for values of attributes.
    pub(super) fn text(&mut self, text: &str) -> &mut Markup {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // what XML has no place for
                c if c.is_control() && !matches!(c, '\n' | '\t') => self.0.push(' '),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Other markup behind it.
    pub(super) fn append(&mut self, other: &Markup) {
        self.0.push_str(&other.0);
    }

    /// An attribute with a text.
    pub(super) fn attribute(&mut self, name: &'static str, value: &str) -> &mut Markup {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    /// An attribute with a length, to a tenth.
    pub(super) fn length(&mut self, name: &'static str, value: f64) -> &mut Markup {
        let tenths = (value * 10.0).round() / 10.0;
        self.raw(" ").raw(name).raw("=\"").text(&tenths.to_string()).raw("\"")
    }
}

impl View {
    pub(super) fn new(heading: impl Into<String>) -> View {
        View { heading: heading.into(), status: 200, ..View::default() }
    }

    /// A page that says that there is nothing, and why.
    pub(super) fn nothing(status: u16, why: impl Into<String>) -> View {
        let heading = if status == 404 { "Not found" } else { "This was not understood" };
        let mut view = View { status, ..View::new(heading) };
        view.push(Block::Note(why.into()));
        view
    }

    pub(super) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(super) fn heading(&mut self, id: &'static str, text: impl Into<String>) {
        self.push(Block::Heading { id, text: text.into() });
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.push(Block::Note(text.into()));
    }
}

/// A fact.
pub(super) fn fact(name: &'static str, hint: &'static str, cell: Cell) -> Fact {
    Fact { name, hint, cell }
}
