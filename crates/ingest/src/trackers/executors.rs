//! Executors and the driver: when they came and went, what ran on them, who was excluded.
//! Follows Spark's `AppStatusListener`: an executor that registers again is a new entity under the same id.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde_json::Value;
use store::{
    Executor, ExecutorChange, ExecutorEvent, ExecutorMetrics, Pairs, StageAttemptId,
    TaskColumn as C, TaskRow, Text, record,
};

use crate::{
    batch::EndReason,
    json,
    trackers::{Context, stages},
};

record! {
    /// See the module.
    pub(crate) struct Executors {
        live: HashMap<Text, Executor>,
        /// Removed, but a stage that ran on them is still live.
        dead: BTreeMap<Text, Executor>,
        published: BTreeMap<Text, Executor>,
        events: Vec<ExecutorEvent>,
        /// `spark.task.cpus`, in parts of [`CPU_PARTS`].
        cpu_parts_per_task: Option<i64>,
    }
}

/// Spark 4.3 counts CPUs with nine decimals; before that they were whole.
const CPU_PARTS: i64 = 1_000_000_000;

/// A number of CPUs in parts of one; `None` when no task can have so many.
pub(super) fn cpu_parts(cpus: f64) -> Option<i64> {
    let is_possible = (1.0 / CPU_PARTS as f64..=f64::from(i32::MAX)).contains(&cpus);
    is_possible.then(|| (cpus * CPU_PARTS as f64).round() as i64)
}

impl Executors {
    /// An executor that is not removed.
    pub(super) fn live(&mut self, id: Text) -> Option<&mut Executor> {
        self.live.get_mut(&id)
    }

    fn get_or_create(&mut self, id: Text, at_ms: i64) -> &mut Executor {
        self.live.entry(id).or_insert_with(|| Executor {
            id,
            active: true,
            added_at_ms: at_ms,
            ..Executor::default()
        })
    }

    pub(crate) fn set_cpus_per_task(&mut self, cpus: f64) {
        self.cpu_parts_per_task = cpu_parts(cpus).or(self.cpu_parts_per_task);
    }

    pub(crate) fn set_driver_logs(&mut self, driver: Text, logs: Pairs, attributes: Pairs) {
        if let Some(driver) = self.live.get_mut(&driver) {
            driver.logs = logs;
            driver.attributes = attributes;
        }
    }

    pub(crate) fn task_start(&mut self, executor: i64) {
        let id = Text::from_column(executor);
        if let Some(executor) = id.and_then(|id| self.live.get_mut(&id)) {
            executor.n_active_tasks += 1;
            executor.n_total_tasks += 1;
        }
    }

    pub(crate) fn task_end(
        &mut self,
        row: &TaskRow,
        reason: EndReason,
        set: Option<&ExecutorMetrics>,
    ) {
        let id = Text::from_column(row[C::executor]);
        let Some(executor) = id.and_then(|id| self.live.get_mut(&id)) else { return };
        executor.n_active_tasks -= 1;
        executor.n_completed_tasks += i64::from(reason == EndReason::Success);
        executor.n_failed_tasks +=
            i64::from(matches!(reason, EndReason::Failed | EndReason::Resubmitted));
        executor.task_ms = executor.task_ms.wrapping_add(row.duration_ms());
        stages::raise(&mut executor.peak, set.unwrap_or(&[0; store::EXECUTOR_METRICS.len()]));
        if reason != EndReason::Resubmitted {
            // wrapping, as the sums of the history server do
            let add = |sum: &mut i64, value: i64| *sum = sum.wrapping_add(value);
            add(&mut executor.gc_ms, row[C::jvm_gc_ms]);
            add(&mut executor.input_bytes, row[C::input_bytes]);
            add(&mut executor.shuffle_read_bytes, row[C::shuffle_local_bytes]);
            add(&mut executor.shuffle_read_bytes, row[C::shuffle_remote_bytes]);
            add(&mut executor.shuffle_write_bytes, row[C::shuffle_write_bytes]);
        }
    }

