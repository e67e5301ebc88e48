//! The file of an import, while it arrives.

use entity::contact_import::{ActiveModel, Column, Entity};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set, UpdateMany, Value};
use uuid::Uuid;

use super::{CONTACTS, MOST_OPEN, REMOVED, State, changed_now};
use crate::contacts::signed;
use crate::nouns::{AllImports, Imports};
use crate::one_row::insert_row;
use crate::{Error, Result, execute};
use clock::Timestamp;

/// Pieces of a converted file that are removed in one transaction.
const PIECES: i64 = 4;

impl Imports<'_> {
    /// Begins an import of `company`; `None` when the company has too many unfinished imports.
    pub async fn begin_upload(self, file_name: &str) -> Result<Option<Uuid>> {
        let (id, insert, values) = begin(self.company, file_name, CONTACTS);
        let few = format!(
            " WHERE (SELECT count(*) FROM contact_import WHERE company_id = $2 AND state >= {} AND state <= {}
             AND purpose = {CONTACTS}) < {MOST_OPEN}",
            State::Uploading.as_i16(),
            State::Running.as_i16()
        );
        let begun = execute(&self.store.write, insert + &few, values).await? > 0;
        Ok(begun.then_some(id))
    }
}

/// The id of a file that begins to arrive, and the statement that adds it, to which a condition may be added.
pub(super) fn begin(company: Uuid, file_name: &str, purpose: i16) -> (Uuid, String, [Value; 4]) {
    let insert = format!(
        "INSERT INTO contact_import (id, company_id, file_name, state, settings, bytes, bytes_read, position,
            line, created, updated, unchanged, rejected, rejected_kept, without_number, has_chunks,
            created_at, updated_at, purpose)
         SELECT $1, $2, $3, {}, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, $4, $4, {purpose}",
        State::Uploading.as_i16()
    );
    let (id, now) = (Uuid::now_v7(), Timestamp::now().millis());
    (id, insert, [id.into(), company.into(), file_name.into(), now.into()])
}

impl AllImports<'_> {
    /// Stores the next piece of a file that is arriving.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when the import is no longer arriving; otherwise fails when the database does.
    pub async fn add_chunk(self, import: Uuid, ordinal: u64, bytes: Vec<u8>) -> Result<()> {
        let transaction = self.store.begin().await?;
        let longer = Expr::col(Column::Bytes).add(bytes.len() as i64);
        let update = arriving(import).set(changed_now()).col_expr(Column::Bytes, longer);
        if update.exec(&transaction).await?.rows_affected == 0 {
            transaction.rollback().await?;
            return Err(not_arriving(import));
        }
        let row =
            [("import_id", import.into()), ("ordinal", signed(ordinal).into()), ("bytes", bytes.into())];
        insert_row(&transaction, "contact_import_chunk", row).await?;
        Ok(transaction.commit().await?)
    }

    /// Marks the file as complete: it can be imported as `settings` say.
    pub async fn finish_upload(self, import: Uuid, settings: &str) -> Result<()> {
        let changes = ActiveModel {
            state: Set(State::Ready.as_i16()),
            settings: Set(settings.to_owned()),
            ..changed_now()
        };
        match arriving(import).set(changes).exec(&self.store.write).await?.rows_affected {
            0 => Err(not_arriving(import)),
            _ => Ok(()),
        }
    }

    /// Makes what a file was converted to the file: the pieces from `first` on, which have so many bytes. The pieces
    /// before are removed, in steps.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when the import is no longer arriving; otherwise fails when the database does.
    pub async fn take_converted(self, import: Uuid, first: u64, bytes: u64) -> Result<()> {
        let changes = ActiveModel { bytes: Set(signed(bytes)), ..changed_now() };
        if arriving(import).set(changes).exec(&self.store.write).await?.rows_affected == 0 {
            return Err(not_arriving(import));
        }
        let before = signed(first);
        while self.remove_pieces("contact_import_chunk", import, before, PIECES).await? > 0 {}
        Ok(())
    }

    /// Discards a file that will never be complete.
    pub async fn discard_upload(self, import: Uuid) -> Result<()> {
        let discard = arriving(import).col_expr(Column::State, Expr::value(REMOVED));
        discard.exec(&self.store.write).await?;
        Ok(())
    }

    /// Discards all incomplete files, for a process that has just started: no file is arriving. Returns how many
    /// uploads the end of the previous process interrupted.
    pub async fn discard_uploads(self) -> Result<u64> {
        let discard = all_arriving().col_expr(Column::State, Expr::value(REMOVED));
        Ok(discard.exec(&self.store.write).await?.rows_affected)
    }
}

/// The files that are arriving, to be changed.
fn all_arriving() -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::State.eq(State::Uploading.as_i16()))
}

/// The same for one file.
fn arriving(import: Uuid) -> UpdateMany<Entity> {
    all_arriving().filter(Column::Id.eq(import))
}

fn not_arriving(import: Uuid) -> Error {
    Error::Missing(format!("import {import} is not arriving"))
}
