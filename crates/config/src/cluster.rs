//! `[cluster]`.

use serde::Deserialize;

/// `[cluster]`: several services on one database.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The cluster that this service joins; empty when it serves alone.
    pub name: String,
    /// The name of this service; empty for the address that it listens on.
    pub node: String,
}

impl Cluster {
    /// Whether the service joins a cluster.
    pub const fn is_joined(&self) -> bool {
        !self.name.is_empty()
    }
}
