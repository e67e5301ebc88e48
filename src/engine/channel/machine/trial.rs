//! What a channel's actor does about a refusal, and about the message that is to open the channel again. What is
//! decided here was decided by the [`Canary`](super::canary::Canary).

use std::time::Instant;

use actix::prelude::*;

use super::ChannelActor;
use super::canary::Word;
use crate::clock::Timestamp;
use crate::connector::{Disposition, Reply};
use crate::domain::channel::Status;
use crate::domain::message::{Failure, Key};

impl ChannelActor {
    /// The provider refused the channel in its answer to a message. An answer to one that was on its way when the
    /// channel was refused before says nothing new.
    pub(super) fn refused_by_answer(
        &mut self,
        disposition: Disposition,
        failure: &Failure,
        ctx: &mut Context<Self>,
    ) {
        if self.link.canary.trial().is_some() {
            return;
        }
        self.link.canary.refused(disposition, Timestamp::now(), rand::random());
        if self.link.accepts() {
            self.shut(disposition, failure, ctx);
        } else {
            self.save(ctx);
        }
        self.probe_later(ctx);
    }

    /// The provider told that the channel is refused: of a message that it had accepted, or of the account.
    pub(super) fn refused_by_webhook(
        &mut self,
        disposition: Disposition,
        failure: &Failure,
        is_of_message: bool,
        ctx: &mut Context<Self>,
    ) {
        if !self.link.accepts() {
            return;
        }
        if is_of_message || disposition == Disposition::Restrict {
            self.link.canary.refused_later(disposition, Timestamp::now(), rand::random());
        }
        self.shut(disposition, failure, ctx);
        self.probe_later(ctx);
    }

    /// The provider calls the channel healthy, or a person connects it again: one message may go, if it is due.
    pub(super) fn half_open(&mut self, is_news: bool, ctx: &mut Context<Self>) {
        if self.link.canary.half_open(is_news, Timestamp::now()) {
            tracing::info!(channel.id = %self.channel.id, "the provider calls the channel healthy, one message is tried");
            self.lanes.set_ahead(1);
            self.save(ctx);
        }
    }

    /// Learns from the provider's answer to a message whether the channel is open again.
    pub(super) fn weigh(&mut self, key: Key, reply: &Reply, ctx: &mut Context<Self>) {
        match self.link.canary.answered(key, reply, Timestamp::now()) {
            Word::Accepted => self.reopen(ctx),
            Word::Refused(disposition) => {
                let Reply::Refused { failure, .. } = reply else { return };
                let Some((status, reason)) = disposition.refusal(failure) else { return };
                tracing::warn!(
                    channel.id = %self.channel.id,
                    provider.code = failure.code,
                    "the provider still refuses the channel, its queue is kept"
                );
                self.link.canary.refused(disposition, Timestamp::now(), rand::random());
                self.change(status, Some(reason), ctx);
                self.probe_later(ctx);
            }
            Word::Lost => {
                tracing::info!(channel.id = %self.channel.id, "the answer to the message that was tried is lost");
                self.save(ctx);
                self.probe_later(ctx);
            }
            Word::None => {}
        }
    }

    /// The provider accepted the message that was to open the channel.
    pub(super) fn reopen(&mut self, ctx: &mut Context<Self>) {
        tracing::info!(channel.id = %self.channel.id, "the provider takes the channel again, its queue goes on");
        self.link.canary.accepted(Timestamp::now());
        self.link.refusals = 0;
        self.tune_ahead(Instant::now());
        self.change(Status::Connected, None, ctx);
        self.probe_later(ctx);
    }

    /// A half-open channel with nothing to send accepts sends: the next one decides.
    pub(super) fn offer_trial(&mut self, ctx: &mut Context<Self>) {
        let canary = &self.link.canary;
        let lacks_message = canary.is_half_open() && !canary.is_on_its_way() && !self.link.accepts();
        let is_idle = !self.fetching && !self.recording && self.lanes.works().next().is_none();
        if lacks_message && is_idle {
            self.change(Status::Connecting, None, ctx);
        }
    }
}
