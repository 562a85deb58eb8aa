//! `environment/`: what the application ran with. What differs from Spark's default by meaning, not by spelling, is marked,
//! and what matters for speed stands first.

use std::fmt::Write as _;

use views::EnvironmentLines;

use super::setting::{self, Setting};
use super::table::{Cell, Column, Link, Shown, address, table, words};
use super::view::{Block, View, fact};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] =
    &[Page { path: &["environment"], tab: Tab::Always("Environment"), view }];

const EMPTY: &str = "None: the log holds no environment, or not this part of it.";

/// A property.
struct Property<'p> {
    name: &'p str,
    value: &'p str,
    setting: Option<&'static Setting>,
}

impl Property<'_> {
    /// Whether it means something else than the default; `None` where there is no default to compare with.
    fn differs(&self) -> Option<bool> {
        let setting = self.setting?;
        let default = followed(setting.default)?;
        Some(!setting::is_same(setting.kind, self.value, default))
    }
}

/// A default that says `<value of spark.x>` is that of the other.
fn followed(mut default: &'static str) -> Option<&'static str> {
    for _ in 0..FOLLOWED_MAX {
        let other = default.strip_prefix("<value of ").and_then(|rest| rest.strip_suffix('>'));
        match other {
            None => return (default != "<undefined>").then_some(default),
            Some(other) => default = setting::setting(other)?.default,
        }
    }
    None
}

/// Defaults that lead to each other.
const FOLLOWED_MAX: usize = 4;

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(environment) = views::environment(visit.store) else {
        let mut view = View::new("Environment");
        view.note(
            "The log holds no environment: its event is missing, or the log begins after it.",
        );
        return Ok(view);
    };
    let redaction = visit.call.settings().redaction();
    let redacted = |pairs: &[(&'_ str, &'_ str)]| -> Vec<(String, String)> {
        let one = |(name, value): &(&str, &str)| {
            ((*name).to_owned(), redaction.redact(name, value).to_owned())
        };
        pairs.iter().map(one).collect()
    };
    let spark = redacted(&environment.spark);
    if visit.query().first("export") == Some("conf") {
        return Err(conf(&spark));
    }
    let properties: Vec<Property<'_>> = spark
        .iter()
        .map(|(name, value)| Property { name, value, setting: setting::setting(name) })
        .collect();
    let mut view = View::new("Environment");
    view.push(Block::Facts(vec![
        fact("Java version", "", Cell::text(environment.java_version.unwrap_or(text::MISSING))),
        fact("Java home", "", Cell::text(environment.java_home.unwrap_or(text::MISSING))),
        fact("Scala version", "", Cell::text(environment.scala_version.unwrap_or(text::MISSING))),
    ]));
    view.push(Block::Links { title: "Sections:", links: sections(&environment) });
    view.push(matters(visit, &properties)?);
    view.push(Block::table(table(visit.query(), &SPARK, &spark_columns(), &properties)?));
    let link = Link {
        text: "spark-defaults.conf".to_owned(),
        to: address(visit.query(), "", &[("export", "conf")]),
    };
    view.push(Block::Links { title: "Download the Spark properties as", links: vec![link] });
    view.push(profiles(visit));
    for (tag, title, pairs) in [
        ("hadoop", "Hadoop properties", redacted(&environment.hadoop)),
        ("system", "System properties", redacted(&environment.system)),
        ("metrics", "Metrics properties", redacted(&environment.metrics)),
        ("classpath", "Classpath entries", redacted(&environment.classpath)),
    ] {
        let is_path = tag == "classpath";
        let (name, value) = if is_path { ("Resource", "Source") } else { ("Name", "Value") };
        let shown = Shown { tag, title, sort: name, descending: false, empty: EMPTY };
        let columns = vec![
            words(name, "", |pair: &(String, String)| Cell::text(&pair.0)),
            words(value, "", |pair: &(String, String)| Cell::text(&pair.1)),
        ];
        view.push(Block::table(table(visit.query(), &shown, &columns, &pairs)?));
    }
    Ok(view)
}

fn sections(environment: &EnvironmentLines<'_>) -> Vec<Link> {
    let all = [
        ("Spark properties", "spark", environment.spark.len()),
        ("Hadoop properties", "hadoop", environment.hadoop.len()),
        ("System properties", "system", environment.system.len()),
        ("Metrics properties", "metrics", environment.metrics.len()),
        ("Classpath entries", "classpath", environment.classpath.len()),
    ];
    let link = |(title, tag, n): (&str, &str, usize)| Link {
        text: format!("{title} ({n})"),
        to: format!("#{tag}"),
    };
    let mut links: Vec<Link> = all.into_iter().map(link).collect();
    links.insert(1, Link { text: "Resource profiles".to_owned(), to: "#profiles".to_owned() });
    links
}

const SPARK: Shown = Shown {
    tag: "spark",
    title: "Spark properties",
    sort: "Name",
    descending: false,
    empty: EMPTY,
};

fn spark_columns<'p>() -> Vec<Column<'p, Property<'p>>> {
    vec![
        words("Name", "", |p: &Property<'_>| Cell::text(p.name)),
        words(
            "Value",
            "Marked where it means something else than the default",
            |p: &Property<'_>| Cell::text(p.value).costly_if(p.differs() == Some(true)),
        ),
        words("Default value", "Of Spark 4.3", |p: &Property<'_>| {
            Cell::text(p.setting.map_or("", |setting| setting.default))
        }),
        words("Is it the default?", "By meaning: 1024m is 1g", |p: &Property<'_>| {
            Cell::text(match p.differs() {
                Some(true) => "differs",
                Some(false) => "same",
                None => "",
            })
        }),
    ]
}

