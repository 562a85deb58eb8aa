//! The tasks of a stage attempt by the host they ran on: whether one is slower than the others.

use hashbrown::HashMap;
use store::{StageAttemptId, Store, TaskColumn as C, Text};

use crate::{
    Measure, TaskStatus,
    measure::task_status,
    select,
    summary::{Rows, position, ratio},
};

/// What ran on a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLine<'s> {
    pub host: &'s str,
    /// That succeeded.
    pub n_tasks: i64,
    pub n_failed: i64,
    /// Duration of its successful tasks.
    pub median_ms: i64,
    pub max_ms: i64,
    /// Its median ÷ that of all hosts.
    pub to_median: Option<f64>,
    /// Read from storage or other stages by its successful tasks.
    pub bytes: i64,
}

/// By host, the slowest first.
pub fn by_host(store: &Store, id: StageAttemptId) -> Vec<HostLine<'_>> {
    let tasks = store.tasks(id);
    let rows = Rows::of(&tasks);
    let now_ms = crate::last_event_at_ms(store);
    let hosts = tasks.column(C::host);
    let durations = Measure::DurationMs.values(&tasks, now_ms);
    let shuffled = Measure::ShuffleReadBytes.values(&tasks, now_ms);
    let input = tasks.column(C::input_bytes);
    let mut by_host: HashMap<i64, (Vec<i64>, i64)> = HashMap::new();
    let mut all = Vec::with_capacity(rows.successful.len());
    for row in &rows.successful {
        let row = *row as usize;
        let (values, bytes) = by_host.entry(hosts[row]).or_default();
        values.push(durations[row]);
        all.push(durations[row]);
        *bytes = bytes.wrapping_add(shuffled[row]).wrapping_add(input[row]);
    }
    let mut failed: HashMap<i64, i64> = HashMap::new();
    for (flags, host) in tasks.column(C::flags).iter().zip(&hosts) {
        if task_status(*flags, 0) == TaskStatus::Failed {
            *failed.entry(*host).or_default() += 1;
            by_host.entry(*host).or_default();
        }
    }
    let middle = |values: &[i64]| {
        let at = values.len().checked_sub(1)?;
        let rank = position(0.5, at + 1);
        select::at_ranks(values, &[rank]).first().copied()
    };
    let of_all = middle(&all).unwrap_or(0);
    let mut lines: Vec<HostLine<'_>> = by_host
        .into_iter()
        .map(|(host, (values, bytes))| {
            let median_ms = middle(&values).unwrap_or(0);
            HostLine {
                host: Text::from_column(host).map_or("", |text| store.text(text)),
                n_tasks: values.len() as i64,
                n_failed: failed.get(&host).copied().unwrap_or(0),
                median_ms,
                max_ms: values.iter().copied().max().unwrap_or(0),
                to_median: ratio(median_ms, of_all),
                bytes,
            }
        })
        .collect();
    lines.sort_by(|a, b| b.median_ms.cmp(&a.median_ms).then(a.host.cmp(b.host)));
    lines
}
