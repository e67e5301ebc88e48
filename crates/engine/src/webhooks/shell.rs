//! The shell of one endpoint: a task that carries out the effects of its machine, and decides nothing.

use std::collections::{BTreeMap, HashMap};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::{Notify, watch};

use super::attempt::attempt;
use super::context::DeliveryContext;
use super::machine::{
    AttemptVerdict, Effect, Effects, EndpointState, GivenUp, Input, Machine, Notice, ReplayRange, Stored,
};
use super::open::OpenEndpoint;
use super::reading::Begun;
use super::{moment, reading, replaying};
use crate::events::tail::Follower;
use domain::event::Event;

/// How long a shell that ends waits for its attempts and its last write. An attempt takes 15 s at most.
const END_PATIENCE: Duration = Duration::from_secs(20);
/// The most events that are kept between the reading of the log and their attempt: more than a machine has in its window.
const MOST_READ: usize = 4_096;

/// The endpoint as people want it; `None` for one that gets no further events.
pub(super) type Wanted = Option<Arc<OpenEndpoint>>;

/// What a shell hears from its keeper, and tells it.
pub(super) struct KeeperLink {
    pub(super) wanted: watch::Receiver<Wanted>,
    /// Notified when there is a sign that the receiver works again.
    pub(super) mended: Arc<Notify>,
    /// Whether the last attempts failed.
    pub(super) is_failing: Arc<AtomicBool>,
    /// How often a person had enabled the endpoint, or given it another address, when the keeper read it.
    pub(super) resumed: i64,
}

struct EndpointShell {
    context: Arc<DeliveryContext>,
    endpoint: Arc<OpenEndpoint>,
    link: KeeperLink,
    begun: Arc<Begun>,
    machine: Machine,
    follower: Follower,
    /// Reads, writes and attempts under way; a read has its events.
    running: FuturesUnordered<LocalBoxFuture<'static, (Input, Vec<Event>)>>,
    /// Events that were read and wait for their first attempt, by sequence. Without them, an attempt reads them again: an
    /// endpoint that fails keeps none, because its events may wait for days.
    read: BTreeMap<i64, Event>,
    /// Whether the receiver accepted a request, and failed with none since.
    has_accepted: bool,
    /// The failed attempts of events that have a retry.
    failures: HashMap<i64, u16>,
    /// When the machine asked to be woken.
    wakes_at: Option<Instant>,
    /// Until when a shell that ends waits.
    ends_at: Option<Instant>,
}

/// Delivers to an endpoint until it gets no further events.
pub(super) async fn run(context: Arc<DeliveryContext>, endpoint: Arc<OpenEndpoint>, link: KeeperLink) {
    // Before the first read: what comes into the log afterwards is told.
    let follower = context.follow(endpoint.company_id);
    match reading::stored(&context, &endpoint).await {
        // Its address is of the past. The keeper reads the endpoint again once this shell has ended.
        Ok(Some((_, begun))) if begun.resumed != link.resumed => {}
        Ok(Some(stored)) => {
            EndpointShell::new(context, endpoint, link, follower, stored).run().await;
        }
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(webhook.id = %endpoint.id, %error, "the state of a webhook cannot be read, the read is repeated");
        }
    }
}

impl EndpointShell {
    fn new(
        context: Arc<DeliveryContext>,
        endpoint: Arc<OpenEndpoint>,
        link: KeeperLink,
        follower: Follower,
        (stored, begun): (Stored, Begun),
    ) -> Self {
        let retries = stored.retries.iter().map(|retry| (retry.item.sequence, retry.attempts));
        let failures = retries.collect();
        let settings = endpoint.machine_settings();
        Self {
            begun: Arc::new(begun),
            machine: Machine::new(endpoint.id, settings, stored, moment()),
            context,
            endpoint,
            link,
            follower,
            running: FuturesUnordered::new(),
            read: BTreeMap::new(),
            has_accepted: false,
            failures,
            wakes_at: None,
            ends_at: None,
        }
    }

    async fn run(mut self) {
        let (mut input, mut effects) = (Input::Timer, Effects::default());
        loop {
            self.machine.handle(input, moment(), &mut effects);
            for effect in effects.drain() {
                if let Effect::End = effect {
                    return;
                }
                self.carry_out(effect);
            }
            let health = self.machine.health();
            let is_failing = health.failures > 0;
            self.link.is_failing.store(is_failing, Ordering::Relaxed);
            if is_failing || self.read.len() > MOST_READ {
                self.read.clear();
            }
            let is_disabled = matches!(health.state, EndpointState::Disabled { .. });
            if (is_disabled || self.begun.is_over()) && self.ends_at.is_none() {
                // Another shell begins with what is stored then: once a person enables it, or at once.
                input = self.end();
                continue;
            }
            match self.next().await {
                Some(next) => input = next,
                None => {
                    tracing::warn!(webhook.id = %self.endpoint.id, "a webhook is still being delivered, its delivery is repeated later");
                    return;
                }
            }
        }
    }

