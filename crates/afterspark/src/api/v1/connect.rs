//! Spark Connect sessions and operations (4.3).

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
