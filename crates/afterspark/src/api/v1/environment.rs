//! `environment`: what the application ran with, redacted.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
