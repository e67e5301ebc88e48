//! The status of a cluster: its nodes, the channels on each, and the database server.
//!
//! The command line, the operator API and the console all show this.

use std::collections::HashMap;
use std::time::Duration;

use uuid::Uuid;

use super::placement::shard_of;
pub use store::nodes::{Moves, Node, Server};
use store::nodes::{Place, Stage};
use store::{Result, Store};

/// A cluster at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The nodes that serve, and those with a lapsed lease whose channels nobody took over yet; the oldest first.
    pub nodes: Vec<NodeStatus>,
    /// How often business accounts and web sessions moved.
    pub moves: Moves,
    /// The state of PostgreSQL.
    pub server: Server,
}

/// The state of a node, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// The node has its lease and takes channels.
    Serving,
    /// The node gives its channels away and takes no others.
    Draining,
    /// The node lacks a sealing key of the database: others take its channels, until it has the key.
    LacksKey,
    /// The node's lease has lapsed: others take its channels over.
    Lapsed,
}

/// A node, and what runs on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// The node.
    pub node: Node,
    /// Its state.
    pub state: NodeState,
    /// The number of its shards: business accounts, web sessions, and the housekeeping.
    pub shards: u64,
    /// The number of channels in these shards.
    pub channels: u64,
}

impl NodeState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Serving, Self::Draining, Self::LacksKey, Self::Lapsed];

    /// The word for people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::Draining => "draining",
            Self::LacksKey => "lacks_key",
            Self::Lapsed => "lapsed",
        }
    }

    /// `None` for a node whose fence is closed: it is gone.
    const fn of(node: &Node) -> Option<Self> {
        match node.stage {
            Stage::Fenced | Stage::Gone => None,
            _ if node.lapses_in <= 0 => Some(Self::Lapsed),
            Stage::Draining => Some(Self::Draining),
            Stage::Serving if node.lacks_key => Some(Self::LacksKey),
            Stage::Serving => Some(Self::Serving),
        }
    }
}

impl NodeStatus {
    /// How far its clock is ahead of the database's, in seconds; `None` when it has not told.
    pub fn clock_ahead(&self) -> Option<f64> {
        self.node.clock_ahead.map(|ahead| ahead as f64 / 1_000.0)
    }

    /// The remaining time of its lease; zero when it has lapsed.
    pub fn lease(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.node.lapses_in).unwrap_or(0))
    }
}

/// Reads the status. It reads the shard of every channel.
pub async fn status(store: &Store) -> Result<Status> {
    let server = store.nodes().server().await?;
    let (nodes, owners, places) =
        (store.nodes().all().await?, store.shards().owners().await?, store.nodes().places().await?);
    Ok(Status { nodes: judged(nodes, &owners, &places), moves: store.shards().moves().await?, server })
}

/// The channels that run on a node, the newest first.
pub async fn channels_of(store: &Store, node: Uuid) -> Result<Vec<Uuid>> {
    let owners: HashMap<_, _> = store.shards().owners().await?.into_iter().collect();
    let places = store.nodes().places().await?.into_iter();
    Ok(places.filter(|place| owners.get(&home(place)) == Some(&node)).map(|place| place.channel).collect())
}

fn judged(nodes: Vec<Node>, owners: &[(Uuid, Uuid)], places: &[Place]) -> Vec<NodeStatus> {
    let (mut shards, mut channels) = (HashMap::<Uuid, u64>::new(), HashMap::<Uuid, u64>::new());
    owners.iter().for_each(|(_, node)| *shards.entry(*node).or_default() += 1);
    let owners: HashMap<_, _> = owners.iter().copied().collect();
    for node in places.iter().filter_map(|place| owners.get(&home(place))) {
        *channels.entry(*node).or_default() += 1;
    }
    let of = |counts: &HashMap<Uuid, u64>, node: &Node| counts.get(&node.id).copied().unwrap_or_default();
    let judged = nodes.into_iter().filter_map(|node| {
        let state = NodeState::of(&node)?;
        let (shards, channels) = (of(&shards, &node), of(&channels, &node));
        Some(NodeStatus { node, state, shards, channels })
    });
    judged.collect()
}

fn home(place: &Place) -> Uuid {
    shard_of(place.channel, place.kind, place.account.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HOUSEKEEPING;
    use clock::Timestamp;
    use domain::channel::Kind;

    fn node(id: u128, stage: Stage, lapses_in: i64) -> Node {
        Node {
            id: Uuid::from_u128(id),
            cluster: "test".to_owned(),
            name: format!("node {id}"),
            address: "127.0.0.1:1".to_owned(),
            version: "1.0.0".to_owned(),
            cores: 2,
            started_at: Timestamp::from_millis(0),
            lapses_in,
            stage,
            lacks_key: false,
            clock_ahead: None,
        }
    }

    fn place(id: u128, kind: Kind, account: Option<&str>) -> Place {
        Place { channel: Uuid::from_u128(id), kind, account: account.map(str::to_owned) }
    }

    #[test]
    fn the_channels_of_one_account_count_for_its_owner_and_each_session_for_its_own() {
        let places = [
            place(1, Kind::BusinessAccount, Some("waba")),
            place(2, Kind::BusinessAccount, Some("waba")),
            place(3, Kind::WebSession, None),
            place(4, Kind::WebSession, None),
        ];
        let (one, other) = (Uuid::from_u128(11), Uuid::from_u128(12));
        let owners = [(home(&places[0]), one), (HOUSEKEEPING, one), (places[2].channel, other)];
        let nodes = vec![node(11, Stage::Serving, 6_000), node(12, Stage::Serving, 6_000)];
        let judged = judged(nodes, &owners, &places);
        let counts: Vec<_> = judged.iter().map(|node| (node.shards, node.channels)).collect();
        assert_eq!(counts, [(2, 2), (1, 1)], "the fourth channel has no owner");
    }

    #[test]
    fn a_node_whose_lease_has_lapsed_is_lapsed_and_a_fenced_one_is_gone() {
        let nodes = vec![
            node(1, Stage::Serving, 1),
            node(2, Stage::Draining, 1),
            node(3, Stage::Serving, 0),
            node(4, Stage::Draining, -5),
            node(5, Stage::Fenced, 6_000),
            node(6, Stage::Gone, -5),
            Node { lacks_key: true, ..node(7, Stage::Serving, 1) },
            Node { lacks_key: true, ..node(8, Stage::Draining, 1) },
        ];
        let judged = judged(nodes, &[], &[]);
        let states: Vec<_> = judged.iter().map(|node| (node.state.as_str(), node.lease())).collect();
        let (some, none) = (Duration::from_millis(1), Duration::ZERO);
        let alive = [("serving", some), ("draining", some)];
        let expected = [alive, [("lapsed", none); 2], [("lacks_key", some), ("draining", some)]].concat();
        assert_eq!(states, expected);
    }
}
