//! When stages ran and when nothing did: a driver that plans, lists files, collects or sleeps leaves a pause.

use store::{StageAttemptId, StageStatus, Store};

use crate::app;

/// A stretch of the application's life without a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub from_ms: i64,
    pub to_ms: i64,
    /// The stage attempt that ended before it; `None` at the application's start.
    pub after: Option<StageAttemptId>,
    /// The stage attempt that began after it; `None` at the application's end.
    pub before: Option<StageAttemptId>,
}

impl Pause {
    pub fn duration_ms(&self) -> i64 {
        self.to_ms.saturating_sub(self.from_ms)
    }
}

/// How the application's life divides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    pub lifetime_ms: i64,
    /// At least one stage attempt was submitted and not complete.
    pub stages_ms: i64,
    /// In the order of time; those of no length are left out.
    pub pauses: Vec<Pause>,
}

/// `None` when the log does not tell when the application began or nothing is known to come after.
pub fn busy(store: &Store) -> Option<Busy> {
    let app = &store.tables().app;
    let (from_ms, to_ms) = (app.started_at_ms?, app.ended_at_ms.or(app.last_event_at_ms)?);
    let now_ms = app::last_event_at_ms(store);
    let mut spans: Vec<(i64, i64, StageAttemptId)> = store
        .tables()
        .stages
        .iter()
        .filter_map(|stage| {
            let open = (stage.status == StageStatus::Active).then_some(now_ms);
            Some((stage.submitted_at_ms?, stage.completed_at_ms.or(open)?, stage.id))
        })
        .collect();
    spans.sort_unstable();
    let (mut busy_until, mut last) = (from_ms, None);
    let mut pauses = Vec::new();
    for (begin, end, id) in spans {
        if begin > busy_until {
            pauses.push(Pause { from_ms: busy_until, to_ms: begin, after: last, before: Some(id) });
        }
        if end > busy_until || last.is_none() {
            busy_until = busy_until.max(end);
            last = Some(id);
        }
    }
    if to_ms > busy_until {
        pauses.push(Pause { from_ms: busy_until, to_ms, after: last, before: None });
    }
    let lifetime_ms = to_ms.saturating_sub(from_ms).max(0);
    let paused_ms = pauses.iter().map(Pause::duration_ms).fold(0, i64::saturating_add);
    Some(Busy { lifetime_ms, stages_ms: lifetime_ms.saturating_sub(paused_ms).max(0), pauses })
}
