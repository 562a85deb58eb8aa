//! `logs`: the log of an attempt, or of all attempts of an application, as a zip that is written while it is sent.

use std::io::{self, Read, Write};

use ingest::LogFile;

use super::no_such_app;
use crate::api::{Answer, Body, Handled};
use crate::serve::{Attempt, Library};
use crate::zip::{Effort, ZipWriter};

/// First bytes that tell whether a file is compressed.
const HEAD_BYTES: usize = 16;

/// Without an attempt id, all attempts; Spark then asks that there is one without an id or with the id 1.
pub(super) fn answer(library: &Library, app: &str, attempt: Option<&str>) -> Handled {
    let known = match attempt {
        Some(_) => library.find(app, attempt),
        None => library.find(app, None).or_else(|| library.find(app, Some("1"))),
    };
    let known = known.ok_or_else(|| no_such_app(app, attempt.or(Some("1"))))?;
    let attempts = match attempt {
        Some(_) => vec![known],
        None => library.application(app).map(|found| found.attempts.clone()).unwrap_or_default(),
    };
    let suffix = attempt.map(|attempt| format!("-{attempt}")).unwrap_or_default();
    let file_name: String = format!("eventLogs-{app}{suffix}.zip");
    // a name from a log must not begin another header
    let file_name = file_name.replace(|c: char| c.is_control(), "_");
    let answer = Answer {
        status: 200,
        content_type: Some("application/octet-stream"),
        headers: Vec::new(),
        body: Body::Stream(Box::new(move |out| write(&attempts, out))),
    };
    Ok(answer.with_header("content-disposition", format!("attachment; filename={file_name}")))
}

fn write(attempts: &[impl AsRef<Attempt>], out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    for attempt in attempts {
        let log = attempt.as_ref().log().map_err(io::Error::other)?;
        for file in ingest::files_of_log(&log).map_err(io::Error::other)? {
            add(&mut zip, &file)?;
        }
    }
    zip.finish()
}

fn add(zip: &mut ZipWriter<'_>, file: &LogFile) -> io::Result<()> {
    let Some(part) = &file.part else { return zip.folder(&file.name, file.modified_at_ms) };
    let mut content = part.open(0).map_err(io::Error::other)?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    content.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let effort = match scan::Codec::detect(&head) {
        scan::Codec::Plain => Effort::Deflate,
        _ => Effort::Store,
    };
    let mut content = head.as_slice().chain(content);
    zip.file(&file.name, file.modified_at_ms, part.readable_bytes(), effort, &mut content)
}
