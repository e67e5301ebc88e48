//! Files with the recipients of a new send: kept like those of contacts until the send is accepted, and never in their list.

use sea_orm::Value;
use uuid::Uuid;

use super::{COLUMNS, Import, REMOVED, State, read};
use crate::nouns::Imports;
use crate::one_row::put_row;
use crate::{Result, execute, fetch_one};
use clock::Timestamp;

/// The most such files of one company; the oldest one makes room.
pub const MOST_RECIPIENT_FILES: i64 = 20;

impl Imports<'_> {
    /// Begins the upload of a file with the recipients of a new send of `company`. The oldest ones beyond
    /// [`MOST_RECIPIENT_FILES`] are discarded.
    pub async fn begin_recipients(self, file_name: &str) -> Result<Uuid> {
        let id = Uuid::now_v7();
        let transaction = self.store.begin().await?;
        let make_room = format!(
            "UPDATE contact_import SET state = {REMOVED} WHERE id IN (
                SELECT id FROM contact_import WHERE company_id = $1 AND purpose = 1 AND state <> {REMOVED}
                ORDER BY created_at DESC, id DESC LIMIT {} OFFSET {}
             )",
            i64::MAX,
            MOST_RECIPIENT_FILES - 1
        );
        execute(&transaction, make_room, [self.company.into()]).await?;
        let insert = format!(
            "INSERT INTO contact_import (id, company_id, file_name, state, settings, bytes, bytes_read, position,
                line, created, updated, unchanged, rejected, rejected_kept, without_number, has_chunks,
                created_at, updated_at, purpose)
             VALUES ($1, $2, $3, {}, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, $4, $4, 1)",
            State::Uploading.as_i16()
        );
        let now = Timestamp::now().millis();
        let values: [Value; 4] = [id.into(), self.company.into(), file_name.into(), now.into()];
        execute(&transaction, insert, values).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// The complete file of `company` with this id, if it has the recipients of a new send.
    pub async fn find_recipients(self, id: Uuid) -> Result<Option<Import>> {
        let select = format!(
            "SELECT {COLUMNS} FROM contact_import WHERE id = $1 AND company_id = $2 AND purpose = 1 AND state = {}",
            State::Ready.as_i16()
        );
        self.store.row(select, [id.into(), self.company.into()]).await?.as_ref().map(read).transpose()
    }

    /// Discards a file with recipients: nobody needs it any more.
    pub async fn discard_recipients(self, id: Uuid) -> Result<()> {
        let update = format!(
            "UPDATE contact_import SET state = {REMOVED} WHERE id = $1 AND company_id = $2 AND purpose = 1"
        );
        execute(&self.store.write, update, [id.into(), self.company.into()]).await?;
        Ok(())
    }

    /// Makes a file with recipients one of contacts, which can be imported. Returns whether there was one.
    pub async fn take_for_contacts(self, id: Uuid) -> Result<bool> {
        let update = format!(
            "UPDATE contact_import SET purpose = 0, updated_at = $3
             WHERE id = $1 AND company_id = $2 AND purpose = 1 AND state = {}",
            State::Ready.as_i16()
        );
        let values = [id.into(), self.company.into(), Timestamp::now().millis().into()];
        Ok(execute(&self.store.write, update, values).await? > 0)
    }

    /// Which columns had the values of a template in the company's last send of it, in JSON; the template 0 is none.
    pub async fn recipient_mapping(self, template_id: i64) -> Result<Option<String>> {
        let select = "SELECT columns FROM recipient_mapping WHERE company_id = $1 AND template_id = $2";
        fetch_one(&self.store.read, select, [self.company.into(), template_id.into()]).await
    }

    /// Remembers which columns have the values of a template.
    pub async fn remember_recipients(self, template_id: i64, columns: &str) -> Result<()> {
        let row = [
            ("company_id", self.company.into()),
            ("template_id", template_id.into()),
            ("columns", columns.into()),
        ];
        put_row(&self.store.write, "recipient_mapping", &["company_id", "template_id"], row).await?;
        Ok(())
    }
}
