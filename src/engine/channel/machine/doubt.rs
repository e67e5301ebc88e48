//! Messages of which nobody knows whether the provider has them.
//!
//! They wait for a receipt. When their time is over the ledger is asked: a receipt may have moved the row
//! before this process began, or while the answer to the request was still awaited. Only if nothing was heard,
//! the tier's policy decides.

use std::collections::HashMap;
use std::mem;
use std::time::Instant;

use actix::prelude::*;
use uuid::Uuid;

use super::work::{Doubt, Ticket};
use super::{ChannelActor, STORE_PAUSE};
use crate::clock::Timestamp;
use crate::domain::message::{Failure, Key, Outcome, State};
use crate::domain::outlook::Reason;
use crate::domain::tier::UnknownOutcome;
use crate::store::{Result, Store};

impl ChannelActor {
    /// Asks the ledger about the messages whose time to wait is over.
    pub(super) fn look_into_doubts(&mut self, ctx: &mut Context<Self>) {
        if self.doubting || self.doubts.is_empty() {
            return;
        }
        self.doubting = true;
        let (store, tickets) = (self.shared.store.clone(), mem::take(&mut self.doubts));
        async move { (states(&store, &tickets).await, tickets) }
            .into_actor(self)
            .map(|(states, tickets), actor, ctx| {
                match states {
                    Ok(states) => {
                        actor.doubting = false;
                        for ticket in tickets {
                            actor.resolve_doubt(ticket, states.get(&ticket.key()).copied());
                        }
                        actor.pump(ctx);
                    }
                    Err(error) => {
                        tracing::error!(channel.id = %actor.channel.id, %error, "reading the ledger failed");
                        actor.doubts.extend(tickets);
                        ctx.run_later(STORE_PAUSE, |actor, ctx| {
                            actor.doubting = false;
                            actor.pump(ctx);
                        });
                    }
                };
            })
            .spawn(ctx);
    }

    /// Asks the ledger about messages that nobody knows of since just now: a receipt may have come while their
    /// answers were awaited, and then there is nothing to wait for.
    pub(super) fn look_whether_heard(&mut self, ctx: &mut Context<Self>) {
        if self.looking || self.unsure.is_empty() {
            return;
        }
        self.looking = true;
        let (store, tickets) = (self.shared.store.clone(), mem::take(&mut self.unsure));
        async move { states(&store, &tickets).await }
            .into_actor(self)
            .map(|states, actor, ctx| {
                actor.looking = false;
                // What cannot be read now is asked again when the time to wait is over.
                actor.heard(states.unwrap_or_default());
                actor.pump(ctx);
            })
            .spawn(ctx);
    }

    fn resolve_doubt(&mut self, ticket: Ticket, state: Option<State>) {
        if self.was_heard(ticket.key()) || state.is_some_and(|state| !state.is_open()) {
            self.lanes.settle(ticket, true);
            return;
        }
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let (company_id, is_leaving) = (work.company_id, work.leaving().is_some());
        let wall = Timestamp::now();
        if is_leaving || self.stopping.is_some() {
            // Its row says that it is in doubt, and whoever reads it asks again.
            self.lanes.park(ticket, wall);
        } else if ticket.doubt != Doubt::Full || self.tier.unknown_outcome == UnknownOutcome::Resend {
            self.announce(ticket, wall);
        } else {
            self.leave_unknown(ticket, company_id, None);
        }
    }

    /// Nobody will ever know, unless a receipt comes.
    pub(super) fn leave_unknown(&mut self, ticket: Ticket, company_id: Uuid, error: Option<Failure>) {
        self.figures.unknown.increment(1);
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Unknown,
            attempts: ticket.attempts,
            provider_message_id: None,
            error,
            retry_at: None,
            taken_at: ticket.taken_at,
        };
        self.outbox.add(ticket.send_id, company_id, outcome);
        self.end_errand(ticket.send_id, State::Unknown, None);
        self.lanes.settle(ticket, true);
    }

    /// A message that was perhaps sent before the process ended.
    pub(super) fn doubt(&mut self, ticket: Ticket, company_id: Uuid, now: Instant, wall: Timestamp) {
        let sentence = "the service ended before the provider's answer was written".to_owned();
        let error = Some(Failure { code: None, sentence });
        self.lanes.count(ticket.send_id);
        if self.tier.unknown_outcome == UnknownOutcome::Hold {
            self.leave_unknown(ticket, company_id, error);
            return;
        }
        let grace = self.shared.retry.unknown_grace;
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Unknown,
            attempts: ticket.attempts,
            provider_message_id: None,
            error,
            retry_at: Some(wall.plus(grace)),
            taken_at: ticket.taken_at,
        };
        self.outbox.add(ticket.send_id, company_id, outcome);
        self.lanes.hold_back(ticket.send_id, Reason::UnknownOutcome);
        self.lanes.settle(ticket, false);
        let ticket = Ticket { again: true, doubt: Doubt::Full, ..ticket };
        if !self.lanes.defer(ticket, now + grace, false) {
            self.lanes.park(ticket, wall.plus(grace));
        }
    }

    /// Whether a receipt of a message came that was in nobody's hands then.
    pub(super) fn was_heard(&mut self, key: Key) -> bool {
        !self.heard_of.is_empty() && self.heard_of.remove(&key)
    }

    /// Receipts moved these messages: those that wait here are over.
    pub(super) fn heard(&mut self, keys: impl IntoIterator<Item = (Key, State)>) {
        for (key, state) in keys {
            if state.is_open() {
                continue;
            }
            self.end_errand(key.send_id, state, None);
            if let Some(place) = self.doubts.iter().position(|ticket| ticket.key() == key) {
                let ticket = self.doubts.swap_remove(place);
                self.lanes.settle(ticket, true);
            } else if !self.lanes.heard(key) && self.lanes.is_recorded(key) {
                // It is on its way somewhere between these: whoever has it asks before it goes on.
                self.heard_of.insert(key);
            }
        }
    }
}

/// Where the messages of these tickets are.
async fn states(store: &Store, tickets: &[Ticket]) -> Result<HashMap<Key, State>> {
    let mut sends: HashMap<Uuid, Vec<u64>> = HashMap::new();
    for ticket in tickets {
        sends.entry(ticket.send_id).or_default().push(ticket.ordinal);
    }
    let mut states = HashMap::new();
    for (send_id, ordinals) in sends {
        let found = store.message_states(send_id, &ordinals).await?;
        states.extend(found.into_iter().map(|(ordinal, state)| (Key { send_id, ordinal }, state)));
    }
    Ok(states)
}
