//! What the door that speaks Graph needs beside the functions that the API calls too: the objects behind its ids, messages by
//! the ids of either side, and the outcome of a message that a program waits for.
//!
//! [`GraphDoor`] is bound to a company and to the channels of a key. An id of anything else is not found, whatever it is.

mod files;
mod messages;
mod outcome;
mod passing;
mod receivers;

use std::sync::Arc;

use dashmap::DashMap;
use uuid::Uuid;

pub use self::messages::GraphMessage;
pub use self::outcome::EarlyOutcome;
pub(crate) use self::passing::PassBounds;
pub use self::passing::pass_on;
use crate::{Engine, Error};
use connectors::cloud_api::webhook;
pub use connectors::cloud_api::{PassedAnswer, PassedRequest};
use domain::channel::{Channel, Kind};
use domain::graph::GraphIdKind;
use domain::secret::Secret;

/// The most channels of a company that a list has.
const MOST_CHANNELS: u32 = 1_000;
/// The most ids in memory; when there are more, all are dropped.
const CAPACITY: usize = 100_000;

/// The channels behind ids, so that a send does not ask the database for its channel. An id never changes its channel, and a
/// channel that is gone is not found by its own id.
#[derive(Default)]
pub(crate) struct KnownNumbers(DashMap<(Uuid, String), Uuid>);

/// The objects of a company at the door that speaks Graph, as far as a key may see them.
#[derive(Clone)]
pub struct GraphDoor<'e> {
    engine: &'e Engine,
    company: Uuid,
    bound: Option<Arc<[Uuid]>>,
}

/// A business account, or the web sessions of a company together.
#[derive(Debug, Clone)]
pub struct GraphAccount {
    /// Its id: the provider's, or ours.
    pub id: String,
    /// The id at the provider; `None` for web sessions.
    pub waba_id: Option<String>,
    /// The channels in it that the key may use, the oldest first; at least one.
    pub channels: Vec<Arc<Channel>>,
}

/// An id of ours, as it is written: with a sign or zeros in front it is none, so that an object has one id.
fn own_id(id: &str) -> Option<i64> {
    id.parse().ok().filter(|own: &i64| own.to_string() == id)
}

impl<'e> GraphDoor<'e> {
    /// The objects of a company; only those of these channels, if a key is bound to some.
    pub const fn new(engine: &'e Engine, company: Uuid, bound: Option<Arc<[Uuid]>>) -> Self {
        Self { engine, company, bound }
    }

    fn is_open_to(&self, channel: &Channel) -> bool {
        channel.company_id == self.company
            && self.bound.as_ref().is_none_or(|bound| bound.contains(&channel.id))
    }

    /// The channel with this id of a phone number.
    pub async fn number(&self, id: &str) -> Result<Option<Arc<Channel>>, Error> {
        let known = &self.engine.0.known_numbers.0;
        let place = (self.company, id.to_owned());
        let in_memory = known.get(&place).map(|known| *known);
        if let Some(found) = in_memory
            && let Some(channel) = self.channel_of(id, found).await?
        {
            return Ok(Some(channel).filter(|channel| self.is_open_to(channel)));
        }
        // A number that was removed may be connected again, as another channel.
        let found = self.read_number(id).await?;
        let channel = match found {
            Some(found) => self.channel_of(id, found).await?,
            None => None,
        };
        let Some(channel) = channel else {
            known.remove(&place);
            return Ok(None);
        };
        if known.len() >= CAPACITY {
            known.clear();
        }
        known.insert(place, channel.id);
        Ok(Some(channel).filter(|channel| self.is_open_to(channel)))
    }

    /// The channel, if it still has this id of a phone number.
    async fn channel_of(&self, id: &str, channel: Uuid) -> Result<Option<Arc<Channel>>, Error> {
        let is_its = |channel: &Arc<Channel>| match channel.kind {
            Kind::BusinessAccount => channel.phone_number_id.as_deref() == Some(id),
            Kind::WebSession => true,
        };
        Ok(self.engine.channel(channel).await?.filter(is_its))
    }

