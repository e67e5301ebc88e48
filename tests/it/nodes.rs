//! Several services on one PostgreSQL database, each in a process of its own: one node sends the messages
//! that another one accepted, and no message is lost or repeated when a node leaves.

mod clocks;
mod command_line;
mod database;
mod going;
mod heard;
mod joining;
mod moved;
mod operators;
mod retries;
mod sharing;
mod sign_ins;
mod strangers;
mod telling;
mod web_sessions;
mod webhooks;

use std::collections::BTreeMap;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::cluster;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use serde_json::{Value, json};
use simulator::ReceiptOptions;
use uuid::Uuid;

use crate::child::OwnedChild;
use crate::database::Universe;
use crate::harness::Answer;
use crate::running::until;
use crate::serving::{SERVE, Serving};

/// The recipients of these tests' single messages.
const SINGLE: u64 = 5_521_900_000_000;
/// This long after the last join, no channel moves any more.
const SETTLED: Duration = Duration::from_secs(6);

/// A node in a process of its own.
struct Node {
    child: OwnedChild,
    url: String,
    name: &'static str,
}

impl Node {
    /// Sends the process a signal.
    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Ends it gracefully, and waits until it is gone.
    async fn stop(self) {
        self.signal("-TERM");
        self.ended().await;
    }

    /// Waits for the process to end by itself, and returns its status. (Waiting for a child closes its input,
    /// which would end it.)
    async fn ended(mut self) -> ExitStatus {
        let mut ended = None;
        until("the node to end", async || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        })
        .await;
        ended.unwrap()
    }

    async fn is_ready(&self) -> Answer {
        Answer::to(reqwest::Client::new().get(format!("{}/readyz", self.url))).await
    }
}

/// A company with some contacts, and the nodes that serve it.
struct Stage {
    universe: Universe,
    serving: Serving,
    nodes: Vec<Node>,
}

