//! Which applications there are, and their stores.

use std::sync::Arc;

use fleet::{Fleet, Progress, Source};
use store::Store;

pub(crate) use fleet::{Application, Attempt};

use super::shelf::{Memory, NoStore, Shelf, Shelved};
use super::watch::Watch;
use crate::{api::AnswerSettings, cache::Cache};

/// See the module.
pub(crate) struct Library {
    fleet: Arc<Fleet>,
    watch: Arc<Watch>,
    shelf: Arc<Shelf>,
    answer_settings: AnswerSettings,
}

impl Library {
    pub(crate) fn new(
        fleet: Fleet,
        cache: Cache,
        memory: Memory,
        answer_settings: AnswerSettings,
    ) -> Library {
        let fleet = Arc::new(fleet);
        let watch = Arc::new(Watch::new(fleet.clone()));
        Library { fleet, watch, shelf: Arc::new(Shelf::new(cache, memory)), answer_settings }
    }

    pub(super) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// What answers depend on beside the log.
    pub(crate) fn answer_settings(&self) -> &AnswerSettings {
        &self.answer_settings
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

    /// An attempt by its ids; without the attempt's, the latest.
    pub(crate) fn find_or_latest(&self, app: &str, attempt: Option<&str>) -> Option<Arc<Attempt>> {
        let application = self.fleet.application(app)?;
        match attempt {
            None => application.attempts.first().cloned(),
            id => application.attempt(id).cloned(),
        }
    }

    pub(crate) fn sources(&self) -> &[Arc<Source>] {
        self.fleet.sources()
    }

    /// How far scans have come, and what they could not read.
    pub(crate) fn progress(&self) -> Progress {
        self.fleet.progress()
    }

    /// What is open.
    pub(crate) fn shelved(&self) -> Shelved {
        self.shelf.shelved()
    }

    /// Looks for an application that is not known, as it may just have been written.
    pub(super) async fn look_for(&self, app: &str) {
        self.watch.look_for(app, || self.fleet.application(app).is_some()).await;
    }

    /// The store of an attempt, as its log is now or was a moment ago.
    pub(super) async fn open(&self, attempt: &Arc<Attempt>) -> Result<Arc<Store>, NoStore> {
        self.shelf.open(attempt).await
    }
}
