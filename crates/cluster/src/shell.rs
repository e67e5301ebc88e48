//! The shell of a node: carries out in the database what the machine decides.
//!
//! It runs on a thread of its own, so that nothing delays the heartbeat. Each statement is a task whose result is an
//! input.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, pending};
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

use super::machine::{Effect, Input, LEASE, Machine, Seen, Standing};
use super::placement::Member;
use super::{ClusterEvent, Nodes, micros};
use clock::Timestamp;
use store::nodes::{Node, Stage};
use store::{Error, Lease};

/// How long a renewal may take: an unanswered one makes room for another before the lease lapses.
const RENEWAL_PATIENCE: Duration = Duration::from_millis(1_500);
/// How long any other statement may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Delay before a statement with an unknown result is repeated.
const PAUSE: Duration = Duration::from_millis(250);

/// Carries out the effects of the node's machine.
pub struct Heartbeat {
    nodes: Arc<Nodes>,
    lease: Arc<Lease>,
    machine: Machine,
    incoming: mpsc::UnboundedReceiver<Input>,
    events: mpsc::UnboundedSender<ClusterEvent>,
    running: FuturesUnordered<BoxFuture<'static, Option<Input>>>,
    timer: Option<Instant>,
    /// Whether the engine may begin messages, as last reported.
    is_trusted: bool,
    /// The nodes whose fences were open at the last renewal.
    open: HashSet<Uuid>,
}

impl Heartbeat {
    pub(super) fn new(
        nodes: Arc<Nodes>,
        lease: Arc<Lease>,
        began: Instant,
        incoming: mpsc::UnboundedReceiver<Input>,
        events: mpsc::UnboundedSender<ClusterEvent>,
    ) -> Self {
        let machine = Machine::new(nodes.id, began);
        let running = FuturesUnordered::new();
        Self {
            nodes,
            lease,
            machine,
            incoming,
            events,
            running,
            timer: None,
            is_trusted: false,
            open: HashSet::new(),
        }
    }

    /// Keeps the node in the cluster until its fence is closed, or the engine stops listening.
    pub async fn run(mut self) {
        self.feed(Input::Timer);
        loop {
            let timer = self.timer;
            let due = async move {
                match timer {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => pending().await,
                }
            };
            let input = tokio::select! {
                Some(input) = self.running.next() => input,
                Some(input) = self.incoming.recv() => Some(input),
                () = due => {
                    self.timer = None;
                    Some(Input::Timer)
                }
                () = self.events.closed() => return,
            };
            if let Some(input) = input
                && !self.feed(input)
            {
                return;
            }
        }
    }