impl Stage {
    /// With these nodes, once one of them runs the channel.
    async fn new(contacts: u64, names: &[&'static str]) -> Self {
        Self::of_tier(contacts, names, "unlimited").await
    }

    async fn of_tier(contacts: u64, names: &[&'static str], tier: &str) -> Self {
        Self::with(contacts, names, tier, &[]).await
    }

    /// With these options beside its own.
    async fn with(contacts: u64, names: &[&'static str], tier: &str, more: &[(&str, &str)]) -> Self {
        let universe = Universe::postgres().await;
        let options = [
            ("POMBO__CLUSTER__NAME", "test"),
            ("POMBO__RETRY__UNKNOWN_GRACE", "2s"),
            ("POMBO__DATABASE__CONNECTIONS", "6"),
        ];
        let options = [&options[..], more].concat();
        let serving = Serving::new_with(&universe, contacts, tier, &options).await;
        let mut stage = Self { universe, serving, nodes: Vec::new() };
        for name in names {
            stage.start(name).await;
        }
        if !names.is_empty() {
            stage.is_connected().await;
        }
        stage
    }

    /// Waits until a node has asked the provider for the channel's state.
    async fn is_connected(&self) {
        until("the channel connected", async || self.channel_state().await == "connected").await;
    }

    /// When the channel's owner last changed, by the database's clock.
    async fn moved_at(&self) -> Timestamp {
        let database = Database::connect(&self.universe.url).await.unwrap();
        let sql =
            "SELECT MAX(moved_at) FROM channel_owner WHERE shard <> '00000000-0000-0000-0000-000000000001'";
        let statement = Statement::from_string(database.get_database_backend(), sql);
        let row = database.query_one_raw(statement).await.unwrap().unwrap();
        database.close().await.unwrap();
        Timestamp::from_millis(row.try_get_by_index(0).unwrap())
    }

    async fn start(&mut self, name: &'static str) {
        let url = self.universe.url.clone();
        self.start_on(name, &url).await;
    }

    /// A node that reaches the database at this address.
    async fn start_on(&mut self, name: &'static str, database: &str) {
        let mut command = self.serving.place.command(SERVE);
        command.env("POMBO__CLUSTER__NODE", name).env("POMBO__DATABASE__URL", database);
        let (child, url) = self.serving.serve_as(command).await;
        self.nodes.push(Node { child, url, name });
    }

    async fn channel_state(&self) -> String {
        let id = self.serving.channel.parse().unwrap();
        self.universe.store.channels().find(id).await.unwrap().unwrap().connection.status.to_string()
    }

    /// The name of the node that owns the channel.
    async fn owner(&self) -> Option<String> {
        self.owner_of(&self.serving.channel).await
    }

    /// The name of the node that owns another channel.
    async fn owner_of(&self, channel: &str) -> Option<String> {
        let id: Uuid = channel.parse().unwrap();
        let channel = self.universe.store.channels().find(id).await.unwrap().unwrap();
        self.owner_of_shard(cluster::shard(&channel)).await
    }

    /// The name of the node that does the housekeeping, and delivers webhooks.
    async fn housekeeper(&self) -> Option<String> {
        self.owner_of_shard(cluster::HOUSEKEEPING).await
    }

    async fn owner_of_shard(&self, shard: Uuid) -> Option<String> {
        let owner = self.universe.store.shards().owner_of(shard).await.unwrap()?;
        let nodes = self.universe.store.nodes().all().await.unwrap();
        nodes.into_iter().find(|node| node.id == owner.node).map(|node| node.name)
    }

    /// Waits until the nodes have divided the work among them.
    async fn settled(&self) {
        until("the nodes settled", async || {
            let nodes = self.universe.store.nodes().all().await.unwrap();
            nodes.iter().all(|node| node.started_at.plus(SETTLED) < Timestamp::now())
        })
        .await;
    }

    /// Removes the node that owns the channel from the stage and returns it, once the nodes have divided the channels
    /// among them.
    async fn take_owner(&mut self) -> Node {
        self.settled().await;
        let (mut owner, path) = (None, format!("/api/v1/chat/{}/limits", self.serving.channel));
        until("an owner of the channel", async || {
            for node in &self.nodes {
                // A channel without an owner is claimed when a request needs it.
                self.ask(node, reqwest::Method::GET, &path, &Value::Null).await;
            }
            owner = self.place_of(self.owner().await.as_deref());
            owner.is_some()
        })
        .await;
        self.nodes.remove(owner.unwrap())
    }

    /// The same for the node that does the housekeeping.
    async fn take_housekeeper(&mut self) -> Node {
        self.settled().await;
        let mut keeper = None;
        until("a node that does the housekeeping", async || {
            keeper = self.place_of(self.housekeeper().await.as_deref());
            keeper.is_some()
        })
        .await;
        self.nodes.remove(keeper.unwrap())
    }

    /// Where the node of this name is on the stage: one that crashed has what was its own for a while yet.
    fn place_of(&self, name: Option<&str>) -> Option<usize> {
        self.nodes.iter().position(|node| Some(node.name) == name)
    }

    /// Whether another node than this one owns the channel.
    async fn has_other_owner(&self, than: &Node) -> bool {
        self.owner().await.is_some_and(|owner| owner != than.name)
    }

    /// A text to one number, accepted by this node.
    async fn send(&self, node: &Node, number: u64) {
        let body = json!({ "type": "text", "message": "hi", "phone_number": number });
        let answer = self.serving.send_through(&self.serving.channel, &node.url, &body).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
    }

    /// Directs the provider's receipts to this node, soon after each message.
    fn aim(&self, node: &Node) {
        let short = Duration::from_millis(50);
        let options = self.serving.receipts(&node.url);
        let options = ReceiptOptions { delivered_after: short, read_after: short, ..options };
        self.serving.simulator.aim_receipts(Some(options)).unwrap();
    }

    /// How many messages each recipient got.
    fn heard(&self) -> BTreeMap<String, usize> {
        let mut heard = BTreeMap::new();
        for message in self.serving.simulator.messages(0, 100_000) {
            *heard.entry(message.to).or_default() += 1;
        }
        heard
    }

    /// Waits until every send is finished, and checks that this many recipients got one message each.
    async fn all_heard_once(&self, recipients: u64) {
        let store = &self.universe.store;
        until("everybody reached", async || self.heard().len() as u64 >= recipients).await;
        until("every send finished", async || store.channels().working().await.unwrap().is_empty()).await;
        let heard = self.heard();
        let repeated: Vec<_> = heard.iter().filter(|(_, messages)| **messages != 1).collect();
        assert!(repeated.is_empty(), "{repeated:?}");
        assert_eq!(heard.len() as u64, recipients);
    }

    /// Sends a request with the company's key to this node.
    async fn ask(&self, node: &Node, method: reqwest::Method, path: &str, body: &Value) -> Answer {
        let mut request = reqwest::Client::new().request(method, format!("{}{path}", node.url));
        if !body.is_null() {
            request = request.json(body);
        }
        Answer::to(request.bearer_auth(&self.serving.key)).await
    }

    async fn end(self) {
        let Self { universe, serving, nodes } = self;
        for node in nodes {
            node.stop().await;
        }
        serving.simulator.stop().await;
        universe.end().await;
    }
}

/// Slows the provider down, so that a send is under way for some seconds.
fn slow_down(stage: &Stage) {
    stage.serving.simulator.script(&json!({ "latency": "80ms" })).unwrap();
}
