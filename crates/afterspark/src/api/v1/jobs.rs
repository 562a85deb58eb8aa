//! `jobs` and one job.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
