//! Fences: rows that each write of the ledger checks, so that a process that lost its right to dispatch writes nothing
//! more.
//!
//! A process that dispatches alone is fenced by the lease's epoch, a node of a cluster by a row of its own. Both rows
//! are locked in share mode by the transaction that checks them, so that the process that takes over waits until it
//! ends.

use sea_orm::{ConnectionTrait, DbBackend, Value};
use uuid::Uuid;

use super::DISPATCH;
use crate::nouns::Leases;
use crate::{Result, execute};

/// How long, in milliseconds, the server keeps an idle transaction of a node open: it holds up the nodes that take
/// over.
const SILENCE: u32 = 3_000;

/// The value that a process has to find unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The lease has this epoch.
    Epoch(i64),
    /// The fence of this node is open.
    Node(Uuid),
}

impl Fence {
    /// The value of the parameter in each statement here.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Epoch(epoch) => epoch.into(),
            Self::Node(node) => node.into(),
        }
    }

    /// A query that yields a row while the fence holds.
    pub(super) fn look(self, parameter: usize) -> String {
        format!("SELECT 1 {}", self.row(parameter))
    }

    /// A sub-select that yields a row while the fence is open, and makes the process that takes over wait until its
    /// statement ends.
    pub(crate) fn held(self, parameter: usize) -> String {
        format!("{} FOR SHARE", self.look(parameter))
    }

    /// The statement with which a transaction checks the fence, its first parameter, and bounds each of its further
    /// statements by the second, in milliseconds. It yields a row while the fence holds.
    pub(super) fn check(self) -> String {
        let bounds = "set_config('statement_timeout', $2, TRUE)";
        let bounds = match self {
            Self::Epoch(_) => bounds.to_owned(),
            Self::Node(_) => {
                format!("{bounds}, set_config('idle_in_transaction_session_timeout', '{SILENCE}', TRUE)")
            }
        };
        format!("SELECT {bounds} {} FOR SHARE", self.row(1))
    }

    fn row(self, parameter: usize) -> String {
        match self {
            Self::Epoch(_) => format!("FROM lease WHERE name = '{DISPATCH}' AND epoch = ${parameter}"),
            Self::Node(_) => format!("FROM node_fence WHERE node_id = ${parameter} AND closed = 0"),
        }
    }
}

impl Leases<'_> {
    /// Closes the fences of all nodes: no node writes anything from now on.
    pub(super) async fn close_all_fences(self, to: &impl ConnectionTrait) -> Result<()> {
        if self.store.backend != DbBackend::Postgres {
            return Ok(());
        }
        execute(to, "UPDATE node_fence SET closed = 1 WHERE closed = 0", []).await?;
        execute(to, "UPDATE node SET state = 2 WHERE state < 2", []).await?;
        Ok(())
    }
}
