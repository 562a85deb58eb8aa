//! `Stage Info`, as job starts, stage submissions and stage completions carry it.

use serde_json::Value;
use store::{StageAttempt, StageAttemptId, Text};

use crate::{
    json,
    trackers::{Context, rdd},
};

/// What a stage's information says replaces what was known; what was counted stays.
pub(super) fn set(row: &mut StageAttempt, info: StageAttempt) {
    row.id = info.id;
    row.name = info.name;
    row.details = info.details;
    row.n_tasks = info.n_tasks;
    row.submitted_at_ms = info.submitted_at_ms;
    row.completed_at_ms = info.completed_at_ms;
    row.failure = info.failure;
    row.parent_ids = info.parent_ids;
    row.rdds = info.rdds;
    row.accumulables = info.accumulables;
    row.resource_profile = info.resource_profile;
    row.push_based_shuffle = info.push_based_shuffle;
    row.n_shuffle_mergers = info.n_shuffle_mergers;
    if row.pool == Text::EMPTY {
        row.pool = info.pool;
    }
}

/// A stage of a job of Spark before 1.2, whose start names ids only.
pub(super) fn unknown(id: i32, cx: &mut Context<'_>) -> StageAttempt {
    let unknown = cx.text("unknown");
    StageAttempt {
        id: StageAttemptId { stage: id, attempt: 0 },
        name: unknown,
        details: unknown,
        pool: cx.text("default"),
        ..StageAttempt::default()
    }
}

pub(super) fn read(info: &Value, cx: &mut Context<'_>) -> Option<StageAttempt> {
    let attempt = json::int32(info, "Stage Attempt ID").unwrap_or(0);
    let accumulables = json::list(info, "Accumulables")
        .iter()
        // these repeat the sums of the task metrics
        .filter(|a| !json::text(a, "Name").is_some_and(|n| n.starts_with("internal.metrics.")))
        .filter_map(|a| {
            let field = |key| a.get(key).map(json::as_text);
            let (update, value) = (field("Update"), field("Value"));
            Some(store::Accumulable {
                id: json::int(a, "ID")?,
                name: json::text(a, "Name").map(|t| cx.text(t)),
                update: update.map(|t| cx.text(&t)),
                value: value.map(|t| cx.text(&t)),
                internal: json::boolean(a, "Internal").unwrap_or(false),
                metadata: json::text(a, "Metadata").map(|t| cx.text(t)),
            })
        })
        .collect();
    Some(StageAttempt {
        id: StageAttemptId { stage: json::int32(info, "Stage ID")?, attempt },
        name: cx.text(json::text(info, "Stage Name").unwrap_or_default()),
        details: cx.text(json::text(info, "Details").unwrap_or_default()),
        pool: cx.text("default"),
        n_tasks: json::int(info, "Number of Tasks").unwrap_or(0),
        submitted_at_ms: json::int(info, "Submission Time"),
        completed_at_ms: json::int(info, "Completion Time"),
        failure: json::text(info, "Failure Reason").map(|t| cx.text(t)),
        parent_ids: json::int_list(info, "Parent IDs"),
        rdds: json::list(info, "RDD Info").iter().filter_map(|r| rdd::info(r, cx)).collect(),
        accumulables,
        resource_profile: json::int32(info, "Resource Profile Id").unwrap_or(0),
        push_based_shuffle: json::boolean(info, "Shuffle Push Enabled").unwrap_or(false),
        n_shuffle_mergers: json::int32(info, "Shuffle Push Mergers Count").unwrap_or(0),
        ..StageAttempt::default()
    })
}
