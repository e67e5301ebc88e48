//! The questions to the owner of a channel, each with its answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::asking::{Question, not_understood};
use super::heard::TellHeard;
use crate::accept::idempotency::MovedKey;
use crate::accept::web_send::WebDryRun;
use crate::channel::{AskPace, LookAhead, Viewed};
use crate::web_session::{Pairing, PasskeyAnswer};
use crate::{Engine, Error, RETRY_AFTER};
use domain::channel::{Channel, Level};
use domain::error::{Code, Refusal};
use domain::limit::Limits;
use domain::outlook::Outlook;
use domain::phone::PhoneNumber;
use domain::request::WebRequest;

/// How long a page waits for another node's knowledge of its sends.
pub(super) const GLANCE: Duration = Duration::from_secs(1);
/// The most sends that are asked about at once, unless a page of the API may have more.
const PAGE: u64 = 1_000;
/// How long the owner may take when WhatsApp or a file's server has to answer.
const OF_OTHERS: Duration = Duration::from_secs(60);

/// The answer to a request of another node; `None` when it cannot be written.
pub(super) async fn answered(engine: &Engine, shard: Uuid, name: &str, body: &[u8]) -> Option<Vec<u8>> {
    match name {
        AskLimits::NAME => engine.answer::<AskLimits>(shard, body).await,
        Glance::NAME => engine.answer::<Glance>(shard, body).await,
        AskSpeed::NAME => engine.answer::<AskSpeed>(shard, body).await,
        AskPairing::NAME => engine.answer::<AskPairing>(shard, body).await,
        Pair::NAME => engine.answer::<Pair>(shard, body).await,
        Unlink::NAME => engine.answer::<Unlink>(shard, body).await,
        AnswerPasskey::NAME => engine.answer::<AnswerPasskey>(shard, body).await,
        SendWeb::NAME => engine.answer::<SendWeb>(shard, body).await,
        BeginWeb::NAME => engine.answer::<BeginWeb>(shard, body).await,
        DryRunWeb::NAME => engine.answer::<DryRunWeb>(shard, body).await,
        TellHeard::NAME => engine.answer::<TellHeard>(shard, body).await,
        AskPicture::NAME => engine.answer::<AskPicture>(shard, body).await,
        _ => not_understood(),
    }
}

/// The limits of the channel now.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskLimits {}

#[async_trait(?Send)]
impl Question for AskLimits {
    const NAME: &'static str = "limits";
    type Answer = Limits;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Limits, Error> {
        engine.limits(channel).await
    }
}

/// The outlook of these sends.
#[derive(Serialize, Deserialize)]
pub(crate) struct Glance {
    pub(crate) sends: Vec<Viewed>,
}

#[async_trait(?Send)]
impl Question for Glance {
    const NAME: &'static str = "outlook";
    type Answer = HashMap<Uuid, Outlook>;

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(GLANCE)
    }

    /// The sends of one page.
    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        let most = limits.page_size.max(PAGE);
        if self.sends.len() as u64 > most {
            return Err(Refusal::new(Code::InvalidField, format!("more than {most} sends")));
        }
        Ok(())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Self::Answer, Error> {
        Ok(engine.directory().ask(channel.id, LookAhead(self.sends)).await.unwrap_or_default())
    }
}

/// The pace of the channel.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskSpeed {}

/// The factors of a channel's pace beside its tier.
#[derive(Serialize, Deserialize)]
pub(crate) struct Speed {
    pub(crate) level: Option<Level>,
    pub(crate) slowed_to: Option<f64>,
}

#[async_trait(?Send)]
impl Question for AskSpeed {
    const NAME: &'static str = "speed";
    type Answer = Speed;

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(GLANCE)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Speed, Error> {
        engine.directory().actor(channel);
        let pace = engine.directory().ask(channel.id, AskPace).await;
        let pace = pace.ok_or(Error::Unavailable { retry_after: RETRY_AFTER })?;
        Ok(Speed { level: pace.level, slowed_to: pace.slowed_to })
    }
}

/// The progress of the web session's pairing.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskPairing {}

#[async_trait(?Send)]
impl Question for AskPairing {
    const NAME: &'static str = "pairing";
    type Answer = Pairing;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Pairing, Error> {
        engine.pairing(channel.id).await
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
    type Answer = Pairing;

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(OF_OTHERS)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Pairing, Error> {
        engine.pair(channel, self.number).await
    }
}

/// Unlink the phone.
#[derive(Serialize, Deserialize)]
pub(crate) struct Unlink {}

#[async_trait(?Send)]
impl Question for Unlink {
    const NAME: &'static str = "unlink";
    type Answer = ();

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(OF_OTHERS)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<(), Error> {
        engine.unlink(channel).await
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
    type Answer = Pairing;

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(OF_OTHERS)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Pairing, Error> {
        engine.answer_passkey(channel, self.answer).await
    }
}

/// Send a message through the web session; answered when it is handed over.
#[derive(Serialize, Deserialize)]
pub(crate) struct SendWeb {
    pub(crate) request: WebRequest,
    /// The client's key, which moves to the owner with the request.
    pub(crate) key: Option<MovedKey>,
    /// The form of the answer.
    pub(crate) form: String,
}

#[async_trait(?Send)]
impl Question for SendWeb {
    const NAME: &'static str = "send";
    const IS_DONE_ONCE: bool = true;
    type Answer = String;

    fn within(&self, engine: &Engine) -> Option<Duration> {
        Some(engine.0.web_sessions.patience() + OF_OTHERS)
    }

    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        if self.key.as_ref().is_some_and(|key| !key.is_valid()) {
            return Err(Refusal::new(Code::InvalidIdempotencyKey, "not a key that a client may give"));
        }
        self.request.check(&limits.of_requests())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<String, Error> {
        let form = engine.form(&self.form)?;
        let held = engine.take_key(channel.company_id, self.key).await?;
        engine.send_web(channel, self.request, held, form).await
    }
}

/// Accept a message through the web session.
#[derive(Serialize, Deserialize)]
pub(crate) struct BeginWeb(pub(crate) SendWeb);

#[async_trait(?Send)]
impl Question for BeginWeb {
    const NAME: &'static str = "begin";
    const IS_DONE_ONCE: bool = true;
    type Answer = Uuid;

    fn within(&self, engine: &Engine) -> Option<Duration> {
        self.0.within(engine)
    }

    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        self.0.check(limits)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Uuid, Error> {
        let Self(SendWeb { request, key, form }) = self;
        let form = engine.form(&form)?;
        let held = engine.take_key(channel.company_id, key).await?;
        engine.begin_web(channel, request, held, form).await
    }
}

/// A dry run of this message.
#[derive(Serialize, Deserialize)]
pub(crate) struct DryRunWeb {
    pub(crate) request: WebRequest,
}

#[async_trait(?Send)]
impl Question for DryRunWeb {
    const NAME: &'static str = "rehearse";
    type Answer = WebDryRun;

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(OF_OTHERS)
    }

    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        self.request.check(&limits.of_requests())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<WebDryRun, Error> {
        engine.dry_run_web(channel, self.request).await
    }
}

/// The link to this person's picture.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskPicture {
    pub(crate) number: PhoneNumber,
}

#[async_trait(?Send)]
impl Question for AskPicture {
    const NAME: &'static str = "picture";
    type Answer = Option<String>;

    fn within(&self, _: &Engine) -> Option<Duration> {
        Some(OF_OTHERS)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Option<String>, Error> {
        engine.profile_picture(channel, self.number).await
    }
}
