//! Why tasks failed.

use store::{StageAttemptId, Store};

/// What failed attempts of a stage attempt's tasks said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskError {
    /// First line of the text, which tells the kind.
    pub first_line: String,
    pub n: usize,
    /// Index of the first task that said so.
    pub task_index: i64,
}

/// The reasons why tasks failed or were killed, the most frequent first.
pub fn task_errors(store: &Store, id: StageAttemptId) -> Vec<TaskError> {
    let tasks = store.tasks(id);
    let mut errors: Vec<TaskError> = Vec::new();
    let mut known = hashbrown::HashMap::new();
    for (row, handle) in tasks.column(store::TaskColumn::error).into_iter().enumerate() {
        let Some(text) = store::Text::from_column(handle) else { continue };
        let first_line = store.text(text).lines().next().unwrap_or_default();
        let at = *known.entry(first_line).or_insert(errors.len());
        if at == errors.len() {
            let task_index = tasks.value(store::TaskColumn::index, row);
            errors.push(TaskError { first_line: first_line.to_owned(), n: 0, task_index });
        }
        errors[at].n += 1;
    }
    errors.sort_by(|a, b| b.n.cmp(&a.n).then(a.task_index.cmp(&b.task_index)));
    errors
}
