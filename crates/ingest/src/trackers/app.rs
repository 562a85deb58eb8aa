//! The application attempt itself: start, end, environment, resource profiles and other processes.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{App, Environment, MiscProcess, ResourceProfile, ResourceRequest, Text, record};

use crate::{json, trackers::Context};

record! {
    pub(crate) struct AppState {
        pub(crate) app: App,
        pub(crate) environment: Option<Environment>,
        pub(crate) profiles: BTreeMap<i32, ResourceProfile>,
        pub(crate) processes: BTreeMap<Text, MiscProcess>,
        pub(crate) started: bool,
    }
}

pub(crate) fn log_start(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let version = cx.text(json::text(event, "Spark Version")?);
    cx.app.app.spark_version = Some(version);
    Some(())
}

/// Whether an application had started before in this log.
pub(crate) fn started(event: &Value, cx: &mut Context<'_>) -> bool {
    let at_ms = json::int(event, "Timestamp");
    cx.seen_at(at_ms);
    let text = |key, cx: &mut Context<'_>| json::text(event, key).map(|t| cx.text(t));
    let name = text("App Name", cx).unwrap_or_default();
    let id = text("App ID", cx);
    let attempt_id = text("App Attempt ID", cx);
    let user = text("User", cx).unwrap_or_default();
    let driver_logs = cx.pairs(event, "Driver Logs");
    let driver_attributes = cx.pairs(event, "Driver Attributes");
    let driver = cx.text("driver");
    if event.get("Driver Logs").is_some() {
        cx.executors.set_driver_logs(driver, driver_logs.clone(), driver_attributes.clone());
    }
    let state = &mut *cx.app;
    let again = std::mem::replace(&mut state.started, true);
    state.app = App {
        name,
        id,
        attempt_id,
        user,
        started_at_ms: at_ms,
        driver_logs,
        driver_attributes,
        ..std::mem::take(&mut state.app)
    };
    again
}

pub(crate) fn ended(event: &Value, cx: &mut Context<'_>) {
    cx.app.app.ended_at_ms = json::int(event, "Timestamp");
    cx.app.app.exit_code = json::int32(event, "ExitCode").or(json::int32(event, "Exit Code"));
    cx.seen_at(cx.app.app.ended_at_ms);
}

pub(crate) fn environment(event: &Value, cx: &mut Context<'_>) {
    let environment = Environment {
        jvm: cx.pairs(event, "JVM Information"),
        spark: cx.pairs(event, "Spark Properties"),
        hadoop: cx.pairs(event, "Hadoop Properties"),
        system: cx.pairs(event, "System Properties"),
        metrics: cx.pairs(event, "Metrics Properties"),
        classpath: cx.pairs(event, "Classpath Entries"),
    };
    let spark = event.get("Spark Properties").unwrap_or(&Value::Null);
    let cpus = json::text(spark, "spark.task.cpus").and_then(|cpus| cpus.trim().parse().ok());
    if let Some(cpus) = cpus {
        cx.executors.set_cpus_per_task(cpus);
    }
    cx.app.environment = Some(environment);
}

pub(crate) fn resource_profile(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let id = json::int32(event, "Resource Profile Id")?;
    let mut requests = |key: &str| -> Vec<ResourceRequest> {
        let members = event.get(key).and_then(Value::as_object);
        let members = members.into_iter().flatten();
        members
            .map(|(name, r)| ResourceRequest {
                name: cx.text(json::text(r, "Resource Name").unwrap_or(name)),
                amount: r.get("Amount").and_then(Value::as_f64).unwrap_or(0.0),
                discovery_script: cx.text(json::text(r, "Discovery Script").unwrap_or_default()),
                vendor: cx.text(json::text(r, "Vendor").unwrap_or_default()),
            })
            .collect()
    };
    let profile = ResourceProfile {
        id,
        executor_resources: requests("Executor Resource Requests"),
        task_resources: requests("Task Resource Requests"),
    };
    cx.app.profiles.insert(id, profile);
    Some(())
}

pub(crate) fn misc_process(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let info = event.get("Info").or_else(|| event.get("info")).unwrap_or(event);
    let id = json::text(event, "processId").or_else(|| json::text(event, "Process ID"))?;
    let id = cx.text(id);
    let at_ms = json::int(event, "time").or_else(|| json::int(event, "Timestamp")).unwrap_or(0);
    let process = MiscProcess {
        id,
        at_ms: cx.app.processes.get(&id).map_or(at_ms, |known| known.at_ms),
        host_port: cx.text(
            json::text(info, "hostPort")
                .or_else(|| json::text(info, "Host Port"))
                .unwrap_or_default(),
        ),
        n_cores: json::int(info, "cores").or_else(|| json::int(info, "Total Cores")).unwrap_or(0),
        logs: cx.pairs(info, "logUrlInfo"),
    };
    cx.app.processes.insert(id, process);
    Some(())
}

impl AppState {
    /// CPUs a task takes by its resource profile.
    pub(crate) fn cpus_of_profile(&self, profile: i32, cpus: Text) -> Option<f64> {
        let requests = &self.profiles.get(&profile)?.task_resources;
        requests.iter().find(|r| r.name == cpus).map(|r| r.amount)
    }
}
