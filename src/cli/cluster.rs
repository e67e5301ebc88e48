//! `pombo cluster`.

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::failure::Misused;
use super::output::Listed;
use super::session::Session;
use crate::clock::Timestamp;
use crate::store::node::{Node, Stage};

/// See [`super::Cluster::Drain`].
#[derive(Debug, Args)]
pub(super) struct Drain {
    /// The node's name or id, as `pombo cluster status` shows it
    node: String,
}

#[derive(Serialize)]
struct Record {
    id: Uuid,
    name: String,
    address: String,
    version: String,
    cores: u32,
    state: &'static str,
    /// Business accounts and web sessions whose channels it runs.
    shards: i64,
    lease_seconds: f64,
    started_at: Timestamp,
}

/// What a program reads.
#[derive(Serialize)]
struct Status<'a> {
    cluster: &'a str,
    nodes: &'a [Record],
    moves: i64,
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] =
        &["name", "address", "state", "shards", "lease", "cores", "version", "started at", "id"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.address.clone(),
            self.state.to_owned(),
            self.shards.to_string(),
            if self.lease_seconds > 0.0 {
                format!("{:.1} s", self.lease_seconds)
            } else {
                "lapsed".to_owned()
            },
            self.cores.to_string(),
            self.version.clone(),
            self.started_at.to_string(),
            self.id.to_string(),
        ]
    }
}

/// The cluster's name.
fn configured(session: &Session) -> anyhow::Result<&str> {
    let cluster = &session.app.config.cluster;
    if cluster.is_joined() {
        return Ok(&cluster.name);
    }
    Err(Misused("no cluster is configured: set cluster.name, as for `pombo serve`".to_owned()).into())
}

/// The nodes that serve, or whose lease has lapsed and whose channels nobody took over yet.
async fn serving(session: &Session) -> anyhow::Result<Vec<Node>> {
    let nodes = session.app.store.nodes().await?.into_iter();
    Ok(nodes.filter(|node| matches!(node.stage, Stage::Serving | Stage::Draining)).collect())
}

pub(super) async fn status(session: &Session) -> anyhow::Result<()> {
    let cluster = configured(session)?;
    let (owned, moves) = session.app.store.shards_of_nodes().await?;
    let record = |node: Node| {
        let shards = owned.iter().find(|(owner, _)| *owner == node.id).map_or(0, |(_, shards)| *shards);
        let Node { id, cluster: _, name, address, version, cores, started_at, lapses_in, stage } = node;
        let lease = std::time::Duration::from_millis(u64::try_from(lapses_in).unwrap_or(0)).as_secs_f64();
        Record {
            id,
            name,
            address,
            version,
            cores,
            state: stage.as_str(),
            shards,
            lease_seconds: lease,
            started_at,
        }
    };
    let nodes: Vec<_> = serving(session).await?.into_iter().map(record).collect();
    if session.output.json {
        return session.output.record(&Status { cluster, nodes: &nodes, moves }, "");
    }
    session.output.list(&nodes, "no node serves; start one with `pombo serve`")
}

pub(super) async fn drain(session: &Session, Drain { node }: Drain) -> anyhow::Result<()> {
    configured(session)?;
    let named = |other: &Node| other.name == node || other.id.to_string() == node;
    let found: Vec<_> = serving(session).await?.into_iter().filter(named).collect();
    let [found] = &found[..] else {
        return Err(match found.len() {
            0 => anyhow!("no node `{node}` serves: `pombo cluster status` lists the nodes"),
            _ => anyhow!("several nodes are called `{node}`: give the id that `pombo cluster status` shows"),
        });
    };
    if !session.app.store.drain_node(found.id).await? {
        return Err(anyhow!("the node `{node}` has just ended"));
    }
    let said = format!(
        "the node {} gives its channels to the others and takes no more; stop it when `pombo cluster status` shows none",
        found.name
    );
    session.output.record(&json!({ "id": found.id, "state": Stage::Draining.as_str() }), &said)
}
