//! Orders of task attempts, as the indexes of Spark's `TaskDataWrapper` have them, ties included.
//!
//! Spark keeps a metric of a task that did not succeed as its negative less one, and −1 for one without metrics, so that
//! its quantiles pass them over; sorting by a metric shows it. Equal values stand in the order of the task ids.

use hashbrown::HashMap;
use store::{StageTasks, Store, TaskColumn as C, TaskFlags, Text, java_order};

use crate::{
    Measure, TaskQuery,
    measure::{TaskStatus, task_status},
};

/// What tasks can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskKey {
    #[default]
    Id,
    /// A number of the task itself.
    Number(C),
    /// A text of the task.
    Text(C),
    Status,
    /// A metric, kept apart for tasks that did not succeed.
    Metric(C),
    /// What Spark derives; −1 without metrics.
    Derived(Measure),
    /// Name and value of the first accumulable.
    Accumulables,
}

/// Row numbers of the page that is asked for, in its order.
pub(crate) fn page(
    store: &Store,
    tasks: &StageTasks<'_>,
    query: &TaskQuery,
    now_ms: i64,
) -> Vec<usize> {
    let flags = tasks.column(C::flags);
    let rows = wanted(store, tasks, query);
    let from = query.offset.min(rows.len());
    let to = from.saturating_add(query.n_max).min(rows.len());
    if from == to {
        return Vec::new();
    }
    let ids = tasks.column(C::task_id);
    let keys = keys(store, tasks, query.key, &flags, now_ms);
    let mut entries: Vec<(i64, i64, u32)> = Vec::with_capacity(rows.len());
    for row in rows {
        let at = row as usize;
        let key = keys.as_ref().map_or(0, |keys| keys[at]);
        // `!` turns the order of all numbers round
        let turned = |n: i64| if query.descending { !n } else { n };
        entries.push((turned(key), turned(ids[at]), row));
    }
    if to < entries.len() {
        entries.select_nth_unstable(to);
        entries.truncate(to);
    }
    if from > 0 {
        entries.select_nth_unstable(from);
    }
    let page = &mut entries[from..];
    page.sort_unstable();
    page.iter().map(|(_, _, row)| *row as usize).collect()
}

/// Row numbers of the tasks that fit a query, in no order of its own.
pub(crate) fn wanted(store: &Store, tasks: &StageTasks<'_>, query: &TaskQuery) -> Vec<u32> {
    let flags = tasks.column(C::flags);
    let fetching = tasks.column(C::getting_result_at_ms);
    let has_status = |row: usize| {
        let status = task_status(flags[row], fetching[row]);
        query.statuses.as_ref().is_none_or(|wanted| wanted.contains(&status))
    };
    let is_wanted = |row: &usize| flags[*row] & TaskFlags::NOT_STARTED == 0 && has_status(*row);
    let mut rows: Vec<u32> = (0..tasks.n_rows()).filter(is_wanted).map(|row| row as u32).collect();
    let only = &query.only;
    let mut keep = |column: C, fits: &dyn Fn(i64) -> bool| {
        let values = tasks.column(column);
        rows.retain(|row| fits(values[*row as usize]));
    };
    if let Some(index) = only.index {
        keep(C::index, &|value| value == index);
    }
    if let Some(task_id) = only.task_id {
        keep(C::task_id, &|value| value == task_id);
    }
    if only.speculative {
        keep(C::flags, &|flags| flags & TaskFlags::SPECULATIVE != 0);
    }
    if let Some((from_ms, to_ms)) = only.within_ms {
        keep(C::launched_at_ms, &|at| at <= to_ms);
        keep(C::finished_at_ms, &|at| at <= 0 || at >= from_ms);
    }
    let text = |handle: i64| Text::from_column(handle).map_or("", |text| store.text(text));
    for (column, name) in [(C::executor, &only.executor), (C::host, &only.host)] {
        if let Some(name) = name {
            keep(column, &|handle| text(handle) == name);
        }
    }
    if !only.text.is_empty() {
        // few texts stand for many tasks: each is looked at once
        let columns = [C::executor, C::host, C::locality, C::error].map(|c| tasks.column(c));
        let mut known: HashMap<i64, bool> = HashMap::new();
        rows.retain(|row| {
            columns.iter().any(|handles| {
                let handle = handles[*row as usize];
                let has = || text(handle).to_lowercase().contains(&only.text);
                *known.entry(handle).or_insert_with(has)
            })
        });
    }
    rows
}

