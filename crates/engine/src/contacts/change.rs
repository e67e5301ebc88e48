//! Changes of many contacts: tagging, untagging and deleting those that a caller names or a search finds, in short
//! steps.
//!
//! A change goes on when the caller leaves. A company has one such change at a time; repeating a change has no further
//! effect.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use dashmap::DashSet;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::contacts::Contacts;
use crate::{Error, RETRY_AFTER};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::inbound::PeerKey;
use domain::phone::PhoneNumber;
use store::changes::{ContactRecord, Who};
use store::{Care, ContactDraft, ContactFilter, Membership, Upserted};

/// Contacts that one request may name.
pub const MOST_AT_ONCE: usize = 10_000;

/// The people, by their numbers and addresses, whose conversations are removed in one step: each may have many messages.
const ERASED_AT_ONCE: usize = 50;

/// The contacts of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whom {
    /// The named ones.
    Named {
        /// By their ids.
        ids: Vec<Uuid>,
        /// And by their numbers.
        numbers: Vec<PhoneNumber>,
    },
    /// The contacts of a list.
    Found(ContactFilter),
}

/// Companies with a change under way.
#[derive(Clone, Default)]
pub(crate) struct Changes(Arc<DashSet<Uuid>>);

/// A company's change; the next one may begin when this is dropped.
struct Turn(Changes, Uuid);

/// The kind of change.
#[derive(Debug, Clone, Copy)]
enum What {
    Members(Uuid, Membership),
    Delete,
}

impl Changes {
    fn begin(&self, company: Uuid) -> Option<Turn> {
        self.0.insert(company).then(|| Turn(self.clone(), company))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.0.remove(&self.1);
    }
}

