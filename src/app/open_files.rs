//! Divides the files that the process may open. Each connection takes one file, whether to the provider, to the
//! database, or from a client.
//!
//! The database, web sessions and downloads get what they need. The rest goes to dispatching first and then to
//! clients, so that connections from outside never keep accepted messages from going out.

use anyhow::bail;

use crate::api;
use crate::config::{self, Config};

/// Connections of operators, on a listener of their own.
pub(super) const OPERATORS: usize = 64;
/// Connections of programs that speak Graph, on a listener of their own.
pub(super) const GRAPH: usize = 1_024;

/// Files of the process itself: its inputs and outputs, the log, keys, listeners.
const OWN: usize = 48;
/// Files of a thread's event loop.
const PER_THREAD: usize = 4;
/// Files of a connection to a SQLite database: the database, its log and the log's index.
const PER_SQLITE_CONNECTION: usize = 3;
/// Spare files for web sessions that are added while the service runs.
const MORE_SESSIONS: usize = 16;
/// The fewest files for the provider and clients together with which a service starts.
const FEWEST: usize = 64;

/// How the remaining files are divided.
#[derive(Debug, PartialEq, Eq)]
struct Shares {
    in_flight: usize,
    /// Connections kept open to the provider, on each thread.
    idle: usize,
    clients: usize,
}

/// Divides the files that this process may open. Limits dispatching to its share, and returns the maximum of
/// clients' connections.
///
/// # Errors
///
/// A sentence for the operator when the limit is too small for any service.
pub(super) fn divide(config: &mut Config, sessions: u64) -> anyhow::Result<usize> {
    // If the limit cannot be read, none is applied.
    let limit = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let needed = needed(config, usize::try_from(sessions).unwrap_or(usize::MAX));
    let Some(shares) = share(limit, needed, config) else {
        let fewest = needed.saturating_add(FEWEST);
        bail!(
            "the limit of open files, {limit}, is too small: with this configuration the service needs at least \
             {fewest}; raise it with `ulimit -n {fewest}`, `LimitNOFILE=` of systemd or `--ulimit nofile=` of a container"
        );
    };
    let Shares { in_flight, idle, clients } = shares;
    let (wanted, fits) = (config.engine.total_in_flight, in_flight >= config.engine.total_in_flight);
    if !fits {
        tracing::warn!(
            limit,
            in_flight,
            wanted,
            clients,
            "the limit of open files is too small for engine.total_in_flight, fewer messages are in flight at once: \
             raise it"
        );
    }
    config.engine.total_in_flight = in_flight;
    config.cloud_api.idle_connections = idle;
    Ok(clients)
}

/// How the limit of open files fits the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Everything is as configured.
    Enough { limit: usize },
    /// The service works with less than is configured.
    Tight { limit: usize, in_flight: usize, clients: usize },
    /// The service does not start.
    TooSmall { limit: usize, fewest: usize },
}

/// Computes what [`divide`] will do.
pub(super) fn room(config: &Config, sessions: u64) -> Room {
    let limit = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let needed = needed(config, usize::try_from(sessions).unwrap_or(usize::MAX));
    match share(limit, needed, config) {
        None => Room::TooSmall { limit, fewest: needed.saturating_add(FEWEST) },
        Some(Shares { in_flight, clients, .. })
            if in_flight < config.engine.total_in_flight || clients < config.server.connections =>
        {
            Room::Tight { limit, in_flight, clients }
        }
        Some(_) => Room::Enough { limit },
    }
}

/// Files that are neither for the provider nor for clients.
fn needed(config: &Config, sessions: usize) -> usize {
    let Config { server, database, web_session, engine, media, graph, .. } = config;
    let threads = config::per_core(server.workers) + config::per_core(engine.arbiters) + web_session.threads;
    let connections = usize::try_from(database.connections).unwrap_or(usize::MAX);
    let is_postgres = database.url.as_ref().is_some_and(|url| url.expose().starts_with("postgres"));
    let for_database =
        if is_postgres { connections } else { connections.saturating_mul(PER_SQLITE_CONNECTION) };
    let operators = if server.operator_bind.is_some() { api::with_spare(OPERATORS) } else { 0 };
    let has_door = graph.enabled && graph.bind.is_some();
    let door = if has_door { api::with_spare(GRAPH) } else { 0 };
    // Each session connects and keeps its connection, and a file that is sent is fetched and uploaded.
    let for_sessions =
        sessions.saturating_add((sessions / 4).max(MORE_SESSIONS)).saturating_add(media.concurrency);
    [OWN, threads * PER_THREAD, for_database, operators, door, for_sessions]
        .into_iter()
        .fold(0, usize::saturating_add)
}

