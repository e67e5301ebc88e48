//! Connections to the provider for questions outside of channels, which handlers of requests ask on their own threads.

use std::thread::{self, ThreadId};

use dashmap::DashMap;

use connectors::Error;
use connectors::cloud_api::Connections;

/// The most threads with connections: more than a service has. When there are more, all are dropped.
const CAPACITY: usize = 256;
/// The most connections that a thread keeps open between questions, which are rare.
const IDLE: usize = 2;

/// Connections of each thread that asks: they are bound to the thread that opened them.
pub(crate) struct ThreadConnections {
    network: config::Network,
    threads: DashMap<ThreadId, Connections>,
}

impl ThreadConnections {
    /// No connections yet.
    pub(crate) fn new(network: config::Network) -> Self {
        Self { network, threads: DashMap::new() }
    }

    /// The connections of this thread.
    ///
    /// # Errors
    ///
    /// As [`Connections::new`].
    pub(crate) fn here(&self, options: &config::CloudApi) -> Result<Connections, Error> {
        let thread = thread::current().id();
        let known = self.threads.get(&thread).map(|known| known.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let idle_connections = options.idle_connections.min(IDLE);
        let options = config::CloudApi { idle_connections, ..options.clone() };
        let connections = Connections::new(&options, &self.network)?;
        if self.threads.len() >= CAPACITY {
            self.threads.clear();
        }
        self.threads.insert(thread, connections.clone());
        Ok(connections)
    }
}
