//! Segments: filters of contacts that a company saved under names. A segment has no contacts of its own: a list of
//! it, or a send to it, has those that its filter selects at that moment.
//!
//! A filter may name what is gone since: a tag, a send, or an own field. It would select other contacts without it, so that such a
//! segment selects nobody and says why.

use std::collections::HashSet;

use entity::saved_segment::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, Insert, PaginatorTrait as _, QueryFilter as _, Select, Set,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::contacts::edit::Edited;
use crate::contacts::filter::ContactFilter;
use crate::contacts::search::ordinal;
use crate::contacts::signed;
use crate::dialect::Rows;
use crate::nouns::Segments;
use crate::{Error, Result, Transaction, fetch, fetch_one};
use clock::Timestamp;
use clock::database::new_id;
use domain::contact::{tag_identity, tag_name};
use domain::own_field::OwnField;
use domain::phone::PhoneNumber;
use domain::send::State;

/// The most segments of a company.
pub const MOST_SEGMENTS: u64 = 100;
/// The longest name of a segment, in characters.
pub const NAME_CHARS: usize = 100;

/// The form in which filters are stored. A filter of another version selects nobody.
const VERSION: u8 = 1;

/// The numbers come as one text: a row for each would cost more than finding it.
const PHONES: &str = "SELECT string_agg(CAST(contact.phone AS TEXT), ',')";

/// A segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedSegment {
    /// Time-ordered id.
    pub id: Uuid,
    /// Unique in the company; case does not count.
    pub name: String,
    /// What it selects; nobody while it lacks something.
    pub filter: ContactFilter,
    /// What its filter names and the company has no more.
    pub lack: Option<Lack>,
    /// When it was saved first.
    pub created_at: Timestamp,
    /// When it was renamed or replaced last.
    pub updated_at: Timestamp,
}

domain::worded! {
    /// Why a segment selects nobody.
    pub enum Lack {
        /// A tag of its filter is gone.
        Tag = "tag_gone",
        /// The send of its filter is gone: finished sends are removed at a configured age.
        Send = "send_gone",
        /// An own field of its filter is gone, or another one with other values has its key.
        Field = "field_gone",
        /// This program cannot read its filter: a later version saved it.
        Unreadable = "unreadable",
    }
}

/// The outcome of saving a new segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewSegment {
    /// It is saved under this id.
    Saved(Uuid),
    /// Another segment of the company has the name.
    Taken,
    /// The company has [`MOST_SEGMENTS`].
    Full,
}

/// A filter as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredFilter<F> {
    version: u8,
    filter: F,
}

/// The name of a segment in one form, as that of a tag. `None` when it is empty, longer than [`NAME_CHARS`], or has several
/// lines.
pub fn segment_name(text: &str) -> Option<String> {
    let name = tag_name(text);
    let is_name = !name.is_empty() && !name.contains(['\n', '\r']) && name.chars().count() <= NAME_CHARS;
    is_name.then(|| name.into_owned())
}

