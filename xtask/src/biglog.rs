//! `xtask biglog`: a huge but valid event log, made by repeating the events of a real application.
//!
//! Bound: each task costs a copy of about 4 kB and some hundred digits, so memory bandwidth and formatting are the
//! limit, not parsing; memory is one stage's running tasks. The same options give the same bytes.

mod model;
mod task;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, value_parser};

pub(crate) use self::model::read_events;
use self::model::{Model, shift};
use self::task::{EXTRA_FROM, EXTRA_PER_STAGE, Shape, Shuffle, Task, TaskLines};
use crate::Outcome;
use xtask::json::{Form, Json};

/// Accumulator ids of execution `e` are the model's plus `e` times this.
const STEP: u64 = 100_000;
const SLOTS_PER_EXECUTOR: u64 = 4;
const START_MS: u64 = 1_700_000_000_000;
const APP_ID: &str = "app-20231114221320-0001";
const BUFFER_BYTES: usize = 1 << 20;
/// A real log with an execution of several stages, whose lines come to about 4 kB a task.
const TEMPLATE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/logs/local-1796084220270.zstd");

#[derive(Args, Clone)]
pub(crate) struct Options {
    /// Real event log (plain or zstd) whose execution with the most stages is repeated.
    #[arg(long, default_value = TEMPLATE, hide_default_value = true)]
    pub(crate) template: PathBuf,
    #[arg(long)]
    pub(crate) out: PathBuf,
    #[arg(long, default_value_t = 200)]
    pub(crate) stages: u64,
    /// Tasks of each stage.
    #[arg(long, default_value_t = 5_000, value_parser = value_parser!(u64).range(1..))]
    pub(crate) tasks: u64,
    #[arg(long, default_value_t = 50, value_parser = value_parser!(u64).range(1..))]
    pub(crate) executors: u64,
    /// SQL executions, each with one job and its share of the stages.
    #[arg(long, default_value_t = 100, value_parser = value_parser!(u64).range(1..))]
    pub(crate) sql: u64,
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) codec: Codec,
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[arg(long, default_value = APP_ID)]
    pub(crate) app_id: String,
    /// SQL metrics that each task updates: the model's are trimmed or extended to this number.
    #[arg(long)]
    pub(crate) accumulators: Option<usize>,
    /// Leave out the internal.metrics accumulables of tasks (about half of the bytes).
    #[arg(long)]
    pub(crate) slim: bool,
}