    pub(crate) fn peaks(&mut self, id: Text, set: &ExecutorMetrics) {
        if let Some(executor) = self.live.get_mut(&id) {
            stages::raise(&mut executor.peak, set);
        } else if let Some(executor) = self.dead.get_mut(&id) {
            stages::raise(&mut executor.peak, set);
            self.published.insert(id, executor.clone());
        }
    }

    /// A stage has ended for which the executor had been excluded.
    pub(crate) fn include_again(&mut self, id: Text, stage: i32) {
        if let Some(executor) = self.live.get_mut(&id) {
            executor.excluded_in_stages.retain(|s| *s != stage);
        }
    }

    /// Drops those that no live stage needs.
    pub(crate) fn forget_dead(&mut self, stages: &stages::Stages) {
        self.dead.retain(|_, e| stages.is_needed(e.removed_at_ms.unwrap_or(0)));
    }

    pub(crate) fn finish(self) -> (Vec<Executor>, Vec<ExecutorEvent>) {
        let mut all = self.published;
        let live: BTreeMap<Text, Executor> = self.live.into_iter().collect();
        all.extend(live);
        (all.into_values().collect(), self.events)
    }
}

pub(crate) fn added(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let id = cx.text(json::text(event, "Executor ID")?);
    let at_ms = json::int(event, "Timestamp").unwrap_or(0);
    cx.seen_at(Some(at_ms));
    let info = event.get("Executor Info")?;
    let host = cx.text(json::text(info, "Host").unwrap_or_default());
    let logs = cx.pairs(info, "Log Urls");
    let attributes = cx.pairs(info, "Attributes");
    let resources = info.get("Resources").and_then(Value::as_object).into_iter().flatten();
    let resources = resources
        .map(|(name, resource)| {
            let addresses =
                json::list(resource, "addresses").iter().map(|a| cx.text(&json::as_text(a)));
            let addresses = addresses.collect();
            (cx.text(name), addresses)
        })
        .collect();
    let cores = json::int(info, "Total Cores").unwrap_or(0);
    let profile = json::int32(info, "Resource Profile Id").unwrap_or(0);
    let cpu_parts = cx.cpus_of_profile(profile).and_then(cpu_parts);
    let cpu_parts = cpu_parts.or(cx.executors.cpu_parts_per_task).unwrap_or(CPU_PARTS);
    let executor = cx.executors.get_or_create(id, at_ms);
    executor.host = Some(host);
    executor.active = true;
    executor.total_cores = cores;
    executor.max_tasks = cores.saturating_mul(CPU_PARTS).div_euclid(cpu_parts);
    executor.logs = logs;
    executor.attributes = attributes;
    executor.resources = resources;
    executor.resource_profile = profile;
    let change = ExecutorChange::Added;
    cx.executors.events.push(ExecutorEvent {
        at_ms,
        subject: id,
        change,
        n_cores: Some(cores),
        ..ExecutorEvent::default()
    });
    Some(())
}

pub(crate) fn removed(event: &Value, stages: &stages::Stages, cx: &mut Context<'_>) -> Option<()> {
    let id = cx.text(json::text(event, "Executor ID")?);
    let at_ms = json::int(event, "Timestamp").unwrap_or(0);
    cx.seen_at(Some(at_ms));
    let reason = json::text(event, "Removed Reason").map(|t| cx.text(t));
    cx.executors.events.push(ExecutorEvent {
        at_ms,
        subject: id,
        change: ExecutorChange::Removed,
        reason,
        ..ExecutorEvent::default()
    });
    let mut executor = cx.executors.live.remove(&id)?;
    cx.storage.executor_removed(id);
    executor.active = false;
    executor.removed_at_ms = Some(at_ms);
    executor.remove_reason = reason;
    if stages.is_needed(at_ms) {
        cx.executors.dead.insert(id, executor.clone());
    }
    cx.executors.published.insert(id, executor);
    Some(())
}

