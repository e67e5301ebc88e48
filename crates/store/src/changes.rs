//! The record of what people changed: who, when, what, and how it was before.
//!
//! Each record is written in the transaction of the change, so that there is never one without the other. Records never
//! contain secrets. Changes by the service itself (a channel that its provider disconnects) are not recorded here.
//! Written by the store's own calls, read by operators.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use entity::{api_key, change, channel, company};
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Set,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::nouns::Changes;
use crate::users::failed_sign_ins::STRANGER;
use crate::{Error, Result, Transaction};
use clock::Timestamp;
use clock::database::new_id;
use domain::page::{Page, Window};

/// The person or program that makes a change, as named in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The program itself, which gives a new database its tiers.
    Pombo,
    /// An operator, by the name of the key. No operator is called `pombo`, and no name has a colon.
    Operator(String),
    /// A program with a company's API key, by the name of the key. The subject or the changed object names the company.
    Key(String),
    /// A person at the command line, by the name of the machine's user.
    CommandLine(String),
    /// A person who signed in.
    User {
        /// The folded e-mail.
        email: String,
        /// The address of the request.
        address: IpAddr,
    },
    /// A person whose sign-in failed.
    Stranger {
        /// The address of the request.
        address: IpAddr,
    },
}

impl Who {
    /// The address of the request; known only for people in a browser.
    const fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Pombo | Self::Operator(_) | Self::Key(_) | Self::CommandLine(_) => None,
            Self::User { address, .. } | Self::Stranger { address } => Some(*address),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pombo => f.write_str("pombo"),
            Self::Operator(name) => f.write_str(name),
            Self::Key(name) => write!(f, "key:{name}"),
            Self::CommandLine(user) => write!(f, "cli:{user}"),
            Self::User { email, .. } => write!(f, "user:{email}"),
            Self::Stranger { .. } => f.write_str(STRANGER),
        }
    }
}

domain::worded! {
    /// The kind of the changed object.
    pub enum What {
        /// A tier's options; the subject is its name.
        Tier = "tier",
        /// A company; the subject is its id.
        Company = "company",
        /// A company's API key; the subject is the key's id.
        ApiKey = "key",
        /// A channel that was added; the subject is its id.
        Channel = "channel",
        /// The secret that signs a channel's webhooks; the record says only that it was given or replaced.
        ChannelAppSecret = "channel.app_secret",
        /// A key that seals secrets; the subject is its id.
        SealingKey = "sealing_key",
        /// The tier that a channel runs under; the subject is the channel's id.
        ChannelTier = "channel.tier",
        /// A channel's token; the record says only that it was replaced.
        ChannelToken = "channel.token",
        /// The risks of a channel's unofficial connection, which a person accepted; the subject is the channel's id.
        ChannelRisk = "channel.risk",
        /// A channel's status.
        ChannelStatus = "channel.status",
        /// An operator's key; the subject is the operator's name.
        Operator = "operator",
        /// A recipient's suppression; the subject is the number, with its plus sign.
        Suppression = "suppression",
        /// A person who signs in; the subject is the e-mail.
        User = "user",
        /// A person's password; the record says only that it was replaced.
        UserPassword = "user.password",
        /// A person's second factor; the record says only whether there is one.
        UserTotp = "user.totp",
        /// A person's role in a company; the subject is the e-mail.
        Membership = "membership",
        /// An invitation or another link that is valid once; the subject is the person's e-mail.
        Link = "link",
        /// An attempt to sign in; the subject is the e-mail of a known person, else empty.
        SignIn = "sign_in",
        /// A session that was ended, or given a token for programs; the subject is the person's e-mail.
        Session = "session",
        /// How many contacts one request created, changed, merged, tagged or deleted; the subject is the company's id.
        Contacts = "contacts",
        /// Tags that were created, changed or deleted; the subject is the company's id.
        Tags = "tags",
        /// A segment that was saved, renamed, replaced or deleted; the subject is the company's id.
        Segments = "segments",
        /// An own field of contacts that was added, renamed or deleted; the subject is the company's id.
        ContactFields = "contact_fields",
        /// Quick replies that were added, changed or deleted; the subject is the company's id.
        QuickReplies = "quick_replies",
        /// A template that was written, changed, deleted or archived; the subject is the company's id.
        Templates = "templates",
        /// An import that was started or stopped; the subject is the company's id.
        Import = "import",
        /// Contacts, the messages of a send, or conversations that were taken out as a file; the subject is the company's id.
        Export = "export",
        /// A file that was uploaded or removed; the subject is its id.
        Media = "media",
        /// A node of a cluster that was told to drain; the subject is its id.
        Node = "node",
        /// A webhook endpoint; the subject is its id.
        Webhook = "webhook",
        /// The secret that signs the requests to a webhook endpoint; the record says only that it was replaced.
        WebhookSecret = "webhook.secret",
        /// A program written for Meta that was connected, got another address or was disconnected; the subject is its id.
        Program = "program",
        /// A request of a program that went on to the provider with a channel's token; the subject is the channel's id.
        PassedOn = "passed_on",
        /// What a person is told of a company by e-mail; the subject is the e-mail.
        Alerts = "alerts",
        /// A send that was paused, resumed, moved or canceled; the subject is its id.
        Send = "send",
        /// Prices that an operator uploaded; the subject is the date from which they apply.
        RateCard = "rate_card",
        /// The database as a whole, which was restored from a backup.
        Database = "database",
    }
}

