//! What the repository's programs and tests share.
#![forbid(unsafe_code)]

pub mod compare;
pub mod http;
pub mod json;
pub mod rest;
pub mod servers;
