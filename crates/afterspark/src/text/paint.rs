//! Colours, on a terminal only; never the only carrier of meaning.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

/// Whether and how stdout is coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours when stdout is a terminal and the user did not refuse them.
    pub(crate) fn for_stdout() -> Paint {
        Paint { on: std::io::stdout().is_terminal() && !crate::settings::no_color() }
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// For what is wrong.
    pub(crate) fn alarm(self, text: &str) -> String {
        self.with(Style::new().fg_color(Some(AnsiColor::Red.into())), text)
    }

    /// For what deserves a look.
    pub(crate) fn notice(self, text: &str) -> String {
        self.with(Style::new().fg_color(Some(AnsiColor::Yellow.into())), text)
    }
}
