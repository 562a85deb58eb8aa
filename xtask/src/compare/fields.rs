//! Which of Spark's fields is which of ours, and how the two are held against each other.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Golden;

/// Metrics of a stage, and of an executor within one: Spark's field, ours.
const STAGE_METRICS: &[(&str, &str)] = &[
    ("executorDeserializeTime", "executor_deserialize_ms"),
    ("executorDeserializeCpuTime", "executor_deserialize_cpu_ns"),
    ("executorRunTime", "executor_run_ms"),
    ("executorCpuTime", "executor_cpu_ns"),
    ("resultSize", "result_size_bytes"),
    ("jvmGcTime", "jvm_gc_ms"),
    ("resultSerializationTime", "result_serialization_ms"),
    ("memoryBytesSpilled", "spill_memory_bytes"),
    ("diskBytesSpilled", "spill_disk_bytes"),
    ("peakExecutionMemory", "peak_execution_memory_bytes"),
    ("inputBytes", "input_bytes"),
    ("inputRecords", "input_rows"),
    ("outputBytes", "output_bytes"),
    ("outputRecords", "output_rows"),
    ("shuffleRemoteBlocksFetched", "shuffle_remote_blocks"),
    ("shuffleLocalBlocksFetched", "shuffle_local_blocks"),
    ("shuffleFetchWaitTime", "fetch_wait_ms"),
    ("shuffleRemoteBytesRead", "shuffle_remote_bytes"),
    ("shuffleRemoteBytesReadToDisk", "shuffle_remote_to_disk_bytes"),
    ("shuffleLocalBytesRead", "shuffle_local_bytes"),
    ("shuffleReadRecords", "shuffle_read_rows"),
    ("shuffleRemoteReqsDuration", "shuffle_remote_requests_ms"),
    ("shuffleCorruptMergedBlockChunks", "push_corrupt_merged_chunks"),
    ("shuffleMergedFetchFallbackCount", "push_fallbacks"),
    ("shuffleMergedRemoteBlocksFetched", "push_remote_merged_blocks"),
    ("shuffleMergedLocalBlocksFetched", "push_local_merged_blocks"),
    ("shuffleMergedRemoteChunksFetched", "push_remote_merged_chunks"),
    ("shuffleMergedLocalChunksFetched", "push_local_merged_chunks"),
    ("shuffleMergedRemoteBytesRead", "push_remote_merged_bytes"),
    ("shuffleMergedLocalBytesRead", "push_local_merged_bytes"),
    ("shuffleMergedRemoteReqsDuration", "push_remote_merged_requests_ms"),
    ("shuffleWriteBytes", "shuffle_write_bytes"),
    ("shuffleWriteTime", "shuffle_write_ns"),
    ("shuffleWriteRecords", "shuffle_write_rows"),
];

/// Spark's task summary: path in it, our measure.
const SUMMARY: &[(&str, &str)] = &[
    ("/duration", "duration_ms"),
    ("/executorDeserializeTime", "executor_deserialize_ms"),
    ("/executorDeserializeCpuTime", "executor_deserialize_cpu_ns"),
    ("/executorRunTime", "executor_run_ms"),
    ("/executorCpuTime", "executor_cpu_ns"),
    ("/resultSize", "result_size_bytes"),
    ("/jvmGcTime", "jvm_gc_ms"),
    ("/resultSerializationTime", "result_serialization_ms"),
    ("/gettingResultTime", "getting_result_ms"),
    ("/schedulerDelay", "scheduler_delay_ms"),
    ("/peakExecutionMemory", "peak_execution_memory_bytes"),
    ("/memoryBytesSpilled", "spill_memory_bytes"),
    ("/diskBytesSpilled", "spill_disk_bytes"),
    ("/inputMetrics/bytesRead", "input_bytes"),
    ("/inputMetrics/recordsRead", "input_rows"),
    ("/outputMetrics/bytesWritten", "output_bytes"),
    ("/outputMetrics/recordsWritten", "output_rows"),
    ("/shuffleReadMetrics/readBytes", "shuffle_read_bytes"),
    ("/shuffleReadMetrics/readRecords", "shuffle_read_rows"),
    ("/shuffleReadMetrics/remoteBlocksFetched", "shuffle_remote_blocks"),
    ("/shuffleReadMetrics/localBlocksFetched", "shuffle_local_blocks"),
    ("/shuffleReadMetrics/fetchWaitTime", "fetch_wait_ms"),
    ("/shuffleReadMetrics/remoteBytesRead", "shuffle_remote_bytes"),
    ("/shuffleReadMetrics/remoteBytesReadToDisk", "shuffle_remote_to_disk_bytes"),
    ("/shuffleReadMetrics/totalBlocksFetched", "shuffle_blocks"),
    ("/shuffleReadMetrics/remoteReqsDuration", "shuffle_remote_requests_ms"),
    (
        "/shuffleReadMetrics/shufflePushReadMetricsDist/remoteMergedBytesRead",
        "push_remote_merged_bytes",
    ),
    (
        "/shuffleReadMetrics/shufflePushReadMetricsDist/localMergedBytesRead",
        "push_local_merged_bytes",
    ),
    ("/shuffleWriteMetrics/writeBytes", "shuffle_write_bytes"),
    ("/shuffleWriteMetrics/writeRecords", "shuffle_write_rows"),
    ("/shuffleWriteMetrics/writeTime", "shuffle_write_ns"),
];

