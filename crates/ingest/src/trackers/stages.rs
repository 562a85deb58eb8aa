//! Jobs, stage attempts and tasks: what is open, and what each event changes.
//!
//! This follows Spark's `AppStatusListener` (4.2) event by event, because its oddities are what the history server
//! shows: an entity is *live* until it ends and *published* when it is written to the answers; a job that ended is
//! published as it was then, a stage attempt stays live until its last task ended, late tasks of a stage that is no
//! longer live change nothing, and counts may become negative when events are missing or tasks are resubmitted.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde_json::Value;
use store::{
    ExecutorMetrics, Job, JobStatus, MetricSums, StageAttempt, StageAttemptId, StageExecutor,
    StageExecutors, StageStatus, TaskColumn as C, TaskFlags, TaskRow, Text, record,
};

use crate::{
    batch::{EndReason, TaskEnd, TaskInfo},
    index_set::IndexSet,
    json,
    trackers::{Context, stage_info},
};

record! {
    /// A task between its start and its end.
    pub(crate) struct LiveTask {
        stage: StageAttemptId,
        index: i64,
        attempt: i64,
        partition_id: i64,
        launched_at_ms: i64,
        getting_result_at_ms: i64,
        executor: i64,
        host: i64,
        locality: i64,
        flags: i64,
    }

    struct LiveStageExecutor {
        now: StageExecutor,
        /// As last written to the answers.
        published: Option<StageExecutor>,
        n_active: i64,
        /// Something was reported of it; until then it just has tasks running.
        reported: bool,
    }

    struct LiveStage {
        row: StageAttempt,
        /// Slots in [`Stages::jobs`] of the jobs that were live when it was submitted.
        jobs: Vec<u32>,
        indexes: IndexSet,
        executors: HashMap<Text, LiveStageExecutor>,
        excluded_executors: Vec<Text>,
    }

    struct LiveJob {
        now: Job,
        /// `now.stage_ids` in order, for looking up.
        stage_ids: Vec<i32>,
        indexes: BTreeMap<i32, IndexSet>,
        live: bool,
    }

    /// See the module.
    pub(crate) struct Stages {
        /// Every job that was seen, in log order; a slot is a position here.
        jobs: Vec<LiveJob>,
        /// Slots of the live ones, by job id.
        live_jobs: BTreeMap<i32, u32>,
        published_jobs: BTreeMap<i32, Job>,
        live: HashMap<StageAttemptId, LiveStage>,
        published: BTreeMap<StageAttemptId, StageAttempt>,
        tasks: HashMap<i64, LiveTask>,
        n_end_without_start: u64,
        /// Ends of tasks whose stage attempt was not live: over, or never heard of.
        n_without_stage: u64,
    }
}

/// What the end of a task means to the executor trackers.
pub(crate) struct Ended {
    /// The stage attempt ended with it, most likely.
    pub(crate) stage_removed: bool,
    /// There was a start.
    pub(crate) started: bool,
}

fn add(to: &mut MetricSums, row: &TaskRow) {
    for (sum, value) in to.0.iter_mut().zip(&row.0[C::FIRST_METRIC..]) {
        *sum = sum.wrapping_add(*value);
    }
}

/// Raises each peak to the new value; unset peaks begin at 0, as Spark's do.
pub(crate) fn raise(peak: &mut Option<ExecutorMetrics>, set: &ExecutorMetrics) -> bool {
    let known = peak.is_some();
    let peak = peak.get_or_insert([0; store::EXECUTOR_METRICS.len()]);
    let mut changed = !known;
    for (high, value) in peak.iter_mut().zip(set) {
        if value > high {
            *high = *value;
            changed = true;
        }
    }
    changed
}

impl LiveJob {
    fn has_stage(&self, stage: i32) -> bool {
        self.stage_ids.binary_search(&stage).is_ok()
    }
}

fn insert_sorted(list: &mut Vec<i32>, value: i32) {
    if let Err(at) = list.binary_search(&value) {
        list.insert(at, value);
    }
}

fn remove_sorted(list: &mut Vec<i32>, value: i32) {
    if let Ok(at) = list.binary_search(&value) {
        list.remove(at);
    }
}

