//! Channels: one sending identity at one provider.

mod reason_code;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

pub use self::reason_code::ReasonCode;
use crate::rate::Rate;
use crate::template::LOCAL_ACCOUNT;
use crate::tier::{OwnOptions, Quota};
use clock::Timestamp;

crate::worded! {
    /// The kind of a channel's provider.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        /// Meta's Cloud API.
        BusinessAccount = "business_account",
        /// A linked device on WhatsApp Web, which is watched for behaving like a machine.
        WebSession = "web_session",
    }
}

crate::worded! {
    /// Whether a channel can send.
    pub enum Status {
        /// Not yet confirmed by the provider. Sends are accepted and tried.
        Connecting = "connecting",
        /// The provider confirmed it.
        Connected = "connected",
        /// The provider refused its credentials or registration; a person has to act.
        Disconnected = "disconnected",
        /// The provider restricted the account; a new token does not help.
        Blocked = "blocked",
        /// A web session that waits for a phone to link it.
        Pairing = "pairing",
    }
}

crate::worded! {
    /// The pace that a provider allows a number.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Level {
        /// The level of every new number.
        Standard = "standard",
        /// After the provider's upgrade.
        High = "high",
        /// A number that is also used in the provider's app for phones, whatever its reported level.
        Coexistence = "coexistence",
        /// The provider's levels do not apply to the number.
        NotApplicable = "not_applicable",
    }
}

impl Level {
    /// The provider's documented rate of the level, which counts messages in both directions
    /// (<https://developers.facebook.com/docs/whatsapp/cloud-api/overview#throughput>).
    pub const fn rate(self) -> Rate {
        match self {
            Self::Standard => Rate::each_second(80),
            Self::High => Rate::each_second(1_000),
            Self::Coexistence => Rate::each_second(20),
            Self::NotApplicable => Rate::UNLIMITED,
        }
    }
}

/// The code of a [`Reason`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A code that this version knows.
    Known(ReasonCode),
    /// The word that an earlier or later version wrote.
    Other(String),
}

impl Cause {
    /// The word in answers and in the database.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(code) => code.as_str(),
            Self::Other(word) => word,
        }
    }
}

impl From<ReasonCode> for Cause {
    fn from(code: ReasonCode) -> Self {
        Self::Known(code)
    }
}

impl From<&str> for Cause {
    fn from(word: &str) -> Self {
        ReasonCode::parse(word).map_or_else(|| Self::Other(word.to_owned()), Self::Known)
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a channel is not connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The cause, for programs.
    pub code: Cause,
    /// A sentence for people: what happened and what to do.
    pub sentence: String,
    /// The provider's own code, when it gave one.
    pub provider_code: Option<i64>,
}

/// The state of a channel's connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Whether it can send.
    pub status: Status,
    /// Why it cannot send, or not everything; `None` when there is nothing to say.
    pub reason: Option<Reason>,
    /// Since when.
    pub since: Timestamp,
}

impl Connection {
    /// Whether sends are accepted now. An unconfirmed channel accepts them: only the provider's refusal of credentials
    /// or registration disconnects it.
    pub const fn accepts(&self) -> bool {
        matches!(self.status, Status::Connected | Status::Connecting)
    }

    /// Why the channel cannot send, and the remedy, for a person; `None` while sends are accepted.
    pub fn obstacle(&self) -> Option<String> {
        let remedy = match self.status {
            Status::Connecting | Status::Connected => return None,
            Status::Disconnected => "Reconnect it, and the queue goes on",
            Status::Blocked => {
                "A new token does not help: settle it with the provider, and the queue goes on by itself"
            }
            Status::Pairing => "Link a phone, and the queue goes on",
        };
        let why = self.reason.as_ref().map_or("nobody said why", |reason| &reason.sentence);
        Some(format!("the channel is {}: {}. {remedy}", self.status, why.trim_end_matches('.')))
    }
}

/// The trial of a channel since the provider refused one of its messages: the provider has to accept a message before
/// the channel is connected again. The provider's report on the number's health does not count, because it reports
/// numbers as healthy whose messages it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// The pause between two canaries: longer with each refused one.
    pub wait: Duration,
    /// No message goes before.
    pub due: Timestamp,
}

