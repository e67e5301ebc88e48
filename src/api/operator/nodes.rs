//! The nodes of a cluster: list them, list the channels of a node, drain a node.

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Operator;
use super::channels::OwnedChannel;
use crate::api::State;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::ErrorBody;
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::api::schema::NodeState;
use crate::clock::Timestamp;
use crate::cluster::{Link, Moves, NodeStatus, Server, Status};
use crate::engine::ShownCluster;

/// The nodes of a cluster, and how they are connected.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Cluster {
    /// The cluster's name; null for a service that runs alone.
    #[schema(example = "production")]
    cluster: Option<String>,
    /// The node that answers.
    answered_by: Option<Uuid>,
    /// The nodes that serve, and nodes whose lease has lapsed and whose channels are not taken over yet;
    /// oldest first. Empty for a service that runs alone.
    nodes: Vec<Node>,
    /// How often business accounts and web sessions moved between nodes.
    moves: i64,
    /// When one last moved.
    #[schema(value_type = Option<String>, format = DateTime)]
    moved_at: Option<Timestamp>,
    /// The database's server; null for a service that runs alone.
    postgresql: Option<Postgres>,
    /// The connection to NATS of the node that answers; null when NATS is not configured.
    nats: Option<Nats>,
}

/// A node, and what runs on it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Node {
    /// The id of the node. A process that starts again is another node.
    pub(crate) id: Uuid,
    /// `cluster.node` of its configuration, or its address.
    #[schema(example = "pombo-1")]
    pub(crate) name: String,
    /// The address on which it listens.
    #[schema(example = "10.0.0.1:8080")]
    pub(crate) address: String,
    /// The program's version.
    pub(crate) version: String,
    /// Its share of the work: the processor's cores.
    pub(crate) cores: u32,
    /// `serving`; `draining`, when it gives its channels away and takes no others; `lacks_key`, when it lacks a sealing key
    /// of the database and takes no channels until it has the key; `lapsed`, when others take its channels over.
    #[schema(value_type = NodeState, example = "serving")]
    pub(crate) state: &'static str,
    /// The business accounts and web sessions that it owns, and the background work that one node does for
    /// all.
    pub(crate) shards: u64,
    /// The channels of these business accounts and web sessions.
    pub(crate) channels: u64,
    /// How long its lease is still valid by the database's clock; 0 when it has lapsed.
    pub(crate) lease_seconds: f64,
    /// How far its clock is ahead of the database's; negative when it is behind, null when the node did not tell.
    pub(crate) clock_ahead_seconds: Option<f64>,
    /// When it joined.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) started_at: Timestamp,
}

/// The database's server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Postgres {
    /// The server's version.
    #[schema(example = "17.2")]
    pub(crate) version: String,
    /// How long it took to answer, in milliseconds.
    pub(crate) answer_ms: f64,
    /// Connections of all clients to this database.
    pub(crate) connections: i64,
    /// Connections that the server allows.
    pub(crate) max_connections: i64,
}

/// The connection to NATS of the node that answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Nats {
    /// Whether it is connected now.
    connected: bool,
    /// The version of the server that it is, or was last, connected to.
    #[schema(example = "2.10.27")]
    version: Option<String>,
}

impl From<NodeStatus> for Node {
    fn from(status: NodeStatus) -> Self {
        let (lease_seconds, clock_ahead_seconds) = (status.lease().as_secs_f64(), status.clock_ahead());
        let NodeStatus { node, state, shards, channels } = status;
        Self {
            id: node.id,
            name: node.name,
            address: node.address,
            version: node.version,
            cores: node.cores,
            state: state.as_str(),
            shards,
            channels,
            lease_seconds,
            clock_ahead_seconds,
            started_at: node.started_at,
        }
    }
}

impl From<Server> for Postgres {
    fn from(Server { version, answers_in, connections, most_connections }: Server) -> Self {
        let answer_ms = answers_in.as_secs_f64() * 1_000.0;
        Self { version, answer_ms, connections, max_connections: most_connections }
    }
}

impl From<ShownCluster> for Cluster {
    fn from(ShownCluster { name, own, status, link }: ShownCluster) -> Self {
        let Status { nodes, moves: Moves { count: moves, last: moved_at }, server } = status;
        Self {
            cluster: Some(name),
            answered_by: Some(own),
            nodes: nodes.into_iter().map(Node::from).collect(),
            moves,
            moved_at,
            postgresql: Some(server.into()),
            nats: link.map(|Link { is_connected, version }| Nats { connected: is_connected, version }),
        }
    }
}

/// List nodes
///
/// The services that share the work on one database, as `pombo cluster status` lists them. For a service that
/// runs alone, the list is empty.
#[utoipa::path(
    get,
    path = "/operator/v1/nodes",
    operation_id = "listNodes",
    responses((status = 200, description = "The cluster", body = Cluster)),
)]
pub(crate) async fn list(_: Operator, state: Data<State>) -> Answer<Cluster> {
    let shown = state.engine.nodes().cluster().await?;
    Ok(Json(shown.map(Cluster::from).unwrap_or_default()))
}

/// List the channels of a node
///
/// The channels that run on the node now, newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/nodes/{id}/channels",
    operation_id = "listNodeChannels",
    params(("id" = Uuid, Path, description = "The node"), PageParameters),
    responses(
        (status = 200, description = "A page of channels", body = Envelope<OwnedChannel>),
        (status = 404, description = "`node_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn channels(
    _: Operator,
    state: Data<State>,
    id: Id,
    query: Query,
) -> Answer<Envelope<OwnedChannel>> {
    let page = query.page()?;
    let (_, channels) = state.engine.nodes().channels_of_node(id.or_nil(), page).await?;
    Ok(Json(Envelope::new(page, channels)))
}

/// Drain a node
///
/// The node gives its channels to the other nodes, takes no others, and its `/readyz` answers 503. It still
/// answers requests until it is stopped. It takes channels again when it is undrained, and a process that starts
/// again does, too. For a node that drains already, nothing changes.
#[utoipa::path(
    post,
    path = "/operator/v1/nodes/{id}/drain",
    operation_id = "drainNode",
    params(("id" = Uuid, Path, description = "The node")),
    responses(
        (status = 200, description = "The node", body = Node),
        (status = 404, description = "`node_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn drain(operator: Operator, state: Data<State>, id: Id) -> Answer<Node> {
    Ok(Json(state.engine.nodes().drain_node(&operator.who(), id.or_nil()).await?.into()))
}

/// Undrain a node
///
/// A node that drains takes channels again, and its `/readyz` answers 200. For a node that does not drain,
/// nothing changes.
#[utoipa::path(
    post,
    path = "/operator/v1/nodes/{id}/undrain",
    operation_id = "undrainNode",
    params(("id" = Uuid, Path, description = "The node")),
    responses(
        (status = 200, description = "The node", body = Node),
        (status = 404, description = "`node_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn undrain(operator: Operator, state: Data<State>, id: Id) -> Answer<Node> {
    Ok(Json(state.engine.nodes().undrain_node(&operator.who(), id.or_nil()).await?.into()))
}
