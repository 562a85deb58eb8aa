//! What is open right now, by kind of entity, and what each event does to it.

pub(crate) mod app;
pub(crate) mod connect;
pub(crate) mod executors;
pub(crate) mod rdd;
pub(crate) mod sql;
mod stage_info;
pub(crate) mod stages;
pub(crate) mod streaming;
pub(crate) mod thrift;

use serde_json::Value;
use store::{Blobs, Pairs, Text, TextPool};

use crate::json;

/// What the trackers of jobs and stages may touch beside their own.
pub(crate) struct Context<'a> {
    pub(crate) texts: &'a mut TextPool,
    pub(crate) blobs: &'a mut Blobs,
    pub(crate) app: &'a mut app::AppState,
    pub(crate) executors: &'a mut executors::Executors,
    pub(crate) storage: &'a mut rdd::Storage,
}

impl Context<'_> {
    pub(crate) fn text(&mut self, text: &str) -> Text {
        self.texts.intern(text)
    }

    /// The members of an object, both sides as text.
    pub(crate) fn pairs(&mut self, value: &Value, key: &str) -> Pairs {
        json::pairs(value, key).iter().map(|(k, v)| (self.text(k), self.text(v))).collect()
    }

    /// An event carries this instant.
    pub(crate) fn seen_at(&mut self, at_ms: Option<i64>) {
        let last = &mut self.app.app.last_event_at_ms;
        *last = (*last).max(at_ms.filter(|at| *at > 0));
    }

    pub(crate) fn cpus_of_profile(&mut self, profile: i32) -> Option<f64> {
        let cpus = self.texts.intern("cpus");
        self.app.cpus_of_profile(profile, cpus)
    }
}
