//! Messages that the owner of a web session sends for another node, and what it asks WhatsApp for it.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::WebDryRun;
use super::number_check::{MOST_ASKED, NumbersAsked};
use crate::accept::idempotency::MovedKey;
use crate::asking::{Question, Within};
use crate::{Engine, Error};
use domain::channel::Channel;
use domain::error::{Code, Refusal};
use domain::phone::PhoneNumber;
use domain::request::WebRequest;

/// Send a message through the web session; answered when it is handed over.
#[derive(Serialize, Deserialize)]
pub(crate) struct SendWeb {
    pub(crate) request: WebRequest,
    /// The client's key, which moves to the owner with the request.
    pub(crate) key: Option<MovedKey>,
    /// The form of the answer.
    pub(crate) form: String,
    /// Whether it may wait for an hour, when only its acceptance is answered. Earlier versions do not tell it.
    #[serde(default)]
    pub(crate) is_queued: bool,
}

#[async_trait(?Send)]
impl Question for SendWeb {
    const NAME: &'static str = "send";
    const IS_DONE_ONCE: bool = true;
    const WITHIN: Within = Within::HandedOver;
    type Answer = String;

    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        if self.key.as_ref().is_some_and(|key| !key.is_valid()) {
            return Err(Refusal::new(Code::InvalidIdempotencyKey, "not a key that a client may give"));
        }
        self.request.check(&limits.of_requests())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<String, Error> {
        let form = engine.web_sends().form(&self.form)?;
        let held = engine.take_key(channel.company_id, self.key).await?;
        engine.web_sends().send_to_anybody(channel, self.request, held, form).await
    }
}

/// Accept a message through the web session.
#[derive(Serialize, Deserialize)]
pub(crate) struct BeginWeb(pub(crate) SendWeb);

#[async_trait(?Send)]
impl Question for BeginWeb {
    const NAME: &'static str = "begin";
    const IS_DONE_ONCE: bool = true;
    const WITHIN: Within = Within::HandedOver;
    type Answer = Uuid;

    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        self.0.check(limits)
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Uuid, Error> {
        let Self(SendWeb { request, key, form, is_queued }) = self;
        let form = engine.web_sends().form(&form)?;
        let held = engine.take_key(channel.company_id, key).await?;
        let web_sends = engine.web_sends();
        match is_queued {
            true => web_sends.queue(channel, request, held).await,
            false => web_sends.begin(channel, request, held, form).await,
        }
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
    const WITHIN: Within = Within::OfOthers;
    type Answer = WebDryRun;

    fn check(&self, limits: &config::Limits) -> Result<(), Refusal> {
        self.request.check(&limits.of_requests())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<WebDryRun, Error> {
        engine.web_sends().dry_run(channel, self.request).await
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
    const WITHIN: Within = Within::OfOthers;
    type Answer = Option<String>;

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Option<String>, Error> {
        engine.web_sends().profile_picture(channel, self.number).await
    }
}

/// Whether these people are on WhatsApp.
#[derive(Serialize, Deserialize)]
pub(crate) struct AskNumbers {
    pub(crate) numbers: Vec<PhoneNumber>,
}

#[async_trait(?Send)]
impl Question for AskNumbers {
    const NAME: &'static str = "numbers";
    const WITHIN: Within = Within::HandedOver;
    type Answer = NumbersAsked;

    fn check(&self, _: &config::Limits) -> Result<(), Refusal> {
        if self.numbers.len() > MOST_ASKED {
            return Err(Refusal::new(Code::TooManyRecipients, "more numbers than one request asks about"));
        }
        Ok(())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<NumbersAsked, Error> {
        engine.web_sends().ask_numbers(channel, self.numbers).await
    }
}
