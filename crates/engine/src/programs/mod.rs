//! Programs written for Meta that people connect to a channel in one step: a key for the channel alone, and a webhook in the form
//! that the program reads. Which of them belong together is stored; the secrets are not.

mod chatwoot;
mod checks;

use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

pub use self::chatwoot::NewChatwoot;
pub use self::checks::ProgramCheck;
use crate::access::keys::WRITE_INTERVAL;
use crate::{EndpointChange, Engine, Error, Who};
use clock::Timestamp;
pub use connectors::chatwoot::ChatwootAccount;
use connectors::chatwoot::ChatwootFault;
use connectors::webhook::DeliveryFault;
use domain::channel::Channel;
use domain::error::{Code, Refusal};
use domain::graph::ProgramKind;
use domain::scope::{Scope, Scopes};
use domain::secret::Secret;
use domain::webhook::{Shape, WebhookProfile};
use store::api_keys::NewKey;
pub use store::programs::{ConnectedProgram, MOST_PROGRAMS};
use vault::api_key;

/// The most characters of the name of a key.
const KEY_NAME: usize = 100;
/// How long a use of a key that another node saw may take to be stored.
const USE_IS_STORED: Duration = WRITE_INTERVAL.saturating_mul(2);

/// A step of connecting a program, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramStep {
    /// The program answers at its address.
    Address,
    /// It knows the token.
    Token,
    /// The token may do what is needed.
    Rights,
    /// The program has a key that works.
    Key,
    /// The program's base URL is this service.
    BaseUrl,
    /// The program has an inbox for the channel.
    Inbox,
    /// The program takes what the webhook brings.
    Webhook,
}

/// What went wrong at a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFault {
    /// The program cannot be reached.
    Delivery(DeliveryFault),
    /// Something else answers there.
    NotChatwoot,
    /// The token is unknown there.
    TokenRefused,
    /// The token is not that of an administrator of the account, or of any.
    NoAdministrator,
    /// The token is that of an administrator of several accounts, and none is named.
    SeveralAccounts(Vec<ChatwootAccount>),
    /// No request with the key has come: the program asks somebody else.
    NeverAsked,
    /// The program refused.
    Refused {
        /// The status of its answer.
        status: u16,
        /// Its own words; may be empty.
        said: String,
    },
    /// The webhook was not added, in a sentence.
    NotAdded(String),
    /// The inbox was deleted.
    InboxGone,
    /// The program wants the inbox to be connected again.
    WantsReconnecting,
    /// The key was revoked.
    KeyRevoked,
    /// The webhook was deleted.
    WebhookGone,
    /// The webhook is disabled.
    WebhookDisabled,
    /// The program has no webhook yet.
    NoWebhook,
}

/// Where connecting a program ended. Nothing is left of it here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotConnected {
    /// The step that failed. Those before it passed.
    pub step: ProgramStep,
    /// Why.
    pub fault: ProgramFault,
    /// Whether an inbox was made that could not be removed again.
    pub leaves_inbox: bool,
}

impl NotConnected {
    const fn at(step: ProgramStep, fault: ProgramFault) -> Self {
        Self { step, fault, leaves_inbox: false }
    }
}

impl From<ChatwootFault> for ProgramFault {
    fn from(fault: ChatwootFault) -> Self {
        match fault {
            ChatwootFault::Delivery(fault) => Self::Delivery(fault),
            ChatwootFault::NotChatwoot => Self::NotChatwoot,
            ChatwootFault::TokenRefused => Self::TokenRefused,
            ChatwootFault::NoAdministrator => Self::NoAdministrator,
            ChatwootFault::Refused { status, said } => Self::Refused { status, said },
        }
    }
}

/// The programs of a company.
#[derive(Clone, Copy)]
pub struct Programs<'e> {
    engine: &'e Engine,
    company: Uuid,
}

impl<'e> Programs<'e> {
    /// The programs that are connected to the channels of a company.
    pub const fn new(engine: &'e Engine, company: Uuid) -> Self {
        Self { engine, company }
    }
}

