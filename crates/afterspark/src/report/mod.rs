//! A report on one application attempt: the answers it is made of, and the forms it is written in.

mod csv;
mod json;
mod markdown;
mod table;
mod text;

use std::io;
use std::str::FromStr;

use store::{StageAttemptId, Store};
use views::{FIVE_NUMBERS, Scope, Summary};

use crate::text::Paint;

pub(crate) use csv::field as csv_field;
pub(crate) use table::Table;

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Markdown,
    Csv,
}

/// A stage that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagePick {
    All,
    One { stage: i32, attempt: Option<i32> },
}

impl FromStr for StagePick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            text.parse::<i32>().map_err(|_| "a stage is ID, ID.ATTEMPT or all".to_owned())
        };
        match text.split_once('.') {
            _ if text == "all" => Ok(StagePick::All),
            None => Ok(StagePick::One { stage: number(text)?, attempt: None }),
            Some((stage, attempt)) => {
                Ok(StagePick::One { stage: number(stage)?, attempt: Some(number(attempt)?) })
            }
        }
    }
}

/// See the module.
pub(crate) struct Report {
    pub(crate) store: Store,
    /// Name of the log's file or folder.
    pub(crate) log: String,
    pub(crate) scope: Scope,
    /// The stage attempts whose summaries were asked for. They are worked out when they are written, one at a time.
    pub(crate) stages: Vec<StageAttemptId>,
}

/// Puts the answers together; the error says which stage is not there.
pub(crate) fn of(
    store: Store,
    log: &str,
    scope: Scope,
    picks: &[StagePick],
) -> Result<Report, String> {
    let mut ids = Vec::new();
    for pick in picks {
        match pick {
            StagePick::All => ids.extend(views::stages(&store, scope).iter().map(|s| s.row.id)),
            StagePick::One { stage, attempt } => {
                let found = views::attempts_of(&store, *stage, *attempt);
                if found.is_empty() {
                    let attempt = attempt.map(|a| format!(".{a}")).unwrap_or_default();
                    return Err(format!("no stage {stage}{attempt}"));
                }
                ids.extend(found);
            }
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(Report { store, log: log.to_owned(), scope, stages: ids })
}

impl Report {
    /// The five-number summaries of a stage attempt; `None` when no task of it succeeded.
    fn summaries(&self, id: StageAttemptId) -> Option<Vec<Summary>> {
        views::summaries(&self.store, id, &FIVE_NUMBERS)
    }
}

/// Writes reports one after the other into one answer.
pub(crate) trait Writer {
    fn next(&mut self, report: &Report, out: &mut dyn io::Write) -> io::Result<()>;
    fn end(&mut self, out: &mut dyn io::Write) -> io::Result<()>;
}

pub(crate) fn writer(format: Format, paint: Paint) -> Box<dyn Writer> {
    match format {
        Format::Text => Box::new(text::Text { paint, first: true }),
        Format::Json => Box::new(json::Json { first: true }),
        Format::Markdown => Box::new(markdown::Markdown { first: true }),
        Format::Csv => Box::new(csv::Csv { first: true }),
    }
}
