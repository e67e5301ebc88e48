//! Questions that only the owner of a channel can answer, asked by other nodes: the request and its answer as
//! documents, their transport, and how the owner answers.
//!
//! The readers of these documents ignore unknown fields, so that nodes of two versions understand each other during an
//! upgrade. What another node asks passes the same checks as a client's request.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Engine, Error, RETRY_AFTER};
use cluster::{Carrier, NotCarried, shard};
use domain::channel::Channel;
use domain::error::{Code, Refusal};
use domain::limit::Spent;

/// How long a page waits for another node's knowledge of its sends.
const GLANCE: Duration = Duration::from_secs(1);
/// How long the owner may take when WhatsApp or a file's server has to answer.
const OF_OTHERS: Duration = Duration::from_secs(60);
/// How long a node that has just claimed a channel may take to subscribe to its requests.
const SUBSCRIBING: Duration = Duration::from_millis(300);

/// How long the owner of a channel may take to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// The configured time.
    Configured,
    /// As long as a page waits.
    Glance,
    /// WhatsApp or a file's server has to answer.
    OfOthers,
    /// The same, after the time until a message is handed over.
    HandedOver,
}

impl Within {
    /// `None` for the configured time.
    fn time(self, engine: &Engine) -> Option<Duration> {
        match self {
            Self::Configured => None,
            Self::Glance => Some(GLANCE),
            Self::OfOthers => Some(OF_OTHERS),
            Self::HandedOver => Some(engine.0.web_sessions.patience() + OF_OTHERS),
        }
    }
}

/// A question that only the owner of a channel can answer.
#[async_trait(?Send)]
pub(crate) trait Question: Serialize + DeserializeOwned {
    /// The last part of its subject. It never changes.
    const NAME: &'static str;
    /// Whether a lost answer may hide an action that must not be repeated.
    const IS_DONE_ONCE: bool = false;
    /// How long the answer may take.
    const WITHIN: Within = Within::Configured;
    /// The type of the answer.
    type Answer: Serialize + DeserializeOwned;

    /// Refuses what no client could have asked for.
    fn check(&self, _limits: &config::Limits) -> Result<(), Refusal> {
        Ok(())
    }

    /// The answer, by the node that owns the channel.
    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<Self::Answer, Error>;
}

/// A request, as it travels.
#[derive(Serialize, Deserialize)]
struct Asked<Q> {
    channel: Uuid,
    question: Q,
}

/// An answer, as it travels.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply<A> {
    Answer(A),
    Fault(Fault),
}

/// The reason for a missing answer, as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fault {
    /// The channel has left this node.
    NotHere,
    /// This version does not know the request, or cannot read it.
    NotUnderstood,
    Refused {
        code: String,
        sentence: String,
        /// The field at fault; earlier versions do not tell it.
        #[serde(default)]
        param: Option<String>,
    },
    TooSoon {
        retry_after: Duration,
        sentence: String,
        spent: Spent,
    },
    Unavailable {
        retry_after: Duration,
    },
    Internal,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(Refusal { code, sentence, param })
            | Error::Nobody { refusal: Refusal { code, sentence, param }, .. } => {
                Self::Refused { code: code.as_str().to_owned(), sentence, param }
            }
            Error::TooSoon { retry_after, sentence, spent } => Self::TooSoon { retry_after, sentence, spent },
            Error::Unavailable { retry_after } => Self::Unavailable { retry_after },
            Error::Internal => Self::Internal,
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused { code, sentence, param } => {
                let known = Code::ALL.iter().copied().find(|known| known.as_str() == code);
                Refusal { code: known.unwrap_or(Code::ServiceUnavailable), sentence, param }.into()
            }
            Fault::TooSoon { retry_after, sentence, spent } => Self::TooSoon { retry_after, sentence, spent },
            Fault::Unavailable { retry_after } => Self::Unavailable { retry_after },
            Fault::Internal => Self::Internal,
            Fault::NotHere => unavailable("this channel is moving to another node: try again in a second"),
            Fault::NotUnderstood => unavailable(
                "this channel runs on a node of another version: ask that node, or try again once all have the same",
            ),
        }
    }
}

fn unavailable(sentence: &str) -> Error {
    Refusal::new(Code::ServiceUnavailable, sentence).into()
}

/// The owners of channels, on this node or on others.
#[derive(Clone, Copy)]
pub(crate) struct Owners<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// The owners of channels, on this node or on others.
    pub(crate) const fn owners(&self) -> Owners<'_> {
        Owners { engine: self }
    }
}

