//! What a history server cannot tell: threads and DStreams' statistics.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
