//! This process as one node of several: channels come and go, and what concerns a channel is told to its owner.
//!
//! Only the owner of a channel runs its actor, its account's machine and its web session. Every node reads, accepts and
//! hears webhooks. What the owner has to know is in the database: it looks for [work] each second, and reads the [notes] of
//! other nodes. A process that serves alone owns every channel, and does none of this.

mod asking;
mod heard;
mod notes;
mod questions;
mod shown;
mod work;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::ArbiterHandle;
use tokio::sync::{Mutex, Notify, mpsc};
use uuid::Uuid;

pub(in crate::engine) use self::asking::Question;
pub(in crate::engine) use self::notes::{Told, share_suppressions};
pub(in crate::engine) use self::questions::{
    AnswerPasskey, AskLimits, AskPairing, AskPicture, AskSpeed, BeginWeb, Glance, Pair, RehearseWeb, SendWeb,
    Unlink,
};
pub use self::shown::Shown as ShownCluster;
use super::{Engine, Error};
use crate::cluster::News;
use crate::domain::channel::Channel;
use crate::engine::upkeep::rounds::repeat;
use crate::error::{Code, Refusal};

/// How long a request waits for a channel that nobody owns to be claimed.
const CLAIM_PATIENCE: Duration = Duration::from_secs(2);

/// What wakes the rounds of a node.
#[derive(Default)]
pub(super) struct Nodes {
    /// There may be new work, or notes.
    look: Notify,
    /// Channels without sends may have no owner any more.
    has_idle: AtomicBool,
    /// What was heard of messages of other nodes' channels, and no note says yet.
    unwritten: heard::Unwritten,
    /// Sessions are opened and closed in turns.
    sessions: Mutex<()>,
}

impl Engine {
    /// Begins what a node does beside its channels; it ends with the thread.
    pub(super) fn join(&self, thread: &ArbiterHandle, news: mpsc::UnboundedReceiver<News>) {
        thread.spawn(self.clone().follow(news));
        let (engine, mut seen) = (self.clone(), work::Seen::default());
        repeat(thread, "work of this node", async move || engine.look_for_work(&mut seen).await);
    }

    /// Carries out what the node hears of its part in the cluster.
    async fn follow(self, mut news: mpsc::UnboundedReceiver<News>) {
        while let Some(news) = news.recv().await {
            let engine = self.clone();
            match news {
                News::Gained(shards) => {
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move { engine.open_sessions(shards).await });
                }
                News::GiveUp { shards, stopped } => {
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move {
                        engine.let_go(shards).await;
                        // A node that has ended released them by that.
                        let _ = stopped.send(());
                    });
                }
                News::Distrusted => {
                    actix::spawn(async move { engine.close_sessions(None).await });
                }
                News::Trusted => {
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move { engine.reopen_sessions().await });
                }
                News::NodeGone => {
                    // Its web sessions are connected again by others, without waiting for their turn.
                    self.0.nodes.has_idle.store(true, Ordering::Release);
                    self.0.nodes.look.notify_one();
                    actix::spawn(async move { engine.take_over().await });
                }
                News::Fenced => {
                    self.lose_lease();
                    return;
                }
            }
        }
    }

    /// Stops what runs of these shards, each when its outcomes are written.
    async fn let_go(&self, shards: Vec<Uuid>) {
        let shards: HashSet<_> = shards.into_iter().collect();
        self.directory().let_go(&shards).await;
        // A web session is a shard by itself.
        self.close_sessions(Some(&shards)).await;
    }

    async fn close_sessions(&self, which: Option<&HashSet<Uuid>>) {
        let _turn = self.0.nodes.sessions.lock().await;
        self.0.web_sessions.close(which).await;
    }

    /// Opens the sessions among these shards that are linked to a phone.
    async fn open_sessions(&self, shards: Vec<Uuid>) {
        let _turn = self.0.nodes.sessions.lock().await;
        for channel in shards {
            if !self.0.shared.cluster.may_begin() || self.check_running().is_err() {
                return;
            }
            if let Err(error) = self.0.web_sessions.open_linked(channel).await {
                // The next round of work finds it without a session.
                tracing::warn!(channel.id = %channel, %error, "cannot open a web session yet");
            }
        }
    }

    async fn reopen_sessions(&self) {
        match self.store().linked_web_sessions().await {
            Ok(linked) => {
                let ours = linked.into_iter().filter(|channel| self.0.shared.cluster.owns(channel));
                self.open_sessions(ours.map(|channel| channel.id).collect()).await;
            }
            Err(error) => tracing::warn!(%error, "cannot open web sessions again yet"),
        }
    }

    /// Reads what a node that is gone may have told nobody.
    async fn take_over(&self) {
        if let Err(error) = self.load_suppressions().await {
            tracing::warn!(%error, "cannot read yet what a node left");
        }
    }

    /// Makes sure that the channel runs here; claims it when nobody owns it.
    ///
    /// # Errors
    ///
    /// `service_unavailable`, which names the node that owns the channel.
    pub(in crate::engine) async fn own(&self, channel: &Channel) -> Result<(), Error> {
        let cluster = &self.0.shared.cluster;
        if cluster.owns(channel) {
            return Ok(());
        }
        let sentence = match cluster.owner(channel).await? {
            Some(owner) => {
                format!("this channel runs on the node {owner}, which cannot be asked now: ask there")
            }
            None if cluster.claim(channel, CLAIM_PATIENCE).await => return Ok(()),
            None => {
                self.tell_owner(channel, &Told::Look).await?;
                "no node runs this channel yet: try again in a second".to_owned()
            }
        };
        Err(Refusal::new(Code::ServiceUnavailable, sentence).into())
    }

    /// A send was accepted here: the channel's owner looks for it.
    pub(in crate::engine) fn hint(&self, channel: &Channel) {
        let cluster = &self.0.shared.cluster;
        if !cluster.owns(channel) {
            cluster.want(std::iter::once(channel));
            cluster.wake(channel);
        }
    }
}
