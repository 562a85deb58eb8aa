//! What a server is asked about one application attempt, and about itself: every endpoint, with many parameters.
//!
//! The order matters: a history server keeps quantiles between requests, so what it answers can depend on what it was
//! asked before.

mod attempt;
mod server;
mod stage;

use std::collections::HashSet;
use std::fmt;

use super::Outcome;
use crate::json::Json;

pub(super) use attempt::attempt;
pub(super) use server::server;

const TASK_STATUS: [&str; 5] = ["running", "killed", "failed", "success", "unknown"];

/// Who answers: class of endpoint and path in, body of a good answer out.
pub(super) type Ask<'a> = dyn FnMut(&str, &str) -> Outcome<Option<Json>> + 'a;

/// Asks each question once.
struct Walk<'a> {
    ask: &'a mut Ask<'a>,
    asked: HashSet<String>,
    /// Path that the questions are below.
    below: String,
}

impl<'a> Walk<'a> {
    fn new(ask: &'a mut Ask<'a>, below: String) -> Walk<'a> {
        Walk { ask, asked: HashSet::new(), below }
    }

    fn ask(&mut self, class: &str, path: &str) -> Outcome<Option<Json>> {
        let path = format!("{}{path}", self.below);
        if self.asked.insert(path.clone()) { (self.ask)(class, &path) } else { Ok(None) }
    }

    /// The items of an answer that is a list.
    fn list(&mut self, class: &str, path: &str) -> Outcome<Vec<Json>> {
        let answer = self.ask(class, path)?;
        Ok(if let Some(Json::List(items)) = answer { items } else { Vec::new() })
    }

    /// The same path with each of these endings.
    fn each(&mut self, class: &str, path: &str, endings: &[&str]) -> Outcome<()> {
        endings.iter().try_for_each(|ending| self.ask(class, &format!("{path}{ending}")).map(drop))
    }
}

/// An application attempt as the list of applications names it.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) app: String,
    pub(super) attempt: Option<String>,
}

impl Attempt {
    pub(super) fn name(&self) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || ['.', '-', '_'].contains(&c);
        let app: String = self.app.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        self.attempt.as_ref().map_or(app.clone(), |attempt| format!("{app}_{attempt}"))
    }

    fn path(&self) -> String {
        let app = format!("/applications/{}", quoted(&self.app));
        self.attempt.as_ref().map_or(app.clone(), |attempt| format!("{app}/{attempt}"))
    }
}

/// All attempts of the answer to `/applications`.
pub(super) fn attempts(applications: &Json) -> Vec<Attempt> {
    let mut found = Vec::new();
    for app in applications.list() {
        let id = app.get("id").map(Json::text).unwrap_or_default();
        for attempt in app.get("attempts").map(Json::list).unwrap_or_default() {
            let attempt = attempt.get("attemptId").map(|id| id.text().to_owned());
            found.push(Attempt { app: id.to_owned(), attempt });
        }
    }
    found
}

fn number(json: &Json, key: &str) -> u64 {
    json.get(key).and_then(Json::number).unwrap_or(0)
}

/// A query as a form sends it.
struct Query(Vec<(String, String)>);

impl Query {
    fn of(pairs: &[(&str, &str)]) -> Query {
        let mut query = Query(Vec::new());
        for (key, value) in pairs {
            query.set(key, value);
        }
        query
    }

    /// Sets a parameter where it stands, or appends it.
    fn set(&mut self, key: &str, value: &str) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.0.push((key.to_owned(), value.to_owned())),
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.0.iter().enumerate() {
            let form = |text: &str| quoted(text).replace("%20", "+");
            write!(f, "{}{}={}", if i > 0 { "&" } else { "" }, form(key), form(value))?;
        }
        Ok(())
    }
}

/// Text within a path or a query.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.extend([format!("%{byte:02X}")]);
        }
    }
    out
}
