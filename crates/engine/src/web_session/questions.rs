//! Requests that only the owner of a web session can carry out.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Pairing, PasskeyAnswer};
use crate::asking::{Question, Within};
use crate::{Engine, Error};
use domain::channel::Channel;
use domain::phone::PhoneNumber;

/// The progress of the web session's pairing.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskPairing {}

#[async_trait(?Send)]
impl Question for AskPairing {
    const NAME: &'static str = "pairing";
    type Answer = Pairing;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Pairing, Error> {
        engine.phones().pairing(channel.id).await
    }
}

/// Begin to link a phone.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) number: Option<PhoneNumber>,
}

#[async_trait(?Send)]
impl Question for Pair {
    const NAME: &'static str = "pair";
    const WITHIN: Within = Within::OfOthers;
    type Answer = Pairing;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Pairing, Error> {
        engine.phones().pair(channel, self.number).await
    }
}

/// Unlink the phone.
#[derive(Serialize, Deserialize)]
pub(crate) struct Unlink {}

#[async_trait(?Send)]
impl Question for Unlink {
    const NAME: &'static str = "unlink";
    const WITHIN: Within = Within::OfOthers;
    type Answer = ();

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<(), Error> {
        engine.phones().unlink(channel).await
    }
}

/// An answer at the passkey gate.
#[derive(Serialize, Deserialize)]
pub(crate) struct AnswerPasskey {
    pub(crate) answer: PasskeyAnswer,
}

#[async_trait(?Send)]
impl Question for AnswerPasskey {
    const NAME: &'static str = "passkey";
    const WITHIN: Within = Within::OfOthers;
    type Answer = Pairing;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Pairing, Error> {
        engine.phones().answer_passkey(channel, self.answer).await
    }
}