/// Settings that matter for speed, by what they govern.
const MATTERS: [(&str, &[&str]); 4] = [
    (
        "memory and cores",
        &[
            "spark.executor.memory",
            "spark.executor.memoryOverhead",
            "spark.executor.cores",
            "spark.executor.instances",
            "spark.driver.memory",
            "spark.driver.maxResultSize",
            "spark.memory.fraction",
            "spark.memory.storageFraction",
            "spark.memory.offHeap.enabled",
            "spark.memory.offHeap.size",
            "spark.task.cpus",
            "spark.dynamicAllocation.enabled",
            "spark.dynamicAllocation.maxExecutors",
        ],
    ),
    (
        "shuffle",
        &[
            "spark.sql.shuffle.partitions",
            "spark.default.parallelism",
            "spark.shuffle.service.enabled",
            "spark.shuffle.compress",
            "spark.reducer.maxSizeInFlight",
            "spark.network.timeout",
        ],
    ),
    (
        "adaptive execution and joins",
        &[
            "spark.sql.adaptive.enabled",
            "spark.sql.adaptive.coalescePartitions.enabled",
            "spark.sql.adaptive.advisoryPartitionSizeInBytes",
            "spark.sql.adaptive.skewJoin.enabled",
            "spark.sql.adaptive.skewJoin.skewedPartitionFactor",
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
            "spark.sql.autoBroadcastJoinThreshold",
            "spark.sql.broadcastTimeout",
        ],
    ),
    (
        "reading and tasks",
        &[
            "spark.sql.files.maxPartitionBytes",
            "spark.sql.files.openCostInBytes",
            "spark.sql.optimizer.dynamicPartitionPruning.enabled",
            "spark.speculation",
            "spark.locality.wait",
            "spark.serializer",
            "spark.sql.execution.arrow.pyspark.enabled",
            "spark.scheduler.mode",
        ],
    ),
];

/// A setting that matters, whether or not it was set.
struct Matter<'p> {
    of: &'static str,
    name: &'static str,
    set: Option<&'p Property<'p>>,
    default: &'static str,
}

fn matters(visit: &Visit<'_>, properties: &[Property<'_>]) -> Result<Block, Answer> {
    let all = MATTERS.iter().flat_map(|(of, names)| names.iter().map(move |name| (*of, *name)));
    let rows: Vec<Matter<'_>> = all
        .map(|(of, name)| Matter {
            of,
            name,
            set: properties.iter().find(|p| p.name == name),
            default: setting::setting(name).map_or("", |setting| setting.default),
        })
        .collect();
    let columns = vec![
        words("Governs", "", |m: &Matter<'_>| Cell::text(m.of)),
        words("Setting", "", |m: &Matter<'_>| Cell::text(m.name)),
        words("In effect", "As it was set, or else the default", |m: &Matter<'_>| {
            let differs = m.set.is_some_and(|p| p.differs() == Some(true));
            Cell::text(m.set.map_or(m.default, |p| p.value)).costly_if(differs)
        }),
        words("Was set", "In the application's properties when it started", |m: &Matter<'_>| {
            Cell::text(if m.set.is_some() { "yes" } else { "no" })
        }),
        words("Default", "Of Spark 4.3", |m: &Matter<'_>| Cell::text(m.default)),
    ];
    let shown = Shown {
        tag: "matters",
        title: "Settings that matter for speed",
        sort: "Governs",
        descending: false,
        empty: EMPTY,
    };
    Ok(Block::table(table(visit.query(), &shown, &columns, &rows)?))
}

/// As a file for `spark-submit --properties-file`.
fn conf(properties: &[(String, String)]) -> Answer {
    let mut out = String::new();
    for (name, value) in properties {
        let value = value.replace('\\', "\\\\").replace(['\n', '\r'], "\\n");
        writeln!(out, "{name} {value}").ok();
    }
    Answer::of(200, "text/plain; charset=utf-8", out.into_bytes())
        .with_header("content-disposition", "attachment; filename=spark-defaults.conf")
}

fn profiles(visit: &Visit<'_>) -> Block {
    let mut out = String::new();
    for profile in views::resource_profiles(visit.store) {
        writeln!(out, "Resource profile {}", profile.id).ok();
        for (title, requests) in
            [("Executor", &profile.executor_resources), ("Task", &profile.task_resources)]
        {
            writeln!(out, "  {title} requests:").ok();
            for request in requests {
                let mut line =
                    format!("    {}: [amount: {}", visit.text(request.name), request.amount);
                for (name, text) in
                    [("discovery script", request.discovery_script), ("vendor", request.vendor)]
                {
                    let text = visit.text(text);
                    if !text.is_empty() {
                        write!(line, ", {name}: {text}").ok();
                    }
                }
                out.push_str(&line);
                out.push_str("]\n");
            }
        }
    }
    if out.is_empty() {
        out.push_str("None: logs before Spark 3.1 do not tell of resource profiles.");
    }
    Block::Text { id: "profiles", title: "Resource profiles".to_owned(), text: out, is_open: true }
}
