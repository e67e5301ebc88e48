//! The queue of files that are to be fetched, and what their attempts come to.

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{GIVEN_UP, KEPT, KeptFile, MISSING, WAITING};
use crate::contacts::signed;
use crate::dialect::{Bulk, Cell, Type};
use crate::file_contents::{LibraryUse, is_going_from_inbound, library_use};
use crate::nouns::AllInboundFiles;
use crate::{Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::inbound::MissingFile;

const FILE: &[(&str, Type)] = &[
    ("message_id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("kind", Type::Text),
    ("source", Type::Bytes),
];

/// The file of a message that is being written.
pub(crate) struct AnnouncedFile<'a> {
    /// The message.
    pub(crate) message_id: Uuid,
    pub(crate) company_id: Uuid,
    pub(crate) channel_id: Uuid,
    /// The word of the message's type.
    pub(crate) kind: &'a str,
    /// What is needed to fetch it, sealed; empty when there is none.
    pub(crate) source: &'a [u8],
}

/// A file that is to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedFile {
    /// The message.
    pub message_id: Uuid,
    /// Its company.
    pub company_id: Uuid,
    /// Its channel.
    pub channel_id: Uuid,
    /// The word of the message's type.
    pub kind: String,
    /// What is needed to fetch it, sealed.
    pub source: Vec<u8>,
    /// Attempts that did not succeed.
    pub attempts: u32,
    /// When its message came.
    pub received_at: Timestamp,
}

/// Whether the content of a file may get its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileHold {
    /// It has to be stored.
    New,
    /// It is stored: another file has the same content.
    Known,
    /// The same content is being deleted just now.
    Busy,
    /// The file is not wanted any more.
    Over,
}

