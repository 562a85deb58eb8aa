//! `sql`, one execution, and `sql/sqlTable`.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