/// A channel as its owner may see it. Secrets are never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Time-ordered id.
    pub id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The kind of provider.
    pub kind: Kind,
    /// The company's name for it.
    pub name: String,
    /// The number as shown to people.
    pub phone_number: Option<String>,
    /// The provider's id of the number (business accounts).
    pub phone_number_id: Option<String>,
    /// The provider's id of the business account.
    pub waba_id: Option<String>,
    /// The tier in force.
    pub tier: String,
    /// Options of the tier for which the channel has values of its own.
    pub own_options: OwnOptions,
    /// The state of the connection.
    pub connection: Connection,
    /// The trial before it is connected again, if the provider refused one of its messages.
    pub trial: Option<Trial>,
    /// The provider's rating of the number.
    pub quality_rating: Option<String>,
    /// The number's level at the provider; `None` while it is not reported.
    pub level: Option<Level>,
    /// The number of people with whom the provider lets the number's owner begin a conversation in a moving 24 hours;
    /// `None` while it is not reported. Shown, not enforced: tiers are enforced.
    pub messaging_limit: Option<Quota>,
    /// When the phone of a web session was linked; `None` without a phone. For a phone that was linked before this was
    /// recorded, a later time.
    pub linked_at: Option<Timestamp>,
    /// Rises with every change of any channel; decides which of two reads is newer.
    pub revision: i64,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Channel {
    /// The account whose templates it sends: the business account, or [`LOCAL_ACCOUNT`] for web sessions.
    pub fn template_account(&self) -> &str {
        self.waba_id.as_deref().unwrap_or(LOCAL_ACCOUNT)
    }
}

/// A channel's number, as its provider describes it. Missing values are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Number {
    /// The number as shown to people.
    pub phone_number: Option<String>,
    /// The name that recipients see.
    pub verified_name: Option<String>,
    /// The provider's rating of the number.
    pub quality_rating: Option<String>,
    /// The provider's word for the number's state.
    pub status: Option<String>,
    /// The pace that the provider allows.
    pub level: Option<Level>,
    /// How many people the number's owner may begin a conversation with in a moving 24 hours; the limit is
    /// shared by all numbers of the same owner.
    pub messaging_limit: Option<Quota>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for status in Status::ALL {
            assert_eq!(status.as_str().parse().as_ref(), Ok(status));
        }
        assert!("gone".parse::<Status>().is_err());
    }

    #[test]
    fn a_cause_keeps_the_word_that_was_stored() {
        assert_eq!(Cause::from("banned"), Cause::Known(ReasonCode::Banned));
        for word in ["banned", "of_a_later_version"] {
            assert_eq!(Cause::from(word).as_str(), word);
        }
    }

    #[test]
    fn a_channel_that_cannot_send_says_why_and_what_to_do() {
        let sentence = "the provider refused the channel: it is restricted.".to_owned();
        let reason = Some(Reason { code: "x".into(), sentence, provider_code: None });
        let obstacle = |status, reason: &Option<Reason>| {
            Connection { status, reason: reason.clone(), since: Timestamp::from_millis(0) }.obstacle()
        };
        assert_eq!(obstacle(Status::Connecting, &reason), None);
        assert_eq!(
            obstacle(Status::Blocked, &reason).unwrap(),
            "the channel is blocked: the provider refused the channel: it is restricted. A new token does not \
             help: settle it with the provider, and the queue goes on by itself"
        );
        assert!(
            obstacle(Status::Disconnected, &None).unwrap().ends_with("Reconnect it, and the queue goes on")
        );
    }

    #[test]
    fn each_level_has_its_word_and_its_rate() {
        for (level, word, rate) in [
            (Level::Standard, "standard", "80/s"),
            (Level::High, "high", "1000/s"),
            (Level::Coexistence, "coexistence", "20/s"),
            (Level::NotApplicable, "not_applicable", "unlimited"),
        ] {
            assert_eq!((level.as_str(), level.rate().to_string().as_str()), (word, rate));
            assert_eq!(word.parse(), Ok(level));
        }
    }
}
