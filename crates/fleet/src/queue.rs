//! Candidates that wait to be looked at, in order; those named after an application that somebody waits for come first.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use ingest::Candidate;

pub(crate) struct Queue {
    rest: Mutex<Rest>,
}

struct Rest {
    todo: Vec<Option<(usize, Candidate)>>,
    next: usize,
    first: Vec<usize>,
}

impl Queue {
    pub(crate) fn new(todo: Vec<(usize, Candidate)>) -> Queue {
        let todo = todo.into_iter().map(Some).collect();
        Queue { rest: Mutex::new(Rest { todo, next: 0, first: Vec::new() }) }
    }

    /// The next candidate; each name that is wanted is looked for once and then dropped.
    pub(crate) fn next(&self, wanted: &Mutex<HashSet<String>>) -> Option<(usize, Candidate)> {
        let wanted: Vec<String> =
            wanted.lock().unwrap_or_else(PoisonError::into_inner).drain().collect();
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        if !wanted.is_empty() {
            rest.bring_forward(&wanted);
        }
        while let Some(at) = rest.first.pop() {
            if let Some(found) = rest.todo[at].take() {
                return Some(found);
            }
        }
        while rest.next < rest.todo.len() {
            let at = rest.next;
            rest.next += 1;
            if let Some(found) = rest.todo[at].take() {
                return Some(found);
            }
        }
        None
    }
}

impl Rest {
    fn bring_forward(&mut self, wanted: &[String]) {
        for at in self.next..self.todo.len() {
            let Some((_, candidate)) = &self.todo[at] else { continue };
            let name = candidate.path.file_name().unwrap_or_default().to_string_lossy();
            if wanted.iter().any(|app| name.contains(app.as_str())) {
                self.first.push(at);
            }
        }
    }
}
