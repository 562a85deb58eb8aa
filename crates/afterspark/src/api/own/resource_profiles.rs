//! `resource-profiles`: what stages asked of executors and tasks.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Endpoint, Handler, PAGE, compact, page, schema_of};
use crate::api::Handled;
use crate::api::v1::Call;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["resource-profiles"],
    path_parameters: &[],
    parameters: PAGE,
    summary: "What stages asked of executors and tasks.",
    handler: Handler::Attempt(answer),
    schema: schema_of::<Profiles<'_>>,
};

#[derive(Serialize, JsonSchema)]
struct Profiles<'s> {
    n_profiles: usize,
    profiles: Vec<Profile<'s>>,
}

#[derive(Serialize, JsonSchema)]
struct Profile<'s> {
    id: i32,
    executor_resources: Vec<Resource<'s>>,
    task_resources: Vec<Resource<'s>>,
}

#[derive(Serialize, JsonSchema)]
struct Resource<'s> {
    /// `cores`, `memory` (in MiB), `offHeap` (in MiB), `cpus`, or a kind of device.
    name: &'s str,
    amount: f64,
    /// Program that finds the devices; empty when there is none.
    discovery_script: &'s str,
    vendor: &'s str,
}

fn answer(call: &Call<'_>) -> Handled {
    let (offset, length) = page(call.query())?;
    let all = views::resource_profiles(call.store);
    let text = |text| call.store.text(text);
    let resources = |list: &[store::ResourceRequest]| {
        let shapes = list.iter().map(|resource| Resource {
            name: text(resource.name),
            amount: resource.amount,
            discovery_script: text(resource.discovery_script),
            vendor: text(resource.vendor),
        });
        shapes.collect()
    };
    let profiles = all.iter().skip(offset).take(length).map(|profile| Profile {
        id: profile.id,
        executor_resources: resources(&profile.executor_resources),
        task_resources: resources(&profile.task_resources),
    });
    Ok(compact(&Profiles { n_profiles: all.len(), profiles: profiles.collect() }))
}
