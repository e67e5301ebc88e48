//! Records that requests list, search and change: the store's nouns, each bound to one company, and operators' over all
//! of them.
//!
//! [`Engine::company`] gives access to one company's records: the store takes the company's id into the query itself,
//! so that no handler can forget it or name the store. [`Engine::operator`] gives access across companies. Both reach
//! only the nouns that a door here names. What more than one row depends on (caches, actors, other nodes) is changed by
//! the [`Engine`] instead.
//!
//! Requests have a bounded share of the database's connections, so that no number of them holds up accepting or
//! dispatching, and companies take turns. A caller that waited too long for a turn is asked to retry.

pub mod tiers;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio::time::timeout;
use uuid::Uuid;

use super::fair_queue::{FairQueue, Grant, Share};
use super::{Engine, Error, RETRY_AFTER, Who};
use domain::error::{Code, Refusal};
use domain::phone::Country;
use store::companies::Company;
use store::countries::OwnCountry;
use store::{
    AllChannels, Changes, Channels, Companies, CompanyLook, CompanyStore, ContactNotes, Contacts, Drafts,
    Imports, Keys, Messages, OwnFields, Segments, Sends, Store, Suppressions, Tags, Templates, Tiers,
};

pub use store::Error as QueryError;

/// The types of the record of changes.
pub mod changes {
    pub use store::changes::{Change, Filter, What};
}

/// The types of channels.
pub mod channels {
    pub use store::channels::Owned;
    pub use store::channels::tier_end::TierEnd;
    pub use store::overview::ChannelBacklog;
}

/// The types of companies.
pub mod companies {
    pub use store::companies::{Belongings, Company};
}

/// The types of contacts and tags.
pub mod contacts {
    pub use store::{
        BySend, ContactChange, ContactDraft, ContactFilter, ContactNote, ContactPosition, Counting, Edited,
        MOST_NOTES, Membership, NOTE_CHARS, NewNote, NotesOf, Upserted,
    };
}

/// The types of the country of a company.
pub mod country {
    pub use store::countries::OwnCountry;
}

/// The types of drafts.
pub mod drafts {
    pub use store::drafts::{Draft, LONGEST, NewDraft};
}

/// The types of imports.
pub mod imports {
    pub use store::imports::{Counts, Import, MOST_OPEN, Rejected, State};
}

/// The types of API keys.
pub mod keys {
    pub use store::api_keys::ApiKey;
    pub use store::api_keys::NewKey;
}

/// The types of how pages look.
pub mod looks {
    pub use store::looks::LogoChange;
}

/// The types of the library of media.
pub mod media {
    pub use store::media::{LibraryFile, MediaTotals};
}

/// The types of messages.
pub mod messages {
    pub use store::sends::messages::{Addressed, Found, Message, SendSnapshot, ToPerson};
}

/// The types of sends.
pub mod sends {
    pub use store::overview::Backlog;
    pub use store::sends::Sent;
    pub use store::sends::list::{Filter, Record, TemplateName};
}

/// The types of segments.
pub mod segments {
    pub use store::segments::{Lack, MOST_SEGMENTS, NAME_CHARS, NewSegment, SavedSegment, segment_name};
}

/// The types of suppressions.
pub mod suppressions {
    pub use store::suppressions::Kept;
}

/// The types of templates.
pub mod templates {
    pub use store::templates::{Filter, Listed, Record};
}

/// The types of webhook endpoints.
pub mod webhooks {
    pub use store::webhooks::{Delivery, MOST_ENDPOINTS};
}

/// Operators share their turns; no company has this id.
const OPERATORS: Uuid = Uuid::nil();
/// Visitors who are not signed in share theirs. Nor has a company this id.
const VISITORS: Uuid = Uuid::max();

/// The connections for lists and searches, and the queue for them.
pub(super) struct RequestShare {
    store: Store,
    queue: Arc<FairQueue>,
    /// One entry for each company that asked.
    turns: DashMap<Uuid, Share>,
    patience: Duration,
}