impl Options {
    /// As when nothing but the file to write is given.
    pub(crate) fn defaults(out: &Path) -> Options {
        Options {
            template: TEMPLATE.into(),
            out: out.to_owned(),
            stages: 200,
            tasks: 5_000,
            executors: 50,
            sql: 100,
            codec: Codec::None,
            seed: 1,
            app_id: APP_ID.to_owned(),
            accumulators: None,
            slim: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Codec {
    None,
    /// One frame.
    Zstd,
    /// A frame for each time Spark flushes the log, as Spark itself writes it.
    ZstdFrames,
}

/// Writes the log and returns the number of bytes before compression.
pub(crate) fn run(options: &Options) -> Outcome<u64> {
    let model = Model::read(&options.template)?;
    let mut log = Log::create(&options.out, options.codec)?;
    Writer { options, model: &model, log: &mut log, rng: Rng(options.seed), now: START_MS + 2_000 }
        .application()?;
    log.close()
}

/// Random bits by the splitmix64 generator: a few operations each, and the same on every machine.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The file being written.
struct Log {
    buffer: Vec<u8>,
    sink: Sink,
    codec: Codec,
    bytes: u64,
}

enum Sink {
    Plain(File),
    Zstd(Box<zstd::Encoder<'static, File>>),
    Closed,
}

impl Log {
    fn create(path: &Path, codec: Codec) -> Outcome<Log> {
        let file = File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let sink = match codec {
            Codec::None => Sink::Plain(file),
            Codec::Zstd | Codec::ZstdFrames => Sink::frame(file)?,
        };
        Ok(Log { buffer: Vec::with_capacity(2 * BUFFER_BYTES), sink, codec, bytes: 0 })
    }

    /// Writes an event after which Spark does not flush.
    fn event(&mut self, event: &Json) -> Outcome<()> {
        Form::line(event).write(&[], &mut self.buffer);
        self.drain(BUFFER_BYTES)
    }

    /// Writes an event after which Spark flushes, which ends a zstd frame.
    fn flushed_event(&mut self, event: &Json) -> Outcome<()> {
        self.event(event)?;
        if self.codec == Codec::ZstdFrames {
            self.drain(0)?;
            if let Sink::Zstd(encoder) = std::mem::replace(&mut self.sink, Sink::Closed) {
                self.sink = Sink::frame(encoder.finish()?)?;
            }
        }
        Ok(())
    }

    /// Hands the buffer on when it holds more than `limit` bytes.
    fn drain(&mut self, limit: usize) -> Outcome<()> {
        if self.buffer.len() > limit {
            match &mut self.sink {
                Sink::Plain(file) => file.write_all(&self.buffer)?,
                Sink::Zstd(encoder) => encoder.write_all(&self.buffer)?,
                Sink::Closed => return Err("the log is closed".into()),
            }
            self.bytes += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    fn close(mut self) -> Outcome<u64> {
        self.drain(0)?;
        if let Sink::Zstd(encoder) = self.sink {
            encoder.finish()?;
        }
        Ok(self.bytes)
    }
}

impl Sink {
    /// A new frame at the level Spark uses.
    fn frame(file: File) -> Outcome<Sink> {
        Ok(Sink::Zstd(Box::new(zstd::Encoder::new(file, 1)?)))
    }
}

struct Writer<'a> {
    options: &'a Options,
    model: &'a Model,
    log: &'a mut Log,
    rng: Rng,
    /// The application's clock, in milliseconds.
    now: u64,
}

impl Writer<'_> {
    fn application(mut self) -> Outcome<()> {
        self.beginning()?;
        let mut next = Ids { stage: 0, task: 0 };
        for execution in 0..self.options.sql {
            let share = self.options.stages / self.options.sql;
            let rest = u64::from(execution < self.options.stages % self.options.sql);
            self.execution(execution, share + rest, &mut next)?;
        }
        let mut end = self.model.first("SparkListenerApplicationEnd")?;
        end.set("Timestamp", self.now + 1_000);
        self.log.flushed_event(&end)
    }

    fn beginning(&mut self) -> Outcome<()> {
        for kind in [
            "SparkListenerLogStart",
            "SparkListenerResourceProfileAdded",
            "SparkListenerBlockManagerAdded",
        ] {
            self.log.flushed_event(&self.model.first(kind)?)?;
        }
        let mut environment = self.model.first("SparkListenerEnvironmentUpdate")?;
        if let Some(properties) = environment.get_mut("Spark Properties") {
            properties.set("spark.app.id", self.options.app_id.as_str());
            properties.set("spark.executor.cores", SLOTS_PER_EXECUTOR.to_string());
            properties.set("spark.master", "spark://host-0:7077");
        }
        self.log.event(&environment)?;
        let mut start = self.model.first("SparkListenerApplicationStart")?;
        let size = format!("{} x {}", self.options.stages, self.options.tasks);
        start.set("App Name", format!("big log {size}"));
        start.set("App ID", self.options.app_id.as_str());
        start.set("Timestamp", START_MS);
        self.log.flushed_event(&start)?;
        for id in 1..=self.options.executors {
            for event in executor_added(id)? {
                self.log.flushed_event(&event)?;
            }
        }
        Ok(())
    }

    fn execution(&mut self, id: u64, stages: u64, next: &mut Ids) -> Outcome<()> {
        let mut start = self.of_execution(&self.model.execution_start, id);
        start.set("time", self.now);
        start.set("description", format!("query {id}"));
        self.log.flushed_event(&start)?;

        let ids: Vec<u64> = (next.stage..next.stage + stages).collect();
        next.stage += stages;
        let copies: Vec<StageCopy> = ids
            .iter()
            .enumerate()
            .map(|(place, stage)| self.stage_copy(id, *stage, place, place + 1 == ids.len()))
            .collect();
        let mut job = self.model.job_start.clone();
        job.set("Job ID", id);
        job.set("Submission Time", self.now + 5);
        let infos = copies.iter().filter_map(|copy| copy.submitted.get("Stage Info").cloned());
        job.set("Stage Infos", Json::List(infos.collect()));
        job.set("Stage IDs", Json::List(ids.into_iter().map(Json::from).collect()));
        Self::set_execution(&mut job, id);
        self.log.flushed_event(&job)?;
        for update in &self.model.execution_updates {
            let update = self.of_execution(update, id);
            self.log.flushed_event(&update)?;
        }

        for copy in copies {
            self.stage(copy, next)?;
        }

        let mut end = self.model.job_end.clone();
        end.set("Job ID", id);
        end.set("Completion Time", self.now + 3);
        self.log.flushed_event(&end)?;
        let mut end = self.of_execution(&self.model.execution_end, id);
        end.set("time", self.now + 5);
        self.log.flushed_event(&end)?;
        self.now += 100;
        Ok(())
    }

    /// A copy of an event of the model execution that belongs to execution `id`.
    fn of_execution(&self, event: &Json, id: u64) -> Json {
        let mut event = event.clone();
        if let Some(metrics) = event.get_mut("sparkPlanInfo").and_then(|p| p.get_mut("metrics")) {
            let extra = self.extra_metrics();
            metrics.list_mut().into_iter().for_each(|list| list.extend(extra.clone()));
        }
        shift(&mut event, id * STEP);
        for key in ["executionId", "rootExecutionId"] {
            event.replace(&[key], id.into());
        }
        event
    }

    /// The plan's metrics for the accumulators that the model does not have.
    fn extra_metrics(&self) -> Vec<Json> {
        let stages = (0_u64..).zip(&self.model.stages);
        let ids = stages.flat_map(|(i, stage)| {
            let mut list = Vec::new();
            let wanted = self.options.accumulators.unwrap_or(0);
            let own = |end: &Json| {
                let all = end.at(&["Task Info", "Accumulables"]).map_or(&[][..], Json::list);
                all.iter().filter(|a| a.get("Metadata").is_some_and(|m| m.text() == "sql")).count()
            };
            let least = stage.task_ends.iter().map(own).min().unwrap_or(0);
            for extra in 0..wanted.saturating_sub(least) as u64 {
                list.push((extra, EXTRA_FROM + i * EXTRA_PER_STAGE + extra));
            }
            list
        });
        ids.map(|(extra, id)| {
            Json::Object(vec![
                ("name".to_owned(), format!("rows of part {extra}").into()),
                ("accumulatorId".to_owned(), id.into()),
                ("metricType".to_owned(), "sum".into()),
            ])
        })
        .collect()
    }

    fn set_execution(event: &mut Json, id: u64) {
        for key in ["spark.sql.execution.id", "spark.sql.execution.root.id"] {
            event.replace(&["Properties", key], id.to_string().into());
        }
    }

    fn stage_copy(&self, execution: u64, id: u64, place: usize, is_last: bool) -> StageCopy {
        let shift_by = execution * STEP;
        let position = place % self.model.stages.len();
        let model = &self.model.stages[position];
        let shape = Shape { accumulators: self.options.accumulators, slim: self.options.slim };
        let copied = |event: &Json| {
            let mut event = event.clone();
            if let Some(info) = event.get_mut("Stage Info") {
                info.set("Stage ID", id);
                info.set("Number of Tasks", self.options.tasks);
                let parents = (place > 0).then(|| Json::from(id - 1));
                info.set("Parent IDs", Json::List(parents.into_iter().collect()));
                let list = info.get_mut("Accumulables").and_then(Json::list_mut);
                list.into_iter().filter(|l| !l.is_empty()).for_each(|l| shape.apply(l, position));
            }
            shift(&mut event, shift_by);
            Self::set_execution(&mut event, execution);
            event
        };
        let kind = model.task_ends[0].get("Task Type").map_or("", Json::text);
        let shuffle = Shuffle { reads: place > 0, writes: !is_last || kind == "ShuffleMapTask" };
        StageCopy {
            submitted: copied(&model.submitted),
            completed: copied(&model.completed),
            tasks: TaskLines::new(model, position, id, shift_by, shape, shuffle),
        }
    }

    /// Runs a stage's tasks on all slots; lines are in the order of their times.
    fn stage(&mut self, mut copy: StageCopy, next: &mut Ids) -> Outcome<()> {
        let submitted_at = self.now + 10;
        copy.submitted.replace(&["Stage Info", "Submission Time"], submitted_at.into());
        self.log.event(&copy.submitted)?;
        let slots = self.options.executors * SLOTS_PER_EXECUTOR;
        let mut free: BinaryHeap<Reverse<(u64, u64)>> =
            (0..slots).map(|slot| Reverse((submitted_at + slot % 7, slot))).collect();
        let mut running: BinaryHeap<Reverse<Task>> = BinaryHeap::new();
        self.now = submitted_at;
        for index in 0..self.options.tasks {
            let Some(Reverse((launch, slot))) = free.pop() else { return Err("no slots".into()) };
            while let Some(Reverse(ended)) = running.pop_if_by(launch) {
                self.end_task(&mut copy.tasks, &ended)?;
            }
            let run_ms = run_ms(self.rng.next(), index);
            let task = Task {
                finish: 0,
                id: next.task,
                index,
                launch,
                run_ms,
                executor: slot / SLOTS_PER_EXECUTOR + 1,
                dice: self.rng.next(),
            }
            .scheduled();
            copy.tasks.write_start(&task, &mut self.log.buffer);
            free.push(Reverse((task.finish, slot)));
            running.push(Reverse(task));
            next.task += 1;
        }
        while let Some(Reverse(ended)) = running.pop() {
            self.end_task(&mut copy.tasks, &ended)?;
        }
        if let Some(info) = copy.completed.get_mut("Stage Info") {
            info.set("Submission Time", submitted_at);
            info.set("Completion Time", self.now + 1);
            copy.tasks.put_totals(info);
        }
        self.log.flushed_event(&copy.completed)
    }

    fn end_task(&mut self, tasks: &mut TaskLines, task: &Task) -> Outcome<()> {
        tasks.write_end(task, &mut self.log.buffer);
        self.now = task.finish;
        self.log.drain(BUFFER_BYTES)
    }
}

struct Ids {
    stage: u64,
    task: u64,
}

struct StageCopy {
    submitted: Json,
    completed: Json,
    tasks: TaskLines,
}

trait PopEnded {
    fn pop_if_by(&mut self, time: u64) -> Option<Reverse<Task>>;
}

impl PopEnded for BinaryHeap<Reverse<Task>> {
    /// The task that ends first, if it has ended by `time`.
    fn pop_if_by(&mut self, time: u64) -> Option<Reverse<Task>> {
        if self.peek()?.0.finish <= time { self.pop() } else { None }
    }
}

/// Mostly short, with a long tail, and one task in 997 twelve times as long.
fn run_ms(bits: u64, index: u64) -> u64 {
    let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
    let run_ms = (200.0 + unit * unit * unit * unit * 3_000.0) as u64;
    if index % 997 == 3 { run_ms * 12 } else { run_ms }
}

fn executor_added(id: u64) -> Outcome<[Json; 2]> {
    let at = START_MS + 500 + id;
    let added = format!(
        r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{at},"Executor ID":"{id}","Executor Info":{{"Host":"host-{id}","Total Cores":{SLOTS_PER_EXECUTOR},"Log Urls":{{"stdout":"http://host-{id}:8042/stdout","stderr":"http://host-{id}:8042/stderr"}},"Attributes":{{}},"Resources":{{}},"Resource Profile Id":0,"Registration Time":{at},"Request Time":{}}}}}"#,
        START_MS + 400
    );
    let memory = 4_u64 << 30;
    let stored = format!(
        r#"{{"Event":"SparkListenerBlockManagerAdded","Block Manager ID":{{"Executor ID":"{id}","Host":"host-{id}","Port":{}}},"Maximum Memory":{memory},"Timestamp":{},"Maximum Onheap Memory":{memory},"Maximum Offheap Memory":0}}"#,
        40_000 + id,
        at + 100
    );
    Ok([serde_json::from_str(&added)?, serde_json::from_str(&stored)?])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::{env, fs, process};

    use super::*;

    fn options(name: &str) -> Options {
        let out = env::temp_dir().join(format!("biglog-{}-{name}", process::id()));
        Options { stages: 7, tasks: 60, executors: 3, sql: 3, seed: 5, ..Options::defaults(&out) }
    }

    fn written(options: &Options) -> Vec<u8> {
        run(options).unwrap();
        let bytes = fs::read(&options.out).unwrap();
        fs::remove_file(&options.out).unwrap();
        bytes
    }

    fn events(options: &Options) -> Vec<Json> {
        let bytes = written(options);
        assert!(bytes.ends_with(b"\n"));
        let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn text<'a>(event: &'a Json, key: &str) -> &'a str {
        event.get(key).map_or("", Json::text)
    }

    fn sql_updates(event: &Json) -> Vec<&Json> {
        let all = event.at(&["Task Info", "Accumulables"]).map_or(&[][..], Json::list);
        all.iter().filter(|a| text(a, "Metadata") == "sql").collect()
    }

    #[test]
    fn same_seed_same_bytes() {
        let first = written(&options("first"));
        assert_eq!(first, written(&options("second")));
        assert_ne!(first, written(&Options { seed: 6, ..options("third") }));
    }

    #[test]
    fn codecs_hold_the_same_events() {
        let plain = written(&options("plain"));
        for (codec, name) in [(Codec::Zstd, "zstd"), (Codec::ZstdFrames, "frames")] {
            let packed = written(&Options { codec, ..options(name) });
            assert!(packed.len() < plain.len() / 5);
            assert_eq!(zstd::decode_all(packed.as_slice()).unwrap(), plain);
        }
    }

    #[test]
    fn starts_and_ends_balance() {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut open_tasks = BTreeMap::new();
        let mut clock = 0;
        for event in events(&options("balance")) {
            let kind = text(&event, "Event").rsplit('.').next().unwrap().to_owned();
            let id = event.at(&["Task Info", "Task ID"]).and_then(Json::number);
            let time = |key| event.at(&["Task Info", key]).and_then(Json::number);
            if kind == "SparkListenerTaskStart" {
                assert_eq!(open_tasks.insert(id, time("Launch Time")), None);
            } else if kind == "SparkListenerTaskEnd" {
                assert_eq!(open_tasks.remove(&id), Some(time("Launch Time")));
                let finish = time("Finish Time").unwrap();
                assert!(finish >= clock, "ends are in the order of time");
                clock = finish;
            }
            *counts.entry(kind).or_default() += 1;
        }
        assert!(open_tasks.is_empty());
        for (kind, count) in [
            ("SparkListenerTaskStart", 420),
            ("SparkListenerTaskEnd", 420),
            ("SparkListenerStageSubmitted", 7),
            ("SparkListenerStageCompleted", 7),
            ("SparkListenerJobStart", 3),
            ("SparkListenerJobEnd", 3),
            ("SparkListenerSQLExecutionStart", 3),
            ("SparkListenerSQLExecutionEnd", 3),
            ("SparkListenerExecutorAdded", 3),
            ("SparkListenerApplicationEnd", 1),
        ] {
            assert_eq!(counts.get(kind), Some(&count), "{kind}");
        }
    }

    /// The last running total of a task end is the total in the stage's end, and the sum of all updates.
    #[test]
    fn totals_are_sums() {
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        let mut checked = 0;
        for event in events(&options("totals")) {
            let list = event.at(&["Task Info", "Accumulables"]).map_or(&[][..], Json::list);
            for accumulable in list {
                let number = |key| accumulable.get(key).and_then(Json::number);
                let (Some(id), Some(update)) = (number("ID"), number("Update")) else { continue };
                let sum = sums.entry(id).or_default();
                *sum += update;
                assert_eq!(number("Value"), Some(*sum));
            }
            let list = event.at(&["Stage Info", "Accumulables"]).map_or(&[][..], Json::list);
            for accumulable in list {
                let number = |key| accumulable.get(key).and_then(Json::number);
                if let Some(sum) = number("ID").and_then(|id| sums.get(&id)) {
                    assert_eq!(number("Value"), Some(*sum));
                    checked += 1;
                }
            }
        }
        assert!(checked > 50);
    }

    #[test]
    fn accumulators_are_trimmed_and_extended() {
        for wanted in [1, 40] {
            let options = Options { accumulators: Some(wanted), ..options(&wanted.to_string()) };
            let ends: Vec<Json> = events(&options)
                .into_iter()
                .filter(|e| text(e, "Event") == "SparkListenerTaskEnd")
                .collect();
            assert!(ends.iter().all(|end| sql_updates(end).len() == wanted));
        }
    }
}
