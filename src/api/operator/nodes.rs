//! The nodes of a cluster: list them, list the channels of a node, drain a node.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::channels::OwnedChannel;
use super::{Operator, path_id};
use crate::api::State;
use crate::api::envelope::Envelope;
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{ListQuery, PageParameters};
use crate::api::openapi::{Failures, NodeState};
use crate::clock::Timestamp;
use crate::cluster::{Link, Moves, NodeStatus, Server, Status};
use crate::engine::ShownCluster;

/// The nodes of a cluster, and how they are connected.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(in crate::api) struct Cluster {
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
pub(in crate::api) struct Node {
    /// The id of the node. A process that starts again is another node.
    id: Uuid,
    /// `cluster.node` of its configuration, or its address.
    #[schema(example = "pombo-1")]
    name: String,
    /// The address on which it listens.
    #[schema(example = "10.0.0.1:8080")]
    address: String,
    /// The program's version.
    version: String,
    /// Its share of the work: the processor's cores.
    cores: u32,
    /// `serving`; `draining`, when it gives its channels away and takes no others; `lacks_key`, when it lacks a sealing key
    /// of the database and takes no channels until it has the key; `lapsed`, when others take its channels over.
    #[schema(value_type = NodeState, example = "serving")]
    state: &'static str,
    /// The business accounts and web sessions that it owns, and the background work that one node does for
    /// all.
    shards: u64,
    /// The channels of these business accounts and web sessions.
    channels: u64,
    /// How long its lease is still valid by the database's clock; 0 when it has lapsed.
    lease_seconds: f64,
    /// How far its clock is ahead of the database's; negative when it is behind, null when the node did not tell.
    clock_ahead_seconds: Option<f64>,
    /// When it joined.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
}

/// The database's server.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Postgres {
    /// The server's version.
    #[schema(example = "17.2")]
    version: String,
    /// How long it took to answer, in milliseconds.
    answer_ms: f64,
    /// Connections of all clients to this database.
    connections: i64,
    /// Connections that the server allows.
    max_connections: i64,
}

/// The connection to NATS of the node that answers.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Nats {
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

impl From<ShownCluster> for Cluster {
    fn from(ShownCluster { name, own, status, link }: ShownCluster) -> Self {
        let Status { nodes, moves: Moves { count: moves, last: moved_at }, server } = status;
        let Server { version, answers_in, connections, most_connections } = server;
        let answer_ms = answers_in.as_secs_f64() * 1_000.0;
        Self {
            cluster: Some(name),
            answered_by: Some(own),
            nodes: nodes.into_iter().map(Node::from).collect(),
            moves,
            moved_at,
            postgresql: Some(Postgres { version, answer_ms, connections, max_connections: most_connections }),
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
    tag = "operator",
    security(("operator_key" = [])),
    responses((status = 200, description = "The cluster", body = Cluster), Failures),
)]
pub(in crate::api) async fn list(_: Operator, state: Data<State>) -> Result<Json<Cluster>, Error> {
    let shown = state.engine.cluster().await?;
    Ok(Json(shown.map(Cluster::from).unwrap_or_default()))
}

/// List the channels of a node
///
/// The channels that run on the node now, newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/nodes/{id}/channels",
    operation_id = "listNodeChannels",
    tag = "operator",
    security(("operator_key" = [])),
    params(("id" = Uuid, Path, description = "The node"), PageParameters),
    responses(
        (status = 200, description = "A page of channels", body = Envelope<OwnedChannel>),
        (status = 404, description = "`node_not_found`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn channels(
    _: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<OwnedChannel>>, Error> {
    let page = ListQuery::new(request.query_string(), &state.options).page()?;
    let (_, channels) = state.engine.channels_of_node(id(&request), page).await?;
    Ok(Json(Envelope::new(page, channels)))
}

/// Drain a node
///
/// The node gives its channels to the other nodes, takes no others, and its `/readyz` answers 503. It still
/// answers requests until it is stopped; a process that starts again takes channels as before. For a node that
/// drains already, nothing changes.
#[utoipa::path(
    post,
    path = "/operator/v1/nodes/{id}/drain",
    operation_id = "drainNode",
    tag = "operator",
    security(("operator_key" = [])),
    params(("id" = Uuid, Path, description = "The node")),
    responses(
        (status = 200, description = "The node", body = Node),
        (status = 404, description = "`node_not_found`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn drain(
    operator: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Node>, Error> {
    Ok(Json(state.engine.drain_node(&operator.who(), id(&request)).await?.into()))
}

/// The node of the path. A value that is not a UUID becomes the nil id, which no node has.
fn id(request: &HttpRequest) -> Uuid {
    path_id(request, "id").unwrap_or_default()
}