/// The store, for one request; the turn ends with it. Only the engine itself can reach it.
pub(super) struct Records {
    store: Store,
    _turn: Grant,
}

/// One company's records, for one request. Others wait until it is dropped.
pub struct CompanyRecords {
    records: Records,
    company: Uuid,
}

/// All companies' records, for one request of an operator. Others wait until it is dropped.
pub struct OperatorRecords(Records);

impl Deref for Records {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Declares which nouns of the store records lead to.
macro_rules! doors {
    ($records:ident: $($(#[$doc:meta])+ $door:ident: $noun:ident;)+) => {
        impl $records {
            $(
                $(#[$doc])+
                pub fn $door(&self) -> $noun<'_> {
                    self.store().$door()
                }
            )+
        }
    };
}

doors! { CompanyRecords:
    /// Its sends.
    sends: Sends;
    /// Its contacts.
    contacts: Contacts;
    /// The notes on its contacts.
    contact_notes: ContactNotes;
    /// Its tags.
    tags: Tags;
    /// Its segments.
    segments: Segments;
    /// The own fields of its contacts.
    fields: OwnFields;
    /// Its imports of contacts.
    imports: Imports;
    /// The recipients that its sends skip.
    suppressions: Suppressions;
    /// The new sends that its people are writing.
    drafts: Drafts;
    /// Its channels.
    channels: Channels;
    /// The templates of its business accounts.
    templates: Templates;
    /// Its API keys.
    keys: Keys;
    /// How its pages look.
    look: CompanyLook;
}

doors! { OperatorRecords:
    /// Every company.
    companies: Companies;
    /// The channels of every company.
    channels: AllChannels;
    /// Every tier.
    tiers: Tiers;
    /// The record of changes.
    changes: Changes;
}

impl CompanyRecords {
    /// The company's id.
    pub(super) const fn company_id(&self) -> Uuid {
        self.company
    }

    fn store(&self) -> CompanyStore<'_> {
        self.records.of(self.company)
    }

    /// The messages of its sends, which are read with the snapshot of their send.
    pub fn messages(&self) -> Messages<'_> {
        self.records.messages()
    }

    /// The company itself.
    pub async fn details(&self) -> store::Result<Option<Company>> {
        self.store().details().await
    }

    /// The country of its numbers.
    pub async fn country(&self) -> store::Result<OwnCountry> {
        self.store().country().await
    }

    /// Sets the country of its numbers; `None` leaves it to the guess.
    pub async fn set_country(&self, who: &Who, country: Option<Country>) -> store::Result<bool> {
        self.store().set_country(who, country).await
    }
}

impl OperatorRecords {
    fn store(&self) -> &Store {
        &self.0
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> store::Result<()> {
        self.store().ping().await
    }

    /// The records of the company with this id, in the operators' turn.
    pub fn company(self, id: Uuid) -> CompanyRecords {
        CompanyRecords { records: self.0, company: id }
    }

    /// Adds a company. Refused with `already_exists` when another one has the name.
    pub async fn add_company(&self, who: &Who, name: &str, tier: &str) -> Result<Company, Error> {
        self.companies().add(who, name, tier).await.map_err(|error| unless_taken(error, name))
    }

    /// Gives a company another name and tier. Refused with `already_exists` when another one has the name.
    pub async fn change_company(
        &self,
        who: &Who,
        company: &Company,
        name: &str,
        tier: &str,
    ) -> Result<Company, Error> {
        let changed = self.companies().change(who, company, name, tier).await;
        changed.map_err(|error| unless_taken(error, name))
    }
}

fn unless_taken(error: store::Error, name: &str) -> Error {
    match error {
        store::Error::Taken(_) => Error::Refused(Refusal::new(
            Code::AlreadyExists,
            format!("there is a company `{name}` already: choose another name"),
        )),
        other => other.into(),
    }
}

impl RequestShare {
    /// As many turns at once as `store` has connections; a request waits for its turn at most for `patience`.
    pub(super) fn new(store: Store, patience: Duration) -> Self {
        Self { queue: FairQueue::new(store.connections()), turns: DashMap::new(), store, patience }
    }

