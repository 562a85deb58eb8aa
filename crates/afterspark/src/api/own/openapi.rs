//! `openapi.json`: all endpoints and the forms of their answers, as `OpenAPI` 3.1 has them.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{ENDPOINTS, Endpoint, Handler, Parameter, Problem, compact};
use crate::api::Handled;
use crate::serve::Library;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["openapi.json"],
    path_parameters: &[],
    parameters: &[],
    summary: "This document.",
    handler: Handler::Server(answer),
    schema: any_object,
};

fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

fn answer(_library: &Library) -> Handled {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<Problem<'_>>();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let below_attempt = matches!(endpoint.handler, Handler::Attempt(_));
        for with_attempt in [false, true].into_iter().filter(|with| below_attempt || !with) {
            let schema = (endpoint.schema)(&mut generator);
            let mut responses = json!({ "200": content(endpoint.summary, &schema) });
            if below_attempt {
                responses["404"] = content(
                    "There is no such application, or nothing there with such an id.",
                    &problem,
                );
                responses["500"] = content("The log cannot be read.", &problem);
            }
            if !endpoint.parameters.is_empty() {
                responses["400"] = content("A parameter is not what it must be.", &problem);
            }
            let get = json!({
                "summary": endpoint.summary,
                "parameters": parameters(endpoint, with_attempt),
                "responses": responses,
            });
            paths.insert(endpoint.route(with_attempt), json!({ "get": get }));
        }
    }
    let schemas = generator.take_definitions(true);
    Ok(compact(&json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Afterspark",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What Spark's own API, which is served below /api/v1, lacks. Instants are milliseconds since 1970; \
                units stand in names; null is what the log does not tell.",
        },
        "paths": paths,
        "components": { "schemas": schemas },
    })))
}

fn content(description: &str, schema: &Schema) -> Value {
    json!({
        "description": description,
        "content": { "application/json": { "schema": schema } },
    })
}

fn parameters(endpoint: &Endpoint, with_attempt: bool) -> Vec<Value> {
    let in_path = |name: &str, description: &str| {
        let schema = json!({ "type": "string" });
        json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema })
    };
    let mut all = Vec::new();
    if let Handler::Attempt(_) = endpoint.handler {
        all.push(in_path("app", "The application's id."));
    }
    if with_attempt {
        all.push(in_path("attempt", "The attempt's id; without it, the latest attempt is meant."));
    }
    all.extend(endpoint.path_parameters.iter().map(|p| in_path(p.name, p.description)));
    all.extend(endpoint.parameters.iter().map(|Parameter { name, description, default }| {
        let schema = match default {
            Some(default) => json!({ "type": "integer", "minimum": 0, "default": default }),
            None => json!({ "type": "string" }),
        };
        json!({ "name": name, "in": "query", "description": description, "schema": schema })
    }));
    all
}
