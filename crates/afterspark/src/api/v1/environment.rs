//! `environment`: what the application ran with, redacted.

use serde::Serialize;
use store::{ResourceProfile, ResourceRequest};

use super::{Call, Route, no_such_app};
use crate::api::{Answer, Handled, Redaction, json::Double, json::Members};

pub(super) const ROUTES: &[Route] = &[(&["environment"], answer)];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Environment<'s> {
    runtime: Runtime<'s>,
    spark_properties: Vec<(&'s str, &'s str)>,
    hadoop_properties: Vec<(&'s str, &'s str)>,
    system_properties: Vec<(&'s str, &'s str)>,
    metrics_properties: Vec<(&'s str, &'s str)>,
    classpath_entries: Vec<(&'s str, &'s str)>,
    resource_profiles: Vec<Profile<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Runtime<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    java_version: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    java_home: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scala_version: Option<&'s str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile<'s> {
    id: i32,
    executor_resources: Members<&'s str, ExecutorResource<'s>>,
    task_resources: Members<&'s str, TaskResource<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutorResource<'s> {
    resource_name: &'s str,
    amount: i64,
    discovery_script: &'s str,
    vendor: &'s str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskResource<'s> {
    resource_name: &'s str,
    amount: Double,
}

fn answer(call: &Call<'_>) -> Handled {
    let attempt = call.attempt;
    let environment = views::environment(call.store)
        .ok_or_else(|| no_such_app(&attempt.app_id, attempt.attempt_id.as_deref()))?;
    let redaction = call.settings().redaction();
    let profiles = views::resource_profiles(call.store);
    Ok(Answer::json(&Environment {
        runtime: Runtime {
            java_version: environment.java_version,
            java_home: environment.java_home,
            scala_version: environment.scala_version,
        },
        spark_properties: redacted(redaction, environment.spark),
        hadoop_properties: redacted(redaction, environment.hadoop),
        system_properties: redacted(redaction, environment.system),
        metrics_properties: redacted(redaction, environment.metrics),
        classpath_entries: environment.classpath,
        resource_profiles: profiles.iter().map(|profile| shape(call, profile)).collect(),
    }))
}

fn redacted<'s>(
    redaction: &Redaction,
    mut pairs: Vec<(&'s str, &'s str)>,
) -> Vec<(&'s str, &'s str)> {
    for (name, value) in &mut pairs {
        *value = redaction.redact(name, value);
    }
    pairs
}

fn shape<'c>(call: &Call<'c>, profile: &'c ResourceProfile) -> Profile<'c> {
    let text = |text| call.store.text(text);
    let of_executor = |request: &ResourceRequest| {
        let name = text(request.name);
        let resource = ExecutorResource {
            resource_name: name,
            amount: request.amount as i64,
            discovery_script: text(request.discovery_script),
            vendor: text(request.vendor),
        };
        (name, resource)
    };
    let of_task = |request: &ResourceRequest| {
        let name = text(request.name);
        (name, TaskResource { resource_name: name, amount: Double(request.amount) })
    };
    Profile {
        id: profile.id,
        executor_resources: Members(profile.executor_resources.iter().map(of_executor).collect()),
        task_resources: Members(profile.task_resources.iter().map(of_task).collect()),
    }
}