/// One recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time-ordered id.
    pub id: Uuid,
    /// When it was made.
    pub at: Timestamp,
    /// An operator's name, `key:` and the name of a company's key, `user:` and an e-mail (nothing after a failed
    /// sign-in), `cli:` and a user's name, or `pombo`.
    pub who: String,
    /// The kind of the changed object.
    pub what: What,
    /// Which one: a tier's name, the id of a channel, a company or a key, an operator's name, a number, a person's
    /// e-mail.
    pub subject: String,
    /// The state before; `None` when the object did not exist before, or must not be shown.
    pub before: Option<Value>,
    /// The state after; `removed` when the object is gone.
    pub after: Value,
    /// The network address of the request; `None` for the command line and for keys.
    pub address: Option<String>,
}

/// Which changes to list; all when nothing is set.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Only of these kinds; of every kind when empty.
    pub what: &'a [What],
    /// Only of this tier, channel, company, key, operator or number.
    pub subject: Option<&'a str>,
    /// Only by this author, as [`Change::who`] names them.
    pub who: Option<&'a str>,
    /// Only from this moment on.
    pub from: Option<Timestamp>,
    /// Only before this moment.
    pub to: Option<Timestamp>,
}

impl Change {
    /// A change that happens now.
    pub(crate) fn now(
        who: &Who,
        what: What,
        subject: impl Into<String>,
        before: Option<Value>,
        after: Value,
    ) -> Self {
        let id = new_id();
        let at = moment_of(id);
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
            what: what.parse().map_err(|_| Error::Impossible(format!("changed thing `{what}`")))?,
            subject,
            before: before.map(json).transpose()?,
            after: json(after)?,
            address,
        })
    }
}

/// Writes the records, in the transaction of the changes.
pub(crate) async fn record(within: &Transaction, changes: &[Change]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    change::Entity::insert_many(changes.iter().map(model)).exec_without_returning(within).await?;
    Ok(())
}

/// Records one change that happens now, in its transaction.
pub(crate) async fn record_one(
    within: &Transaction,
    who: &Who,
    what: What,
    subject: impl Into<String>,
    before: Option<Value>,
    after: Value,
) -> Result<()> {
    record(within, &[Change::now(who, what, subject, before, after)]).await
}

/// Whether there is a record of this kind about the subject.
pub(crate) async fn is_recorded(within: &impl ConnectionTrait, what: What, subject: &str) -> Result<bool> {
    let recorded = change::Entity::find()
        .filter(change::Column::What.eq(what.as_str()))
        .filter(change::Column::Subject.eq(subject));
    Ok(recorded.one(within).await?.is_some())
}

fn model(change: &Change) -> change::ActiveModel {
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
}

/// The moment in an id. Changes are stamped with it, so that a span of time is exactly a span of ids.
fn moment_of(id: Uuid) -> Timestamp {
    let moment = id.get_timestamp().map(|moment| moment.to_unix());
    let millis = moment.map(|(seconds, nanos)| seconds.saturating_mul(1_000) + u64::from(nanos / 1_000_000));
    let millis = millis.and_then(|millis| i64::try_from(millis).ok());
    millis.map_or_else(Timestamp::now, Timestamp::from_millis)
}

