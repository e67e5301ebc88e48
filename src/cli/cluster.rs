//! `pombo cluster`.

use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::failure::Misused;
use super::output::{Columns, Listed};
use super::session::Session;
use crate::api::records::{Node, Postgres};
use crate::clock::Timestamp;
use crate::clock::database::TOLERATED;
use crate::cluster::{self, Moves, NodeState, NodeStatus};
use crate::connector::nats;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the nodes, their leases and how much runs on each
    Status,
    /// Make a node give its channels to the others, before it is stopped
    Drain(OfNode),
    /// Let a node that drains take channels again
    Undrain(OfNode),
}

#[derive(Debug, Args)]
pub(super) struct OfNode {
    /// The node's name or id, as `pombo cluster status` shows it
    node: String,
}

/// The JSON output.
#[derive(Serialize)]
struct Status<'a> {
    cluster: &'a str,
    nodes: &'a [Node],
    moves: i64,
    moved_at: Option<Timestamp>,
    postgresql: Postgres,
    nats: Option<NatsAnswer>,
}

#[derive(Serialize)]
struct NatsAnswer {
    connected: bool,
    version: Option<String>,
    /// Why NATS cannot be reached.
    error: Option<String>,
}

impl Listed for Node {
    const COLUMNS: Columns<Self> = &[
        ("name", |node| node.name.clone()),
        ("address", |node| node.address.clone()),
        ("state", |node| node.state.to_owned()),
        ("channels", |node| node.channels.to_string()),
        ("shards", |node| node.shards.to_string()),
        ("lease", |node| format!("{:.1} s", node.lease_seconds)),
        ("clock", |node| node.clock_ahead_seconds.map(|ahead| format!("{ahead:+.1} s")).unwrap_or_default()),
        ("cores", |node| node.cores.to_string()),
        ("version", |node| node.version.clone()),
        ("started at", |node| node.started_at.to_string()),
        ("id", |node| node.id.to_string()),
    ];
}

/// The cluster's name.
fn configured(session: &Session) -> anyhow::Result<&str> {
    let cluster = &session.app.config.cluster;
    if cluster.is_joined() {
        return Ok(&cluster.name);
    }
    Err(Misused(
        "no cluster is configured: set cluster.name to the same name as for `pombo serve`".to_owned(),
    )
    .into())
}

/// Asks NATS, if it is configured.
async fn ask_nats(session: &Session) -> Option<NatsAnswer> {
    let options = &session.app.config.nats;
    options.url.as_ref()?;
    Some(match nats::reach(nats::Carries::All, options).await {
        Ok(version) => NatsAnswer { connected: true, version: Some(version), error: None },
        Err(error) => NatsAnswer { connected: false, version: None, error: Some(error.to_string()) },
    })
}

pub(super) async fn run(session: &Session, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Status => status(session).await,
        Command::Drain(of) => drain(session, of).await,
        Command::Undrain(of) => undrain(session, of).await,
    }
}

async fn status(session: &Session) -> anyhow::Result<()> {
    let cluster = configured(session)?;
    let cluster::Status { nodes, moves, server } = cluster::status(&session.app.store).await?;
    let nodes: Vec<_> = nodes.into_iter().map(Node::from).collect();
    let Moves { count: moves, last: moved_at } = moves;
    let (postgresql, nats) = (server.into(), ask_nats(session).await);
    let status = Status { cluster, nodes: &nodes, moves, moved_at, postgresql, nats };
    if session.output.json {
        return session.output.record(&status, "");
    }
    session.output.list(&nodes, "no node is running; start one with `pombo serve`")?;
    session.output.record(&status, &said(&status))
}

/// The nodes that need a person, each in a line.
fn troubled(nodes: &[Node]) -> String {
    let mut said = String::new();
    for node in nodes {
        let ahead = node.clock_ahead_seconds.filter(|ahead| ahead.abs() > TOLERATED.as_secs_f64());
        if let Some(ahead) = ahead {
            let way = if ahead > 0.0 { "ahead of" } else { "behind" };
            said += &format!(
                "the clock of {} is {:.1} seconds {way} PostgreSQL's: let a time service set it, such as chrony\n",
                node.name,
                ahead.abs()
            );
        }
        if node.state == NodeState::LacksKey.as_str() {
            said += &format!("{} lacks a sealing key of the database: give it the key\n", node.name);
        }
    }
    said
}

/// The text below the table.
fn said(status: &Status<'_>) -> String {
    let Status { moves, moved_at, postgresql, nats, nodes, .. } = status;
    let last = moved_at.map(|at| format!(", last at {at}")).unwrap_or_default();
    let Postgres { version, answer_ms, connections, max_connections } = postgresql;
    let nats = match nats {
        None => "NATS is not configured".to_owned(),
        Some(NatsAnswer { version: Some(version), .. }) => format!("NATS {version} answers"),
        Some(NatsAnswer { error, .. }) => error.clone().unwrap_or_else(|| "NATS does not answer".to_owned()),
    };
    format!(
        "\n{}moves: {moves}{last}\nPostgreSQL {version} answers in {answer_ms:.1} ms; {connections} of \
         {max_connections} connections are open\n{nats}",
        troubled(nodes)
    )
}

/// The node that an argument names, by its name or its id.
async fn find(session: &Session, node: &str) -> anyhow::Result<NamedNode> {
    configured(session)?;
    let named = |other: &NodeStatus| other.node.name == node || other.node.id.to_string() == node;
    let status = cluster::status(&session.app.store).await?;
    let found: Vec<_> = status.nodes.into_iter().filter(named).collect();
    match &found[..] {
        [NodeStatus { node: found, .. }] => Ok(NamedNode { id: found.id, name: found.name.clone() }),
        [] => Err(anyhow!("there is no node `{node}`: `pombo cluster status` lists the nodes")),
        _ => Err(anyhow!("several nodes are called `{node}`: give the id that `pombo cluster status` shows")),
    }
}

/// A node that an argument names.
struct NamedNode {
    id: Uuid,
    name: String,
}

impl NamedNode {
    /// The error when the node ended meanwhile.
    fn has_ended(&self) -> anyhow::Error {
        anyhow!("the node `{}` has just ended", self.name)
    }

    fn say(&self, session: &Session, state: NodeState, said: &str) -> anyhow::Result<()> {
        session.output.record(
            &json!({ "id": self.id, "state": state.as_str() }),
            &format!("the node {} {said}", self.name),
        )
    }
}

async fn drain(session: &Session, OfNode { node }: OfNode) -> anyhow::Result<()> {
    let found = find(session, &node).await?;
    if !session.app.store.nodes().drain(&session.who(), found.id).await? {
        return Err(found.has_ended());
    }
    let said = "gives its channels to the others and takes no more; stop it when `pombo cluster status` shows none, or \
                take it back with `pombo cluster undrain`";
    found.say(session, NodeState::Draining, said)
}

async fn undrain(session: &Session, OfNode { node }: OfNode) -> anyhow::Result<()> {
    let found = find(session, &node).await?;
    if !session.app.store.nodes().undrain(&session.who(), found.id).await? {
        return Err(found.has_ended());
    }
    found.say(session, NodeState::Serving, "takes channels again")
}
