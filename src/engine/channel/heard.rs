//! What a channel's actor hears from elsewhere about its messages, its number and its account.

use actix::prelude::*;

use super::ChannelActor;
use crate::connector::Disposition;
use crate::domain::message::{Failure, Key, State};

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

    fn handle(&mut self, heard: Heard, _: &mut Self::Context) {
        let Heard(messages) = heard;
        tracing::trace!(channel.id = %self.channel.id, messages = messages.len(), "receipts");
    }
}

impl Handler<Troubled> for ChannelActor {
    type Result = ();

    fn handle(&mut self, troubled: Troubled, _: &mut Self::Context) {
        let Troubled(disposition, failure) = troubled;
        tracing::warn!(
            channel.id = %self.channel.id,
            provider.code = failure.code,
            reason = failure.sentence,
            ?disposition,
            "the provider has trouble with the channel"
        );
    }
}

impl Handler<Recheck> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: Recheck, _: &mut Self::Context) {
        tracing::info!(channel.id = %self.channel.id, "the provider has news of the number");
    }
}
