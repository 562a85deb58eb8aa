//! `executors`, `allexecutors`, `allmiscellaneousprocess`.

use super::Route;

pub(super) const ROUTES: &[Route] = &[];