/// What came out for one application attempt.
#[derive(Default)]
pub struct Comparison {
    pub has_golden: bool,
    pub n_equal: usize,
    pub differences: Vec<String>,
    /// Differences on purpose, by their reason (see `docs/differences.md`).
    pub excepted: BTreeMap<&'static str, usize>,
}

impl Comparison {
    pub(super) fn without_golden() -> Comparison {
        Comparison::default()
    }

    pub(super) fn equal(&mut self, equal: bool, what: impl FnOnce() -> String) {
        if equal {
            self.n_equal += 1;
        } else {
            self.differences.push(what());
        }
    }

    /// None of the differences counts.
    pub(super) fn except_all(&mut self, why: &'static str) {
        *self.excepted.entry(why).or_default() += self.differences.len();
        self.differences.clear();
    }

    fn except(&mut self, why: &'static str) {
        *self.excepted.entry(why).or_default() += 1;
    }

    /// Ours must say what Spark says; what either lacks counts as `absent`.
    fn value(&mut self, place: &str, theirs: &Value, ours: &Value, absent: &Value) {
        let or_absent =
            |value: &Value| if value.is_null() { absent.clone() } else { value.clone() };
        let (theirs, ours) = (or_absent(theirs), or_absent(ours));
        let equal = theirs == ours
            || theirs
                .as_f64()
                .is_some_and(|t| ours.as_f64().is_some_and(|o| t.to_bits() == o.to_bits()));
        self.equal(equal, || format!("{place}: Spark {}, ours {}", short(&theirs), short(&ours)));
    }

    fn fields(
        &mut self,
        place: &str,
        theirs: &Value,
        ours: &Value,
        names: &[(&str, &str)],
        absent: &Value,
    ) {
        for (spark, own) in names {
            self.value(&format!("{place} {spark}"), &theirs[*spark], &ours[*own], absent);
        }
    }

    fn dates(&mut self, place: &str, theirs: &Value, ours: &Value, names: &[(&str, &str)]) {
        for (spark, own) in names {
            let theirs =
                theirs[*spark].as_str().and_then(epoch_ms).map_or(Value::Null, Value::from);
            self.value(&format!("{place} {spark}"), &theirs, &ours[*own], &Value::Null);
        }
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > 80 { text.chars().take(79).chain(['…']).collect() } else { text }
}

/// Of `2026-12-01T00:09:12.938GMT`: milliseconds since the epoch.
fn epoch_ms(date: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| date.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second, ms) =
        (number(11..13)?, number(14..16)?, number(17..19)?, number(20..23)?);
    // days since the epoch, with years that begin in March
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let of_era = (y - era * 400) * 365 + (y - era * 400) / 4 - (y - era * 400) / 100 + of_year;
    let days = era * 146_097 + of_era - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + ms)
}

/// Holds one application of our report against Spark's answers.
pub fn compare(app: &Value, golden: &Golden) -> Comparison {
    let mut to = Comparison { has_golden: true, ..Comparison::default() };
    if golden.get("/jobs").is_none() {
        to.except("the server lists the application and fails on its log");
        return to;
    }
    compare_jobs(app, golden, &mut to);
    compare_stages(app, golden, &mut to);
    compare_executors(app, golden, &mut to);
    compare_sql(app, golden, &mut to);
    to
}

