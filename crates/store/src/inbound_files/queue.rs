//! The queue of files that are to be fetched, and what their attempts come to.

use entity::inbound_file::{ActiveModel, Column, Entity};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect, Set};
use uuid::Uuid;

use super::{GIVEN_UP, KEPT, KeptFile, MISSING, WAITING, change};
use crate::contacts::signed;
use crate::dialect::{Bulk, Cell, Type, is_written};
use crate::file_contents::{LibraryUse, is_going_from_inbound, library_use};
use crate::nouns::AllInboundFiles;
use crate::{Result, fetch};
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
        Ok(Entity::find().filter(is_written(Column::State, WAITING)).count(&self.store.read).await?)
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
        let same = Entity::find()
            .select_only()
            .column(Column::MessageId)
            .filter(Column::CompanyId.eq(file.company_id))
            .filter(Column::Digest.eq(digest.to_vec()))
            .filter(Column::State.eq(KEPT))
            .into_tuple::<Uuid>();
        let is_known = library == Some(LibraryUse::Stored) || same.one(&transaction).await?.is_some();
        let held = ActiveModel {
            digest: Set(Some(digest.to_vec())),
            bytes: Set(signed(bytes)),
            next_at: Set(until.millis()),
            ..Default::default()
        };
        let held = change(file.message_id, WAITING).set(held).exec(&transaction).await?;
        let is_wanted = held.rows_affected > 0;
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
        let changes = ActiveModel {
            state: Set(KEPT),
            source: Set(Vec::new()),
            next_at: Set(0),
            reason: Set(None),
            kind: Set(kept.kind.as_str().to_owned()),
            mime_type: Set(Some(kept.mime_type.clone())),
            bytes: Set(signed(kept.bytes)),
            name: Set(Some(kept.name.clone())),
            thumbnail: Set(thumbnail),
            ..Default::default()
        };
        let held = change(message, WAITING).filter(Column::Digest.eq(kept.digest.to_vec()));
        Ok(held.set(changes).exec(&self.store.write).await?.rows_affected > 0)
    }

    /// Notes an attempt that did not succeed: the next one is at `next`. With `counts`, it is one of those that are counted.
    pub async fn put_off(
        self,
        message: Uuid,
        next: Timestamp,
        reason: Option<MissingFile>,
        counts: bool,
    ) -> Result<()> {
        change(message, WAITING)
            .col_expr(Column::NextAt, Expr::value(next.millis()))
            .col_expr(Column::Reason, Expr::value(reason.map(MissingFile::as_i16)))
            .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(i64::from(counts)))
            .exec(&self.store.write)
            .await?;
        Ok(())
    }

    /// Gives a file up. What was stored of it is deleted.
    pub async fn give_up(self, message: Uuid, reason: MissingFile) -> Result<()> {
        let state = Expr::case(Column::Digest.is_null(), MISSING).finally(GIVEN_UP);
        let changes = ActiveModel {
            source: Set(Vec::new()),
            next_at: Set(0),
            reason: Set(Some(reason.as_i16())),
            ..Default::default()
        };
        let update = change(message, WAITING).set(changes).col_expr(Column::State, state.into());
        update.exec(&self.store.write).await?;
        Ok(())
    }
}
