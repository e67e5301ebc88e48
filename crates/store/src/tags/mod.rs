//! Tags: their list, the numbers of a tag's contacts in order, and the creation of missing tags.
//!
//! A tag is expanded from the one index `(tag_id, phone)`, never through the contacts themselves: so a tag of a million
//! contacts is read in less than a second.

mod edit;

use std::collections::{BTreeSet, HashMap, HashSet};

use entity::tag::{Column, Entity, Model};
use sea_orm::sea_query::LikeExpr;
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, QueryFilter as _, QueryOrder as _, Select,
};
use uuid::Uuid;

use crate::contacts::{LONGEST_SEARCH, folded};
use crate::dialect::{Cell, Rows, Type};
use crate::nouns::Tags;
use crate::{Error, Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::contact::{Tag, TagSummary, tag_identity};
use domain::fold::{fold, like_anywhere};
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;

/// `upkeep` of a tag that was renamed: the texts of its contacts are being rewritten.
pub(crate) const RENAMED: i16 = 1;
/// `upkeep` of a tag that was deleted: it is in no list, and is being removed from its contacts.
pub(crate) const DELETED: i16 = 2;

/// The default colours of tags: all dark enough to carry white text.
const COLORS: [&str; 12] = [
    "#b3261e", "#a8410a", "#7d5700", "#4c6b00", "#1b6e3c", "#00696b", "#005f99", "#2f4fc4", "#5b3fbf",
    "#8a2f9e", "#a3195b", "#566069",
];

/// The numbers come as one text: a row for each number would cost more than reading it from the index.
const PHONES: &str = "SELECT string_agg(CAST(phone AS TEXT), ',') FROM (
        SELECT phone FROM contact_tag
        WHERE tag_id = $1 AND phone > $2
        AND EXISTS (SELECT 1 FROM tag WHERE id = $1 AND company_id = $3 AND upkeep <> 2)
        ORDER BY phone LIMIT $4
    ) AS chunk";

