//! The trial: acts on a refusal of the channel, and on the message that may open the channel again. The
//! [`Canary`](super::canary::Canary) decides.

use super::Machine;
use super::canary::Word;
use super::moment::Step;
use connectors::{Disposition, Reply};
use domain::channel::Status;
use domain::message::{Failure, Key};

impl Machine {
    /// The provider refused the channel in its answer to a message. The answer to a message that was in flight during
    /// an earlier refusal says nothing new.
    pub(super) fn refused_by_answer(
        &mut self,
        disposition: Disposition,
        failure: &Failure,
        step: &mut Step<'_>,
    ) {
        if self.link.canary.trial().is_some() {
            return;
        }
        self.link.canary.refused(disposition, step.wall(), step.chance());
        if self.link.accepts() {
            self.shut(disposition, failure, step);
        } else {
            self.save(step);
        }
        self.probe_later(step);
    }

    /// A webhook says that the channel is refused: with a message that the provider had accepted, or with the account.
    pub(super) fn refused_by_webhook(
        &mut self,
        disposition: Disposition,
        failure: &Failure,
        is_of_message: bool,
        step: &mut Step<'_>,
    ) {
        if !self.link.accepts() {
            return;
        }
        if is_of_message || disposition == Disposition::Restrict {
            self.link.canary.refused_later(disposition, step.wall(), step.chance());
        }
        self.shut(disposition, failure, step);
        self.probe_later(step);
    }

    /// The provider reports the channel as healthy, or a person reconnects it: one message may go, once it is due.
    pub(super) fn half_open(&mut self, is_news: bool, step: &mut Step<'_>) {
        if self.link.canary.half_open(is_news, step.wall()) {
            tracing::info!(channel.id = %self.channel.id, channel.name = %self.channel.name, "the provider reports the channel as healthy, one message is tried");
            self.lanes.set_ahead(1);
            self.save(step);
        }
    }

    /// Learns from the answer to a message whether the channel is open again.
    pub(super) fn weigh(&mut self, key: Key, reply: &Reply, step: &mut Step<'_>) {
        match self.link.canary.answered(key, reply, step.wall()) {
            Word::Accepted => self.reopen(step),
            Word::Refused(disposition) => {
                let Reply::Refused { failure, .. } = reply else { return };
                let Some((status, reason)) = disposition.refusal(failure) else { return };
                tracing::warn!(
                    channel.id = %self.channel.id, channel.name = %self.channel.name,
                    provider.code = failure.code,
                    "the provider still refuses the channel, its queue is kept"
                );
                self.link.canary.refused(disposition, step.wall(), step.chance());
                self.change(status, Some(reason), step);
                self.probe_later(step);
            }
            Word::Lost => {
                tracing::info!(channel.id = %self.channel.id, channel.name = %self.channel.name, "the answer to the message that was tried did not arrive");
                self.save(step);
                self.probe_later(step);
            }
            Word::None => {}
        }
    }

    /// The provider accepted the canary: the channel is open.
    pub(super) fn reopen(&mut self, step: &mut Step<'_>) {
        tracing::info!(channel.id = %self.channel.id, channel.name = %self.channel.name, "the provider accepts the channel again, its queue goes on");
        self.link.canary.accepted(step.wall());
        self.link.refusals = 0;
        self.tune_ahead(step);
        self.change(Status::Connected, None, step);
        self.probe_later(step);
    }

    /// A half-open channel without messages accepts sends: the next message is the canary.
    pub(super) fn offer_trial(&mut self, step: &mut Step<'_>) {
        let canary = &self.link.canary;
        let lacks_message = canary.is_half_open() && !canary.is_on_its_way() && !self.link.accepts();
        let is_idle =
            !self.queue.is_fetching() && !self.outbox.is_writing() && self.lanes.works().next().is_none();
        if lacks_message && is_idle {
            self.change(Status::Connecting, None, step);
        }
    }
}
