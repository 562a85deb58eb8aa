//! What Spark's server answers to OPTIONS: a description of the resource in WADL.

use std::fmt::Write;

use crate::api::{Answer, Request};

/// Parameters of `applications`: name, type, default.
const LIST_PARAMETERS: [(&str, &str, &str); 6] = [
    ("status", "string", ""),
    ("minDate", "string", "2010-01-01"),
    ("maxDate", "string", "3000-01-01"),
    ("minEndDate", "string", "2010-01-01"),
    ("maxEndDate", "string", "3000-01-01"),
    ("limit", "int", ""),
];

/// The description of the resource at a path. Parameters are told of the list of applications only.
pub(super) fn answer(request: &Request, path: &[&str]) -> Answer {
    let (method, parameters, media_type): (_, &[_], _) = match path {
        ["version"] => ("version", &[], "*/*"),
        ["applications"] => ("appList", &LIST_PARAMETERS, "application/json"),
        [.., "logs"] => ("getEventLogs", &[], "application/octet-stream"),
        _ => ("get", &[], "application/json"),
    };
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <application xmlns=\"http://wadl.dev.java.net/2009/02\">\n    \
         <doc xmlns:jersey=\"http://jersey.java.net/\" jersey:generatedBy=\"Jersey: 3.1.11 2025-08-08 07:58:43\"/>\n    \
         <grammars/>\n    <resources base=\"{}/api/\">\n        <resource path=\"v1/{}\">\n            \
         <method id=\"{method}\" name=\"GET\">\n",
        escaped(&request.base_url),
        escaped(&path.join("/")),
    );
    if !parameters.is_empty() {
        out.push_str("                <request>\n");
        for (name, kind, default) in parameters {
            let default = match *default {
                "" => String::new(),
                value => format!(" default=\"{value}\""),
            };
            // writing to a string cannot fail
            writeln!(
                out,
                "                    <param xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" name=\"{name}\" \
                 style=\"query\" type=\"xs:{kind}\"{default}/>"
            )
            .ok();
        }
        out.push_str("                </request>\n");
    }
    write!(
        out,
        "                <response>\n                    <representation mediaType=\"{media_type}\"/>\n                \
         </response>\n            </method>\n        </resource>\n    </resources>\n</application>\n"
    )
    .ok();
    Answer::of(200, "application/vnd.sun.wadl+xml", out.into_bytes())
        .with_header("allow", "HEAD,GET,OPTIONS")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
