//! `taskSummary`, `taskList` and `taskTable` of a stage attempt.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
