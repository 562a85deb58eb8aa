//! What the repository's programs and tests share.
#![forbid(unsafe_code)]

pub mod compare;
pub mod http;
pub mod json;
pub mod rest;
pub mod servers;

pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