fn find(list: &Value, matches: impl Fn(&Value) -> bool) -> &Value {
    list.as_array().into_iter().flatten().find(|v| matches(v)).unwrap_or(&Value::Null)
}

fn compare_jobs(app: &Value, golden: &Golden, to: &mut Comparison) {
    let zero = Value::from(0);
    let theirs = golden.list("/jobs");
    let n_ours = app["jobs"].as_array().map_or(0, Vec::len);
    to.equal(theirs.len() == n_ours, || format!("jobs: Spark {}, ours {n_ours}", theirs.len()));
    for job in theirs {
        let place = format!("job {}", job["jobId"]);
        let ours = find(&app["jobs"], |j| j["id"] == job["jobId"]);
        to.dates(
            &place,
            job,
            ours,
            &[("submissionTime", "submitted_at_ms"), ("completionTime", "completed_at_ms")],
        );
        let texts = [
            ("name", "name"),
            ("description", "description"),
            ("jobGroup", "group"),
            ("status", "status"),
        ];
        to.fields(&place, job, ours, &texts, &Value::Null);
        to.value(
            &format!("{place} stageIds"),
            &sorted(&job["stageIds"]),
            &sorted(&ours["stage_ids"]),
            &Value::Null,
        );
        to.value(
            &format!("{place} jobTags"),
            &sorted(&job["jobTags"]),
            &sorted(&ours["tags"]),
            &Value::Null,
        );
        let counts = [
            ("numTasks", "n_tasks"),
            ("numActiveTasks", "n_active_tasks"),
            ("numCompletedTasks", "n_completed_tasks"),
            ("numSkippedTasks", "n_skipped_tasks"),
            ("numFailedTasks", "n_failed_tasks"),
            ("numKilledTasks", "n_killed_tasks"),
            ("numCompletedIndices", "n_completed_indices"),
            ("numActiveStages", "n_active_stages"),
            ("numCompletedStages", "n_completed_stages"),
            ("numSkippedStages", "n_skipped_stages"),
            ("numFailedStages", "n_failed_stages"),
        ];
        to.fields(&place, job, ours, &counts, &zero);
        let reasons = [("killedTasksSummary", "killed_tasks_by_reason")];
        to.fields(&place, job, ours, &reasons, &Value::Null);
    }
}

fn sorted(list: &Value) -> Value {
    let mut list = list.as_array().cloned().unwrap_or_default();
    list.sort_by_key(|v| (v.as_i64(), v.to_string()));
    Value::Array(list)
}

fn compare_stages(app: &Value, golden: &Golden, to: &mut Comparison) {
    let theirs = golden.list("/stages");
    let n_ours = app["stages"].as_array().map_or(0, Vec::len);
    to.equal(theirs.len() == n_ours, || format!("stages: Spark {}, ours {n_ours}", theirs.len()));
    let with_summaries = golden.list("/stages?details=false&withSummaries=true");
    for stage in theirs {
        let same = |s: &Value| s["id"] == stage["stageId"] && s["attempt"] == stage["attemptId"];
        let (id, attempt) = (&stage["stageId"], &stage["attemptId"]);
        let place = format!("stage {id}.{attempt}");
        let ours = find(&app["stages"], same);
        let summary = find(&app["stage_summaries"], same);
        compare_stage(&place, stage, ours, to);
        let detailed = golden.get(&format!("/stages/{id}/{attempt}"));
        if let Some(executors) = detailed.map(|d| &d["executorSummary"]) {
            compare_stage_executors(&place, executors, &summary["executors"], to);
        }
        let n_running = stage["numActiveTasks"].as_i64().unwrap_or(0);
        let same =
            |s: &&Value| s["stageId"] == stage["stageId"] && s["attemptId"] == stage["attemptId"];
        let five = with_summaries.iter().find(same).map(|s| &s["taskMetricsDistributions"]);
        if let Some(five) = five.filter(|f| !f.is_null()) {
            compare_summary(&place, five, &summary["metrics"], n_running, to);
        }
        if let Some(theirs) = golden.get(&format!("/stages/{id}/{attempt}/taskSummary")) {
            compare_summary(&place, theirs, &summary["metrics"], n_running, to);
        }
    }
}

