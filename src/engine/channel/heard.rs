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
pub(crate) struct Troubled(pub(crate) Disposition, pub(crate) Failure);

/// The provider has news of the number: ask it again.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) struct Recheck;

impl Handler<Heard> for ChannelActor {
    type Result = ();

    fn handle(&mut self, Heard(messages): Heard, ctx: &mut Self::Context) {
        self.heard(messages);
        self.pump(ctx);
    }
}

impl Handler<Troubled> for ChannelActor {
    type Result = ();

    fn handle(&mut self, Troubled(disposition, failure): Troubled, ctx: &mut Self::Context) {
        self.troubled(disposition, &failure, ctx);
        self.pump(ctx);
    }
}

impl Handler<Recheck> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: Recheck, ctx: &mut Self::Context) {
        self.probe(ctx);
    }
}

impl ChannelActor {
    /// Takes up what the provider told about the channel, not about one of its messages.
    fn troubled(&mut self, disposition: Disposition, failure: &Failure, ctx: &mut Context<Self>) {
        match disposition {
            Disposition::SlowNumber => self.slow_down(Instant::now(), failure),
            Disposition::SlowAccount | Disposition::SlowApp => {
                self.throttle(disposition, None, failure);
            }
            Disposition::Maintenance => {
                self.pause_for(Reason::ProviderPause, failure, retry::MAINTENANCE);
            }
            Disposition::Disconnect | Disposition::Block => self.disconnect(disposition, failure, ctx),
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
