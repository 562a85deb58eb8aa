//! Our own API, below `/api/afterspark/v1`: what Spark's lacks. An endpoint is a file with its [`Endpoint`], in which a
//! handler stands beside its description; [`ENDPOINTS`] lists them, and the `OpenAPI` document is made of that list.
#![expect(clippy::unnecessary_wraps, reason = "handlers share one type")]

mod connect;
mod gaps;
mod openapi;
mod resource_profiles;
mod route;
mod status;
mod streaming;
mod streaming_query;
mod thrift;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::{Answer, Handled, Query};
use crate::api::v1::Call;
use crate::serve::Library;
pub(crate) use route::{Below, Plan, plan};

/// Where the API begins.
pub(crate) const ROOT: &str = "/api/afterspark/v1";

/// Everything that can be asked.
const ENDPOINTS: &[Endpoint] = &[
    openapi::ENDPOINT,
    status::ENDPOINT,
    gaps::ENDPOINT,
    streaming::ENDPOINT,
    streaming_query::ENDPOINT,
    connect::ENDPOINT,
    thrift::ENDPOINT,
    resource_profiles::ENDPOINT,
];

/// An endpoint with its description.
struct Endpoint {
    /// Segments below the root, or below an application attempt; `*` stands for any one.
    path: &'static [&'static str],
    /// What the `*` of the path are, in order.
    path_parameters: &'static [Parameter],
    parameters: &'static [Parameter],
    summary: &'static str,
    handler: Handler,
    /// The form of the answer.
    schema: fn(&mut SchemaGenerator) -> Schema,
}

#[derive(Clone, Copy)]
enum Handler {
    /// No log is needed.
    Server(fn(&Library) -> Handled),
    /// The log of an application attempt is.
    Attempt(fn(&Call<'_>) -> Handled),
}

struct Parameter {
    name: &'static str,
    description: &'static str,
    /// Of a number; other parameters are texts.
    default: Option<u64>,
}

/// What a page of a list is asked for with.
const PAGE: &[Parameter] = &[
    Parameter { name: "offset", description: "How many to pass over.", default: Some(0) },
    Parameter {
        name: "length",
        description: "How many to give at most; no more than 10,000.",
        default: Some(LENGTH_DEFAULT),
    },
];
const LENGTH_DEFAULT: u64 = 1_000;
const LENGTH_MAX: usize = 10_000;

/// Why something cannot be answered.
#[derive(Serialize, JsonSchema)]
struct Problem<'p> {
    error: &'p str,
}

/// An answer that says why not.
pub(crate) fn refusal(status: u16, why: &str) -> Answer {
    Answer { status, ..compact(&Problem { error: why }) }
}

fn compact(value: &impl Serialize) -> Answer {
    // plain values in memory: writing them down cannot fail
    Answer::of(200, "application/json", serde_json::to_vec(value).unwrap_or_default())
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The page that is asked for: offset and length.
fn page(query: &Query) -> Result<(usize, usize), Answer> {
    let number = |name: &str, default: usize| match query.first(name) {
        None | Some("") => Ok(default),
        Some(value) => value
            .parse::<usize>()
            .map_err(|_| refusal(400, &format!("{name} is not a whole number from 0 on: {value}"))),
    };
    let offset = number("offset", 0)?;
    Ok((offset, number("length", LENGTH_DEFAULT as usize)?.min(LENGTH_MAX)))
}
