//! Answers in JSON over HTTP. Handlers are plain functions from a request to an answer: they know no socket, and every
//! number they send comes from `views`.

mod answer;
mod base64;
mod date;
mod json;
pub(crate) mod own;
mod redaction;
mod request;
mod settings;
pub(crate) mod v1;

pub(crate) use answer::{Answer, Body, Handled, WriteBody};
pub(crate) use date::Date;
pub(crate) use redaction::Redaction;
pub(crate) use request::{BadPath, Query, Request};
pub(crate) use settings::{AnswerOptions, AnswerSettings};