impl Contacts<'_> {
    /// Gives contacts a tag or takes it from them. Returns how many changed.
    ///
    /// # Errors
    ///
    /// `tag_not_found`; [`Error::Unavailable`] while another change of the company is under way, and when the service
    /// stops before all is done.
    pub async fn change_members(
        &self,
        who: &Who,
        company: Uuid,
        tag: Uuid,
        whom: Whom,
        membership: Membership,
    ) -> Result<u64, Error> {
        if self.engine.records_of(company).await?.of(company).tags().find(tag).await?.is_none() {
            return Err(no_such_tag().into());
        }
        let record = ContactRecord::new(who, company).about("tag", tag);
        self.change_many(record, company, whom, What::Members(tag, membership)).await
    }

    /// Deletes contacts, and what they wrote. Returns how many.
    pub async fn delete(&self, who: &Who, company: Uuid, whom: Whom) -> Result<u64, Error> {
        self.change_many(ContactRecord::new(who, company), company, whom, What::Delete).await
    }

    /// Deletes a tag: from now on it reaches nobody, and it is removed from its contacts in steps. Returns whether
    /// there was one.
    pub async fn delete_tag(&self, who: &Who, company: Uuid, tag: Uuid) -> Result<bool, Error> {
        let deleted = self.engine.records_of(company).await?.of(company).tags().delete(who, tag).await?;
        self.engine.0.imports.wake();
        Ok(deleted)
    }

    /// Creates or updates contacts. Returns the id of each and what changed, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away: then the earlier contacts may be written.
    pub async fn write(
        &self,
        who: &Who,
        company: Uuid,
        drafts: Vec<ContactDraft>,
    ) -> Result<Vec<(Uuid, Upserted)>, Error> {
        let (tell, told) = oneshot::channel();
        let (engine, record) = (self.engine.clone(), ContactRecord::new(who, company));
        self.engine.0.threads[1].spawn_fn(move || {
            actix::spawn(async move {
                let _ = tell.send(engine.contacts().write_in_lots(record, company, &drafts).await);
            });
        });
        Ok(told.await.map_err(|_| stopped())??)
    }

    async fn write_in_lots(
        &self,
        mut record: ContactRecord,
        company: Uuid,
        drafts: &[ContactDraft],
    ) -> store::Result<Vec<(Uuid, Upserted)>> {
        let store = self.engine.store();
        let mut pace = store.contacts().gentle_pace();
        let mut written = Vec::with_capacity(drafts.len());
        let mut left = drafts;
        while !left.is_empty() {
            let (lot, rest) = left.split_at(pace.fitting(left.iter().map(ContactDraft::rows)));
            let started = Instant::now();
            written
                .extend(store.of(company).contacts().write_drafts(&mut record, lot, Timestamp::now()).await?);
            pace.wrote(lot.iter().map(ContactDraft::rows).sum(), started.elapsed());
            pace.pause().await;
            store.of(company).index().step(Care::Passing).await?;
            left = rest;
        }
        Ok(written)
    }

    async fn change_many(
        &self,
        record: ContactRecord,
        company: Uuid,
        whom: Whom,
        what: What,
    ) -> Result<u64, Error> {
        let turn = self.engine.0.contact_changes.begin(company).ok_or_else(stopped)?;
        let (tell, told) = oneshot::channel();
        let engine = self.engine.clone();
        // In a task of its own, so that the change is completed.
        self.engine.0.threads[1].spawn_fn(move || {
            actix::spawn(async move {
                let changed = engine.contacts().change_in_steps(record, company, whom, what).await;
                // First, so that the caller's next change does not meet this one.
                drop(turn);
                let _ = tell.send(changed);
            });
        });
        match told.await.map_err(|_| stopped())?? {
            Some(changed) => Ok(changed),
            None => Err(no_such_tag().into()),
        }
    }

    /// Removes what these contacts wrote, on all channels, the notes about it, and the values that sends had for them. The
    /// record says how much.
    pub(crate) async fn erase_conversations(
        &self,
        record: &mut ContactRecord,
        company: Uuid,
        contacts: &[Uuid],
    ) -> store::Result<()> {
        let conversations = self.engine.store().of(company).conversations();
        let keys = self.engine.conversations(company).keys_of_contacts(contacts).await?;
        for keys in keys.chunks(ERASED_AT_ONCE) {
            conversations.erase(record, keys).await?;
        }
        let shared = &self.engine.0.shared;
        let numbers: Vec<_> = keys.iter().filter_map(PeerKey::number).collect();
        for numbers in numbers.chunks(ERASED_AT_ONCE) {
            let numbers: HashSet<_> = numbers.iter().copied().collect();
            shared.contents.erase_values(&shared.store, company, &numbers).await?;
        }
        Ok(())
    }

    async fn change_in_steps(
        &self,
        mut record: ContactRecord,
        company: Uuid,
        whom: Whom,
        what: What,
    ) -> store::Result<Option<u64>> {
        let store = self.engine.store();
        let mut pace = store.contacts().gentle_pace();
        let mut left = match whom {
            Whom::Named { mut ids, numbers } => {
                let found = store.of(company).contacts().with_numbers(&numbers).await?;
                ids.extend(found.into_iter().map(|(_, id)| id));
                ids.sort_unstable();
                ids.dedup();
                Left::Ids(ids)
            }
            Whom::Found(filter) => Left::Places(store.of(company).contacts().search(&filter).await?),
        };
        let mut changed = 0;
        loop {
            let ids = match &mut left {
                Left::Ids(ids) if ids.is_empty() => break,
                Left::Places(places) if places.is_empty() => break,
                Left::Ids(ids) => ids.split_off(ids.len().saturating_sub(pace.rows())),
                Left::Places(places) => {
                    let lot = places.split_off(places.len().saturating_sub(pace.rows()));
                    store.of(company).contacts().at(&lot).await?
                }
            };
            let tags = match what {
                What::Delete => store.contacts().count_tags_of(&ids).await?,
                What::Members(..) => HashMap::new(),
            };
            // A contact is one row, and each tag that it has, gets or loses is another.
            let rows = |id: &Uuid| match what {
                What::Delete => 1 + tags.get(id).copied().unwrap_or_default(),
                What::Members(..) => 2,
            };
            let mut ids = ids.as_slice();
            while !ids.is_empty() {
                let (lot, rest) = ids.split_at(pace.fitting(ids.iter().map(rows)));
                let started = Instant::now();
                changed += match what {
                    What::Delete => {
                        // First, while their numbers are known.
                        self.erase_conversations(&mut record, company, lot).await?;
                        store.of(company).contacts().delete(&mut record, lot).await?
                    }
                    What::Members(tag, membership) => {
                        let now = Timestamp::now();
                        match store
                            .of(company)
                            .contacts()
                            .change_members(&mut record, tag, lot, membership, now)
                            .await?
                        {
                            Some(changed) => changed,
                            None => return Ok(None),
                        }
                    }
                };
                pace.wrote(lot.iter().map(rows).sum(), started.elapsed());
                pace.pause().await;
                // Searches read changed contacts one by one until these are indexed again.
                store.of(company).index().step(Care::Passing).await?;
                ids = rest;
            }
        }
        Ok(Some(changed))
    }
}

/// The contacts that are not changed yet.
enum Left {
    Ids(Vec<Uuid>),
    Places(Vec<u32>),
}

/// The refusal for a tag that the company does not have.
pub fn no_such_tag() -> Refusal {
    Refusal::new(Code::TagNotFound, "this company has no such tag: GET /api/v1/contacts/tags lists them")
}

/// A retry may succeed soon: another change is under way, or the service is stopping.
fn stopped() -> Error {
    Error::Unavailable { retry_after: RETRY_AFTER }
}
