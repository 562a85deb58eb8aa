//! All applications, and the order in which Spark lists them: the latest end first, those that run last, and of equal ones
//! the greater id first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::attempt::{Application, Attempt};

/// The end of an application that runs, for the order.
const NO_END_MS: i64 = -1;

type Place = Reverse<(i64, String)>;

/// What is known of one application: all logs that name it, of which two may be of the same attempt.
#[derive(Default)]
struct Known {
    logs: Vec<Arc<Attempt>>,
    place: Option<Place>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Listing {
    known: HashMap<String, Known>,
    order: BTreeMap<Place, Arc<Application>>,
}

impl Listing {
    /// Replaces what was known from some files and folders. Each application concerned is put in order once, however many
    /// of its logs changed.
    pub(crate) fn replace(&mut self, gone: &[Arc<Attempt>], come: &[Arc<Attempt>]) {
        let mut touched: Vec<&str> = Vec::new();
        let mut by_app: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for attempt in gone {
            by_app.entry(&attempt.app_id).or_default().push(&attempt.path);
        }
        for (app, mut paths) in by_app {
            paths.sort_unstable();
            if let Some(known) = self.known.get_mut(app) {
                known.logs.retain(|log| paths.binary_search(&&*log.path).is_err());
            }
            touched.push(app);
        }
        for attempt in come {
            self.known.entry(attempt.app_id.clone()).or_default().logs.push(attempt.clone());
            touched.push(&attempt.app_id);
        }
        touched.sort_unstable();
        touched.dedup();
        for app in touched {
            self.put_in_order(app);
        }
    }

    fn put_in_order(&mut self, app: &str) {
        let Some(known) = self.known.get_mut(app) else { return };
        if let Some(place) = known.place.take() {
            self.order.remove(&place);
        }
        let Some(application) = application(app, &known.logs) else {
            self.known.remove(app);
            return;
        };
        let end = application.attempts.first().and_then(|newest| newest.ended_at_ms);
        let place = Reverse((end.unwrap_or(NO_END_MS), app.to_owned()));
        known.place = Some(place.clone());
        self.order.insert(place, Arc::new(application));
    }

    pub(crate) fn n_applications(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn get(&self, app: &str) -> Option<Arc<Application>> {
        let place = self.known.get(app)?.place.as_ref()?;
        self.order.get(place).cloned()
    }

    /// The first applications in order of which `wanted` is true.
    pub(crate) fn first(
        &self,
        n_max: usize,
        wanted: impl Fn(&Application) -> bool,
    ) -> Vec<Arc<Application>> {
        self.order.values().filter(|application| wanted(application)).take(n_max).cloned().collect()
    }
}

/// Of two logs of one attempt the one that changed last counts.
fn application(id: &str, logs: &[Arc<Attempt>]) -> Option<Application> {
    let mut logs = logs.to_vec();
    logs.sort_by(|a, b| (b.updated_at_ms, &b.path).cmp(&(a.updated_at_ms, &a.path)));
    let name = logs.first()?.name.clone();
    let mut attempts: Vec<Arc<Attempt>> = Vec::with_capacity(logs.len());
    let mut seen = std::collections::HashSet::new();
    for log in &logs {
        if seen.insert(log.attempt_id.as_deref()) {
            attempts.push(log.clone());
        }
    }
    attempts.sort_by_key(|attempt| Reverse(attempt.started_at_ms));
    Some(Application { id: id.to_owned(), name, attempts })
}