/// A number for each row that sorts as the key does; `None` when all are equal.
fn keys(
    store: &Store,
    tasks: &StageTasks<'_>,
    key: TaskKey,
    flags: &[i64],
    now_ms: i64,
) -> Option<Vec<i64>> {
    Some(match key {
        TaskKey::Id => return None,
        TaskKey::Number(column) => tasks.column(column),
        TaskKey::Derived(measure) => {
            let mut values = measure.values(tasks, now_ms);
            for (value, flags) in values.iter_mut().zip(flags) {
                if flags & TaskFlags::HAS_METRICS == 0 {
                    *value = -1;
                } else if measure == Measure::ShuffleReadBytes
                    && task_status(*flags, 0) != TaskStatus::Success
                {
                    // the sum of two that are kept so
                    *value = value.wrapping_neg().wrapping_sub(2);
                }
            }
            values
        }
        TaskKey::Metric(column) => {
            let mut values = tasks.column(column);
            for (value, flags) in values.iter_mut().zip(flags) {
                if flags & TaskFlags::HAS_METRICS == 0 {
                    *value = -1;
                } else if task_status(*flags, 0) != TaskStatus::Success {
                    *value = value.wrapping_neg().wrapping_sub(1);
                }
            }
            values
        }
        TaskKey::Status => {
            let fetching = tasks.column(C::getting_result_at_ms);
            let rank = |(flags, fetching): (&i64, i64)| {
                let name = task_status(*flags, fetching).as_spark();
                i64::from(u32::from_be_bytes(std::array::from_fn(|i| name.as_bytes()[i])))
            };
            flags.iter().zip(fetching).map(rank).collect()
        }
        TaskKey::Text(column) => {
            let handles = tasks.column(column);
            ranks(&handles, |handle| {
                Text::from_column(handle).map_or("", |text| store.text(text)).to_owned()
            })
        }
        TaskKey::Accumulables => {
            let mut firsts = vec![String::new(); tasks.n_rows()];
            let mut known = false;
            for (row, first) in firsts.iter_mut().enumerate() {
                if let Some([_, _, name, _, value]) = tasks.user_accumulables(row).first() {
                    let text = |h| Text::from_column(h).map_or("null", |text| store.text(text));
                    *first = format!("{}:{}", text(*name), text(*value));
                    known = true;
                }
            }
            if !known {
                return None;
            }
            let mut order: Vec<usize> = (0..firsts.len()).collect();
            order.sort_by(|a, b| java_order(&firsts[*a], &firsts[*b]));
            let mut out = vec![0; firsts.len()];
            let mut rank = 0;
            for pair in order.windows(2) {
                rank += i64::from(firsts[pair[0]] != firsts[pair[1]]);
                out[pair[1]] = rank;
            }
            out
        }
    })
}

/// The rank of each handle's text.
fn ranks(handles: &[i64], text: impl Fn(i64) -> String) -> Vec<i64> {
    let mut distinct: HashMap<i64, i64> = HashMap::new();
    for handle in handles {
        distinct.entry(*handle).or_default();
    }
    let mut texts: Vec<(String, i64)> = distinct.keys().map(|h| (text(*h), *h)).collect();
    texts.sort_by(|(a, _), (b, _)| java_order(a, b));
    let mut rank = 0;
    for (at, (text, handle)) in texts.iter().enumerate() {
        // no text and an empty one are equal
        rank += i64::from(at > 0 && texts[at - 1].0 != *text);
        distinct.insert(*handle, rank);
    }
    handles.iter().map(|handle| distinct.get(handle).copied().unwrap_or(0)).collect()
}
