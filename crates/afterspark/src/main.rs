//! Every surface of Afterspark. The only crate that prints, serializes to JSON, and reads the environment.
#![forbid(unsafe_code)]

mod api;
mod cache;
mod cli;
mod pages;
mod progress;
mod report;
mod serve;
mod settings;
mod text;
mod zip;

/// Reading allocates from several threads at once, which the system's allocator serializes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
