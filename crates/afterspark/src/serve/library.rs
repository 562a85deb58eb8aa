//! Which applications there are, and their stores.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fleet::Fleet;
use ingest::Options;
use store::Store;

pub(crate) use fleet::{Application, Attempt};

use super::watch::Watch;
use crate::{api::AnswerSettings, cache::Cache};

/// A log's path, and its place in an archive.
type LogPlace = (Arc<Path>, Option<PathBuf>);
type Slot = Arc<Mutex<Option<Arc<Store>>>>;

/// See the module.
pub(crate) struct Library {
    fleet: Arc<Fleet>,
    watch: Arc<Watch>,
    cache: Cache,
    options: Options,
    answer_settings: AnswerSettings,
    open: Mutex<HashMap<LogPlace, Slot>>,
}

impl Library {
    pub(crate) fn new(
        fleet: Fleet,
        cache: Cache,
        options: Options,
        answer_settings: AnswerSettings,
    ) -> Library {
        let fleet = Arc::new(fleet);
        let watch = Arc::new(Watch::new(fleet.clone()));
        Library { fleet, watch, cache, options, answer_settings, open: Mutex::default() }
    }

    pub(crate) fn answer_settings(&self) -> &AnswerSettings {
        &self.answer_settings
    }

    pub(crate) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// The first applications in Spark's order that are wanted.
    pub(crate) fn applications(
        &self,
        n_max: usize,
        wanted: impl Fn(&Application) -> bool,
    ) -> Vec<Arc<Application>> {
        self.fleet.applications(n_max, wanted)
    }

    pub(crate) fn application(&self, app: &str) -> Option<Arc<Application>> {
        self.fleet.application(app)
    }

    /// An attempt by its ids; one with an attempt id is not found without it.
    pub(crate) fn find(&self, app: &str, attempt: Option<&str>) -> Option<Arc<Attempt>> {
        self.fleet.application(app)?.attempt(attempt).cloned()
    }

    /// Looks for an application that is not known, as it may just have been written.
    pub(crate) async fn look_for(&self, app: &str) -> bool {
        self.watch.look_for(app, || self.fleet.application(app).is_some()).await
    }

    /// The store of an attempt.
    pub(crate) fn open(&self, attempt: &Attempt) -> Result<Arc<Store>, ingest::Error> {
        let key = (attempt.path.clone(), attempt.inside.clone());
        let slot = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.entry(key).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*slot {
            return Ok(store.clone());
        }
        let log = attempt.log()?;
        let (store, _) = self.cache.open(&log, self.options, &|_| {}, &mut |_| {})?;
        let store = Arc::new(store);
        *slot = Some(store.clone());
        Ok(store)
    }
}
