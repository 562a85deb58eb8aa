//! `gaps`: what the log holds that could not be used, and what it lacks.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Endpoint, Handler, PAGE, compact, page, schema_of};
use crate::api::Handled;
use crate::api::v1::Call;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["gaps"],
    path_parameters: &[],
    parameters: PAGE,
    summary: "What the log holds that could not be used, and what it lacks; the worst first.",
    handler: Handler::Attempt(answer),
    schema: schema_of::<Gaps>,
};

#[derive(Serialize, JsonSchema)]
struct Gaps {
    n_gaps: usize,
    gaps: Vec<Gap>,
}

/// A kind of gap in one file of the log, with the place of the first.
#[derive(Serialize, JsonSchema)]
struct Gap {
    kind: &'static str,
    /// `note`: nothing that is shown is wrong; `loss`: some numbers are lower bounds; `error`: a part of the log could
    /// not be read.
    severity: &'static str,
    /// What it is, and what it means for the numbers.
    meaning: &'static str,
    /// Empty when it is about the whole log.
    file: String,
    detail: String,
    n: u64,
    /// Decoded bytes that were passed over; 0 when none or unknown.
    bytes: u64,
    /// Decoded offset of the first one in the file.
    first_offset: u64,
}

fn answer(call: &Call<'_>) -> Handled {
    let (offset, length) = page(call.query())?;
    let gaps = views::gaps(call.store);
    let n_gaps = gaps.len();
    let gaps = gaps.into_iter().skip(offset).take(length).map(|gap| Gap {
        kind: gap.kind,
        severity: gap.severity.name(),
        meaning: gap.meaning,
        file: gap.file,
        detail: gap.detail,
        n: gap.n,
        bytes: gap.bytes,
        first_offset: gap.first_offset,
    });
    Ok(compact(&Gaps { n_gaps, gaps: gaps.collect() }))
}
