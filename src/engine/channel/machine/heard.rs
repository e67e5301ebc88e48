//! What a channel's actor hears from elsewhere about its messages, its number and its account.

use std::time::Instant;

use actix::prelude::*;

use super::{ChannelActor, retry};
use crate::connector::Disposition;
use crate::domain::message::{Failure, Key, State};
use crate::domain::outlook::Reason;

/// Receipts of these messages are durable: whatever waits for their outcome need not.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Heard(pub(crate) Vec<(Key, State)>);

/// The provider told, outside any answer, that something is wrong with the number or its account.
#[derive(Clone, Message)]
#[rtype(result = "()")]
pub(crate) struct Troubled {
    pub(crate) disposition: Disposition,
    pub(crate) failure: Failure,
    /// A message met it that the provider had accepted.
    pub(crate) is_of_message: bool,
}

/// The provider has news of the number: ask it again.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) struct Recheck;

impl Handler<Heard> for ChannelActor {
    type Result = ();

    fn handle(&mut self, Heard(messages): Heard, ctx: &mut Self::Context) {
        let proves = |(key, state): &(Key, State)| self.link.canary.is_proved_by(*key, *state);
        let is_proved = messages.iter().any(proves);
        self.heard(messages);
        if is_proved {
            self.reopen(ctx);
        }
        self.pump(ctx);
    }
}

impl Handler<Troubled> for ChannelActor {
    type Result = ();

    fn handle(&mut self, troubled: Troubled, ctx: &mut Self::Context) {
        self.troubled(&troubled, ctx);
        self.pump(ctx);
    }
}

impl Handler<Recheck> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: Recheck, ctx: &mut Self::Context) {
        self.take_up_news(ctx);
    }
}

impl ChannelActor {
    /// Takes up what the provider told about the channel, not about one of its messages.
    fn troubled(&mut self, troubled: &Troubled, ctx: &mut Context<Self>) {
        let Troubled { disposition, ref failure, is_of_message } = *troubled;
        match disposition {
            Disposition::SlowNumber => self.slow_down(Instant::now(), failure),
            Disposition::SlowAccount | Disposition::SlowApp => {
                self.throttle(disposition, None, failure);
            }
            Disposition::Maintenance => {
                self.pause_for(Reason::ProviderPause, failure, retry::MAINTENANCE);
            }
            Disposition::Disconnect | Disposition::Block | Disposition::Restrict => {
                self.refused_by_webhook(disposition, failure, is_of_message, ctx);
            }
            // What is wrong with one message, its template or its recipient is taken up where it is stored.
            Disposition::Fail
            | Disposition::Retry
            | Disposition::Wait
            | Disposition::Pair
            | Disposition::HoldTemplate
            | Disposition::HoldRecipient
            | Disposition::Suppress(_) => {}
        }
    }
}
