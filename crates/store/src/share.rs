//! Divides the connections to the database, so that no part of the service waits for connections of another part.
//!
//! Otherwise, two hundred clients that read lists would take every connection in turn, and each commit of the ledger
//! would wait behind them.

use super::contacts::reached::RecentLists;
use super::event_log;
use super::pool::Pool;

/// The session that holds the lock on dispatching.
const LEASE: u32 = 1;
/// The ledger commits one batch after the other. The second connection is for the next batch when the database does not
/// answer the first.
const LEDGER: u32 = 2;
/// A node's heartbeat waits for nothing: closing the fence of another node has a connection of its own. These
/// connections are not divided.
pub(super) const CLUSTER: u32 = 2;

/// The purpose of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Requests that list, search and change records; the command line.
    Requests,
    /// Acceptance of sends, webhooks, and the engine's own upkeep.
    Engine,
    /// Reads of channels for dispatching.
    Dispatch,
    /// The commits of the ledger.
    Ledger,
    /// The heartbeat of a node, and its claims. Not opened outside of a cluster.
    Cluster,
}

/// How many connections each purpose has. On SQLite, these connections only read, and one more connection writes for
/// all purposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    pub(super) requests: u32,
    pub(super) engine: u32,
    pub(super) dispatch: u32,
    /// `None` on SQLite, where the ledger only writes.
    pub(super) ledger: Option<u32>,
}

impl Shares {
    /// Divides `connections`. Each purpose gets at least one, however few there are.
    pub(super) fn of(connections: u32, is_sqlite: bool) -> Self {
        let ledger = (!is_sqlite).then_some(LEDGER);
        let beside = if is_sqlite { 0 } else { LEASE + LEDGER };
        let rest = connections.saturating_sub(beside);
        let third = (rest / 3).max(1);
        let dispatch = rest.saturating_sub(2 * third).max(1);
        Self { requests: third, engine: third, dispatch, ledger }
    }
}

/// The connections, by purpose.
#[derive(Debug)]
pub(super) struct Pools {
    pub(super) requests: Pool,
    pub(super) engine: Pool,
    pub(super) dispatch: Pool,
    /// The ledger's on PostgreSQL; the only writer of SQLite.
    pub(super) writer: Pool,
    pub(super) cluster: Pool,
    /// What this process knows of the log of events.
    pub(super) log: event_log::LogState,
    /// The lists of contacts by large sends that were just shown.
    pub(super) lists: RecentLists,
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Database;

    fn total(shares: Shares) -> u32 {
        let Shares { requests, engine, dispatch, ledger } = shares;
        requests + engine + dispatch + ledger.map_or(0, |ledger| ledger + LEASE)
    }

    #[test]
    fn the_shares_add_up_to_all_connections() {
        for connections in Database::FEWEST_ON_POSTGRES..100 {
            let shares = Shares::of(connections, false);
            assert_eq!(total(shares), connections, "{shares:?}");
        }
        for connections in 3..100 {
            assert_eq!(total(Shares::of(connections, true)), connections);
        }
    }

    #[test]
    fn each_purpose_has_a_connection_even_with_too_few() {
        for (connections, is_sqlite) in [(0, true), (1, true), (2, true), (0, false), (5, false)] {
            let Shares { requests, engine, dispatch, .. } = Shares::of(connections, is_sqlite);
            assert_eq!((requests, engine, dispatch), (1, 1, 1), "{connections}");
        }
    }

    #[test]
    fn dispatching_has_the_remainder_of_the_division() {
        let shares = Shares::of(14, false);
        assert_eq!((shares.requests, shares.engine, shares.dispatch), (3, 3, 5));
    }
}