    /// Waits for the next input; `None` when a shell that ends has waited long enough.
    async fn next(&mut self) -> Option<Input> {
        tokio::select! {
            Some((input, events)) = self.running.next() => {
                if let Input::Attempted { verdict, .. } = &input {
                    self.has_accepted = accepts(self.has_accepted, *verdict);
                }
                self.read.extend(events.into_iter().map(|event| (event.sequence.as_i64(), event)));
                Some(input)
            }
            changed = self.link.wanted.changed(), if self.ends_at.is_none() => {
                Some(self.change(changed.is_ok()))
            }
            () = self.link.mended.notified() => Some(Input::Mended),
            () = self.follower.changed() => Some(Input::Grew),
            () = until(self.wakes_at) => {
                self.wakes_at = None;
                Some(Input::Timer)
            }
            () = until(self.ends_at) => None,
        }
    }

    /// People changed the endpoint; `is_kept` is false when nobody starts and ends shells any more.
    fn change(&mut self, is_kept: bool) -> Input {
        let wanted = self.link.wanted.borrow_and_update().clone();
        match wanted.filter(|_| is_kept) {
            Some(endpoint) => {
                let settings = endpoint.machine_settings();
                self.endpoint = endpoint;
                Input::Changed(settings)
            }
            None => self.end(),
        }
    }

    fn end(&mut self) -> Input {
        self.ends_at = Some(Instant::now() + END_PATIENCE);
        Input::Stop
    }

    fn carry_out(&mut self, effect: Effect) {
        let (context, endpoint) = (Arc::clone(&self.context), Arc::clone(&self.endpoint));
        match effect {
            Effect::Read { after, limit } => {
                let reading = async move {
                    match reading::page(&context, &endpoint, after, limit).await {
                        Ok((page, events)) => (Input::Read(Ok(page)), events),
                        Err(error) => (Input::Read(Err(error.to_string())), Vec::new()),
                    }
                };
                self.running.push(reading.boxed_local());
            }
            Effect::ReadReplay { after, up_to, limit } => {
                let Some(request) = self.begun.replay.as_ref().map(|replay| replay.request.clone()) else {
                    return;
                };
                let range = ReplayRange { after, up_to };
                let reading = async move {
                    match replaying::page(&context, &endpoint, &request, range, limit).await {
                        Ok((page, events)) => (Input::ReplayRead(Ok(page)), events),
                        Err(error) => (Input::ReplayRead(Err(error.to_string())), Vec::new()),
                    }
                };
                self.running.push(reading.boxed_local());
            }
            Effect::Attempt { id, sequences } => {
                let known: Vec<_> =
                    sequences.iter().filter_map(|sequence| self.read.remove(sequence)).collect();
                let known = (known.len() == sequences.len()).then_some(known);
                let failures = sequences.first().and_then(|first| self.failures.get(first)).copied();
                let number = failures.unwrap_or_default().saturating_add(1);
                let has_accepted = self.has_accepted;
                let attempting = async move {
                    let verdict =
                        attempt(&context, &endpoint, &sequences, known, (number, has_accepted)).await;
                    (Input::Attempted { attempt: id, verdict, chance: rand::random() }, Vec::new())
                };
                self.running.push(attempting.boxed_local());
            }
            Effect::Write(changes) => {
                self.failures.extend(changes.put.iter().map(|retry| (retry.item.sequence, retry.attempts)));
                for sequence in changes.remove.iter().chain(&changes.give_up) {
                    self.failures.remove(sequence);
                }
                let begun = Arc::clone(&self.begun);
                let writing = async move {
                    let written = reading::write(&context, &endpoint, &begun, changes).await;
                    (Input::Written(written.map_err(|error| error.to_string())), Vec::new())
                };
                self.running.push(writing.boxed_local());
            }
            Effect::Tell(notice) => self.tell(&notice),
            Effect::WakeAt(at) => self.wakes_at = Some(at),
            // It ends the shell.
            Effect::End => {}
        }
    }

    fn tell(&self, notice: &Notice) {
        match notice {
            Notice::GivenUp { sequences, reason } => {
                let reason = match reason {
                    GivenUp::Aborted => "aborted",
                    GivenUp::Exhausted => "exhausted",
                    GivenUp::Crowded => "crowded",
                    GivenUp::Missing => "missing",
                };
                metrics::counter!("pombo_webhook_given_up_total", "reason" => reason)
                    .increment(sequences.len() as u64);
                tracing::warn!(
                    webhook.id = %self.endpoint.id, company.id = %self.endpoint.company_id, reason, events = sequences.len(),
                    "events are given up, the webhook does not get them"
                );
            }
            // The machine logs them.
            Notice::Disabled { .. } | Notice::Recovered { .. } => {}
        }
    }
}

/// Whether the next request of a receiver counts among those to receivers that accept requests. Only a failure of the receiver
/// ends that.
const fn accepts(before: bool, verdict: AttemptVerdict) -> bool {
    match verdict {
        AttemptVerdict::Delivered => true,
        AttemptVerdict::Failed { .. } => false,
        // Nothing was sent, or the receiver answered as it should.
        AttemptVerdict::Missing | AttemptVerdict::Abort | AttemptVerdict::Gone => before,
    }
}

/// Waits for a moment; never resolves without one.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failure_makes_a_receiver_doubtful() {
        for (verdict, expected) in [
            (AttemptVerdict::Delivered, [true, true]),
            (AttemptVerdict::Failed { retry_after: None }, [false, false]),
            (AttemptVerdict::Missing, [false, true]),
            (AttemptVerdict::Abort, [false, true]),
            (AttemptVerdict::Gone, [false, true]),
        ] {
            assert_eq!([false, true].map(|before| accepts(before, verdict)), expected, "{verdict:?}");
        }
    }
}
