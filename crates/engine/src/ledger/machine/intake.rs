//! Takes requests into the open batch.

use uuid::Uuid;

use super::super::message::{Accept, AcceptedSend, Activate, Condition, Error, Extend, Hear, Parts};
use super::Machine;
use super::effect::{Effect, Effects};
use super::in_doubt::InDoubtSend;
use super::open::{Accepting, Activating, Extending};
use crate::machine::Caller;
use domain::request::Skipped;
use domain::send::{Source, State};
use store::ledger::{
    Activation, BlockOf, InsteadOf, NewSend, PendingWrites, PersonalSend, ReferenceOf, SkippedOf, SourceOf,
};
use store::sends::StoredLabel;

/// No webhook is taken while this many receipts and messages of people wait: the provider repeats a webhook that is not
/// accepted.
pub(super) const MOST_HEARD: usize = 20_000;

/// The skipped entries of one row.
const SKIPPED_AT_ONCE: usize = 500;

fn add_parts(batch: &mut PendingWrites, send_id: Uuid, company_id: Uuid, parts: Parts) {
    let Parts { values, references } = parts;
    batch.values.extend(values.into_iter().map(|block| BlockOf { send_id, block }));
    let reference = |(ordinal, reference)| ReferenceOf { send_id, company_id, ordinal, reference };
    batch.references.extend(references.into_iter().map(reference));
}

fn add_skipped(batch: &mut PendingWrites, send_id: Uuid, skipped: &Skipped) {
    let mut place = 0;
    for some in skipped.first.chunks(SKIPPED_AT_ONCE) {
        let entries = some.len() as u64;
        // Texts always become JSON.
        let packed = serde_json::to_string(some).unwrap_or_default();
        batch.skipped.push(SkippedOf { send_id, place, entries, packed });
        place += entries;
    }
}

fn turn_away(caller: Caller, error: Error, effects: &mut Effects) {
    effects.push(Effect::Reply(caller, Err(error)));
}

impl Machine {
    /// Whether the ledger writes nothing any more.
    fn is_closed(&self) -> bool {
        self.is_over || self.condition == Condition::Fenced
    }

    /// The reason to refuse new requests now, if there is one.
    fn refusal(&self) -> Option<Error> {
        if self.is_closed() {
            return Some(Error::Closed);
        }
        let waiting = &self.open.waiting;
        let hearings = waiting.hearings.len() + self.heard.waiting.hearings.len();
        let waiting = waiting.accepts.len() + waiting.extensions.len() + hearings;
        (waiting + self.in_doubt.len() >= self.capacity).then_some(Error::Unavailable)
    }

    pub(super) fn accept(&mut self, id: Uuid, accept: Accept, caller: Caller, effects: &mut Effects) {
        if let Some(refusal) = self.refusal() {
            return turn_away(caller, refusal, effects);
        }
        let Accept { order, recipients, skipped, blocks, parts, more, pending_reply: _ } = accept;
        let Ok(content) = serde_json::to_string(&order.stored()) else {
            return turn_away(caller, Error::Closed, effects);
        };
        let batch = &mut self.open.batch;
        batch.sends.push(NewSend {
            id,
            company_id: order.company_id,
            channel_id: order.channel_id,
            state: if more { State::Resolving } else { State::Active },
            content,
            template_id: order.template.map(|template| template.id),
            recipients,
            skipped: skipped.count,
            schedule: order.schedule,
            label: StoredLabel::from(&order.label),
        });
        batch.sources.extend(order.sources.iter().map(|source| SourceOf { send_id: id, source: *source }));
        batch.blocks.extend(blocks.into_iter().map(|block| BlockOf { send_id: id, block }));
        let company_id = order.company_id;
        batch.personal.extend(order.personal.map(|seal| PersonalSend { send_id: id, company_id, seal }));
        add_parts(batch, id, company_id, parts);
        let send = AcceptedSend { id, order, recipients };
        if !more {
            batch.answers.extend(send.kept_answer(&skipped));
            add_skipped(batch, id, &skipped);
        }
        self.open.waiting.accepts.push(Accepting { send, counts: !more, caller });
    }

    pub(super) fn extend(&mut self, extend: Extend, caller: Caller, effects: &mut Effects) {
        if let Some(refusal) = self.refusal() {
            return turn_away(caller, refusal, effects);
        }
        let Extend { send_id, company_id, blocks, parts } = extend;
        self.open.batch.blocks.extend(blocks.into_iter().map(|block| BlockOf { send_id, block }));
        add_parts(&mut self.open.batch, send_id, company_id, parts);
        self.open.waiting.extensions.push(Extending { send_id, caller });
    }

    pub(super) fn activate(&mut self, activate: Activate, caller: Caller, effects: &mut Effects) {
        if self.is_closed() {
            return turn_away(caller, Error::Closed, effects);
        }
        let Activate { send, skipped, instead, is_instead } = activate;
        let batch = &mut self.open.batch;
        let beside =
            |send: &AcceptedSend| InsteadOf { send_id: send.id, recipients: send.recipients.count() };
        batch.activations.push(Activation {
            send_id: send.id,
            recipients: send.recipients.count(),
            skipped: skipped.count,
            instead: instead.as_ref().map(beside),
        });
        let of_all = is_instead.then_some((send.id, None));
        let of_others = instead.as_ref().map(|instead| (instead.id, Some(send.id)));
        let closed = of_all.into_iter().chain(of_others);
        let closed = closed.map(|(send_id, other)| SourceOf { send_id, source: Source::Closed(other) });
        batch.sources.extend(closed);
        batch.answers.extend(send.kept_answer(&skipped));
        add_skipped(batch, send.id, &skipped);
        self.open.waiting.activations.push(Activating { send, instead, caller });
    }

    pub(super) fn withdraw(&mut self, send_id: Uuid, effects: &mut Effects) {
        if !self.is_closed() {
            self.in_doubt.add(send_id, InDoubtSend::Abandoned, effects);
        }
    }

    pub(super) fn record(
        &mut self,
        writes: PendingWrites,
        is_awaited: bool,
        caller: Caller,
        effects: &mut Effects,
    ) {
        if self.is_closed() {
            return turn_away(caller, Error::Closed, effects);
        }
        self.open.is_awaited |= is_awaited;
        self.open.batch.add(writes);
        self.open.waiting.records.push(caller);
    }

    pub(super) fn hear(&mut self, hear: Hear, caller: Caller, effects: &mut Effects) {
        if let Some(refusal) = self.refusal() {
            return turn_away(caller, refusal, effects);
        }
        let heard =
            [&self.open.batch, &self.heard.batch].map(|batch| batch.receipts.len() + batch.inbound.len());
        if heard.iter().sum::<usize>() >= MOST_HEARD {
            return turn_away(caller, Error::Unavailable, effects);
        }
        let open = if hear.inbound.is_empty() { &mut self.open } else { &mut self.heard };
        let batch = &mut open.batch;
        let Hear { receipts, suppressions, inbound, is_paced } = hear;
        // Opt-outs of marketing come in thousands, each in a webhook of its own: sends would wait for them all the
        // time. Those of a large webhook come at a pace. If they waited, the next send would begin their commit, and
        // wait for all of it.
        open.is_awaited |= is_paced || !receipts.is_empty() || !inbound.is_empty();
        batch.receipts.extend(receipts);
        batch.inbound.extend(inbound);
        batch.suppressions.extend(suppressions);
        open.waiting.hearings.push(caller);
    }
}