pub(crate) fn block_manager_added(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let manager = event.get("Block Manager ID")?;
    let id = cx.text(json::text(manager, "Executor ID")?);
    let at_ms = json::int(event, "Timestamp").unwrap_or(0);
    cx.seen_at(Some(at_ms));
    let port = json::int(manager, "Port").unwrap_or(0);
    let host_port = format!("{}:{port}", json::text(manager, "Host").unwrap_or_default());
    let host_port = cx.text(&host_port);
    let executor = cx.executors.get_or_create(id, at_ms);
    executor.host_port = Some(host_port);
    if let Some(on_heap) = json::int(event, "Maximum Onheap Memory") {
        executor.on_heap_memory_bytes = Some(on_heap);
        executor.off_heap_memory_bytes =
            Some(json::int(event, "Maximum Offheap Memory").unwrap_or(0));
        // its blocks are told again
        executor.on_heap_used_bytes = 0;
        executor.off_heap_used_bytes = 0;
    }
    executor.active = true;
    executor.max_memory_bytes = json::int(event, "Maximum Memory").unwrap_or(0);
    Some(())
}

/// Whether an event is about executors or nodes being excluded (blacklisted before 3.1) or taken back.
pub(crate) fn is_exclusion(kind: &str) -> bool {
    let subject = kind.strip_prefix("SparkListener").unwrap_or_default();
    (subject.starts_with("Executor") || subject.starts_with("Node"))
        && ["cluded", "lacklisted"].iter().any(|word| subject.contains(word))
}

/// Executors and nodes excluded and taken back.
pub(crate) fn exclusion(
    kind: &str,
    event: &Value,
    stages: &mut stages::Stages,
    cx: &mut Context<'_>,
) -> Option<()> {
    use ExecutorChange as Change;
    let node = kind.starts_with("SparkListenerNode");
    let for_stage = kind.ends_with("ForStage");
    let back = kind.contains("Unblacklisted") || kind.contains("Unexcluded");
    let change = match (node, for_stage, back) {
        (false, true, _) => Change::ExcludedForStage,
        (false, false, true) => Change::Unexcluded,
        (false, false, false) => Change::Excluded,
        (true, true, _) => Change::NodeExcludedForStage,
        (true, false, true) => Change::NodeUnexcluded,
        (true, false, false) => Change::NodeExcluded,
    };
    let text = |key| json::text(event, key);
    let subject = if node {
        text("hostId").or(text("Host ID"))
    } else {
        text("executorId").or(text("Executor ID"))
    };
    let subject = cx.text(subject?);
    let number = |key, old| json::int32(event, key).or(json::int32(event, old));
    let stage = number("stageId", "Stage ID").map(|stage| StageAttemptId {
        stage,
        attempt: number("stageAttemptId", "Stage Attempt ID").unwrap_or(0),
    });
    let at_ms = json::int(event, "time").or(json::int(event, "Timestamp")).unwrap_or(0);
    cx.seen_at(Some(at_ms));
    let n_failures = json::int(event, "taskFailures").or(json::int(event, "executorFailures"));
    cx.executors.events.push(ExecutorEvent {
        at_ms,
        subject,
        change,
        stage,
        n_failures,
        ..ExecutorEvent::default()
    });
    match change {
        Change::Excluded | Change::Unexcluded => {
            if let Some(executor) = cx.executors.live.get_mut(&subject) {
                executor.excluded = !back;
            }
        }
        Change::NodeExcluded | Change::NodeUnexcluded => {
            for executor in cx.executors.live.values_mut().filter(|e| e.host == Some(subject)) {
                executor.excluded = !back;
            }
        }
        Change::ExcludedForStage => exclude_for_stage(&[subject], stage?, stages, cx),
        Change::NodeExcludedForStage => {
            let on_host = |e: &&Executor| e.host == Some(subject);
            let mut ids: Vec<Text> =
                cx.executors.live.values().filter(on_host).map(|e| e.id).collect();
            ids.sort_unstable();
            exclude_for_stage(&ids, stage?, stages, cx);
        }
        Change::Added | Change::Removed => {}
    }
    Some(())
}

fn exclude_for_stage(
    ids: &[Text],
    stage: StageAttemptId,
    stages: &mut stages::Stages,
    cx: &mut Context<'_>,
) {
    for id in ids {
        stages.exclude(stage, *id);
        let executor = cx.executors.live.get_mut(id);
        if let Some(executor) = executor.filter(|e| !e.excluded_in_stages.contains(&stage.stage)) {
            executor.excluded_in_stages.push(stage.stage);
        }
    }
}