/// Dispatching gets at least half of the rest, and more if clients do not need their half.
fn share(limit: usize, needed: usize, config: &Config) -> Option<Shares> {
    let rest = limit.checked_sub(needed).filter(|rest| *rest >= FEWEST)?;
    let arbiters = config::per_core(config.engine.arbiters);
    let in_flight = config.engine.total_in_flight;
    let idle = config.cloud_api.idle_connections.min(in_flight);
    let clients = config.server.connections;
    let wanted = in_flight.saturating_add(idle.saturating_mul(arbiters));
    let for_provider = wanted.min((rest / 2).max(rest.saturating_sub(api::with_spare(clients))));
    // Messages in flight have priority over idle connections.
    let idle = if for_provider < wanted { idle.min(for_provider / 4 / arbiters.max(1)) } else { idle };
    let in_flight = in_flight.min(for_provider - idle * arbiters);
    let rest = rest - for_provider;
    // The spare is a sixteenth, and at least sixteen.
    let most = (rest - rest.div_ceil(17)).min(rest.saturating_sub(api::with_spare(0)));
    Some(Shares { in_flight, idle, clients: clients.min(most) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(limit: usize, needed: usize, change: impl FnOnce(&mut Config)) -> Option<Shares> {
        let mut config = Config::default();
        config.engine.arbiters = 4;
        change(&mut config);
        share(limit, needed, &config)
    }

    #[test]
    fn under_a_generous_limit_everything_is_as_configured() {
        let Config { engine, cloud_api, server, .. } = Config::default();
        let expected = Shares {
            in_flight: engine.total_in_flight,
            idle: cloud_api.idle_connections,
            clients: server.connections,
        };
        assert_eq!(shares(1_048_576, 1000, |_| {}), Some(expected));
    }

    #[test]
    fn under_any_limit_all_shares_fit_and_dispatching_has_half() {
        for limit in (264..30_000).step_by(17) {
            let Shares { in_flight, idle, clients } = shares(limit, 200, |_| {}).unwrap();
            let (for_provider, rest) = (in_flight + 4 * idle, limit - 200);
            assert!(for_provider + api::with_spare(clients) <= rest, "{limit}: {in_flight} {idle} {clients}");
            assert!(for_provider >= (rest / 2).min(8192) - 4, "{limit}: {in_flight} {idle}");
            assert!(clients >= 16 && in_flight >= 16, "{limit}: {in_flight} {clients}");
        }
    }

    #[test]
    fn a_small_service_leaves_more_for_clients_and_few_clients_more_for_dispatching() {
        let quiet = shares(2000, 200, |config| {
            config.engine.total_in_flight = 100;
            config.cloud_api.idle_connections = 10;
        });
        assert_eq!(quiet, Some(Shares { in_flight: 100, idle: 10, clients: 1562 }));
        let few = shares(2000, 200, |config| config.server.connections = 100).unwrap();
        assert_eq!(few.clients, 100);
        assert!(few.in_flight + 4 * few.idle == 1800 - api::with_spare(100), "{few:?}");
    }

    #[test]
    fn a_limit_that_leaves_too_little_is_refused() {
        assert_eq!(shares(263, 200, |_| {}), None);
        assert_eq!(shares(100, 200, |_| {}), None);
        assert!(shares(264, 200, |_| {}).is_some());
    }

    #[test]
    fn the_needed_files_grow_with_the_database_the_sessions_and_the_threads() {
        let mut config = Config::default();
        config.server.workers = 2;
        config.engine.arbiters = 2;
        let few = needed(&config, 0);
        assert_eq!(needed(&config, 1000) - few, 1000 + 250 - 16);
        config.server.operator_bind = Some(([127, 0, 0, 1], 0).into());
        assert_eq!(needed(&config, 0) - few, 80);
        config.server.workers = 4;
        config.database.connections += 2;
        assert_eq!(needed(&config, 0) - few, 80 + 8 + 6);
        assert_eq!(needed(&config, usize::MAX), usize::MAX);
    }
}