/// The lowest possible id of this moment.
fn first_id(moment: Timestamp) -> Uuid {
    let millis = u128::try_from(moment.millis()).unwrap_or_default();
    Uuid::from_u128(millis.min((1 << 48) - 1) << 80)
}

/// The record of one request's changes of a company's contacts. A request of several transactions has one record, whose
/// counts grow with each transaction.
#[derive(Debug, Clone)]
pub struct ContactRecord {
    change: Change,
    counts: Map<String, Value>,
}

impl ContactRecord {
    /// A record without counts, which is not written yet.
    pub fn new(who: &Who, company: Uuid) -> Self {
        Self { change: Change::now(who, What::Contacts, company, None, Value::Null), counts: Map::new() }
    }

    /// Adds the subject beside the counts: the tag, or the one contact.
    #[must_use]
    pub fn about(mut self, name: &str, id: Uuid) -> Self {
        self.counts.insert(name.to_owned(), id.to_string().into());
        self
    }

    /// Adds counts of changed contacts to the record, in the transaction that changes them.
    pub(crate) async fn count(&mut self, within: &Transaction, changed: &[(&str, u64)]) -> Result<()> {
        if changed.iter().all(|(_, count)| *count == 0) {
            return Ok(());
        }
        for (word, count) in changed.iter().filter(|(_, count)| *count > 0) {
            let before = self.counts.get(*word).and_then(Value::as_u64).unwrap_or_default();
            self.counts.insert((*word).to_owned(), (before + count).into());
        }
        self.change.after = Value::Object(self.counts.clone());
        let again = OnConflict::column(change::Column::Id).update_column(change::Column::After).to_owned();
        change::Entity::insert(model(&self.change)).on_conflict(again).exec_without_returning(within).await?;
        Ok(())
    }
}

impl Changes<'_> {
    /// The recorded change of this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Change>> {
        change::Entity::find_by_id(id).one(&self.store.read).await?.map(Change::try_from).transpose()
    }

    /// The present names of the companies, channels and API keys among these ids, of every company.
    pub async fn names(self, ids: &[Uuid]) -> Result<HashMap<Uuid, String>> {
        macro_rules! named {
            ($noun:ident) => {
                $noun::Entity::find()
                    .select_only()
                    .columns([$noun::Column::Id, $noun::Column::Name])
                    .filter($noun::Column::Id.is_in(ids.iter().copied()))
                    .into_tuple::<(Uuid, String)>()
                    .all(&self.store.read)
                    .await?
            };
        }
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let (companies, channels, keys) = (named!(company), named!(channel), named!(api_key));
        Ok(companies.into_iter().chain(channels).chain(keys).collect())
    }

    /// A part of the recorded changes, newest first.
    pub async fn page(self, filter: Filter<'_>, window: impl Into<Window<Uuid>>) -> Result<Page<Change>> {
        let window = window.into();
        let limit = window.limit;
        let (offset, after) = window.parts();
        let mut matching = change::Entity::find();
        if !filter.what.is_empty() {
            let words = filter.what.iter().map(|what| what.as_str());
            matching = matching.filter(change::Column::What.is_in(words));
        }
        if let Some(subject) = filter.subject {
            matching = matching.filter(change::Column::Subject.eq(subject));
        }
        if let Some(who) = filter.who {
            matching = matching.filter(change::Column::Who.eq(who));
        }
        // Ids are ordered by time, so that every index that ends with them finds a span of it.
        if let Some(from) = filter.from {
            matching = matching.filter(change::Column::Id.gte(first_id(from)));
        }
        if let Some(to) = filter.to {
            matching = matching.filter(change::Column::Id.lt(first_id(to)));
        }
        let total = matching.clone().count(&self.store.read).await?;
        if let Some(after) = after {
            matching = matching.filter(change::Column::Id.lt(after));
        }
        let models = matching
            .order_by_desc(change::Column::Id)
            .offset(offset)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        Ok(Page { records: models.into_iter().map(Change::try_from).collect::<Result<_>>()?, total })
    }
}