impl Tags<'_> {
    /// One page of the tags of `company`, newest first, and how many there are in all. `search` is matched
    /// anywhere in the name, without case and accents.
    pub async fn page(self, page: PageRequest, search: Option<&str>) -> Result<Page<Tag>> {
        let mut matching = self.present();
        if let Some(text) = folded(search) {
            if text.len() > LONGEST_SEARCH {
                return Ok(Page { records: Vec::new(), total: 0 });
            }
            let anywhere = LikeExpr::new(like_anywhere(&text)).escape('\\');
            matching = matching.filter(Column::NameFolded.like(anywhere));
        }
        let newest = matching.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        Ok(self.store.page_of(newest, page).await?.map(tag))
    }

    /// The tags of `company` that are not being removed.
    pub(crate) fn present(self) -> Select<Entity> {
        Entity::find().filter(Column::CompanyId.eq(self.company)).filter(Column::Upkeep.ne(DELETED))
    }

    /// Those of these ids that are tags of the company.
    pub async fn among(self, ids: &[Uuid]) -> Result<HashSet<Uuid>> {
        let asked = Rows::of_ids(self.store.backend, ids);
        if asked.is_empty() {
            return Ok(HashSet::new());
        }
        let (asked, values) = asked.behind([self.company.into()]);
        let select = format!(
            "SELECT tag.id FROM {asked} AS asked JOIN tag ON tag.id = asked.id
             WHERE tag.company_id = $1 AND tag.upkeep <> {DELETED}"
        );
        Ok(fetch(&self.store.read, select, values).await?.into_iter().collect())
    }

    /// The least number that has the tag, if it has any.
    pub async fn first_number(self, tag: Uuid) -> Result<Option<PhoneNumber>> {
        Ok(self.phones(tag, None, 1).await?.0.pop())
    }

    /// The distinct valid numbers of the next `limit` contacts of a tag after `after`, ascending, and whether there may
    /// be more. A tag that is unknown, or another company's, has none.
    pub async fn phones(
        self,
        tag: Uuid,
        after: Option<PhoneNumber>,
        limit: u32,
    ) -> Result<(Vec<PhoneNumber>, bool)> {
        let after = after.map_or(0, PhoneNumber::as_i64);
        let values = [tag.into(), after.into(), self.company.into(), i64::from(limit).into()];
        let text = fetch_one::<Option<String>>(&self.store.read, PHONES, values).await?.flatten();
        let text = text.unwrap_or_default();
        let mut phones = Vec::with_capacity(text.len() / 12);
        for number in text.split_terminator(',') {
            let phone = number.parse().ok().and_then(PhoneNumber::from_u64);
            phones.push(phone.ok_or_else(|| Error::Impossible(format!("the number {number:?} in a tag")))?);
        }
        // Both databases join them in the order of the inner select, but neither guarantees it.
        if !phones.is_sorted() {
            phones.sort_unstable();
        }
        let may_be_more = phones.len() >= limit as usize;
        // Repeats are removed here, because in the database that costs half as much again as the rest of the query.
        phones.dedup();
        Ok((phones, may_be_more))
    }

    /// Those of these numbers that belong to a contact with one of the tags. One query, however many there are.
    pub async fn having_any(self, tags: &[Uuid], numbers: &[PhoneNumber]) -> Result<HashSet<PhoneNumber>> {
        let mut asked = Rows::new(self.store.backend, &[("phone", Type::Int)]);
        numbers.iter().for_each(|number| asked.push([number.as_i64().into()]));
        let wanted = Rows::of_ids(self.store.backend, tags);
        if asked.is_empty() || wanted.is_empty() {
            return Ok(HashSet::new());
        }
        let ((wanted, of_tags), (asked, of_numbers)) = (wanted.select(2), asked.select(3));
        let select = format!(
            "SELECT DISTINCT contact_tag.phone
             FROM {wanted} AS wanted CROSS JOIN {asked} AS asked CROSS JOIN contact_tag
             WHERE contact_tag.tag_id = wanted.id AND contact_tag.phone = asked.phone
             AND contact_tag.company_id = $1"
        );
        let values = std::iter::once(self.company.into()).chain(of_tags).chain(of_numbers);
        let phones = fetch::<i64>(&self.store.read, select, values).await?;
        let number = |phone: i64| {
            let number = u64::try_from(phone).ok().and_then(PhoneNumber::from_u64);
            number.ok_or_else(|| Error::Impossible(format!("the number {phone} in a tag")))
        };
        phones.into_iter().map(number).collect()
    }

    /// How many contacts of `company` have at least one of `tags`, and how many distinct valid numbers
    /// those have.
    pub async fn tagged_contacts(self, tags: &[Uuid]) -> Result<(u64, u64)> {
        let (wanted, values) = Rows::of_ids(self.store.backend, tags).behind([self.company.into()]);
        let select = format!(
            "SELECT count(DISTINCT contact_id), count(DISTINCT phone) FROM contact_tag
             WHERE company_id = $1 AND tag_id IN (
                SELECT tag.id FROM {wanted} AS wanted CROSS JOIN tag
                WHERE tag.id = wanted.id AND tag.upkeep <> {DELETED}
             )"
        );
        let row: Option<(i64, i64)> = fetch_one(&self.store.read, select, values).await?;
        let (contacts, phones) = row.unwrap_or_default();
        Ok((contacts.cast_unsigned(), phones.cast_unsigned()))
    }

    /// The id of the tag of this name, if `company` has one.
    pub async fn named(self, name: &str) -> Result<Option<Uuid>> {
        Ok(self.ids(&self.store.read, &BTreeSet::from([name])).await?.remove(name))
    }

    /// Those of these names that are tags of `company`.
    pub async fn known(self, names: &BTreeSet<&str>) -> Result<HashSet<String>> {
        Ok(self.ids(&self.store.read, names).await?.into_keys().collect())
    }

    /// The id of the tag of this name; the tag is created when `company` has none. A tag that exists keeps its colour.
    /// Without `color` (`#rrggbb`), the colour follows from the name.
    pub async fn ensure(self, name: &str, color: Option<&str>) -> Result<Uuid> {
        let wanted = BTreeSet::from([name]);
        let ids = self.ensure_all(&self.store.write, &wanted, color, Timestamp::now()).await?;
        ids.get(name).copied().ok_or_else(|| Error::Impossible("a tag went while it was created".to_owned()))
    }

    /// The ids of the tags with these names; missing tags are created.
    pub(crate) async fn ensure_all(
        self,
        connection: &impl ConnectionTrait,
        names: &BTreeSet<&str>,
        color: Option<&str>,
        now: Timestamp,
    ) -> Result<HashMap<String, Uuid>> {
        let ids = self.ids(connection, names).await?;
        // Of names that differ in case only, the first one makes the tag.
        let mut missing: Vec<&str> = names.iter().copied().filter(|name| !ids.contains_key(*name)).collect();
        let mut seen = HashSet::new();
        missing.retain(|name| seen.insert(tag_identity(name)));
        if missing.is_empty() {
            return Ok(ids);
        }
        let columns =
            &[("id", Type::Uuid), ("name", Type::Text), ("folded", Type::Text), ("color", Type::Text)];
        let mut rows = Rows::new(self.store.backend, columns);
        for name in missing {
            let color = color.unwrap_or_else(|| color_of(name));
            rows.push([Uuid::now_v7().into(), name.into(), fold(name).as_str().into(), color.into()]);
        }
        let (rows, values) = rows.behind([self.company.into(), now.millis().into()]);
        // `WHERE true` tells SQLite that `ON` belongs to the insert and not to a join.
        let insert = format!(
            "INSERT INTO tag (id, company_id, name, name_folded, color, created_at)
             SELECT id, $1, name, folded, color, $2 FROM {rows} AS rows WHERE true
             ON CONFLICT (company_id, name) DO NOTHING"
        );
        execute(connection, insert, values).await?;
        self.ids(connection, names).await
    }

    /// The ids of the tags with these names. Case does not count, unless there are tags that differ in nothing else.
    pub(crate) async fn ids(
        self,
        connection: &impl ConnectionTrait,
        names: &BTreeSet<&str>,
    ) -> Result<HashMap<String, Uuid>> {
        let mut ids: HashMap<String, Uuid> =
            self.having(connection, "name", names.iter().copied()).await?.into_iter().collect();
        let others: Vec<&str> = names.iter().copied().filter(|name| !ids.contains_key(*name)).collect();
        let folded: BTreeSet<String> = others.iter().map(|name| fold(name)).collect();
        let alike =
            self.having(connection, "name_folded", folded.iter().map(String::as_str)).await?.into_iter();
        let alike: HashMap<String, Uuid> = alike.map(|(name, id)| (tag_identity(&name), id)).collect();
        let found = |name: &str| Some((name.to_owned(), *alike.get(&tag_identity(name))?));
        ids.extend(others.into_iter().filter_map(found));
        Ok(ids)
    }

    /// The tags whose column has one of these texts.
    async fn having<'a>(
        self,
        connection: &impl ConnectionTrait,
        column: &str,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<(String, Uuid)>> {
        let mut wanted = Rows::new(self.store.backend, &[("text", Type::Text)]);
        texts.into_iter().for_each(|text| wanted.push([Cell::Text(Some(text))]));
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (wanted, values) = wanted.behind([self.company.into()]);
        let select = format!(
            "SELECT tag.name, tag.id FROM {wanted} AS wanted CROSS JOIN tag
             WHERE tag.company_id = $1 AND tag.{column} = wanted.text AND tag.upkeep <> {DELETED}"
        );
        fetch(connection, select, values).await
    }
}

fn tag(Model { id, name, color, created_at, contacts, .. }: Model) -> Tag {
    let summary = TagSummary { id, name, color };
    Tag { summary, created_at: Timestamp::from_millis(created_at), contacts: contacts.cast_unsigned() }
}

/// The default colour of a name, which is always the same (FNV-1a, 64 bits).
pub(crate) fn color_of(name: &str) -> &'static str {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    COLORS[usize::try_from(hash % COLORS.len() as u64).unwrap_or(0)]
}

#[cfg(test)]
mod tests;
