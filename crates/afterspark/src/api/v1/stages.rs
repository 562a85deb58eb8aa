//! `stages`, the attempts of one stage, and one attempt.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
