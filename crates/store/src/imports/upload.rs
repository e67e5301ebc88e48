//! The file of an import, while it arrives.

use sea_orm::Value;
use uuid::Uuid;

use super::{MOST_OPEN, REMOVED, State};
use crate::contacts::signed;
use crate::nouns::{AllImports, Imports};
use crate::one_row::insert_row;
use crate::{Error, Result, execute};
use clock::Timestamp;

/// Pieces of a converted file that are removed in one transaction.
const PIECES: u32 = 4;

impl Imports<'_> {
    /// Begins an import of `company`; `None` when the company has too many unfinished imports.
    pub async fn begin_upload(self, file_name: &str) -> Result<Option<Uuid>> {
        let id = Uuid::now_v7();
        let (uploading, running) = (State::Uploading.as_i16(), State::Running.as_i16());
        let insert = format!(
            "INSERT INTO contact_import (id, company_id, file_name, state, settings, bytes, bytes_read, position,
                line, created, updated, unchanged, rejected, rejected_kept, without_number, has_chunks,
                created_at, updated_at)
             SELECT $1, $2, $3, {uploading}, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, $4, $4 WHERE (
                SELECT count(*) FROM contact_import
                WHERE company_id = $2 AND state >= {uploading} AND state <= {running} AND purpose = 0
             ) < {MOST_OPEN}"
        );
        let now = Timestamp::now().millis();
        let values: [Value; 4] = [id.into(), self.company.into(), file_name.into(), now.into()];
        let begun = execute(&self.store.write, insert, values).await? > 0;
        Ok(begun.then_some(id))
    }
}

impl AllImports<'_> {
    /// Stores the next piece of a file that is arriving.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when the import is no longer arriving; otherwise fails when the database does.
    pub async fn add_chunk(self, import: Uuid, ordinal: u64, bytes: Vec<u8>) -> Result<()> {
        let transaction = self.store.begin().await?;
        let update = format!(
            "UPDATE contact_import SET bytes = bytes + $2, updated_at = $3 WHERE id = $1 AND state = {}",
            State::Uploading.as_i16()
        );
        let now = Timestamp::now().millis();
        let values = [import.into(), (bytes.len() as i64).into(), now.into()];
        if execute(&transaction, update, values).await? == 0 {
            transaction.rollback().await?;
            return Err(Error::Missing(format!("import {import} is not arriving")));
        }
        let row =
            [("import_id", import.into()), ("ordinal", signed(ordinal).into()), ("bytes", bytes.into())];
        insert_row(&transaction, "contact_import_chunk", row).await?;
        Ok(transaction.commit().await?)
    }

    /// Marks the file as complete: it can be imported as `settings` say.
    pub async fn finish_upload(self, import: Uuid, settings: &str) -> Result<()> {
        let update = format!(
            "UPDATE contact_import SET state = {}, settings = $2, updated_at = $3 WHERE id = $1 AND state = {}",
            State::Ready.as_i16(),
            State::Uploading.as_i16()
        );
        let now = Timestamp::now().millis();
        match execute(&self.store.write, update, [import.into(), settings.into(), now.into()]).await? {
            0 => Err(Error::Missing(format!("import {import} is not arriving"))),
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
        let update = format!(
            "UPDATE contact_import SET bytes = $2, updated_at = $3 WHERE id = $1 AND state = {}",
            State::Uploading.as_i16()
        );
        let values = [import.into(), signed(bytes).into(), Timestamp::now().millis().into()];
        if execute(&self.store.write, update, values).await? == 0 {
            return Err(Error::Missing(format!("import {import} is not arriving")));
        }
        let delete = format!(
            "DELETE FROM contact_import_chunk WHERE import_id = $1 AND ordinal IN (
                SELECT ordinal FROM contact_import_chunk WHERE import_id = $1 AND ordinal < $2
                ORDER BY ordinal LIMIT {PIECES}
             )"
        );
        while execute(&self.store.write, delete.clone(), [import.into(), signed(first).into()]).await? > 0 {}
        Ok(())
    }

    /// Discards a file that will never be complete.
    pub async fn discard_upload(self, import: Uuid) -> Result<()> {
        let update = format!(
            "UPDATE contact_import SET state = {REMOVED} WHERE id = $1 AND state = {}",
            State::Uploading.as_i16()
        );
        execute(&self.store.write, update, [import.into()]).await?;
        Ok(())
    }

    /// Discards all incomplete files, for a process that has just started: no file is arriving. Returns how many
    /// uploads the end of the previous process interrupted.
    pub async fn discard_uploads(self) -> Result<u64> {
        let update = format!(
            "UPDATE contact_import SET state = {REMOVED} WHERE state = {}",
            State::Uploading.as_i16()
        );
        execute(&self.store.write, update, []).await
    }
}
