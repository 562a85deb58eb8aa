//! `/`: the applications.

use std::sync::Arc;

use askama::Template;

use super::table::{Cell, Column, Shown, Table, number, sorted, table, words};
use super::visit;
use super::zone::Zone;
use super::{html, look};
use crate::api::{Answer, Request};
use crate::serve::{Attempt, Library};
use crate::text;

#[derive(Template)]
#[template(path = "list.html")]
struct List {
    root: String,
    theme: &'static str,
    zone: String,
    /// The page where the look is chosen.
    look: String,
    table: Table,
    sources: Vec<String>,
    n_pending: usize,
    n_unreadable: usize,
    problems: Vec<(String, String)>,
}

const SHOWN: Shown = Shown {
    tag: "applications",
    title: "Applications",
    sort: "Started",
    descending: true,
    empty: "None yet. Event logs are looked for in the folders named above; an application writes one with \
            spark.eventLog.enabled=true and spark.eventLog.dir set to such a folder.",
};

/// An attempt with its application's name.
struct Line {
    name: String,
    attempt: Arc<Attempt>,
}

/// Answers with the page.
pub(crate) fn answer(library: &Library, request: &Request) -> Answer {
    let query = &request.query;
    // Spark's own parameter
    let incomplete = query.first("showIncomplete").map(|value| value.eq_ignore_ascii_case("true"));
    let applications = library.applications(usize::MAX, |_| true);
    let lines = applications.iter().flat_map(|application| {
        let name = &application.name;
        application
            .attempts
            .iter()
            .map(|attempt| Line { name: name.clone(), attempt: attempt.clone() })
    });
    let wanted = |line: &Line| {
        incomplete.is_none_or(|incomplete| line.attempt.ended_at_ms.is_none() == incomplete)
    };
    let lines: Vec<Line> = lines.filter(wanted).collect();
    let table = match table(query, &SHOWN, &columns(request), &lines) {
        Ok(table) => table,
        Err(file) => return file,
    };
    let progress = library.progress();
    let problems = progress.problems.into_iter().map(|problem| (problem.path, problem.what));
    html(
        200,
        &List {
            root: request.base_path().to_owned(),
            theme: look::theme(request),
            zone: Zone::of(request).name,
            look: format!("{}/look?back={}", request.base_path(), visit::encoded(&request.uri)),
            table,
            sources: library.sources().iter().map(|source| source.name.clone()).collect(),
            n_pending: progress.n_pending,
            n_unreadable: progress.n_unreadable,
            problems: problems.collect(),
        },
    )
}

fn columns(request: &Request) -> Vec<Column<'_, Line>> {
    let base = move |line: &Line| {
        let attempt = &line.attempt;
        visit::base(request, &attempt.app_id, attempt.attempt_id.as_deref())
    };
    let log_bytes = |line: &Line| i64::try_from(line.attempt.size_bytes).unwrap_or(i64::MAX);
    vec![
        words("Application", "Id of the application", move |line: &Line| {
            Cell::text(&line.attempt.app_id).link(format!("{}/jobs/", base(line)))
        }),
        words("Attempt", "Where a cluster manager started it several times", |line: &Line| {
            Cell::text(line.attempt.attempt_id.as_deref().unwrap_or(text::MISSING))
        }),
        words("Name", "As the application called itself", |line: &Line| {
            Cell::text(text::one_line(&line.name, 80)).exact(&line.name)
        }),
        words("User", "Who ran it", |line: &Line| Cell::text(&line.attempt.user)),
        words("Spark", "Version that wrote the log", |line: &Line| {
            Cell::text(&line.attempt.spark_version)
        }),
        number("Started", "In UTC", text::instant, |line: &Line| Some(line.attempt.started_at_ms)),
        number(
            "Ended",
            "In UTC; without an end it runs still, or its driver died",
            text::instant,
            |line: &Line| line.attempt.ended_at_ms,
        ),
        number("Duration", "Start to end", text::duration, |line: &Line| {
            let attempt = &line.attempt;
            attempt.ended_at_ms.map(|end| end.saturating_sub(attempt.started_at_ms))
        }),
        sorted(
            "Log",
            "Size of the log as stored; the link downloads it",
            move |line: &Line| Some(log_bytes(line)),
            move |line: &Line| {
                let bytes = log_bytes(line);
                let below = base(line);
                let below = below.get(request.base_path().len() + "/history".len()..);
                let below = below.unwrap_or_default();
                let link = format!("{}/api/v1/applications{below}/logs", request.base_path());
                Cell::text(text::bytes(bytes)).exact(format!("{bytes} bytes")).link(link)
            },
        ),
    ]
}
