//! Creating, changing and deleting tags.
//!
//! A tag is renamed and deleted at once; the texts of its contacts follow in small steps ([`AllContacts::keep_up_tags`](crate::AllContacts::keep_up_tags)),
//! which a running service continues after a restart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use uuid::Uuid;

use super::{COLUMNS, DELETED, RENAMED, color_of};
use crate::changes::{self, What, Who};
use crate::contacts::edit::Edited;
use crate::contacts::import::Upserted;
use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, Tags};
use crate::{Error, Result, Transaction, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::contact::Tag;
use domain::fold::fold;

/// Tags that are examined in one round of upkeep.
const TAGS_AT_ONCE: i64 = 8;

impl Tags<'_> {
    /// The tag of `company` with this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Tag>> {
        let select = format!(
            "SELECT {COLUMNS} FROM tag
             WHERE id = $1 AND company_id = $2 AND upkeep <> {DELETED}"
        );
        Ok(fetch_one(&self.store.read, select, [id.into(), self.company.into()]).await?.map(super::tag))
    }

    /// Creates tags by their names, and gives existing ones the given colour. Returns the id of each and what changed,
    /// in order.
    pub async fn write(
        self,
        who: &Who,
        tags: &[(String, Option<String>)],
        now: Timestamp,
    ) -> Result<Vec<(Uuid, Upserted)>> {
        let company = self.company;
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        let names: BTreeSet<&str> = tags.iter().map(|(name, _)| name.as_str()).collect();
        let before = self.ids(&transaction, &names).await?;
        // For a repeated name, the last colour counts.
        let colors: BTreeMap<&str, Option<&str>> =
            tags.iter().map(|(name, color)| (name.as_str(), color.as_deref())).collect();
        let mut by_color: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, color) in &colors {
            if !before.contains_key(*name) {
                by_color.entry(color.unwrap_or_else(|| color_of(name))).or_default().insert(name);
            }
        }
        let mut ids = before.clone();
        for (color, names) in &by_color {
            ids.extend(self.ensure_all(&transaction, names, Some(color), now).await?);
        }
        let mut rows = Rows::new(self.store.backend, &[("id", Type::Uuid), ("color", Type::Text)]);
        for (name, color) in &colors {
            if let (Some(id), Some(color)) = (before.get(*name), color) {
                rows.push([(*id).into(), (*color).into()]);
            }
        }
        let mut recolored = BTreeSet::new();
        if !rows.is_empty() {
            let (rows, values) = rows.select(1);
            let update = format!(
                "UPDATE tag SET color = rows.color FROM {rows} AS rows
                 WHERE tag.id = rows.id AND tag.color <> rows.color RETURNING tag.id"
            );
            recolored.extend(fetch::<Uuid>(&transaction, update, values).await?);
        }
        let created: Vec<&str> = colors.keys().copied().filter(|name| !before.contains_key(*name)).collect();
        if !created.is_empty() || !recolored.is_empty() {
            let after = match (created.as_slice(), recolored.len()) {
                ([name], 0) => json!({ "created": name }),
                (names, recolored) => json!({ "created": names.len(), "recolored": recolored }),
            };
            changes::record_one(&transaction, who, What::Tags, company, None, after).await?;
            transaction.commit().await?;
        } else {
            transaction.rollback().await?;
        }
        let written = tags.iter().map(|(name, _)| {
            let lost = || Error::Impossible("a tag went while it was created".to_owned());
            let id = ids.get(name).copied().ok_or_else(lost)?;
            let result = match before.contains_key(name) {
                false => Upserted::Created,
                true if recolored.contains(&id) => Upserted::Updated,
                true => Upserted::Unchanged,
            };
            Ok((id, result))
        });
        written.collect()
    }

    /// Changes the name or the colour of a tag of `company`.
    pub async fn change(
        self,
        who: &Who,
        id: Uuid,
        name: Option<&str>,
        color: Option<&str>,
    ) -> Result<Edited> {
        let company = self.company;
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        let select =
            format!("SELECT name, color FROM tag WHERE id = $1 AND company_id = $2 AND upkeep <> {DELETED}");
        let row = fetch_one::<(String, String)>(&transaction, select, [id.into(), company.into()]).await?;
        let Some((before, old_color)) = row else {
            return transaction.unchanged(Edited::Missing).await;
        };
        let name = name.unwrap_or(&before);
        let named = self.ids(&transaction, &BTreeSet::from([name])).await?;
        if name != before && named.values().any(|other| *other != id) {
            return transaction.unchanged(Edited::Taken).await;
        }
        let color = color.unwrap_or(&old_color);
        if (name, color) == (before.as_str(), old_color.as_str()) {
            return transaction.unchanged(Edited::Done).await;
        }
        let folded = fold(name);
        let begins = if folded == fold(&before) {
            String::new()
        } else {
            format!(", upkeep = {RENAMED}, upkeep_after = NULL")
        };
        let update = format!("UPDATE tag SET name = $2, name_folded = $3, color = $4{begins} WHERE id = $1");
        let values = [id.into(), name.into(), folded.into(), color.into()];
        execute(&transaction, update, values).await?;
        let shown = |name: &str, color: &str| json!({ "id": id, "name": name, "color": color });
        let (before, after) = (shown(&before, &old_color), shown(name, color));
        changes::record_one(&transaction, who, What::Tags, company, Some(before), after).await?;
        transaction.commit().await?;
        Ok(Edited::Done)
    }

    /// Deletes a tag of `company`: from now on it is in no list and has no recipients. Returns whether there was one.
    pub async fn delete(self, who: &Who, id: Uuid) -> Result<bool> {
        let company = self.company;
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        let select = format!(
            "SELECT name, contacts FROM tag WHERE id = $1 AND company_id = $2 AND upkeep <> {DELETED}"
        );
        let row = fetch_one::<(String, i64)>(&transaction, select, [id.into(), company.into()]).await?;
        let Some((name, contacts)) = row else {
            return transaction.unchanged(false).await;
        };
        // Its name is free for another tag.
        let update = format!(
            "UPDATE tag SET upkeep = {DELETED}, upkeep_after = NULL, name = $3, name_folded = ''
             WHERE id = $1 AND company_id = $2 AND upkeep <> {DELETED}"
        );
        let values = [id.into(), company.into(), format!("deleted {id}").into()];
        execute(&transaction, update, values).await?;
        let before = json!({ "id": id, "name": name, "contacts": contacts });
        changes::record_one(&transaction, who, What::Tags, company, Some(before), json!("deleted")).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

impl AllContacts<'_> {
    /// Takes one step for some of the tags that were renamed or deleted, of `rows` contacts each. Returns whether there
    /// was anything to do.
    pub async fn keep_up_tags(self, rows: usize) -> Result<bool> {
        let select = "SELECT id, company_id FROM tag WHERE upkeep <> 0 ORDER BY id LIMIT $1";
        let found = fetch::<(Uuid, Uuid)>(&self.store.read, select, [TAGS_AT_ONCE.into()]).await?;
        for (id, company) in &found {
            self.keep_up(*id, *company, rows as i64).await?;
        }
        Ok(!found.is_empty())
    }

    async fn keep_up(self, id: Uuid, company: Uuid, limit: i64) -> Result<()> {
        let transaction = self.store.begin().await?;
        let totals = self.store.of(company).contacts().lock_totals(&transaction).await?;
        let select = "SELECT upkeep, upkeep_after FROM tag WHERE id = $1 AND upkeep <> 0";
        let row = fetch_one::<(i16, Option<Uuid>)>(&transaction, select, [id.into()]).await?;
        let Some((upkeep, after)) = row else { return Ok(transaction.rollback().await?) };
        let is_deleted = upkeep == DELETED;
        let select = "SELECT contact_id FROM contact_tag WHERE tag_id = $1 AND contact_id > $2
             ORDER BY contact_id LIMIT $3";
        let values = [id.into(), after.filter(|_| !is_deleted).unwrap_or(Uuid::nil()).into(), limit.into()];
        let contacts = fetch::<Uuid>(&transaction, select, values).await?;
        let Some(last) = contacts.last().copied() else {
            let end = if is_deleted {
                "DELETE FROM tag WHERE id = $1 AND upkeep = $2"
            } else {
                "UPDATE tag SET upkeep = 0, upkeep_after = NULL WHERE id = $1 AND upkeep = $2"
            };
            let state = if is_deleted { DELETED } else { RENAMED };
            execute(&transaction, end, [id.into(), state.into()]).await?;
            return Ok(transaction.commit().await?);
        };
        if is_deleted {
            self.remove_pairs(&transaction, id, &contacts).await?;
        } else {
            let update = format!("UPDATE tag SET upkeep_after = $2 WHERE id = $1 AND upkeep = {RENAMED}");
            execute(&transaction, update, [id.into(), last.into()]).await?;
        }
        let ordinals = self.rewrite_tag_texts(&transaction, &contacts).await?;
        self.store.of(company).index().mark_stale(&transaction, totals, ordinals.into_iter()).await?;
        Ok(transaction.commit().await?)
    }

    /// Takes a tag from contacts that have it.
    pub(crate) async fn remove_pairs(
        self,
        transaction: &Transaction,
        tag: Uuid,
        contacts: &[Uuid],
    ) -> Result<()> {
        let (rows, values) = self.id_rows(contacts).behind([tag.into()]);
        let delete = format!(
            "DELETE FROM contact_tag WHERE tag_id = $1 AND contact_id IN (SELECT id FROM {rows} AS rows)"
        );
        execute(transaction, delete, values).await?;
        self.uncount(transaction, &[(tag, contacts.len() as i64)]).await
    }
}
