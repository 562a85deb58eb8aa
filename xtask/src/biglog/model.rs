//! What a real log teaches: one SQL execution with its job and stages, and the events around it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use crate::Outcome;
use xtask::json::Json;

/// Successful tasks of a stage whose shape is copied in turn.
const TASKS_MAX: usize = 8;

pub(super) struct Model {
    /// The first event of each kind.
    pub(super) first: BTreeMap<String, Json>,
    pub(super) execution_start: Json,
    pub(super) execution_end: Json,
    /// Plan changes and metrics that the driver sent, in order.
    pub(super) execution_updates: Vec<Json>,
    pub(super) job_start: Json,
    pub(super) job_end: Json,
    pub(super) stages: Vec<Stage>,
}

pub(super) struct Stage {
    pub(super) submitted: Json,
    pub(super) completed: Json,
    pub(super) task_start: Json,
    pub(super) task_ends: Vec<Json>,
}

/// The class name of an event without its package.
fn kind(event: &Json) -> &str {
    event.get("Event").map_or("", Json::text).rsplit('.').next().unwrap_or("")
}

fn number(event: &Json, path: &[&str]) -> Option<u64> {
    event.at(path).and_then(Json::number)
}

/// The events of a log, plain or zstd.
pub(crate) fn read_events(path: &Path) -> Outcome<Vec<Json>> {
    let mut bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut plain = Vec::new();
        zstd::Decoder::new(bytes.as_slice())?.read_to_end(&mut plain)?;
        bytes = plain;
    }
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    Ok(lines.map(serde_json::from_slice).collect::<Result<_, _>>()?)
}

impl Model {
    /// The execution that ran the most stages (the first of several) is the model.
    pub(super) fn read(path: &Path) -> Outcome<Model> {
        let events = read_events(path)?;
        let completed: BTreeMap<u64, &Json> = events
            .iter()
            .filter(|e| kind(e) == "SparkListenerStageCompleted")
            .filter_map(|e| Some((number(e, &["Stage Info", "Stage ID"])?, e)))
            .collect();
        let mut jobs: BTreeMap<u64, Vec<&Json>> = BTreeMap::new();
        for job in events.iter().filter(|e| kind(e) == "SparkListenerJobStart") {
            if let Some(execution) = number(job, &["Properties", "spark.sql.execution.id"]) {
                jobs.entry(execution).or_default().push(job);
            }
        }
        let ran = |job: &Json| -> Vec<u64> {
            let ids = job.get("Stage IDs").map_or(&[][..], Json::list);
            ids.iter().filter_map(Json::number).filter(|id| completed.contains_key(id)).collect()
        };
        let (execution, jobs) = jobs
            .iter()
            .rev()
            .max_by_key(|(_, jobs)| jobs.iter().map(|job| ran(job).len()).sum::<usize>())
            .ok_or("the template has no SQL execution with a job")?;
        let job = *jobs.iter().rev().max_by_key(|job| ran(job).len()).ok_or("no job")?;
        let job_id = number(job, &["Job ID"]).ok_or("a job without an id")?;
        let mut ids: Vec<u64> = jobs.iter().flat_map(|job| ran(job)).collect();
        ids.sort_unstable();

        let find = |name: &str, path: &[&str], id: u64| -> Outcome<Json> {
            let found = events.iter().find(|e| kind(e) == name && number(e, path) == Some(id));
            Ok(found.cloned().ok_or_else(|| format!("the template has no {name} with id {id}"))?)
        };
        let stage = |id: u64| -> Outcome<Stage> {
            Ok(Stage {
                submitted: find("SparkListenerStageSubmitted", &["Stage Info", "Stage ID"], id)?,
                completed: completed[&id].clone(),
                task_start: find("SparkListenerTaskStart", &["Stage ID"], id)?,
                task_ends: task_ends(&events, id),
            })
        };
        let stages = ids.into_iter().map(stage).collect::<Outcome<Vec<_>>>()?;
        if stages.is_empty() || stages.iter().any(|stage| stage.task_ends.is_empty()) {
            return Err("the template's largest execution has a stage without tasks".into());
        }
        Ok(Model {
            execution_start: find("SparkListenerSQLExecutionStart", &["executionId"], *execution)?,
            execution_end: find("SparkListenerSQLExecutionEnd", &["executionId"], *execution)?,
            execution_updates: execution_updates(&events, *execution),
            job_start: job.clone(),
            job_end: find("SparkListenerJobEnd", &["Job ID"], job_id)?,
            stages,
            first: first_of_each(&events),
        })
    }

    pub(super) fn first(&self, kind: &str) -> Outcome<Json> {
        Ok(self.first.get(kind).cloned().ok_or_else(|| format!("the template has no {kind}"))?)
    }
}

fn task_ends(events: &[Json], stage: u64) -> Vec<Json> {
    let of_stage = |e: &&Json| {
        kind(e) == "SparkListenerTaskEnd"
            && number(e, &["Stage ID"]) == Some(stage)
            && e.at(&["Task End Reason", "Reason"]).is_some_and(|r| r.text() == "Success")
    };
    events.iter().filter(of_stage).take(TASKS_MAX).cloned().collect()
}

fn execution_updates(events: &[Json], execution: u64) -> Vec<Json> {
    const KINDS: [&str; 3] = [
        "SparkListenerSQLAdaptiveExecutionUpdate",
        "SparkListenerSQLAdaptiveSQLMetricUpdates",
        "SparkListenerDriverAccumUpdates",
    ];
    let ours =
        |e: &&Json| KINDS.contains(&kind(e)) && number(e, &["executionId"]) == Some(execution);
    events.iter().filter(ours).cloned().collect()
}

fn first_of_each(events: &[Json]) -> BTreeMap<String, Json> {
    let mut first = BTreeMap::new();
    for event in events {
        first.entry(kind(event).to_owned()).or_insert_with(|| event.clone());
    }
    first
}

/// Moves every accumulator id below `json` by a constant.
pub(super) fn shift(json: &mut Json, by: u64) {
    match json {
        Json::List(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Json::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "accumulatorId" => moved(value, by),
                    "Accumulables" => {
                        let items = value.list_mut().into_iter().flatten();
                        items.filter_map(|item| item.get_mut("ID")).for_each(|id| moved(id, by));
                    }
                    "accumUpdates" => {
                        let pairs = value.list_mut().into_iter().flatten();
                        let ids = pairs.filter_map(|p| p.list_mut()?.first_mut());
                        ids.for_each(|id| moved(id, by));
                    }
                    _ => shift(value, by),
                }
            }
        }
        _ => {}
    }
}

fn moved(id: &mut Json, by: u64) {
    if let Some(n) = id.number() {
        *id = (n + by).into();
    }
}
