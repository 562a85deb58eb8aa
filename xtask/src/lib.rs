//! What the repository's programs and tests share.
#![forbid(unsafe_code)]

pub mod compare;