impl Stages {
    pub(crate) fn job_start(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let id = json::int32(event, "Job ID")?;
        let stage_ids = json::int_list(event, "Stage IDs");
        let infos: Vec<StageAttempt> = match event.get("Stage Infos").and_then(Value::as_array) {
            Some(infos) => infos.iter().filter_map(|info| stage_info::read(info, cx)).collect(),
            None => stage_ids.iter().map(|id| stage_info::unknown(*id, cx)).collect(),
        };
        let at_ms = json::int(event, "Submission Time").filter(|at| *at > 0);
        cx.seen_at(at_ms);
        let properties = event.get("Properties").unwrap_or(&Value::Null);
        let property = |key| json::text(properties, key);
        let last = infos.iter().max_by_key(|info| info.id.stage);
        let tags = property("spark.job.tags").unwrap_or_default();
        let job = Job {
            id,
            name: last.map_or(Text::EMPTY, |info| info.name),
            description: property("spark.job.description").map(|t| cx.text(t)),
            group: property("spark.jobGroup.id").map(|t| cx.text(t)),
            tags: tags.split(',').filter(|t| !t.is_empty()).map(|t| cx.text(t)).collect(),
            submitted_at_ms: at_ms,
            stage_ids,
            n_tasks: infos
                .iter()
                .filter(|i| i.completed_at_ms.is_none())
                .fold(0, |sum: i64, i| sum.wrapping_add(i.n_tasks)),
            sql_execution: property("spark.sql.execution.id").and_then(|t| t.parse().ok()),
            ..Job::default()
        };
        let slot = self.jobs.len() as u32;
        let before = self.live_jobs.insert(id, slot);
        let mut sorted_ids = job.stage_ids.clone();
        sorted_ids.sort_unstable();
        if let Some(before) = before {
            self.jobs[before as usize].live = false;
        }
        self.jobs.push(LiveJob {
            now: job,
            stage_ids: sorted_ids,
            indexes: BTreeMap::new(),
            live: true,
        });
        for info in infos {
            let stage = self.get_or_create(info);
            stage.jobs.push(slot);
            insert_sorted(&mut stage.row.job_ids, id);
        }
        Some(())
    }

    fn get_or_create(&mut self, info: StageAttempt) -> &mut LiveStage {
        let stage = self.live.entry(info.id).or_default();
        stage_info::set(&mut stage.row, info);
        stage
    }

    /// The job's SQL execution, if it has one, and whether the job succeeded.
    pub(crate) fn job_end(
        &mut self,
        event: &Value,
        cx: &mut Context<'_>,
    ) -> Option<(Option<i64>, bool)> {
        let id = json::int32(event, "Job ID")?;
        let at_ms = json::int(event, "Completion Time").filter(|at| *at > 0);
        cx.seen_at(at_ms);
        let job = &mut self.jobs[self.live_jobs.remove(&id)? as usize];
        job.live = false;
        let mut skipped: Vec<StageAttemptId> = self
            .live
            .iter()
            .filter(|(id, s)| s.row.status == StageStatus::Pending && job.has_stage(id.stage))
            .map(|(id, _)| *id)
            .collect();
        skipped.sort_unstable();
        for id in skipped {
            let Some(mut stage) = self.live.remove(&id) else { continue };
            stage.row.status = StageStatus::Skipped;
            insert_sorted(&mut job.now.counts.skipped_stages, id.stage);
            let skipped_tasks = &mut job.now.counts.n_skipped_tasks;
            *skipped_tasks = skipped_tasks.wrapping_add(stage.row.n_tasks);
            publish(&mut self.published, stage, true);
        }
        let result = event.get("Job Result").unwrap_or(&Value::Null);
        job.now.status = match json::text(result, "Result") {
            Some("JobSucceeded") => JobStatus::Succeeded,
            _ => JobStatus::Failed,
        };
        let exception = result.get("Exception").unwrap_or(&Value::Null);
        job.now.failure = json::text(exception, "Message").map(|t| cx.text(t));
        job.now.completed_at_ms = at_ms;
        self.published_jobs.insert(id, job.now.clone());
        Some((job.now.sql_execution, job.now.status == JobStatus::Succeeded))
    }

    pub(crate) fn stage_submitted(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let info = stage_info::read(event.get("Stage Info")?, cx)?;
        cx.seen_at(info.submitted_at_ms);
        let id = info.id;
        let properties = event.get("Properties").unwrap_or(&Value::Null);
        let pool = json::text(properties, "spark.scheduler.pool").unwrap_or("default");
        let pool = cx.text(pool);
        let description = json::text(properties, "spark.job.description").map(|t| cx.text(t));
        let mut slots = Vec::new();
        for slot in self.live_jobs.values() {
            let job = &mut self.jobs[*slot as usize];
            if job.has_stage(id.stage) {
                remove_sorted(&mut job.now.counts.completed_stages, id.stage);
                job.now.counts.n_active_stages += 1;
                slots.push(*slot);
            }
        }
        let mut job_ids: Vec<i32> = slots.iter().map(|s| self.jobs[*s as usize].now.id).collect();
        job_ids.sort_unstable();
        for rdd in &info.rdds {
            cx.storage.persist(rdd);
        }
        let stage = self.get_or_create(info);
        stage.row.status = StageStatus::Active;
        stage.row.pool = pool;
        stage.row.description = description;
        stage.row.job_ids = job_ids;
        stage.jobs = slots;
        Some(())
    }