    /// The channel of an id that is not in memory.
    async fn read_number(&self, id: &str) -> Result<Option<Uuid>, Error> {
        let records = self.engine.records_of(self.company).await?;
        let stored = records.of(self.company).graph_ids();
        if let Some(found) = stored.number(id).await? {
            return Ok(Some(found));
        }
        let Some(own) = own_id(id) else { return Ok(None) };
        Ok(match stored.find(own).await? {
            Some((GraphIdKind::Number, channel)) => Some(channel),
            Some((GraphIdKind::Account | GraphIdKind::App, _)) | None => None,
        })
    }

    /// The id of a channel's number: the provider's, or ours.
    pub async fn number_id(&self, channel: &Channel) -> Result<String, Error> {
        match &channel.phone_number_id {
            Some(id) => Ok(id.clone()),
            None => self.made(GraphIdKind::Number, channel.id).await,
        }
    }

    /// The id of the account that a channel is in.
    pub async fn account_id(&self, channel: &Channel) -> Result<String, Error> {
        match &channel.waba_id {
            Some(id) => Ok(id.clone()),
            None => self.made(GraphIdKind::Account, self.company).await,
        }
    }

    /// The id of the company's app.
    pub async fn app_id(&self) -> Result<String, Error> {
        self.made(GraphIdKind::App, self.company).await
    }

    async fn made(&self, kind: GraphIdKind, owner: Uuid) -> Result<String, Error> {
        Ok(self.engine.store().of(self.company).graph_ids().of(kind, owner).await?.to_string())
    }

    /// The channels that the key may use, the oldest first.
    pub async fn channels(&self) -> Result<Vec<Arc<Channel>>, Error> {
        let ids = match &self.bound {
            // However many others there are.
            Some(bound) => {
                let mut own = bound.to_vec();
                own.sort_unstable();
                own.dedup();
                own
            }
            None => {
                let records = self.engine.records_of(self.company).await?;
                records.of(self.company).graph_ids().channels(MOST_CHANNELS).await?
            }
        };
        let mut channels = Vec::with_capacity(ids.len());
        for id in ids {
            channels.extend(self.engine.channel(id).await?.filter(|channel| self.is_open_to(channel)));
        }
        Ok(channels)
    }

    /// The accounts of these channels, in the order of their first channels.
    pub async fn accounts(&self) -> Result<Vec<GraphAccount>, Error> {
        let mut accounts = Vec::<GraphAccount>::new();
        for channel in self.channels().await? {
            let known = accounts.iter_mut().find(|account| account.waba_id == channel.waba_id);
            match known {
                Some(account) => account.channels.push(channel),
                None => accounts.push(GraphAccount {
                    id: self.account_id(&channel).await?,
                    waba_id: channel.waba_id.clone(),
                    channels: vec![channel],
                }),
            }
        }
        Ok(accounts)
    }

    /// The account with this id.
    pub async fn account(&self, id: &str) -> Result<Option<GraphAccount>, Error> {
        Ok(self.accounts().await?.into_iter().find(|account| account.id == id))
    }

    /// Whether this is the id of the company's app.
    pub async fn is_app(&self, id: &str) -> Result<bool, Error> {
        let Some(own) = own_id(id) else { return Ok(false) };
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).graph_ids().find(own).await?;
        Ok(found.is_some_and(|(kind, _)| kind == GraphIdKind::App))
    }

    /// Whether this proves that the caller knows the app secret of the channel; anything does for a channel without one. A program
    /// that verifies webhooks of ours takes their secret for that of the app, and makes its proofs with it.
    pub async fn is_proof(&self, channel: &Channel, proof: &str, key: &str) -> Result<bool, Error> {
        if channel.kind == Kind::WebSession {
            return Ok(true);
        }
        let Some(secret) = self.engine.webhooks().app_secret(channel).await? else { return Ok(true) };
        let proof = format!("sha256={proof}");
        let is_of = |secret: &Secret| webhook::verify(secret, key.as_bytes(), &proof);
        if is_of(&secret) {
            return Ok(true);
        }
        let of_programs = self.engine.webhook_endpoints().secrets_of_programs(self.company).await?;
        Ok(of_programs.iter().any(is_of))
    }
}
