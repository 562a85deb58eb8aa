//! How many slots an application had, used and wanted, over its time.

use hashbrown::HashMap;
use store::{ExecutorChange, Store, TaskColumn as C, TaskFlags};

/// Averages over a part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slots {
    /// Cores of the executors that were there, by the tasks that one can run at a time.
    pub available: f64,
    /// Tasks that ran.
    pub used: f64,
    /// Tasks of submitted stages that were not launched yet.
    pub pending: f64,
    /// Executors that were there, the driver in local mode included.
    pub executors: f64,
}

/// Equal parts of the time of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Occupancy {
    pub from_ms: i64,
    pub to_ms: i64,
    pub parts: Vec<Slots>,
}

/// What adds up over time: changes at instants, as averages over parts.
struct Sum {
    from_ms: i64,
    scale: f64,
    within: Vec<f64>,
    steps: Vec<f64>,
}

impl Sum {
    fn new(from_ms: i64, to_ms: i64, n: usize) -> Sum {
        let scale = n as f64 / to_ms.saturating_sub(from_ms).max(1) as f64;
        Sum { from_ms, scale, within: vec![0.0; n], steps: vec![0.0; n] }
    }

    /// From an instant on it is so much more.
    fn change(&mut self, at_ms: i64, by: f64) {
        let n = self.within.len();
        let place = at_ms.saturating_sub(self.from_ms) as f64 * self.scale;
        let place = place.max(0.0);
        if place >= n as f64 {
            return;
        }
        let part = place as usize;
        self.within[part] += by * ((part + 1) as f64 - place);
        if let Some(step) = self.steps.get_mut(part + 1) {
            *step += by;
        }
    }

    fn averages(&self) -> impl Iterator<Item = f64> {
        let mut level = 0.0;
        self.within.iter().zip(&self.steps).map(move |(within, step)| {
            level += step;
            (level + within).max(0.0)
        })
    }
}

/// In so many parts; `None` when the log does not tell when the application began and went on.
pub fn occupancy(store: &Store, n_parts: usize) -> Option<Occupancy> {
    let app = &store.tables().app;
    let now_ms = crate::last_event_at_ms(store);
    let from_ms = app.started_at_ms?;
    let to_ms = app.ended_at_ms.unwrap_or(now_ms).max(from_ms.saturating_add(1));
    let sum = || Sum::new(from_ms, to_ms, n_parts);
    let (mut available, mut used, mut pending, mut executors) = (sum(), sum(), sum(), sum());
    let mut cores = HashMap::new();
    for event in &store.tables().executor_events {
        match event.change {
            ExecutorChange::Added => {
                let n = event.n_cores.unwrap_or(0).max(0) as f64;
                let before = cores.insert(event.subject, n);
                available.change(event.at_ms, n - before.unwrap_or(0.0));
                executors.change(event.at_ms, if before.is_some() { 0.0 } else { 1.0 });
            }
            ExecutorChange::Removed => {
                if let Some(n) = cores.remove(&event.subject) {
                    available.change(event.at_ms, -n);
                    executors.change(event.at_ms, -1.0);
                }
            }
            _ => {}
        }
    }
    for stage in &store.tables().stages {
        let Some(submitted_at_ms) = stage.submitted_at_ms else { continue };
        let tasks = store.tasks(stage.id);
        let launched = tasks.column(C::launched_at_ms);
        let finished = tasks.column(C::finished_at_ms);
        let flags = tasks.column(C::flags);
        let attempts = tasks.column(C::attempt);
        let mut n_waiting = stage.n_tasks.max(0);
        pending.change(submitted_at_ms, n_waiting as f64);
        for (row, at_ms) in launched.iter().enumerate() {
            if flags[row] & TaskFlags::NOT_STARTED != 0 {
                continue;
            }
            used.change(*at_ms, 1.0);
            let end_ms = if finished[row] > 0 { finished[row] } else { now_ms };
            used.change(end_ms, -1.0);
            // a try after the first was not waited for since the submission
            if attempts[row] == 0 && n_waiting > 0 {
                n_waiting -= 1;
                pending.change((*at_ms).max(submitted_at_ms), -1.0);
            }
        }
        if let Some(completed_at_ms) = stage.completed_at_ms {
            pending.change(completed_at_ms, -(n_waiting as f64));
        }
    }
    let (mut available, mut used) = (available.averages(), used.averages());
    let (mut pending, mut executors) = (pending.averages(), executors.averages());
    let mut next = || Slots {
        available: available.next().unwrap_or(0.0),
        used: used.next().unwrap_or(0.0),
        pending: pending.next().unwrap_or(0.0),
        executors: executors.next().unwrap_or(0.0),
    };
    let parts = (0..n_parts).map(|_| next()).collect();
    Some(Occupancy { from_ms, to_ms, parts })
}