    /// The attempt's id, and whether it will get no more tasks; `None` for one that is not live.
    pub(crate) fn stage_completed(
        &mut self,
        event: &Value,
        cx: &mut Context<'_>,
    ) -> Option<(StageAttemptId, bool)> {
        let info = stage_info::read(event.get("Stage Info")?, cx)?;
        cx.seen_at(info.completed_at_ms);
        let id = info.id;
        let stage = self.live.get_mut(&id)?;
        stage_info::set(&mut stage.row, info);
        stage.row.status = match (stage.row.failure, stage.row.submitted_at_ms) {
            (Some(_), _) => StageStatus::Failed,
            (None, Some(_)) => StageStatus::Complete,
            (None, None) => StageStatus::Skipped,
        };
        for slot in &stage.jobs {
            let counts = &mut self.jobs[*slot as usize].now.counts;
            match stage.row.status {
                StageStatus::Complete => insert_sorted(&mut counts.completed_stages, id.stage),
                StageStatus::Skipped => {
                    insert_sorted(&mut counts.skipped_stages, id.stage);
                    counts.n_skipped_tasks = counts.n_skipped_tasks.wrapping_add(stage.row.n_tasks);
                }
                _ => counts.n_failed_stages += 1,
            }
            counts.n_active_stages -= 1;
        }
        for executor in &stage.excluded_executors {
            cx.executors.include_again(*executor, id.stage);
        }
        for executor in stage.executors.values_mut().filter(|e| e.reported) {
            executor.published = Some(executor.now.clone());
        }
        if stage.row.counts.n_active != 0 {
            return Some((id, false));
        }
        let stage = self.live.remove(&id)?;
        publish(&mut self.published, stage, false);
        Some((id, true))
    }

    pub(crate) fn task_start(&mut self, stage_id: StageAttemptId, info: &TaskInfo) {
        self.tasks.insert(
            info[C::task_id as usize],
            LiveTask {
                stage: stage_id,
                index: info[C::index as usize],
                attempt: info[C::attempt as usize],
                partition_id: info[C::partition_id as usize],
                launched_at_ms: info[C::launched_at_ms as usize],
                getting_result_at_ms: info[C::getting_result_at_ms as usize],
                executor: info[C::executor as usize],
                host: info[C::host as usize],
                locality: info[C::locality as usize],
                flags: info[C::flags as usize],
            },
        );
        let Some(stage) = self.live.get_mut(&stage_id) else { return };
        let launched = info[C::launched_at_ms as usize];
        let first = stage.row.first_task_launched_at_ms.get_or_insert(launched);
        *first = launched.min(*first);
        stage.row.counts.n_active += 1;
        if let Some(locality) = Text::from_column(info[C::locality as usize]) {
            *stage.row.locality.entry(locality).or_default() += 1;
        }
        if let Some(executor) = Text::from_column(info[C::executor as usize]) {
            stage.executors.entry(executor).or_default().n_active += 1;
        }
        if info[C::flags as usize] & TaskFlags::SPECULATIVE != 0 {
            stage.row.counts.speculation.n_tasks += 1;
            stage.row.counts.speculation.n_active += 1;
        }
        for slot in &stage.jobs {
            self.jobs[*slot as usize].now.counts.n_active_tasks += 1;
        }
    }

    pub(crate) fn task_end(&mut self, end: &TaskEnd, set: Option<&ExecutorMetrics>) -> Ended {
        let started = self.tasks.remove(&end.row[C::task_id]).is_some();
        if !started && end.reason != EndReason::Resubmitted {
            self.n_end_without_start += 1;
        }
        let Some(stage) = self.live.get_mut(&end.stage) else {
            self.n_without_stage += u64::from(end.reason != EndReason::Resubmitted);
            return Ended { stage_removed: false, started };
        };
        let outcome = Outcome::of(end, started);
        let set = set.unwrap_or(&[0; store::EXECUTOR_METRICS.len()]);
        stage.task_end(&end.row, &outcome, set);
        if let Some(executor) = Text::from_column(end.row[C::executor]) {
            stage.executors.entry(executor).or_default().task_end(&end.row, &outcome, set);
        }
        let stage_removed = stage.row.counts.n_active == 0
            && matches!(stage.row.status, StageStatus::Complete | StageStatus::Failed);
        for slot in &stage.jobs {
            let job = &mut self.jobs[*slot as usize];
            job.task_end(end, &outcome);
            if stage_removed && !job.live {
                self.published_jobs.insert(job.now.id, job.now.clone());
            }
        }
        if stage_removed && let Some(stage) = self.live.remove(&end.stage) {
            publish(&mut self.published, stage, false);
        }
        Ended { stage_removed, started }
    }

