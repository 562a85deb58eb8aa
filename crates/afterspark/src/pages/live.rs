//! Pages of Spark's that ask the driver itself: a log does not hold what they show, and they say so.
#![expect(clippy::unnecessary_wraps, reason = "views of pages have one signature")]

use super::table::Link;
use super::view::{Block, View};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;

pub(super) const THREAD_DUMP: Page =
    Page { path: &["executors", "threadDump"], tab: Tab::Below, view: thread_dump };
pub(super) const HEAP_HISTOGRAM: Page =
    Page { path: &["executors", "heapHistogram"], tab: Tab::Below, view: heap_histogram };
pub(super) const TASK_THREAD_DUMP: Page =
    Page { path: &["stages", "taskThreadDump"], tab: Tab::Below, view: task_thread_dump };
pub(super) const KILL_STAGE: Page =
    Page { path: &["stages", "stage", "kill"], tab: Tab::Below, view: kill };
pub(super) const KILL_JOB: Page =
    Page { path: &["jobs", "job", "kill"], tab: Tab::Below, view: kill };

/// Pages that have no family of their own.
pub(super) const PAGES: &[Page] = &[
    TASK_THREAD_DUMP,
    KILL_STAGE,
    KILL_JOB,
    Page { path: &["logs"], tab: Tab::Below, view: logs },
    Page { path: &["streaming"], tab: Tab::Below, view: dstreams },
    Page { path: &["streaming", "batch"], tab: Tab::Below, view: dstreams },
];

fn page(visit: &Visit<'_>, heading: &str, why: &str, instead: (&str, &str)) -> View {
    let mut view = View::new(heading);
    view.note(why);
    let link = Link { text: instead.0.to_owned(), to: format!("{}{}", visit.base, instead.1) };
    view.push(Block::Links { title: "Instead:", links: vec![link] });
    view
}

fn thread_dump(visit: &Visit<'_>) -> Result<View, Answer> {
    let why = "A thread dump shows what threads of an executor do at this moment. Spark writes none to event logs; ask the \
               driver while the application runs: its own page executors/threadDump/.";
    Ok(page(visit, "Thread dump", why, ("Executors", "/executors/")))
}

fn heap_histogram(visit: &Visit<'_>) -> Result<View, Answer> {
    let why = "A heap histogram counts the objects on an executor's heap at this moment. Spark writes none to event logs; \
               ask the driver while the application runs: its own page executors/heapHistogram/.";
    Ok(page(visit, "Heap histogram", why, ("Peak memory of executors", "/executors/")))
}

fn task_thread_dump(visit: &Visit<'_>) -> Result<View, Answer> {
    let why = "What a running task does at this moment is not written to event logs; ask the driver while the application \
               runs: its own page stages/taskThreadDump/.";
    Ok(page(visit, "Thread dump of a task", why, ("Stages", "/stages/")))
}

fn kill(visit: &Visit<'_>) -> Result<View, Answer> {
    let why = "An event log tells what an application did; nothing can be stopped through it. Stop jobs and stages on the \
               driver's own pages.";
    let mut view = page(visit, "Nothing was stopped", why, ("Jobs", "/jobs/"));
    view.status = 405;
    Ok(view)
}

fn logs(visit: &Visit<'_>) -> Result<View, Answer> {
    let why = "The text that the driver logged is not part of the event log. The addresses of the logs of driver and \
               executors, as the cluster manager told them, stand with the executors; the event log itself can be downloaded \
               from the list of applications.";
    Ok(page(visit, "Logs", why, ("Executors", "/executors/")))
}

fn dstreams(visit: &Visit<'_>) -> Result<View, Answer> {
    let why = "Batches of DStreams (the streaming API before Structured Streaming) are not written to event logs: Spark shows \
               them while the driver runs only. The jobs of the batches are in the log, with the batch in their description.";
    Ok(page(visit, "Streaming (DStreams)", why, ("Jobs", "/jobs/")))
}