    /// Passes the machine an input and carries out its effects; returns `false` when the node has ended.
    fn feed(&mut self, input: Input) -> bool {
        if let Input::Renewed { seen, .. } = &input {
            self.notice_gone(seen);
        }
        let mut effects = Vec::new();
        self.machine.handle(input, Instant::now(), &mut effects);
        for effect in effects {
            if effect == Effect::End {
                self.report(ClusterEvent::Fenced);
                return false;
            }
            self.carry_out(effect);
        }
        true
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Renew => self.renew(),
            Effect::Trust(until) => {
                let until = until.saturating_duration_since(self.nodes.origin);
                self.nodes.trusted_until.store(micros(until), Ordering::Release);
                if !std::mem::replace(&mut self.is_trusted, true) {
                    tracing::info!("the lease of this node is renewed");
                    self.report(ClusterEvent::Trusted);
                }
            }
            Effect::Distrust => {
                self.is_trusted = false;
                tracing::warn!("the lease of this node is not renewed: nothing is sent until it is");
                self.report(ClusterEvent::Distrusted);
            }
            Effect::Members(members) => self.see(members),
            Effect::Drain => {
                self.nodes.is_draining.store(true, Ordering::Relaxed);
                tracing::info!("draining: giving the channels to other nodes");
            }
            Effect::Undrain => {
                self.nodes.is_draining.store(false, Ordering::Relaxed);
                tracing::info!("no longer draining: taking channels again");
            }
            Effect::CloseFence(node) => self.close_fence(node),
            Effect::ClearUp(node) => self.clear_up(node),
            Effect::Claim(shards) => self.claim(shards),
            Effect::Own(shards) => {
                for shard in &shards {
                    self.nodes.owned.insert(*shard);
                }
                metrics::counter!("pombo_cluster_shards_gained_total").increment(shards.len() as u64);
                tracing::info!(shards = shards.len(), "took channels");
                self.report(ClusterEvent::Gained(shards));
                self.nodes.claimed.notify_waiters();
            }
            Effect::GiveUp(shards) => self.give_up(shards),
            Effect::WakeAt(at) => self.timer = Some(at),
            Effect::End => {}
        }
    }

    fn report(&self, event: ClusterEvent) {
        // An engine that has ended does not listen.
        let _ = self.events.send(event);
    }

    /// Tells the engine of nodes that are gone since the previous renewal. Another node may have fenced them, so that
    /// this one never saw their leases lapse.
    fn notice_gone(&mut self, seen: &[Seen]) {
        let open = seen.iter().filter(|node| node.standing != Standing::Fenced).map(|node| node.member.id);
        let open: HashSet<_> = open.collect();
        let before = std::mem::replace(&mut self.open, open);
        if !before.is_subset(&self.open) {
            self.report(ClusterEvent::NodeGone);
        }
    }

    fn see(&self, members: Vec<Member>) {
        tracing::info!(nodes = members.len(), "the nodes that take channels changed");
        let mut seen = self.nodes.members.write();
        *seen = Arc::new(members);
    }

    fn renew(&self) {
        let nodes = Arc::clone(&self.nodes);
        self.run_beside(async move {
            let began = Instant::now();
            Some(match timeout(RENEWAL_PATIENCE, nodes.store.nodes().renew(nodes.id, LEASE)).await {
                Ok(Ok(found)) => Input::Renewed { began, seen: found.iter().map(seen).collect() },
                Ok(Err(Error::Fenced)) => Input::Fenced,
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the lease of this node was not renewed");
                    Input::NotRenewed
                }
                Err(_) => Input::NotRenewed,
            })
        });
    }

    fn close_fence(&self, node: Uuid) {
        let (nodes, events) = (Arc::clone(&self.nodes), self.events.clone());
        self.run_beside(async move {
            match within(nodes.store.nodes().close_fence(node)).await {
                Ok(true) => {
                    tracing::warn!(node.id = %node, "the lease of a node has lapsed, its channels are free");
                    let _ = events.send(ClusterEvent::NodeGone);
                }
                // Another node closed the fence, which the next renewal shows, or the node renewed its lease.
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(node.id = %node, %error, "cannot close the fence of a node with a lapsed lease yet");
                }
            }
            Some(Input::Tried(node))
        });
    }

    fn clear_up(&self, node: Uuid) {
        let (nodes, lease) = (Arc::clone(&self.nodes), Arc::clone(&self.lease));
        self.run_beside(async move {
            match within(nodes.store.nodes().clear_up_after(&lease, node, Timestamp::now())).await {
                Ok(sends) => tracing::info!(node.id = %node, sends, "cleared up after a node"),
                Err(Error::Fenced) => return Some(Input::Fenced),
                Err(error) => tracing::warn!(node.id = %node, %error, "cannot clear up after a node yet"),
            }
            Some(Input::Tried(node))
        });
    }

    /// A claim is repeated until its result is known: a shard that this node owned without knowing it would be served
    /// by no node.
    fn claim(&self, shards: Vec<Uuid>) {
        let (nodes, lease) = (Arc::clone(&self.nodes), Arc::clone(&self.lease));
        self.run_beside(async move {
            loop {
                match within(nodes.store.shards().claim(&lease, &shards)).await {
                    Ok(won) => return Some(Input::Claimed(won)),
                    Err(Error::Fenced) => return Some(Input::Fenced),
                    Err(error) => tracing::debug!(%error, "cannot claim channels yet"),
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }

    fn give_up(&self, shards: Vec<Uuid>) {
        for shard in &shards {
            self.nodes.owned.remove(shard);
        }
        let (stopped, told) = oneshot::channel();
        self.report(ClusterEvent::GiveUp { shards: shards.clone(), stopped });
        let (nodes, lease) = (Arc::clone(&self.nodes), Arc::clone(&self.lease));
        self.run_beside(async move {
            // A stopping engine drops it: then the shards' channels end before the node leaves.
            told.await.ok()?;
            loop {
                match within(nodes.store.shards().release(&lease, &shards, Timestamp::now())).await {
                    Ok(()) => break,
                    Err(Error::Fenced) => return Some(Input::Fenced),
                    Err(error) => tracing::debug!(%error, "cannot release channels yet"),
                }
                tokio::time::sleep(PAUSE).await;
            }
            metrics::counter!("pombo_cluster_shards_released_total").increment(shards.len() as u64);
            tracing::info!(shards = shards.len(), "gave channels away");
            Some(Input::Released(shards))
        });
    }

    fn run_beside(&self, task: impl Future<Output = Option<Input>> + Send + 'static) {
        self.running.push(Box::pin(task));
    }
}

/// The database's answer, if it comes in time.
async fn within<T>(asked: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = |_| Err(Error::Unavailable("the database does not answer".to_owned()));
    timeout(PATIENCE, asked).await.unwrap_or_else(late)
}

/// A node as the machine sees it.
fn seen(node: &Node) -> Seen {
    let standing = match node.stage {
        Stage::Fenced | Stage::Gone => Standing::Fenced,
        Stage::Serving | Stage::Draining if node.lapses_in <= 0 => Standing::Lapsed,
        Stage::Draining => Standing::Draining,
        Stage::Serving if node.lacks_key => Standing::LacksKey,
        Stage::Serving => Standing::Serving,
    };
    Seen { member: Member { id: node.id, cores: node.cores }, standing }
}
