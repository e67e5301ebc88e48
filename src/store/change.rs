//! The record of what people changed: who, when, what, and how it was before.
//!
//! Each record is written in the transaction of what it records, so that there is never one without the
//! other. Secrets are never part of it. What the service does by itself (a channel that its provider
//! disconnects) is not recorded here. Written by the store's own calls, read by operators.

use std::fmt;
use std::net::IpAddr;

use entity::change;
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Set,
};
use serde_json::Value;
use uuid::Uuid;

use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::page::{Page, PageRequest};

/// Who changes something, as the record names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The program itself, which gives a new database its tiers.
    Pombo,
    /// An operator, by the name of the key. No operator is called `pombo`, and no name has a colon.
    Operator(String),
    /// Somebody at the command line, by the name of the machine's user.
    CommandLine(String),
    /// A person who signed in.
    User {
        /// The folded e-mail.
        email: String,
        /// Where the request came from.
        address: IpAddr,
    },
    /// Somebody whose sign-in failed.
    Stranger {
        /// Where the request came from.
        address: IpAddr,
    },
}

impl Who {
    /// Where the request came from; known of people in a browser only.
    const fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Pombo | Self::Operator(_) | Self::CommandLine(_) => None,
            Self::User { address, .. } | Self::Stranger { address } => Some(*address),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pombo => f.write_str("pombo"),
            Self::Operator(name) => f.write_str(name),
            Self::CommandLine(user) => write!(f, "cli:{user}"),
            Self::User { email, .. } => write!(f, "user:{email}"),
            Self::Stranger { .. } => f.write_str("user:"),
        }
    }
}

/// What kind of thing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A tier's options; the subject is its name.
    Tier,
    /// A company; the subject is its id.
    Company,
    /// A company's API key; the subject is the key's id.
    ApiKey,
    /// A channel that was added; the subject is its id.
    Channel,
    /// The secret that signs a channel's webhooks; that it was given or replaced, and nothing of it.
    ChannelAppSecret,
    /// A key that seals secrets; the subject is its id.
    SealingKey,
    /// The tier that a channel runs under; the subject is the channel's id.
    ChannelTier,
    /// A channel's token; that it was replaced, and nothing of it.
    ChannelToken,
    /// A channel's status.
    ChannelStatus,
    /// An operator's key; the subject is the operator's name.
    Operator,
    /// What a recipient is left out of; the subject is the number, with its plus sign.
    Suppression,
    /// A person who signs in; the subject is the e-mail.
    User,
    /// A person's password; that it was replaced, and nothing of it.
    UserPassword,
    /// A person's second factor; whether there is one, and nothing of it.
    UserTotp,
    /// A person's role in a company; the subject is the e-mail.
    Membership,
    /// An invitation or another link that is valid once; the subject is the person's e-mail.
    Link,
    /// An attempt to sign in; the subject is the e-mail of a known person, else empty.
    SignIn,
    /// A session that was ended, or given a token for programs; the subject is the person's e-mail.
    Session,
    /// The database as a whole, which was restored from a backup.
    Database,
}

impl What {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Tier,
        Self::Company,
        Self::ApiKey,
        Self::Channel,
        Self::ChannelAppSecret,
        Self::SealingKey,
        Self::ChannelTier,
        Self::ChannelToken,
        Self::ChannelStatus,
        Self::Operator,
        Self::Suppression,
        Self::User,
        Self::UserPassword,
        Self::UserTotp,
        Self::Membership,
        Self::Link,
        Self::SignIn,
        Self::Session,
        Self::Database,
    ];

    /// The word in answers and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Company => "company",
            Self::ApiKey => "key",
            Self::Channel => "channel",
            Self::ChannelAppSecret => "channel.app_secret",
            Self::SealingKey => "sealing_key",
            Self::ChannelTier => "channel.tier",
            Self::ChannelToken => "channel.token",
            Self::ChannelStatus => "channel.status",
            Self::Operator => "operator",
            Self::Suppression => "suppression",
            Self::User => "user",
            Self::UserPassword => "user.password",
            Self::UserTotp => "user.totp",
            Self::Membership => "membership",
            Self::Link => "link",
            Self::SignIn => "sign_in",
            Self::Session => "session",
            Self::Database => "database",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|what| what.as_str() == word)
    }
}

