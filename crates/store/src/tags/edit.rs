//! Creating, changing and deleting tags.
//!
//! A tag is renamed and deleted at once; the texts of its contacts follow in small steps ([`AllContacts::keep_up_tags`](crate::AllContacts::keep_up_tags)),
//! which a running service continues after a restart.

use std::collections::{BTreeMap, BTreeSet};

use entity::tag::{ActiveModel, Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, Set};
use serde_json::json;
use uuid::Uuid;

use super::{DELETED, RENAMED, color_of};
use crate::changes::{self, What, Who};
use crate::contacts::edit::Edited;
use crate::contacts::import::Upserted;
use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, Tags};
use crate::{Error, Result, Transaction, execute, fetch};
use clock::Timestamp;
use domain::contact::Tag;
use domain::fold::fold;

/// Tags that are examined in one round of upkeep.
const TAGS_AT_ONCE: u64 = 8;

impl Tags<'_> {
    /// The tag of `company` with this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Tag>> {
        let tag = self.present().filter(Column::Id.eq(id)).one(&self.store.read).await?;
        Ok(tag.map(super::tag))
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
        let Some(tag) = self.present().filter(Column::Id.eq(id)).one(&transaction).await? else {
            return transaction.unchanged(Edited::Missing).await;
        };
        let (before, old_color) = (tag.name, tag.color);
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
        let mut columns =
            ActiveModel { name: Set(name.to_owned()), color: Set(color.to_owned()), ..Default::default() };
        if folded != fold(&before) {
            (columns.upkeep, columns.upkeep_after) = (Set(RENAMED), Set(None));
        }
        columns.name_folded = Set(folded);
        Entity::update_many().set(columns).filter(Column::Id.eq(id)).exec(&transaction).await?;
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
        let Some(tag) = self.present().filter(Column::Id.eq(id)).one(&transaction).await? else {
            return transaction.unchanged(false).await;
        };
        let columns = ActiveModel {
            // Its name is free for another tag.
            name: Set(format!("deleted {id}")),
            name_folded: Set(String::new()),
            upkeep: Set(DELETED),
            upkeep_after: Set(None),
            ..Default::default()
        };
        Entity::update_many().set(columns).filter(Column::Id.eq(id)).exec(&transaction).await?;
        let before = json!({ "id": id, "name": tag.name, "contacts": tag.contacts });
        changes::record_one(&transaction, who, What::Tags, company, Some(before), json!("deleted")).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

impl AllContacts<'_> {
    /// Takes one step for some of the tags that were renamed or deleted, of `rows` contacts each. Returns whether there
    /// was anything to do.
    pub async fn keep_up_tags(self, rows: usize) -> Result<bool> {
        // The condition of the partial index.
        let found = Entity::find().filter(Expr::cust("upkeep <> 0")).order_by_asc(Column::Id);
        let found = found.limit(TAGS_AT_ONCE).all(&self.store.read).await?;
        for tag in &found {
            self.keep_up(tag.id, tag.company_id, rows as i64).await?;
        }
        Ok(!found.is_empty())
    }

    async fn keep_up(self, id: Uuid, company: Uuid, limit: i64) -> Result<()> {
        let transaction = self.store.begin().await?;
        let totals = self.store.of(company).contacts().lock_totals(&transaction).await?;
        let tag = Entity::find_by_id(id).filter(Column::Upkeep.ne(0_i16)).one(&transaction).await?;
        let Some(tag) = tag else { return Ok(transaction.rollback().await?) };
        let (is_deleted, after) = (tag.upkeep == DELETED, tag.upkeep_after);
        let renamed = Entity::update_many().filter(Column::Id.eq(id)).filter(Column::Upkeep.eq(RENAMED));
        let select = "SELECT contact_id FROM contact_tag WHERE tag_id = $1 AND contact_id > $2
             ORDER BY contact_id LIMIT $3";
        let values = [id.into(), after.filter(|_| !is_deleted).unwrap_or(Uuid::nil()).into(), limit.into()];
        let contacts = fetch::<Uuid>(&transaction, select, values).await?;
        let Some(last) = contacts.last().copied() else {
            if is_deleted {
                Entity::delete_by_id(id).filter(Column::Upkeep.eq(DELETED)).exec(&transaction).await?;
            } else {
                let columns = ActiveModel { upkeep: Set(0), upkeep_after: Set(None), ..Default::default() };
                renamed.set(columns).exec(&transaction).await?;
            }
            return Ok(transaction.commit().await?);
        };
        if is_deleted {
            self.remove_pairs(&transaction, id, &contacts).await?;
        } else {
            renamed.col_expr(Column::UpkeepAfter, Expr::value(last)).exec(&transaction).await?;
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
