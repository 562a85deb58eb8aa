//! Pages over the bundled logs and over logs whose every text is hostile: all of them open, their links lead somewhere,
//! tables sort, filter, page and export, and nothing that a log says becomes markup.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod crawl;
mod hostile;
mod site;
mod tables;