/// One recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time-ordered id.
    pub id: Uuid,
    /// When.
    pub at: Timestamp,
    /// An operator's name, `user:` and an e-mail (nothing after a failed sign-in), `cli:` and a user's name, or `pombo`.
    pub who: String,
    /// What kind of thing.
    pub what: What,
    /// Which one: a tier's name, the id of a channel, a company or a key, an operator's name, a number, a person's e-mail.
    pub subject: String,
    /// What it was; `None` when it was not there before, or must not be shown.
    pub before: Option<Value>,
    /// What it is since.
    pub after: Value,
    /// The network address that it came from; `None` for the command line and for keys.
    pub address: Option<String>,
}

/// Which changes to list; all when nothing is set.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Only of these kinds; of every kind when empty.
    pub what: &'a [What],
    /// Only of this tier, channel, company, key, operator or number.
    pub subject: Option<&'a str>,
}

impl Change {
    /// A change that happens now.
    pub(super) fn now(
        who: &Who,
        what: What,
        subject: impl Into<String>,
        before: Option<Value>,
        after: Value,
    ) -> Self {
        let (id, at) = (Uuid::now_v7(), Timestamp::now());
        let address = who.address().map(|address| address.to_string());
        Self { id, at, who: who.to_string(), what, subject: subject.into(), before, after, address }
    }
}

impl TryFrom<change::Model> for Change {
    type Error = Error;

    fn try_from(model: change::Model) -> Result<Self> {
        let change::Model { id, at, who, what, subject, before, after, address } = model;
        let json = |text: String| {
            serde_json::from_str(&text).map_err(|_| Error::Impossible(format!("change {id} holds no JSON")))
        };
        Ok(Self {
            id,
            at: Timestamp::from_millis(at),
            who,
            what: What::parse(&what).ok_or_else(|| Error::Impossible(format!("changed thing `{what}`")))?,
            subject,
            before: before.map(json).transpose()?,
            after: json(after)?,
            address,
        })
    }
}

/// Writes the records, in the transaction of what they record.
pub(super) async fn record(within: &DatabaseTransaction, changes: &[Change]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let models = changes.iter().map(|change| {
        let Change { id, at, who, what, subject, before, after, address } = change;
        change::ActiveModel {
            id: Set(*id),
            at: Set(at.millis()),
            who: Set(who.clone()),
            what: Set(what.as_str().to_owned()),
            subject: Set(subject.clone()),
            before: Set(before.as_ref().map(Value::to_string)),
            after: Set(after.to_string()),
            address: Set(address.clone()),
        }
    });
    change::Entity::insert_many(models).exec_without_returning(within).await?;
    Ok(())
}

impl Store {
    /// A page of the recorded changes, newest first.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn changes(&self, filter: Filter<'_>, page: PageRequest) -> Result<Page<Change>> {
        let mut matching = change::Entity::find();
        if !filter.what.is_empty() {
            let words = filter.what.iter().map(|what| what.as_str());
            matching = matching.filter(change::Column::What.is_in(words));
        }
        if let Some(subject) = filter.subject {
            matching = matching.filter(change::Column::Subject.eq(subject));
        }
        let total = matching.clone().count(&self.read).await?;
        let models = matching
            .order_by_desc(change::Column::Id)
            .offset(page.offset())
            .limit(page.limit)
            .all(&self.read)
            .await?;
        Ok(Page { records: models.into_iter().map(Change::try_from).collect::<Result<_>>()?, total })
    }
}
