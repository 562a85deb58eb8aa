//! `taskSummary` and `taskList` of a stage attempt.

use store::{StageAttemptId, TaskColumn as C};
use views::{TaskKey, TaskQuery};

use super::{
    Call, Route, distributions,
    params::{self, Wanted},
    task_shape::Shaper,
    task_table,
};
use crate::api::{Answer, Handled};

pub(super) const ROUTES: &[Route] = &[
    (&["stages", "#", "#", "taskSummary"], summary),
    (&["stages", "#", "#", "taskList"], list),
    (&["stages", "#", "#", "taskTable"], task_table::table),
];

pub(super) fn stage_attempt(call: &Call<'_>) -> Result<StageAttemptId, Answer> {
    Ok(StageAttemptId { stage: call.int_id(0)?, attempt: call.int_id(1)? })
}

fn summary(call: &Call<'_>) -> Handled {
    let quantiles = params::quantiles(call.query(), &[0.05, 0.25, 0.5, 0.75, 0.95])?;
    let id = stage_attempt(call)?;
    let found = distributions::of_tasks(call, id, &quantiles);
    let found = found.ok_or_else(|| {
        let StageAttemptId { stage, attempt } = id;
        Answer::text(404, format!("No tasks reported metrics for {stage} / {attempt} yet."))
    })?;
    Ok(Answer::json(&found))
}

fn list(call: &Call<'_>) -> Handled {
    let query = call.query();
    let offset = params::int(query, "offset", 0)?;
    let length = params::int(query, "length", 20)?;
    let (key, descending) = match query.first("sortBy").filter(|value| !value.is_empty()) {
        None => (TaskKey::Id, false),
        Some(value) => match value.to_ascii_lowercase().as_str() {
            "id" => (TaskKey::Id, false),
            "increasing_runtime" | "runtime" => (TaskKey::Metric(C::executor_run_ms), false),
            "decreasing_runtime" | "-runtime" => (TaskKey::Metric(C::executor_run_ms), true),
            _ => return Err(Answer::page(404)),
        },
    };
    let statuses = params::task_statuses(query, "status")?;
    if length <= 0 && statuses.is_none() {
        return Err(Answer::page(500));
    }
    let query = TaskQuery {
        key,
        descending,
        offset: usize::try_from(offset).unwrap_or(0),
        n_max: usize::try_from(length).unwrap_or(0),
        statuses: statuses.map(|wanted| wanted.iter().filter_map(Wanted::known).collect()),
        ..TaskQuery::default()
    };
    Ok(Answer::json(&Shaper::new(call).tasks(stage_attempt(call)?, &query)))
}
