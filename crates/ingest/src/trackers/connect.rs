//! Sessions and operations of Spark Connect. Follows the listener of Spark's Connect server: what is closed is written
//! down, and a job or SQL execution that comes later makes a new entity of it, which stands at its beginning.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{ConnectOperation, ConnectSession, OperationState as State, Text, TextPool, record};

use crate::{batch::Document, json, trackers::Context};

/// What tags of operations begin with; sessions have tags of their own.
const OPERATION_TAG: &str = "SparkConnect_OperationTag";

record! {
    pub(crate) struct Connect {
        /// By user and id, as are those that were closed.
        sessions: BTreeMap<(Text, Text), ConnectSession>,
        closed_sessions: BTreeMap<(Text, Text), ConnectSession>,
        /// By tag, as are those that were closed.
        operations: BTreeMap<Text, ConnectOperation>,
        closed_operations: BTreeMap<Text, ConnectOperation>,
    }
}

impl Connect {
    pub(crate) fn event(&mut self, document: &Document, cx: &mut Context<'_>) -> Option<()> {
        let event = &document.value;
        let kind = document.kind.strip_prefix("SparkListenerConnect")?;
        let at_ms = json::int(event, "eventTime").unwrap_or(0);
        cx.seen_at(Some(at_ms));
        match kind {
            "SessionStarted" => {
                let (user, id) = session(event, cx)?;
                self.sessions.entry((user, id)).or_insert_with(|| ConnectSession {
                    id,
                    user,
                    started_at_ms: at_ms,
                    ..ConnectSession::default()
                });
            }
            "SessionClosed" => {
                let key = session(event, cx)?;
                let session = self.sessions.remove(&key)?;
                let session = ConnectSession { ended_at_ms: Some(at_ms), ..session };
                self.closed_sessions.insert(key, session);
            }
            "OperationStarted" => self.started(event, at_ms, cx)?,
            "OperationClosed" => {
                let tag = cx.text(json::text(event, "jobTag")?);
                let mut operation = self.operations.remove(&tag)?;
                operation.closed_at_ms = Some(at_ms);
                operation.state = State::Closed;
                self.closed_operations.insert(tag, operation);
            }
            _ => {
                let state = match kind {
                    "OperationAnalyzed" => State::Compiled,
                    "OperationReadyForExecution" => State::Ready,
                    "OperationCanceled" => State::Canceled,
                    "OperationFailed" => State::Failed,
                    "OperationFinished" => State::Finished,
                    // of the service itself
                    _ => return Some(()),
                };
                let tag = cx.text(json::text(event, "jobTag")?);
                let operation = self.operations.get_mut(&tag)?;
                operation.state = state;
                if matches!(state, State::Canceled | State::Failed | State::Finished) {
                    operation.finished_at_ms = Some(at_ms);
                }
                if let Some(error) = json::text(event, "errorMessage") {
                    operation.error = cx.blobs.put(error.as_bytes());
                }
                operation.n_produced_rows =
                    json::int(event, "producedRowCount").or(operation.n_produced_rows);
            }
        }
        Some(())
    }

    fn started(&mut self, event: &Value, at_ms: i64, cx: &mut Context<'_>) -> Option<()> {
        let tag = cx.text(json::text(event, "jobTag")?);
        let (user, session) = session(event, cx)?;
        let id = cx.text(json::text(event, "operationId").unwrap_or_default());
        let tags = json::list(event, "sparkSessionTags").iter();
        let session_tags = tags.map(|t| cx.text(&json::as_text(t))).collect();
        let operation = self.operations.entry(tag).or_insert_with(|| {
            let statement = json::text(event, "statementText").unwrap_or_default();
            ConnectOperation {
                job_tag: tag,
                id,
                session,
                user,
                statement: cx.blobs.put(statement.as_bytes()),
                started_at_ms: at_ms,
                session_tags,
                ..ConnectOperation::default()
            }
        });
        operation.state = State::Started;
        if let Some(session) = self.sessions.get_mut(&(user, session)) {
            session.n_operations += 1;
        }
        Some(())
    }

    /// A job starts; the first of its tags that is of an operation counts.
    pub(crate) fn job_start(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let tags = json::text(event.get("Properties")?, "spark.job.tags")?;
        let tag = tags.split(',').filter(|tag| tag.starts_with(OPERATION_TAG)).min()?;
        let job = json::int32(event, "Job ID")?;
        self.operation_of(tag, cx, |operation, is_late| {
            if is_late {
                operation.jobs.clear();
            }
            operation.jobs.push(job);
        })
    }

    pub(crate) fn sql_started(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let tags = json::list(event, "jobTags").iter().filter_map(Value::as_str);
        let tag = tags.into_iter().find(|tag| tag.starts_with(OPERATION_TAG))?;
        let execution = json::int(event, "executionId")?;
        self.operation_of(tag, cx, |operation, is_late| {
            if is_late {
                operation.sql_executions.clear();
            }
            operation.sql_executions.insert(execution);
        })
    }

    /// The operation of a tag, live or else closed; a closed one stands at its beginning again.
    fn operation_of(
        &mut self,
        tag: &str,
        cx: &mut Context<'_>,
        change: impl FnOnce(&mut ConnectOperation, bool),
    ) -> Option<()> {
        let tag = cx.text(tag);
        if let Some(operation) = self.operations.get_mut(&tag) {
            change(operation, false);
            return Some(());
        }
        let operation = self.closed_operations.get_mut(&tag)?;
        operation.state = State::Started;
        operation.finished_at_ms = None;
        operation.closed_at_ms = None;
        operation.error = store::Blob::default();
        change(operation, true);
        Some(())
    }

    /// Sessions by user and id, operations by their tags.
    pub(crate) fn finish(self, texts: &TextPool) -> (Vec<ConnectSession>, Vec<ConnectOperation>) {
        let (mut sessions, mut operations) = (self.closed_sessions, self.closed_operations);
        sessions.extend(self.sessions);
        operations.extend(self.operations);
        let mut sessions: Vec<ConnectSession> = sessions.into_values().collect();
        let name = |s: &ConnectSession| format!("{}/{}", texts.get(s.user), texts.get(s.id));
        sessions.sort_by(|a, b| store::java_order(&name(a), &name(b)));
        let mut operations: Vec<ConnectOperation> = operations.into_values().collect();
        operations.sort_by(|a, b| store::java_order(texts.get(a.job_tag), texts.get(b.job_tag)));
        (sessions, operations)
    }
}

/// User and id of the session that an event names.
fn session(event: &Value, cx: &mut Context<'_>) -> Option<(Text, Text)> {
    let user = cx.text(json::text(event, "userId").unwrap_or_default());
    Some((user, cx.text(json::text(event, "sessionId")?)))
}
