//! Folds stored texts again, after an update of the program that folds them in another way.
//!
//! The migration of such an update lists all companies in `contact_refold`, each with the ordinal of its next contact.
//! A company is done in short steps, its tags and channels first, which a running service takes in the background and
//! goes on with after a restart. Records that are written meanwhile are folded by their writers.

use std::collections::HashMap;

use entity::contact_refold::{Column, Entity, Model};
use entity::{channel, tag};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::dialect::{Rows, Type};
use crate::nouns::{AllContacts, Contacts};
use crate::tags::{DELETED, RENAMED};
use crate::{Result, execute, fetch};
use domain::contact::{Person, tag_name};
use domain::fold::fold;

/// Contacts of one step: reading and writing them takes some milliseconds of the database.
const CONTACTS: i64 = 500;
/// Tags or channels that one transaction writes.
const NAMES: usize = 500;
/// Companies that one round goes on with.
const COMPANIES: u64 = 8;

/// The columns of a changed text; it is written only where the text before is still there.
const TEXTS: &[(&str, Type)] = &[("id", Type::Uuid), ("before", Type::Text), ("after", Type::Text)];

impl AllContacts<'_> {
    /// Some of the companies whose texts have to be folded again.
    pub async fn unfolded(self) -> Result<Vec<Uuid>> {
        let some = Entity::find().order_by_asc(Column::CompanyId).limit(COMPANIES);
        Ok(some.all(&self.store.read).await?.into_iter().map(|company| company.company_id).collect())
    }
}

impl Contacts<'_> {
    /// Takes one step for `company`.
    pub async fn refold(self) -> Result<()> {
        let company = Entity::find_by_id(self.company).one(&self.store.read).await?;
        let Some(Model { next, .. }) = company else { return Ok(()) };
        if next == 0 {
            self.refold_tags().await?;
            self.refold_channels().await?;
        }
        self.refold_contacts(next).await
    }

    /// Folds the names of all tags, and gives each its one form unless another tag has that name. The texts of the tags'
    /// contacts follow as after a renaming.
    async fn refold_tags(self) -> Result<()> {
        let tags = tag::Entity::find().filter(tag::Column::CompanyId.eq(self.company)).select_only();
        let tags = tags.filter(tag::Column::Upkeep.ne(DELETED)).order_by_asc(tag::Column::Id);
        let tags = tags.columns([tag::Column::Id, tag::Column::Name, tag::Column::NameFolded]);
        let tags = tags.into_tuple::<(Uuid, String, String)>().all(&self.store.read).await?;
        let mut names: HashMap<String, Uuid> = HashMap::new();
        for (id, name, _) in &tags {
            names.insert(name.clone(), *id);
        }
        let (mut renamed, mut folded) = (Vec::new(), Vec::new());
        for (id, name, before) in &tags {
            let one = tag_name(name);
            if one != *name && !one.is_empty() && !names.contains_key(&*one) {
                names.insert(one.clone().into_owned(), *id);
                renamed.push((*id, name.clone(), one.into_owned()));
            }
            let after = fold(name);
            if after != *before {
                folded.push((*id, before.clone(), after));
            }
        }
        let kept = format!(" AND tag.upkeep <> {DELETED}");
        self.write_texts(("tag", "name"), ("", &kept), &renamed).await?;
        let upkeep = format!(", upkeep = {RENAMED}, upkeep_after = NULL");
        self.write_texts(("tag", "name_folded"), (&upkeep, &kept), &folded).await
    }

    /// Writes each text into its row of the table, where the text before is still there, with what changes `besides`, and only
    /// in rows of this `condition`.
    async fn write_texts(
        self,
        (table, column): (&str, &str),
        (besides, condition): (&str, &str),
        texts: &[(Uuid, String, String)],
    ) -> Result<()> {
        for lot in texts.chunks(NAMES) {
            let (rows, values) = self.text_rows(lot).select(1);
            let update = format!(
                "UPDATE {table} SET {column} = rows.after{besides} FROM {rows} AS rows
                 WHERE {table}.id = rows.id AND {table}.{column} = rows.before{condition}"
            );
            execute(&self.store.write, update, values).await?;
        }
        Ok(())
    }

    async fn refold_channels(self) -> Result<()> {
        let columns = [channel::Column::Id, channel::Column::Name, channel::Column::NameFolded];
        let channels = channel::Entity::find().filter(channel::Column::CompanyId.eq(self.company));
        let channels = channels.select_only().columns(columns).into_tuple::<(Uuid, String, String)>();
        let mut changed = Vec::new();
        for (id, name, before) in channels.all(&self.store.read).await? {
            let after = fold(&name);
            if after != before {
                changed.push((id, before, after));
            }
        }
        self.write_texts(("channel", "name_folded"), ("", ""), &changed).await
    }

    /// Folds the texts of the next contacts, from the ordinal `next` on; after the last ones the company is done.
    async fn refold_contacts(self, next: i64) -> Result<()> {
        let select =
            "SELECT id, first_name, last_name, email, phone_number, phone_number_lid, search_text, ordinal
             FROM contact WHERE company_id = $1 AND ordinal >= $2 ORDER BY ordinal LIMIT $3";
        type Columns = (Uuid, String, String, String, String, Option<String>, String, i64);
        let values = [self.company.into(), next.into(), CONTACTS.into()];
        let rows = fetch::<Columns>(&self.store.read, select, values).await?;
        let goes_on = rows.len() as i64 == CONTACTS;
        let ids: Vec<Uuid> = rows.iter().map(|(id, ..)| *id).collect();
        let (mut changed, mut last) = (Vec::new(), next);
        for (id, first_name, last_name, email, phone_number, phone_number_lid, before, ordinal) in rows {
            let person =
                Person { first_name, last_name, email, phone_number, phone_number_lid, ..Person::default() };
            let after = person.search_text();
            if before != after {
                changed.push((id, before, after));
            }
            last = ordinal;
        }
        let transaction = self.store.begin().await?;
        if !changed.is_empty() {
            let totals = self.lock_totals(&transaction).await?;
            let (rows, values) = self.text_rows(&changed).select(1);
            let update = format!(
                "UPDATE contact SET search_text = rows.after FROM {rows} AS rows
                 WHERE contact.id = rows.id AND contact.search_text = rows.before RETURNING contact.ordinal"
            );
            let ordinals = fetch::<i64>(&transaction, update, values).await?;
            self.index().mark_stale(&transaction, totals, ordinals.into_iter()).await?;
        }
        self.store.of(self.company).fields().refold(&transaction, &ids).await?;
        // Another process may have taken the same step.
        let is_here = Column::CompanyId.eq(self.company).and(Column::Next.eq(next));
        if goes_on {
            let moved = Entity::update_many().col_expr(Column::Next, Expr::value(last + 1));
            moved.filter(is_here).exec(&transaction).await?;
        } else {
            Entity::delete_many().filter(is_here).exec(&transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    fn text_rows(self, texts: &[(Uuid, String, String)]) -> Rows {
        let mut rows = Rows::new(self.store.backend, TEXTS);
        for (id, before, after) in texts {
            rows.push([(*id).into(), before.as_str().into(), after.as_str().into()]);
        }
        rows
    }
}
