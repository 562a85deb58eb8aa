//! Parameters as Java reads them.

use views::TaskStatus;

use crate::api::{Answer, Query};

/// A value of an enumeration that may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted<T> {
    Is(T),
    /// Spark's own `UNKNOWN`.
    Unknown,
    /// An empty value, which no entity has.
    Nothing,
}

impl<T: Copy> Wanted<T> {
    pub(super) fn known(&self) -> Option<T> {
        if let Wanted::Is(value) = self { Some(*value) } else { None }
    }
}

/// `Boolean.valueOf`: anything but `true` is false; `default` when the parameter is not given.
pub(super) fn boolean(query: &Query, name: &str, default: bool) -> bool {
    query.first(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
}

/// An `int`; empty or not given is `default`, anything else the 404 page.
pub(super) fn int(query: &Query, name: &str, default: i32) -> Result<i32, Answer> {
    match query.first(name) {
        None | Some("") => Ok(default),
        Some(value) => value.parse().map_err(|_| Answer::page(404)),
    }
}

/// Values of an enumeration in any case, `None` when the parameter is not given. An empty value is none of `known`;
/// any other that is not known is the 404 page.
pub(super) fn one_of(
    query: &Query,
    name: &str,
    known: &[&'static str],
) -> Result<Option<Vec<&'static str>>, Answer> {
    let mut is_given = false;
    let mut wanted = Vec::new();
    for value in query.all(name) {
        is_given = true;
        if !value.is_empty() {
            let found = known.iter().find(|known| known.eq_ignore_ascii_case(value));
            wanted.push(*found.ok_or_else(|| Answer::page(404))?);
        }
    }
    Ok(is_given.then_some(wanted))
}

/// Statuses of tasks.
pub(super) fn task_statuses(
    query: &Query,
    name: &str,
) -> Result<Option<Vec<Wanted<TaskStatus>>>, Answer> {
    let known = ["RUNNING", "KILLED", "FAILED", "SUCCESS", "UNKNOWN"];
    let Some(names) = one_of(query, name, &known)? else { return Ok(None) };
    let mut wanted: Vec<Wanted<TaskStatus>> = names
        .into_iter()
        .map(|name| match name {
            "RUNNING" => Wanted::Is(TaskStatus::Running),
            "KILLED" => Wanted::Is(TaskStatus::Killed),
            "FAILED" => Wanted::Is(TaskStatus::Failed),
            "SUCCESS" => Wanted::Is(TaskStatus::Success),
            _ => Wanted::Unknown,
        })
        .collect();
    if wanted.is_empty() {
        wanted.push(Wanted::Nothing);
    }
    Ok(Some(wanted))
}

/// Quantiles, sorted as Spark sorts them before it answers. What is no `double` is a message.
pub(super) fn quantiles(query: &Query, default: &[f64]) -> Result<Vec<f64>, Answer> {
    let mut quantiles = match query.first("quantiles") {
        None => default.to_vec(),
        Some(list) => list.split(',').map(double).collect::<Result<Vec<f64>, Answer>>()?,
    };
    quantiles.sort_by(f64::total_cmp);
    Ok(quantiles)
}

fn double(text: &str) -> Result<f64, Answer> {
    // Java takes blanks around it
    text.trim().parse().map_err(|_| {
        let message = "Bad value for parameter \"quantiles\".  Expected a double, got ";
        Answer::text(400, format!("{message}\"{text}\""))
    })
}