impl AllInboundFiles<'_> {
    /// Queues the files of messages that were just written, in their transaction.
    pub(crate) async fn queue(
        self,
        to: &impl ConnectionTrait,
        files: impl Iterator<Item = AnnouncedFile<'_>>,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, FILE);
        let mut is_empty = true;
        for file in files.filter(|file| !file.source.is_empty()) {
            is_empty = false;
            rows.push([
                file.message_id.into(),
                file.company_id.into(),
                file.channel_id.into(),
                file.kind.into(),
                Cell::Bytes(file.source),
            ]);
        }
        if is_empty {
            return Ok(());
        }
        let sql = |incoming: &str, now: usize| {
            format!(
                "INSERT INTO inbound_file (message_id, company_id, channel_id, kind, source, next_at, received_at) \
                 SELECT message_id, company_id, channel_id, kind, source, ${now}, ${now} FROM {incoming} AS incoming \
                 WHERE TRUE ON CONFLICT (message_id) DO NOTHING"
            )
        };
        self.store.write(to, rows, vec![now.millis().into()], sql).await?;
        Ok(())
    }

    /// At most `limit` channels with ids above `after`, in their order, that have files to be fetched now.
    pub async fn waiting_channels(self, now: Timestamp, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
        let sql = format!(
            "SELECT DISTINCT channel_id FROM inbound_file WHERE state = {WAITING} AND next_at <= $1 AND channel_id > $2
             ORDER BY channel_id LIMIT $3"
        );
        fetch(&self.store.read, sql, [now.millis().into(), after.into(), i64::from(limit).into()]).await
    }

    /// At most `limit` files of a channel that are to be fetched now, those that wait longest first.
    pub async fn waiting(self, channel: Uuid, now: Timestamp, limit: u32) -> Result<Vec<QueuedFile>> {
        let sql = format!(
            "SELECT message_id, company_id, channel_id, kind, source, attempts, received_at FROM inbound_file
             WHERE channel_id = $1 AND state = {WAITING} AND next_at <= $2 ORDER BY next_at LIMIT $3"
        );
        let values = [channel.into(), now.millis().into(), i64::from(limit).into()];
        type Columns = (Uuid, Uuid, Uuid, String, Vec<u8>, i64, i64);
        let found = fetch::<Columns>(&self.store.read, sql, values).await?;
        let files = found.into_iter().map(
            |(message_id, company_id, channel_id, kind, source, attempts, received_at)| QueuedFile {
                message_id,
                company_id,
                channel_id,
                kind,
                source,
                attempts: u32::try_from(attempts).unwrap_or_default(),
                received_at: Timestamp::from_millis(received_at),
            },
        );
        Ok(files.collect())
    }

    /// How many files are to be fetched, now or later.
    pub async fn count_waiting(self) -> Result<u64> {
        self.store.count(format!("SELECT count(*) FROM inbound_file WHERE state = {WAITING}"), []).await
    }

    /// Takes the name for the content of a file that has arrived, until `until`: until then it has to be stored, and
    /// [`AllInboundFiles::finish`] has to say so.
    pub async fn hold(
        self,
        file: &QueuedFile,
        digest: &[u8; 32],
        bytes: u64,
        until: Timestamp,
    ) -> Result<FileHold> {
        let transaction = self.store.begin().await?;
        self.store.lock_row(&transaction, "company", file.company_id).await?;
        let content = (file.company_id, digest.as_slice());
        let library = library_use(&transaction, content).await?;
        let is_going =
            library == Some(LibraryUse::Leaving) || is_going_from_inbound(&transaction, content).await?;
        if is_going {
            return transaction.unchanged(FileHold::Busy).await;
        }
        let select = format!(
            "SELECT message_id FROM inbound_file WHERE company_id = $1 AND digest = $2 AND state = {KEPT} LIMIT 1"
        );
        let values = [file.company_id.into(), digest.to_vec().into()];
        let is_known = library == Some(LibraryUse::Stored)
            || fetch_one::<Uuid>(&transaction, select, values).await?.is_some();
        let update = format!(
            "UPDATE inbound_file SET digest = $2, bytes = $3, next_at = $4 WHERE message_id = $1 AND state = {WAITING}"
        );
        let values =
            [file.message_id.into(), digest.to_vec().into(), signed(bytes).into(), until.millis().into()];
        let is_wanted = execute(&transaction, update, values).await? > 0;
        transaction.commit().await?;
        Ok(match (is_wanted, is_known) {
            (false, _) => FileHold::Over,
            (true, true) => FileHold::Known,
            (true, false) => FileHold::New,
        })
    }

    /// Shows a file whose content is stored. `false` when it is not wanted any more: then its content is deleted once the time
    /// of its hold is over.
    pub async fn finish(self, message: Uuid, kept: &KeptFile, thumbnail: Option<Vec<u8>>) -> Result<bool> {
        let update = format!(
            "UPDATE inbound_file SET state = {KEPT}, source = $2, next_at = 0, reason = NULL, kind = $3, mime_type = $4,
             bytes = $5, name = $6, thumbnail = $7 WHERE message_id = $1 AND state = {WAITING} AND digest = $8"
        );
        let values = [
            message.into(),
            Vec::<u8>::new().into(),
            kept.kind.as_str().into(),
            kept.mime_type.as_str().into(),
            signed(kept.bytes).into(),
            kept.name.as_str().into(),
            thumbnail.into(),
            kept.digest.to_vec().into(),
        ];
        Ok(execute(&self.store.write, update, values).await? > 0)
    }

    /// Notes an attempt that did not succeed: the next one is at `next`. With `counts`, it is one of those that are counted.
    pub async fn put_off(
        self,
        message: Uuid,
        next: Timestamp,
        reason: Option<MissingFile>,
        counts: bool,
    ) -> Result<()> {
        let update = format!(
            "UPDATE inbound_file SET next_at = $2, reason = $3, attempts = attempts + $4
             WHERE message_id = $1 AND state = {WAITING}"
        );
        let values = [
            message.into(),
            next.millis().into(),
            reason.map(MissingFile::as_i16).into(),
            i64::from(counts).into(),
        ];
        execute(&self.store.write, update, values).await?;
        Ok(())
    }

    /// Gives a file up. What was stored of it is deleted.
    pub async fn give_up(self, message: Uuid, reason: MissingFile) -> Result<()> {
        let update = format!(
            "UPDATE inbound_file SET state = CASE WHEN digest IS NULL THEN {MISSING} ELSE {GIVEN_UP} END, source = $3, next_at = 0, reason = $2
             WHERE message_id = $1 AND state = {WAITING}"
        );
        let values = [message.into(), reason.as_i16().into(), Vec::<u8>::new().into()];
        execute(&self.store.write, update, values).await?;
        Ok(())
    }
}
