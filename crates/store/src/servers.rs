//! What clients of Spark Connect and of the Thrift server had done.

use std::collections::BTreeSet;

use crate::{Blob, Text, choices, record};

choices! {
    /// How far an operation of Connect came.
    pub enum OperationState { Started, Compiled, Ready, Canceled, Failed, Finished, Closed }

    /// How far a statement of the Thrift server came.
    pub enum StatementState { Started, Compiled, Canceled, TimedOut, Failed, Finished, Closed }
}

record! {
    /// A session of a Connect client.
    pub struct ConnectSession {
        pub id: Text,
        pub user: Text,
        pub started_at_ms: i64,
        pub ended_at_ms: Option<i64>,
        pub n_operations: i64,
    }

    /// An operation of a Connect client.
    pub struct ConnectOperation {
        /// What its jobs are tagged with; unique in the application.
        pub job_tag: Text,
        pub id: Text,
        pub session: Text,
        pub user: Text,
        /// The plan or command as text.
        pub statement: Blob,
        pub state: OperationState,
        pub started_at_ms: i64,
        pub finished_at_ms: Option<i64>,
        pub closed_at_ms: Option<i64>,
        /// Why it failed; empty when it did not.
        pub error: Blob,
        pub session_tags: Vec<Text>,
        /// In the order in which they started.
        pub jobs: Vec<i32>,
        pub sql_executions: BTreeSet<i64>,
        /// Rows that were sent, where the log says so.
        pub n_produced_rows: Option<i64>,
    }

    /// A session of a client of the Thrift server (JDBC or ODBC).
    pub struct ThriftSession {
        pub id: Text,
        pub user: Text,
        /// The client's address.
        pub address: Text,
        pub started_at_ms: i64,
        pub ended_at_ms: Option<i64>,
        pub n_statements: i64,
    }

    /// A statement of a client of the Thrift server.
    pub struct ThriftStatement {
        pub id: Text,
        pub session: Text,
        pub user: Text,
        /// What its jobs are grouped by.
        pub group: Text,
        pub statement: Blob,
        /// The executed plan; empty when there is none.
        pub plan: Blob,
        pub state: StatementState,
        pub started_at_ms: i64,
        pub finished_at_ms: Option<i64>,
        pub closed_at_ms: Option<i64>,
        /// Why it failed; empty when it did not.
        pub error: Blob,
        pub jobs: Vec<i32>,
    }
}