    async fn turn(&self, sharer: Uuid) -> Result<Records, Error> {
        let turn = self.queue.enqueue(&mut self.turns.entry(sharer).or_default(), 1);
        match timeout(self.patience, turn.come()).await {
            Ok(Some(turn)) => Ok(Records { store: self.store.clone(), _turn: turn }),
            Ok(None) | Err(_) => {
                tracing::warn!(patience = ?self.patience, "too many requests wait to read the database");
                Err(Error::Unavailable { retry_after: RETRY_AFTER })
            }
        }
    }
}

/// The logo with this hash, a PNG file, of whichever company: visitors see it before they sign in, and share their turns.
///
/// # Errors
///
/// [`Error::Unavailable`] when no turn comes in time, or the database is away.
pub async fn logo(engine: &Engine, hash: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(engine.0.request_share.turn(VISITORS).await?.looks().logo(hash).await?)
}

impl Engine {
    /// The records of this company, for one request. Drop them as soon as possible: others wait for them.
    pub async fn company(&self, id: Uuid) -> Result<CompanyRecords, Error> {
        Ok(CompanyRecords { records: self.records_of(id).await?, company: id })
    }

    /// All companies' records, for one request of an operator.
    pub async fn operator(&self) -> Result<OperatorRecords, Error> {
        Ok(OperatorRecords(self.all_records().await?))
    }

    /// The store, for the engine's work on a request of this company.
    pub(super) async fn records_of(&self, company_id: Uuid) -> Result<Records, Error> {
        self.0.request_share.turn(company_id).await
    }

    /// The store, for the engine's work on a request of an operator.
    pub(super) async fn all_records(&self) -> Result<Records, Error> {
        self.0.request_share.turn(OPERATORS).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use store::Options;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A share with one connection.
    async fn share(patience: Duration) -> (RequestShare, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            url: format!("sqlite://{}", directory.path().join("pombo.db").display()),
            connections: 3,
            acquire_timeout: PATIENCE,
            statement_timeout: Duration::ZERO,
            synchronous_full: false,
            migrate: true,
        };
        let store = Store::open(&options).await.unwrap();
        assert_eq!(store.connections(), 1);
        (RequestShare::new(store, patience), directory)
    }

    #[actix::test]
    async fn a_company_with_many_requests_lets_another_one_take_its_turn() {
        let (share, _directory) = share(PATIENCE).await;
        let (many, one) = (Uuid::now_v7(), Uuid::now_v7());
        let first = share.turn(many).await.unwrap();
        let mut waiting: Vec<_> = (0..50).map(|_| Box::pin(share.turn(many))).collect();
        assert!(waiting.iter_mut().all(|turn| turn.now_or_never().is_none()));
        let mut other = Box::pin(share.turn(one));
        assert!((&mut other).now_or_never().is_none());
        drop(first);
        assert!((&mut waiting[0]).now_or_never().is_none());
        assert!(other.now_or_never().is_some_and(|turn| turn.is_ok()), "it stood behind fifty others");
        assert!((&mut waiting[0]).now_or_never().is_some_and(|turn| turn.is_ok()));
    }

    #[actix::test]
    async fn a_wait_for_a_turn_that_times_out_takes_no_turn_from_others() {
        let (share, _directory) = share(Duration::from_millis(1)).await;
        let company = Uuid::now_v7();
        let first = share.turn(company).await.unwrap();
        assert!(matches!(share.turn(company).await, Err(Error::Unavailable { .. })));
        drop(first);
        assert!(share.turn(company).await.is_ok());
    }
}