    pub(crate) fn task_getting_result(&mut self, event: &Value) -> Option<()> {
        let info = event.get("Task Info")?;
        let task = self.tasks.get_mut(&json::int(info, "Task ID")?)?;
        task.getting_result_at_ms = json::int(info, "Getting Result Time")?;
        Some(())
    }

    pub(crate) fn speculative_task_submitted(&mut self, event: &Value) -> Option<()> {
        let attempt = json::int32(event, "Stage Attempt ID").unwrap_or(0);
        let id = StageAttemptId { stage: json::int32(event, "Stage ID")?, attempt };
        self.live.get_mut(&id)?.row.n_speculative_submitted += 1;
        Some(())
    }

    /// Peaks of an executor for a stage attempt, or for all that are active when the attempt is (−1, −1).
    pub(crate) fn peaks(&mut self, id: StageAttemptId, executor: Text, set: &ExecutorMetrics) {
        let all = id == StageAttemptId { stage: -1, attempt: -1 };
        let active =
            self.live.values().filter(|s| s.row.status == StageStatus::Active).map(|s| s.row.id);
        let ids: Vec<StageAttemptId> = if all { active.collect() } else { vec![id] };
        for id in ids {
            if let Some(stage) = self.live.get_mut(&id) {
                raise(&mut stage.row.peak, set);
                let executor = stage.executors.entry(executor).or_default();
                executor.reported = true;
                raise(&mut executor.now.peak, set);
            }
        }
    }

    pub(crate) fn exclude(&mut self, id: StageAttemptId, executor: Text) {
        if let Some(stage) = self.live.get_mut(&id) {
            let summary = stage.executors.entry(executor).or_default();
            summary.reported = true;
            summary.now.excluded = true;
            if !stage.excluded_executors.contains(&executor) {
                stage.excluded_executors.push(executor);
            }
        }
    }

    /// Whether an executor that was removed then is still of interest to a stage that is live.
    pub(crate) fn is_needed(&self, removed_at_ms: i64) -> bool {
        self.live.values().any(|s| s.row.submitted_at_ms.unwrap_or(0) < removed_at_ms)
    }

    pub(crate) fn n_end_without_start(&self) -> u64 {
        self.n_end_without_start
    }

    pub(crate) fn n_without_stage(&self) -> u64 {
        self.n_without_stage
    }

    /// Everything as it stands: published as it was, live as it is.
    pub(crate) fn finish(self) -> Finished {
        let mut jobs = self.published_jobs;
        let n_open_jobs = self.live_jobs.len() as u64;
        for slot in self.live_jobs.into_values() {
            let job = &self.jobs[slot as usize].now;
            jobs.insert(job.id, job.clone());
        }
        let mut stages = self.published;
        let mut live: Vec<LiveStage> = self.live.into_values().collect();
        live.sort_unstable_by_key(|stage| stage.row.id);
        let mut n_open_stages = 0;
        for stage in live {
            n_open_stages += u64::from(stage.row.status == StageStatus::Active);
            publish(&mut stages, stage, true);
        }
        let mut running: Vec<(StageAttemptId, TaskRow)> =
            self.tasks.iter().map(|(id, task)| (task.stage, task.row(*id))).collect();
        running.sort_unstable_by_key(|(stage, row)| (*stage, row[C::task_id]));
        let n_tasks_left_open = running
            .iter()
            .filter(|(id, _)| stages.get(id).is_none_or(|s| s.status != StageStatus::Active))
            .count() as u64;
        Finished {
            jobs: jobs.into_values().collect(),
            stages: stages.into_values().collect(),
            running,
            n_open_jobs,
            n_open_stages,
            n_tasks_left_open,
        }
    }
}

/// What the end of a task adds to counts.
struct Outcome {
    n_completed: i64,
    n_failed: i64,
    n_killed: i64,
    killed_reason: Option<Text>,
    /// Metrics of a task whose start is not known are not summed.
    started: bool,
}

