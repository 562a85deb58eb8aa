//! `storage/rdd`: persisted RDDs.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