impl Programs<'_> {
    /// All programs, the oldest first: [`MOST_PROGRAMS`] at most.
    pub async fn all(&self) -> Result<Vec<ConnectedProgram>, Error> {
        let records = self.engine.records_of(self.company).await?;
        Ok(records.of(self.company).programs().all().await?)
    }

    /// The company's program of this id.
    pub async fn find(&self, id: Uuid) -> Result<Option<ConnectedProgram>, Error> {
        Ok(self.all().await?.into_iter().find(|program| program.id == id))
    }

    /// Makes a key for Typebot, whose webhook [follows](Programs::set_webhook) once its address is known.
    ///
    /// # Errors
    ///
    /// `too_many_webhooks` when the company has as many programs as it may have.
    pub async fn add_typebot(
        &self,
        who: &Who,
        channel: &Channel,
    ) -> Result<(ConnectedProgram, Secret), Error> {
        self.begin(who, ProgramKind::Typebot, channel, "").await
    }

    /// Gives a program a webhook at this address, in place of the one before, once its receiver said that it expects webhooks with
    /// this token.
    ///
    /// # Errors
    ///
    /// `invalid_field` when the address cannot be used, or the receiver does not answer with the challenge; `too_many_webhooks`.
    pub async fn set_webhook(
        &self,
        who: &Who,
        mut program: ConnectedProgram,
        url: &str,
        token: Secret,
    ) -> Result<ConnectedProgram, Error> {
        let former = program.webhook_id;
        self.add_webhook(who, &mut program, url, None, token).await?;
        // The query of an address may contain a secret.
        program.address = url.trim().split('?').next().unwrap_or_default().to_owned();
        self.update(who, &program).await?;
        if let Some(former) = former {
            self.remove_webhook(who, former).await?;
        }
        Ok(program)
    }

    /// Disconnects a program: its key is refused from now on, and it gets nothing more. What the program itself has stays there.
    pub async fn remove(&self, who: &Who, program: &ConnectedProgram) -> Result<(), Error> {
        if let Some(webhook) = program.webhook_id {
            self.remove_webhook(who, webhook).await?;
        }
        let records = self.engine.company(self.company).await?;
        self.engine.revoke_key(who, &records, program.key_id).await?;
        drop(records);
        Ok(self.engine.store().of(self.company).programs().remove(who, program).await?)
    }

    /// Makes a key that opens the door for one channel, and notes the program that gets it.
    async fn begin(
        &self,
        who: &Who,
        kind: ProgramKind,
        channel: &Channel,
        address: &str,
    ) -> Result<(ConnectedProgram, Secret), Error> {
        let full = || {
            let sentence =
                format!("this company has {MOST_PROGRAMS} connected programs, and none more: disconnect one");
            Error::from(Refusal::new(Code::TooManyWebhooks, sentence))
        };
        // A key is made only when it is likely to be used.
        if self.all().await?.len() >= MOST_PROGRAMS {
            return Err(full());
        }
        let (key, prefix) = api_key::generate();
        let name: String = format!("{}: {}", kind.title(), channel.name).chars().take(KEY_NAME).collect();
        let scopes: Scopes = [Scope::Graph].into_iter().collect();
        let hash = api_key::hash(key.expose());
        let new = NewKey { name: &name, prefix: &prefix, hash, expires_at: None, scopes };
        let store = self.engine.store().of(self.company);
        let key_id = store.keys().add_for(who, new, Some(&[channel.id])).await?.id;
        let program = ConnectedProgram {
            id: Uuid::now_v7(),
            kind,
            channel_id: channel.id,
            key_id,
            webhook_id: None,
            address: address.to_owned(),
            inbox: None,
            created_at: Timestamp::now(),
        };
        if store.programs().add(who, &program).await? {
            return Ok((program, key));
        }
        store.keys().revoke(who, key_id).await?;
        Err(full())
    }

    async fn update(&self, who: &Who, program: &ConnectedProgram) -> Result<(), Error> {
        Ok(self.engine.store().of(self.company).programs().update(who, program).await?)
    }

    /// Adds the webhook of a program, for its channel alone, and puts its id into the value.
    async fn add_webhook(
        &self,
        who: &Who,
        program: &mut ConnectedProgram,
        url: &str,
        secret: Option<Secret>,
        token: Secret,
    ) -> Result<(), Error> {
        let change = EndpointChange {
            url: Some(url.to_owned()),
            shape: Some(Shape::Graph),
            profile: Some(match program.kind {
                ProgramKind::Chatwoot => WebhookProfile::Chatwoot,
                ProgramKind::Typebot => WebhookProfile::Strict,
            }),
            channels: Some(vec![program.channel_id]),
            ..EndpointChange::default()
        };
        let endpoints = self.engine.webhook_endpoints();
        let (added, _) = endpoints.add(who, self.company, change, secret, Some(token)).await?;
        program.webhook_id = Some(added.endpoint.id);
        Ok(())
    }

    /// Removes a webhook, unless a person did.
    async fn remove_webhook(&self, who: &Who, id: Uuid) -> Result<(), Error> {
        match self.engine.webhook_endpoints().remove(who, self.company, id).await {
            Err(Error::Refused(Refusal { code: Code::WebhookNotFound, .. })) => Ok(()),
            other => other,
        }
    }

    /// Whether a request came with the key.
    async fn is_used(&self, key: Uuid) -> Result<bool, Error> {
        if self.engine.0.keys.is_used(key) {
            return Ok(true);
        }
        let stored = async || {
            let found = self.engine.store().of(self.company).keys().find(key).await?;
            Ok::<_, Error>(found.is_some_and(|key| key.last_used_at.is_some()))
        };
        if stored().await? {
            return Ok(true);
        }
        if self.engine.0.shared.cluster.is_alone() {
            return Ok(false);
        }
        sleep(USE_IS_STORED).await;
        stored().await
    }
}