impl Owners<'_> {
    /// Asks the owner of a channel; `None` when this node owns it, or has just claimed it because nobody did.
    ///
    /// # Errors
    ///
    /// Those that the owner answers. `service_unavailable` when it cannot be asked or does not answer;
    /// [`Error::Internal`] when it may have done something that must not be repeated.
    pub(crate) async fn ask<Q: Question>(
        &self,
        channel: &Arc<Channel>,
        question: &Q,
    ) -> Result<Option<Q::Answer>, Error> {
        let cluster = &self.engine.0.shared.cluster;
        if cluster.owns(channel) {
            return Ok(None);
        }
        let Some(carrier) = cluster.carrier() else {
            self.own(channel).await?;
            return Ok(None);
        };
        for is_last in [false, true] {
            if let Some(answer) = self.ask_once(&*carrier, channel, question).await? {
                return Ok(Some(answer));
            }
            // No node received the question. The row says whether the channel has an owner, which may have just begun
            // to subscribe.
            if is_last || cluster.owner(channel).await?.is_none() {
                break;
            }
            tokio::time::sleep(SUBSCRIBING).await;
        }
        self.own(channel).await?;
        Ok(None)
    }

    /// Asks once; `None` when no owner received the question.
    pub(crate) async fn ask_once<Q: Question>(
        &self,
        carrier: &dyn Carrier,
        channel: &Arc<Channel>,
        question: &Q,
    ) -> Result<Option<Q::Answer>, Error> {
        let asked = serde_json::to_vec(&Asked { channel: channel.id, question });
        let asked = asked.map_err(|error| {
            tracing::error!(name = Q::NAME, %error, "a request to another node cannot be written");
            Error::Internal
        })?;
        let within = Q::WITHIN.time(self.engine);
        let answer = match carrier.request(shard(channel), Q::NAME, asked, Q::IS_DONE_ONCE, within).await {
            Ok(answer) => serde_json::from_slice(&answer),
            Err(NotCarried::NoOwner | NotCarried::Unreachable) => return Ok(None),
            Err(NotCarried::Unanswered) => {
                tracing::warn!(channel.id = %channel.id, channel.name = %channel.name, name = Q::NAME, "the owner of a channel did not answer");
                return Err(lost::<Q>());
            }
        };
        match answer {
            Ok(Reply::Answer(answer)) => Ok(Some(answer)),
            Ok(Reply::Fault(Fault::NotHere)) => Ok(None),
            Ok(Reply::Fault(fault)) => Err(fault.into()),
            Err(error) => {
                tracing::warn!(channel.id = %channel.id, channel.name = %channel.name, name = Q::NAME, %error, "cannot read the answer of another node");
                Err(lost::<Q>())
            }
        }
    }
}

impl Engine {
    /// The answer to a request of another node, as it travels.
    pub(super) async fn answer<Q: Question>(&self, addressed: Uuid, body: &[u8]) -> Option<Vec<u8>> {
        let reply = match serde_json::from_slice(body) {
            Ok(asked) => self.answer_here::<Q>(addressed, asked).await,
            Err(error) => {
                tracing::warn!(name = Q::NAME, %error, "cannot read a request of another node");
                Reply::Fault(Fault::NotUnderstood)
            }
        };
        serde_json::to_vec(&reply).ok()
    }

    async fn answer_here<Q: Question>(&self, addressed: Uuid, asked: Asked<Q>) -> Reply<Q::Answer> {
        let Asked { channel, question } = asked;
        if let Err(refusal) = question.check(&self.0.nodes.limits) {
            tracing::warn!(name = Q::NAME, code = %refusal.code, "another node asked for what no client may ask for");
            return Reply::Fault(Error::from(refusal).into());
        }
        let is_here = |channel: &Channel| shard(channel) == addressed && self.0.shared.cluster.owns(channel);
        let channel = match self.channel(channel).await {
            Ok(Some(channel)) if is_here(&channel) => channel,
            Ok(_) => return Reply::Fault(Fault::NotHere),
            Err(error) => return Reply::Fault(error.into()),
        };
        match question.answer(self, &channel).await {
            Ok(answer) => Reply::Answer(answer),
            Err(error) => Reply::Fault(error.into()),
        }
    }
}

/// The answer to a request that this version does not know.
pub(super) fn not_understood() -> Option<Vec<u8>> {
    serde_json::to_vec(&Reply::<()>::Fault(Fault::NotUnderstood)).ok()
}

/// The answer of a node that answers as many requests as it may.
pub(crate) fn busy() -> Option<Vec<u8>> {
    serde_json::to_vec(&Reply::<()>::Fault(Fault::Unavailable { retry_after: RETRY_AFTER })).ok()
}

/// The error when no answer came although the owner may have acted.
fn lost<Q: Question>() -> Error {
    if Q::IS_DONE_ONCE {
        return Error::Internal;
    }
    unavailable("the node that runs this channel did not answer: try again in a second")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::limit::Name;

    #[test]
    fn an_error_of_the_owner_is_the_same_error_elsewhere() {
        let sentence = || "no".to_owned();
        let spent = Spent { name: Name::ColdContacts, allows: 3, window: RETRY_AFTER };
        for error in [
            Refusal::new(Code::SessionDisconnected, sentence()).into(),
            Error::TooSoon { retry_after: RETRY_AFTER, sentence: sentence(), spent },
            Error::Unavailable { retry_after: RETRY_AFTER },
            Error::Internal,
        ] {
            let written = serde_json::to_vec(&Reply::<()>::Fault(error.clone().into())).unwrap();
            let Ok(Reply::<()>::Fault(read)) = serde_json::from_slice(&written) else { panic!("no fault") };
            assert_eq!(Error::from(read), error);
        }
    }

    #[test]
    fn fields_of_a_newer_version_are_ignored_and_its_new_codes_are_unavailable() {
        let newer = br#"{"fault":{"refused":{"code":"new_code","sentence":"no","more":1}}}"#;
        let Ok(Reply::<()>::Fault(read)) = serde_json::from_slice(newer) else { panic!("no fault") };
        assert_eq!(Error::from(read), Refusal::new(Code::ServiceUnavailable, "no").into());
    }
}
