//! Which applications there are, and their stores.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ingest::{Ended, Log, Options};
use store::Store;

use crate::cache::Cache;

/// An application attempt, as its log's first and last lines tell.
#[derive(Clone)]
pub(crate) struct Attempt {
    pub(crate) app_id: String,
    pub(crate) attempt_id: Option<String>,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) spark_version: String,
    pub(crate) started_at_ms: i64,
    /// `None` when the log has no end event.
    pub(crate) ended_at_ms: Option<i64>,
    pub(crate) exit_code: Option<i32>,
    /// The log's modification time.
    pub(crate) updated_at_ms: i64,
    /// Name and place of the folder that it was found in.
    pub(crate) source_name: String,
    pub(crate) source_path: String,
    pub(crate) log: Log,
}

/// See the module.
pub(crate) struct Library {
    attempts: Vec<Arc<Attempt>>,
    cache: Cache,
    options: Options,
    open: Mutex<HashMap<PathBuf, Arc<Store>>>,
}

impl Library {
    pub(crate) fn new(sources: &[PathBuf], cache: Cache, options: Options) -> Library {
        let mut attempts = Vec::new();
        for source in sources {
            let Ok((logs, _errors)) = ingest::logs_at(source) else { continue };
            for log in logs {
                let Ok(glance) = ingest::glance(&log) else { continue };
                let Some(id) = glance.id else { continue };
                let place = format!("file://{}", source.display());
                attempts.push(Arc::new(Attempt {
                    app_id: id,
                    attempt_id: glance.attempt_id,
                    name: glance.name.unwrap_or_default(),
                    user: glance.user.unwrap_or_default(),
                    spark_version: glance.spark_version.unwrap_or_default(),
                    started_at_ms: glance.started_at_ms.unwrap_or(-1),
                    ended_at_ms: if let Ended::At(at) = glance.ended { Some(at) } else { None },
                    exit_code: None,
                    updated_at_ms: log.modified_at_ms(),
                    source_name: place.clone(),
                    source_path: place,
                    log,
                }));
            }
        }
        Library { attempts, cache, options, open: Mutex::default() }
    }

    /// All attempts, in no order.
    pub(crate) fn attempts(&self) -> Vec<Arc<Attempt>> {
        self.attempts.clone()
    }

    /// An attempt by its ids; one with an attempt id is not found without it.
    pub(crate) fn find(&self, app: &str, attempt: Option<&str>) -> Option<Arc<Attempt>> {
        let mut all = self.attempts.iter();
        all.find(|a| a.app_id == app && a.attempt_id.as_deref() == attempt).cloned()
    }

    /// The store of an attempt.
    pub(crate) fn open(&self, attempt: &Attempt) -> Result<Arc<Store>, ingest::Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = open.get(&attempt.log.path) {
            return Ok(store.clone());
        }
        let (store, _) = self.cache.open(&attempt.log, self.options, &|_| {}, &mut |_| {})?;
        let store = Arc::new(store);
        open.insert(attempt.log.path.clone(), store.clone());
        Ok(store)
    }
}
