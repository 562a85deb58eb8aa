//! Sessions and statements of the Thrift server. Follows Spark's `HiveThriftServer2Listener`.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{StatementState as State, Text, ThriftSession, ThriftStatement, record};

use crate::{batch::Document, json, trackers::Context};

record! {
    pub(crate) struct Thrift {
        sessions: BTreeMap<Text, ThriftSession>,
        statements: BTreeMap<Text, ThriftStatement>,
        /// The last statement of each group of jobs, which is named after it.
        by_group: BTreeMap<Text, Text>,
    }
}

impl Thrift {
    pub(crate) fn event(&mut self, document: &Document, cx: &mut Context<'_>) -> Option<()> {
        let event = &document.value;
        let kind = document.kind.strip_prefix("SparkListenerThriftServer")?;
        let at_ms = ["startTime", "finishTime", "closeTime"]
            .into_iter()
            .find_map(|key| json::int(event, key));
        cx.seen_at(at_ms);
        let at = at_ms.unwrap_or(0);
        match kind {
            "SessionCreated" => {
                let id = cx.text(json::text(event, "sessionId")?);
                let session = ThriftSession {
                    id,
                    user: cx.text(json::text(event, "userName").unwrap_or_default()),
                    address: cx.text(json::text(event, "ip").unwrap_or_default()),
                    started_at_ms: at,
                    ..ThriftSession::default()
                };
                self.sessions.insert(id, session);
            }
            "SessionClosed" => {
                let id = cx.text(json::text(event, "sessionId")?);
                self.sessions.get_mut(&id)?.ended_at_ms = Some(at);
            }
            "OperationStart" => self.started(event, at, cx)?,
            _ => {
                let state = match kind {
                    "OperationParsed" => State::Compiled,
                    "OperationCanceled" => State::Canceled,
                    "OperationTimeout" => State::TimedOut,
                    "OperationError" => State::Failed,
                    "OperationFinish" => State::Finished,
                    "OperationClosed" => State::Closed,
                    _ => return Some(()),
                };
                let id = cx.text(json::text(event, "id")?);
                let statement = self.statements.get_mut(&id)?;
                statement.state = state;
                match state {
                    State::Compiled => {
                        let plan = json::text(event, "executionPlan").unwrap_or_default();
                        statement.plan = cx.blobs.put(plan.as_bytes());
                    }
                    State::Closed => statement.closed_at_ms = Some(at),
                    _ => statement.finished_at_ms = Some(at),
                }
                if let Some(error) = json::text(event, "errorMsg") {
                    statement.error = cx.blobs.put(error.as_bytes());
                }
            }
        }
        Some(())
    }

    fn started(&mut self, event: &Value, at_ms: i64, cx: &mut Context<'_>) -> Option<()> {
        let id = cx.text(json::text(event, "id")?);
        let session = cx.text(json::text(event, "sessionId").unwrap_or_default());
        let group = cx.text(json::text(event, "groupId").unwrap_or_default());
        let text = json::text(event, "statement").unwrap_or_default();
        let statement = ThriftStatement {
            id,
            session,
            user: cx.text(json::text(event, "userName").unwrap_or_default()),
            group,
            statement: cx.blobs.put(text.as_bytes()),
            started_at_ms: at_ms,
            ..ThriftStatement::default()
        };
        self.statements.insert(id, statement);
        self.by_group.insert(group, id);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.n_statements += 1;
        }
        Some(())
    }

    /// A job starts; it belongs to the statement of its group.
    pub(crate) fn job_start(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        if self.statements.is_empty() {
            return None;
        }
        let group = json::text(event.get("Properties")?, "spark.jobGroup.id")?;
        let job = json::int32(event, "Job ID")?;
        let id = self.by_group.get(&cx.text(group))?;
        self.statements.get_mut(id)?.jobs.push(job);
        Some(())
    }

    /// Both by the instants at which they began.
    pub(crate) fn finish(self) -> (Vec<ThriftSession>, Vec<ThriftStatement>) {
        let mut sessions: Vec<ThriftSession> = self.sessions.into_values().collect();
        sessions.sort_by_key(|s| (s.started_at_ms, s.id));
        let mut statements: Vec<ThriftStatement> = self.statements.into_values().collect();
        statements.sort_by_key(|s| (s.started_at_ms, s.id));
        (sessions, statements)
    }
}
