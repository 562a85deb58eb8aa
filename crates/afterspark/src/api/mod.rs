//! Answers in JSON over HTTP. Handlers are plain functions from a request to an answer: they know no socket, and every
//! number they send comes from `views`.

mod answer;
mod date;
mod json;
mod request;
pub(crate) mod v1;

pub(crate) use answer::{Answer, Body, Handled};
pub(crate) use date::Date;
pub(crate) use request::{BadPath, Query, Request};