impl Segments<'_> {
    /// All segments of the company, by name.
    pub async fn all(self) -> Result<Vec<SavedSegment>> {
        let rows = self.saved().all(&self.store.read).await?;
        let rows: Vec<_> = rows.into_iter().map(|row| (read(&row.filter), row)).collect();
        let (mut tags, mut sends, mut has_conditions) = (Vec::new(), Vec::new(), false);
        for filter in rows.iter().filter_map(|(filter, _)| filter.as_ref()) {
            tags.extend(filter.tags.iter().chain(&filter.without).copied());
            sends.extend(filter.reached.map(|reached| reached.send));
            has_conditions |= !filter.fields.is_empty();
        }
        let tags = self.store.of(self.company).tags().among(&tags).await?;
        let sends = self.sends(&sends).await?;
        let own = match has_conditions {
            true => self.store.of(self.company).fields().all().await?,
            false => Vec::new(),
        };
        let segment = |(filter, row): (Option<ContactFilter>, Model)| {
            let lack =
                filter.as_ref().map_or(Some(Lack::Unreadable), |filter| lack(filter, (&tags, &sends), &own));
            SavedSegment {
                id: row.id,
                name: row.name,
                filter: filter.filter(|_| lack.is_none()).unwrap_or_else(ContactFilter::nobody),
                lack,
                created_at: Timestamp::from_millis(row.created_at),
                updated_at: Timestamp::from_millis(row.updated_at),
            }
        };
        let mut segments: Vec<SavedSegment> = rows.into_iter().map(segment).collect();
        // Sorted here, because the order of letters in SQL depends on the database.
        segments.sort_by_cached_key(|segment| (tag_identity(&segment.name), segment.id));
        Ok(segments)
    }

    /// The segment of this id, if the company has it.
    pub async fn find(self, id: Uuid) -> Result<Option<SavedSegment>> {
        Ok(self.all().await?.into_iter().find(|segment| segment.id == id))
    }

    /// Saves a filter under a name, see [`segment_name`].
    pub async fn add(
        self,
        who: &Who,
        name: &str,
        filter: &ContactFilter,
        now: Timestamp,
    ) -> Result<NewSegment> {
        let transaction = self.begin().await?;
        if self.named(&transaction, name).await?.is_some() {
            return transaction.unchanged(NewSegment::Taken).await;
        }
        if self.saved().count(&transaction).await? >= MOST_SEGMENTS {
            return transaction.unchanged(NewSegment::Full).await;
        }
        let id = new_id();
        let row = Model {
            id,
            company_id: self.company,
            name: name.to_owned(),
            identity: tag_identity(name),
            filter: written(filter)?,
            created_at: now.millis(),
            updated_at: now.millis(),
        };
        Insert::one(row).exec_without_returning(&transaction).await?;
        let after = json!({ "id": id, "name": name });
        changes::record_one(&transaction, who, What::Segments, self.company, None, after).await?;
        transaction.commit().await?;
        Ok(NewSegment::Saved(id))
    }

    /// Gives a segment another name, another filter, or both. Sends that were accepted before keep their recipients.
    pub async fn change(
        self,
        who: &Who,
        id: Uuid,
        name: Option<&str>,
        filter: Option<&ContactFilter>,
        now: Timestamp,
    ) -> Result<Edited> {
        let transaction = self.begin().await?;
        let Some(old) = self.stored(&transaction, id).await? else {
            return transaction.unchanged(Edited::Missing).await;
        };
        let name = name.unwrap_or(&old.name);
        if self.named(&transaction, name).await?.is_some_and(|other| other != id) {
            return transaction.unchanged(Edited::Taken).await;
        }
        let filter = filter.map(written).transpose()?.unwrap_or_else(|| old.filter.clone());
        let is_replaced = filter != old.filter;
        if name == old.name && !is_replaced {
            return transaction.unchanged(Edited::Done).await;
        }
        let columns = ActiveModel {
            name: Set(name.to_owned()),
            identity: Set(tag_identity(name)),
            filter: Set(filter),
            updated_at: Set(now.millis()),
            ..Default::default()
        };
        Entity::update_many().set(columns).filter(Column::Id.eq(id)).exec(&transaction).await?;
        let before = json!({ "id": id, "name": old.name });
        let after = match is_replaced {
            true => json!({ "id": id, "name": name, "filter": "replaced" }),
            false => json!({ "id": id, "name": name }),
        };
        changes::record_one(&transaction, who, What::Segments, self.company, Some(before), after).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    /// Deletes a segment, and returns whether there was one. Its contacts stay, and so do sends that it was named in.
    pub async fn delete(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.begin().await?;
        let Some(old) = self.stored(&transaction, id).await? else {
            return transaction.unchanged(false).await;
        };
        Entity::delete_by_id(id).exec(&transaction).await?;
        let before = json!({ "id": id, "name": old.name });
        changes::record_one(&transaction, who, What::Segments, self.company, Some(before), json!("deleted"))
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The valid numbers of the contacts at these places of the company's list, in any order. Places without a contact
    /// have none.
    pub async fn phones_at(self, places: &[u32]) -> Result<Vec<PhoneNumber>> {
        let wanted = Rows::of_ordinals(self.store.backend, places.iter().copied());
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.behind([self.company.into()]);
        let select = format!(
            "{PHONES} FROM {wanted} AS wanted CROSS JOIN contact
             WHERE contact.company_id = $1 AND contact.ordinal = wanted.ordinal"
        );
        let text = fetch_one::<Option<String>>(&self.store.read, select, values).await?.flatten();
        numbers(&text.unwrap_or_default())
    }

    /// The valid numbers of the next `limit` contacts that have one, ascending, each with the contact's place in the
    /// company's list. `after` is the last one that was read: several contacts may have the same number.
    pub async fn phones_after(
        self,
        after: Option<(PhoneNumber, u32)>,
        limit: u64,
    ) -> Result<Vec<(PhoneNumber, u32)>> {
        let select = "SELECT phone, ordinal FROM contact
             WHERE company_id = $1 AND phone >= $2 AND (phone > $2 OR ordinal > $3)
             ORDER BY phone, ordinal LIMIT $4";
        let (phone, place) = after.map_or((0, 0), |(phone, place)| (phone.as_i64(), i64::from(place)));
        let values = [self.company.into(), phone.into(), place.into(), signed(limit).into()];
        let rows = fetch::<(i64, i64)>(&self.store.read, select, values).await?;
        let read = |(phone, place): (i64, i64)| {
            let phone = PhoneNumber::from_i64(phone)
                .ok_or_else(|| Error::Impossible(format!("the number {phone} of a contact")))?;
            Ok((phone, ordinal(place)?))
        };
        rows.into_iter().map(read).collect()
    }

    /// The sends of the company among these that were accepted.
    async fn sends(self, ids: &[Uuid]) -> Result<HashSet<Uuid>> {
        let asked = Rows::of_ids(self.store.backend, ids);
        if asked.is_empty() {
            return Ok(HashSet::new());
        }
        let (asked, values) = asked.behind([self.company.into(), State::Resolving.as_i16().into()]);
        let select = format!(
            "SELECT send.id FROM {asked} AS asked JOIN send ON send.id = asked.id
             WHERE send.company_id = $1 AND send.state > $2"
        );
        Ok(fetch(&self.store.read, select, values).await?.into_iter().collect())
    }

    /// A transaction in which the company's segments change: one after the other, as its contacts do.
    async fn begin(self) -> Result<Transaction> {
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        Ok(transaction)
    }

    /// The segment of this name.
    async fn named(self, transaction: &Transaction, name: &str) -> Result<Option<Uuid>> {
        let named = self.saved().filter(Column::Identity.eq(tag_identity(name)));
        Ok(named.one(transaction).await?.map(|segment| segment.id))
    }

    async fn stored(self, transaction: &Transaction, id: Uuid) -> Result<Option<Model>> {
        Ok(self.saved().filter(Column::Id.eq(id)).one(transaction).await?)
    }

    fn saved(self) -> Select<Entity> {
        Entity::find().filter(Column::CompanyId.eq(self.company))
    }
}

/// The numbers of the one text that a query joins.
fn numbers(text: &str) -> Result<Vec<PhoneNumber>> {
    let number = |text: &str| text.parse().ok().and_then(PhoneNumber::from_i64);
    let wrong = |text: &str| Error::Impossible(format!("the number {text:?} of a contact"));
    text.split_terminator(',').map(|text| number(text).ok_or_else(|| wrong(text))).collect()
}

fn read(stored: &str) -> Option<ContactFilter> {
    let version = serde_json::from_str::<StoredFilter<serde_json::Value>>(stored).ok()?.version;
    let read = serde_json::from_str::<StoredFilter<ContactFilter>>(stored).ok();
    read.filter(|_| version == VERSION).map(|stored| stored.filter)
}

fn written(filter: &ContactFilter) -> Result<String> {
    serde_json::to_string(&StoredFilter { version: VERSION, filter })
        .map_err(|error| Error::Impossible(format!("a filter that cannot be written: {error}")))
}

/// What the filter names and is not among these.
fn lack(
    filter: &ContactFilter,
    (known_tags, known_sends): (&HashSet<Uuid>, &HashSet<Uuid>),
    own: &[OwnField],
) -> Option<Lack> {
    let ContactFilter { search: _, tags, without, reached, fields } = filter;
    if !tags.iter().chain(without).all(|tag| known_tags.contains(tag)) {
        return Some(Lack::Tag);
    }
    if reached.is_some_and(|reached| !known_sends.contains(&reached.send)) {
        return Some(Lack::Send);
    }
    fields.iter().any(|condition| !condition.fits(own)).then_some(Lack::Field)
}

#[cfg(test)]
mod tests;