impl Outcome {
    fn of(end: &TaskEnd, started: bool) -> Outcome {
        let (n_completed, n_failed, n_killed) = match end.reason {
            EndReason::Success => (1, 0, 0),
            EndReason::Killed => (0, 0, 1),
            EndReason::Failed | EndReason::Resubmitted => (0, 1, 0),
        };
        let killed_reason = Text::from_column(end.row[C::error]).filter(|_| n_killed == 1);
        Outcome { n_completed, n_failed, n_killed, killed_reason, started }
    }
}

impl LiveStage {
    fn task_end(&mut self, row: &TaskRow, outcome: &Outcome, set: &ExecutorMetrics) {
        if outcome.started {
            add(&mut self.row.sums, row);
        }
        let counts = &mut self.row.counts;
        counts.n_active -= 1;
        counts.n_completed += outcome.n_completed;
        counts.n_failed += outcome.n_failed;
        counts.n_killed += outcome.n_killed;
        if outcome.n_completed == 1 {
            self.indexes.insert(row[C::index]);
            counts.n_completed_indices = self.indexes.len();
        }
        if let Some(reason) = outcome.killed_reason {
            *counts.killed_reasons.entry(reason).or_default() += 1;
        }
        if row[C::flags] & TaskFlags::SPECULATIVE != 0 {
            counts.speculation.n_active -= 1;
            counts.speculation.n_completed += outcome.n_completed;
            counts.speculation.n_failed += outcome.n_failed;
            counts.speculation.n_killed += outcome.n_killed;
        }
        raise(&mut self.row.peak, set);
    }
}

impl LiveStageExecutor {
    fn task_end(&mut self, row: &TaskRow, outcome: &Outcome, set: &ExecutorMetrics) {
        self.reported = true;
        raise(&mut self.now.peak, set);
        self.now.task_ms = self.now.task_ms.wrapping_add(row.duration_ms());
        self.now.n_succeeded += outcome.n_completed;
        self.now.n_failed += outcome.n_failed;
        self.now.n_killed += outcome.n_killed;
        if outcome.started {
            add(&mut self.now.sums, row);
        }
        self.n_active -= 1;
        if self.n_active == 0 {
            self.published = Some(self.now.clone());
        }
    }
}

impl LiveJob {
    fn task_end(&mut self, end: &TaskEnd, outcome: &Outcome) {
        let counts = &mut self.now.counts;
        counts.n_active_tasks -= 1;
        counts.n_completed_tasks += outcome.n_completed;
        counts.n_failed_tasks += outcome.n_failed;
        counts.n_killed_tasks += outcome.n_killed;
        if outcome.n_completed == 1 {
            let indexes = self.indexes.entry(end.stage.stage).or_default();
            let before = indexes.len();
            indexes.insert(end.row[C::index]);
            counts.n_completed_indices += indexes.len() - before;
        }
        if let Some(reason) = outcome.killed_reason {
            *counts.killed_reasons.entry(reason).or_default() += 1;
        }
    }
}

/// The answers at one moment.
pub(crate) struct Finished {
    pub(crate) jobs: Vec<Job>,
    pub(crate) stages: Vec<StageAttempt>,
    pub(crate) running: Vec<(StageAttemptId, TaskRow)>,
    pub(crate) n_open_jobs: u64,
    pub(crate) n_open_stages: u64,
    pub(crate) n_tasks_left_open: u64,
}

impl LiveTask {
    fn row(&self, task_id: i64) -> TaskRow {
        let mut row = TaskRow::UNKNOWN;
        for (column, value) in [
            (C::task_id, task_id),
            (C::index, self.index),
            (C::attempt, self.attempt),
            (C::partition_id, self.partition_id),
            (C::launched_at_ms, self.launched_at_ms),
            (C::getting_result_at_ms, self.getting_result_at_ms),
            (C::executor, self.executor),
            (C::host, self.host),
            (C::locality, self.locality),
            (C::flags, self.flags | TaskFlags::RUNNING),
        ] {
            row[column] = value;
        }
        row
    }
}

/// Writes a stage attempt to the answers, over an earlier one of the same id. `as_it_is`: its executors too,
/// instead of as they were last written.
fn publish(
    published: &mut BTreeMap<StageAttemptId, StageAttempt>,
    stage: LiveStage,
    as_it_is: bool,
) {
    let mut row = stage.row;
    let before = published.get(&row.id).map(|before| before.executors.unpack());
    let mut executors = before.unwrap_or_default();
    for (id, executor) in stage.executors {
        let now = Some(executor.now).filter(|_| executor.reported);
        let shown = if as_it_is { now } else { executor.published };
        if let Some(shown) = shown {
            executors.insert(id, shown);
        }
    }
    row.executors = StageExecutors::pack(&executors);
    published.insert(row.id, row);
}