fn compare_stage(place: &str, stage: &Value, ours: &Value, to: &mut Comparison) {
    let zero = Value::from(0);
    let texts = [
        ("status", "status"),
        ("failureReason", "failure"),
        ("name", "name"),
        ("description", "description"),
        ("schedulingPool", "pool"),
        ("resourceProfileId", "resource_profile"),
        ("killedTasksSummary", "killed_tasks_by_reason"),
        ("peakExecutorMetrics", "peak_executor_metrics"),
    ];
    to.fields(place, stage, ours, &texts, &Value::Null);
    let dates = [
        ("submissionTime", "submitted_at_ms"),
        ("firstTaskLaunchedTime", "first_task_launched_at_ms"),
        ("completionTime", "completed_at_ms"),
    ];
    to.dates(place, stage, ours, &dates);
    let counts = [
        ("numTasks", "n_tasks"),
        ("numActiveTasks", "n_active_tasks"),
        ("numCompleteTasks", "n_completed_tasks"),
        ("numFailedTasks", "n_failed_tasks"),
        ("numKilledTasks", "n_killed_tasks"),
        ("numCompletedIndices", "n_completed_indices"),
        ("shuffleReadBytes", "shuffle_read_bytes"),
    ];
    to.fields(place, stage, ours, &counts, &zero);
    to.fields(place, stage, &ours["metrics"], STAGE_METRICS, &zero);
    to.value(
        &format!("{place} rddIds"),
        &sorted(&stage["rddIds"]),
        &sorted(&ours["rdd_ids"]),
        &Value::Null,
    );
    let theirs = stage["accumulatorUpdates"].as_array().map_or(&[][..], Vec::as_slice);
    for accumulator in theirs {
        let own = find(&ours["accumulators"], |a| a["id"] == accumulator["id"]);
        let names = [("name", "name"), ("update", "update"), ("value", "value")];
        to.fields(
            &format!("{place} accumulator {}", accumulator["id"]),
            accumulator,
            own,
            &names,
            &Value::Null,
        );
    }
    let n_ours = ours["accumulators"].as_array().map_or(0, Vec::len);
    to.equal(theirs.len() == n_ours, || {
        format!("{place} accumulators: Spark {}, ours {n_ours}", theirs.len())
    });
}

fn compare_stage_executors(place: &str, theirs: &Value, ours: &Value, to: &mut Comparison) {
    let zero = Value::from(0);
    for (id, executor) in theirs.as_object().into_iter().flatten() {
        let place = format!("{place} executor {id}");
        let own = &ours[id.as_str()];
        let counts = [
            ("taskTime", "task_ms"),
            ("failedTasks", "n_failed_tasks"),
            ("succeededTasks", "n_succeeded_tasks"),
            ("killedTasks", "n_killed_tasks"),
        ];
        to.fields(&place, executor, own, &counts, &zero);
        let excluded = [("isExcludedForStage", "excluded")];
        to.fields(&place, executor, own, &excluded, &Value::Null);
        let metrics: Vec<(&str, &str)> = STAGE_METRICS
            .iter()
            .copied()
            .filter(|(spark, _)| executor.get(*spark).is_some())
            .collect();
        to.fields(&place, executor, &own["metrics"], &metrics, &zero);
        // here Spark's names are those of sums over both ways of reading
        let read = |key: &str| own["metrics"][key].as_i64().unwrap_or(0);
        let total = Value::from(read("shuffle_local_bytes") + read("shuffle_remote_bytes"));
        to.value(&format!("{place} shuffleRead"), &executor["shuffleRead"], &total, &zero);
        let written = Value::from(read("shuffle_write_bytes"));
        to.value(&format!("{place} shuffleWrite"), &executor["shuffleWrite"], &written, &zero);
    }
    let n_ours = ours.as_object().map_or(0, serde_json::Map::len);
    let n_theirs = theirs.as_object().map_or(0, serde_json::Map::len);
    to.equal(n_ours == n_theirs, || format!("{place} executors: Spark {n_theirs}, ours {n_ours}"));
}

const QUANTILES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

fn compare_summary(place: &str, theirs: &Value, ours: &Value, n_running: i64, to: &mut Comparison) {
    let asked: Vec<f64> =
        theirs["quantiles"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    for (path, own) in SUMMARY {
        let Some(values) = theirs.pointer(path).and_then(Value::as_array) else { continue };
        let metric = &ours[*own];
        let mixed = !metric["as_spark"].is_null();
        let ours = if mixed { &metric["as_spark"] } else { &metric["values"] };
        for (quantile, value) in asked.iter().zip(values) {
            let Some(at) = QUANTILES.iter().position(|q| q.to_bits() == quantile.to_bits()) else {
                continue;
            };
            if n_running != 0 && *own == "duration_ms" {
                to.except("durations of tasks still running grow with the server's clock");
                continue;
            }
            // a metric that no task reported is zero for Spark
            let own_value = ours.get(at).and_then(Value::as_f64).unwrap_or(0.0);
            to.value(
                &format!("{place} {} at {quantile}", &path[1..]),
                value,
                &Value::from(own_value),
                &Value::Null,
            );
        }
    }
}

fn compare_executors(app: &Value, golden: &Golden, to: &mut Comparison) {
    let zero = Value::from(0);
    let theirs = golden.list("/allexecutors");
    if golden.get("/allexecutors").is_some() {
        let n_ours = app["executors"].as_array().map_or(0, Vec::len);
        to.equal(theirs.len() == n_ours, || {
            format!("executors: Spark {}, ours {n_ours}", theirs.len())
        });
    }
    for executor in theirs {
        let place = format!("executor {}", executor["id"]);
        let ours = find(&app["executors"], |e| e["id"] == executor["id"]);
        let texts = [
            ("hostPort", "host_port"),
            ("isActive", "active"),
            ("removeReason", "remove_reason"),
            ("isExcluded", "excluded"),
        ];
        to.fields(&place, executor, ours, &texts, &Value::Null);
        to.dates(
            &place,
            executor,
            ours,
            &[("addTime", "added_at_ms"), ("removeTime", "removed_at_ms")],
        );
        let counts = [
            ("totalCores", "n_cores"),
            ("activeTasks", "n_active_tasks"),
            ("failedTasks", "n_failed_tasks"),
            ("completedTasks", "n_completed_tasks"),
            ("totalTasks", "n_total_tasks"),
            ("totalInputBytes", "input_bytes"),
            ("totalShuffleRead", "shuffle_read_bytes"),
            ("totalShuffleWrite", "shuffle_write_bytes"),
            ("maxMemory", "max_memory_bytes"),
        ];
        to.fields(&place, executor, ours, &counts, &zero);
        if executor["id"] == "driver" {
            to.except(
                "the server shows the driver's uptime and heap collections in place of its tasks'",
            );
        } else {
            to.fields(
                &place,
                executor,
                ours,
                &[("totalDuration", "task_ms"), ("totalGCTime", "jvm_gc_ms")],
                &zero,
            );
        }
        to.fields(
            &place,
            executor,
            ours,
            &[("peakMemoryMetrics", "peak_executor_metrics")],
            &Value::Null,
        );
    }
}

fn compare_sql(app: &Value, golden: &Golden, to: &mut Comparison) {
    let Some(theirs) = golden.get("/sql").and_then(Value::as_array) else { return };
    let n_ours = app["sql_executions"].as_array().map_or(0, Vec::len);
    // unasked, the server gives the first twenty
    to.equal(theirs.len() == n_ours || theirs.len() == 20, || {
        format!("sql: Spark {}, ours {n_ours}", theirs.len())
    });
    for sql in theirs {
        let place = format!("sql {}", sql["id"]);
        let ours = find(&app["sql_executions"], |s| s["id"] == sql["id"]);
        to.fields(
            &place,
            sql,
            ours,
            &[("status", "status"), ("description", "description")],
            &Value::Null,
        );
        if sql["status"] == "RUNNING" {
            to.except("durations of what still runs grow with the server's clock");
        } else {
            to.fields(&place, sql, ours, &[("duration", "duration_ms")], &Value::Null);
        }
        let lists = ["runningJobIds", "successJobIds", "failedJobIds"];
        let jobs = lists
            .iter()
            .flat_map(|list| sql[*list].as_array().cloned().unwrap_or_default())
            .collect();
        to.value(
            &format!("{place} jobs"),
            &sorted(&Value::Array(jobs)),
            &sorted(&ours["job_ids"]),
            &Value::Null,
        );
    }
}
