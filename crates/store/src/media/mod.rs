//! The files that companies keep: what they are. Their content is in the store of files, under company and digest.
//!
//! A row is there before the content and after it, so that no content is without one: it is *arriving* until the content is
//! stored, and *leaving* while it is deleted. A removed file is hidden at once. Its content stays for as long as a provider may
//! still fetch it, and as an unfinished send needs it. Uploading the same content again gives the same file.

mod leaving;

pub use self::leaving::LeavingFiles;

use sea_orm::{ConnectionTrait, QueryResult, Value};
use serde_json::json;
use uuid::Uuid;

use super::changes::{self, What, Who};
use super::contacts::signed;
use super::file_contents::{self, LIBRARY_ARRIVING as ARRIVING, LIBRARY_LEAVING as LEAVING};
use crate::nouns::MediaFiles;
use crate::one_row::update_rows;
use crate::{Error, Result, Transaction, execute, fetch_one};
use clock::Timestamp;
use domain::media::Kind;
use domain::page::{Page, PageRequest};

const KEPT: i16 = 1;
const REMOVED: i16 = 2;
/// The last use of a file is noted once in this time, in milliseconds: sends do not wait for a write each.
const NOTED_EACH: i64 = 3_600_000;

/// A file of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryFile {
    /// Time-ordered id.
    pub id: Uuid,
    /// Its company.
    pub company_id: Uuid,
    /// The digest of its content (SHA-256).
    pub digest: [u8; 32],
    /// The kind of message that it is sent as.
    pub kind: Kind,
    /// Its type, by its content.
    pub mime_type: String,
    /// Its length.
    pub bytes: u64,
    /// Its name, without folders and deceptive characters.
    pub name: String,
    /// Whether it has a thumbnail.
    pub has_thumbnail: bool,
    /// Its author, as the record of changes names them.
    pub uploaded_by: String,
    /// When it was uploaded last.
    pub created_at: Timestamp,
    /// When a send with it was last accepted, to an hour.
    pub used_at: Option<Timestamp>,
}

/// A file that was uploaded and recognised.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// The digest of its content.
    pub digest: [u8; 32],
    /// The kind of message that it is sent as.
    pub kind: Kind,
    /// Its type, by its content.
    pub mime_type: String,
    /// Its length.
    pub bytes: u64,
    /// Its name.
    pub name: String,
    /// The thumbnail of a picture: a small JPEG.
    pub thumbnail: Option<Vec<u8>>,
}

/// How many files a company has, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MediaTotals {
    /// Files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What becomes of an uploaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taking {
    /// Its content has to be stored. Then [`MediaFiles::finish`].
    Begun(Uuid),
    /// The company has it.
    Known(Uuid),
    /// The company would have too many files, or too many bytes.
    Full(MediaTotals),
    /// The same content is being deleted just now, or taken from another upload.
    Busy,
}

const COLUMNS: &str = "id, company_id, digest, kind, mime_type, bytes, name, \
                       CAST(CASE WHEN thumbnail IS NULL THEN 0 ELSE 1 END AS BIGINT) AS has_thumbnail, \
                       uploaded_by, created_at, used_at";

impl MediaFiles<'_> {
    /// A page of the company's files, newest first; with `kind`, those that can be sent as it.
    pub async fn page(self, kind: Option<Kind>, page: PageRequest) -> Result<Page<LibraryFile>> {
        // Any file is a document.
        let kind = kind.filter(|kind| *kind != Kind::Document);
        let of_kind = if kind.is_some() { " AND kind = $2" } else { "" };
        let mut values: Vec<Value> = vec![self.company.into()];
        values.extend(kind.map(|kind| Value::from(kind.as_str())));
        let count =
            format!("SELECT count(*) FROM media_file WHERE company_id = $1 AND state = {KEPT}{of_kind}");
        let total = self.store.count(count, values.clone()).await?;
        if page.offset() >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let next = values.len() + 1;
        let select = format!(
            "SELECT {COLUMNS} FROM media_file WHERE company_id = $1 AND state = {KEPT}{of_kind}
             ORDER BY id DESC LIMIT ${next} OFFSET ${}",
            next + 1
        );
        values.extend([signed(page.limit).into(), signed(page.offset()).into()]);
        let rows = self.store.rows(select, values).await?;
        Ok(Page { records: rows.iter().map(read).collect::<Result<_>>()?, total })
    }

    /// The company's file of this id.
    pub async fn find(self, id: Uuid) -> Result<Option<LibraryFile>> {
        let select =
            format!("SELECT {COLUMNS} FROM media_file WHERE id = $1 AND company_id = $2 AND state = {KEPT}");
        self.store.row(select, [id.into(), self.company.into()]).await?.as_ref().map(read).transpose()
    }

    /// The thumbnail of the company's file of this id.
    pub async fn thumbnail(self, id: Uuid) -> Result<Option<Vec<u8>>> {
        let select = format!(
            "SELECT thumbnail FROM media_file
             WHERE id = $1 AND company_id = $2 AND state = {KEPT} AND thumbnail IS NOT NULL"
        );
        fetch_one(&self.store.read, select, [id.into(), self.company.into()]).await
    }

    /// How many files the company has, and their bytes.
    pub async fn totals(self) -> Result<MediaTotals> {
        totals(&self.store.read, self.company).await
    }

    /// The file of this id for a send that is being accepted, whose time is noted.
    pub async fn used(self, id: Uuid) -> Result<Option<LibraryFile>> {
        let found = self.find(id).await?;
        let now = Timestamp::now().millis();
        let is_noted = |at: Timestamp| now - at.millis() < NOTED_EACH;
        if found.as_ref().is_some_and(|file| !file.used_at.is_some_and(is_noted)) {
            let set = [("used_at", now.into())];
            update_rows(&self.store.write, "media_file", set, [("id", id.into())]).await?;
        }
        Ok(found)
    }

    /// Takes a file whose content has arrived, if the company has room: at most `most` files and bytes.
    pub async fn begin(self, who: &Who, new: &NewFile, most: MediaTotals) -> Result<Taking> {
        let transaction = self.store.begin().await?;
        self.store.lock_row(&transaction, "company", self.company).await?;
        if file_contents::is_going_from_inbound(&transaction, (self.company, new.digest.as_slice())).await? {
            return transaction.unchanged(Taking::Busy).await;
        }
        let select = format!(
            "SELECT id, state FROM media_file WHERE company_id = $1 AND digest = $2{}",
            self.store.locking()
        );
        let values = [self.company.into(), new.digest.to_vec().into()];
        let known = fetch_one::<(Uuid, i16)>(&transaction, select, values).await?;
        let taking = match known {
            Some((id, KEPT)) => {
                // Unused files are kept from their upload on. What was kept as a document can be what it is.
                let kind = Some(new.kind).filter(|kind| *kind != Kind::Document).map(Kind::as_str);
                let thumbnail = new.thumbnail.clone().filter(|_| kind.is_some());
                // What a program uploaded before is not the program's alone any more.
                let person = Some(who).filter(|who| !matches!(who, Who::Key(_))).map(Who::to_string);
                let update = "UPDATE media_file SET created_at = $2, kind = COALESCE($3, kind),
                              thumbnail = COALESCE($4, thumbnail),
                              uploaded_by = CASE WHEN uploaded_by LIKE 'key:%' THEN COALESCE($5, uploaded_by)
                              ELSE uploaded_by END WHERE id = $1";
                let now = Timestamp::now().millis();
                let values = [id.into(), now.into(), kind.into(), thumbnail.into(), person.into()];
                execute(&transaction, update, values).await?;
                Taking::Known(id)
            }
            Some((_, LEAVING)) => Taking::Busy,
            Some((id, state)) => match self.room(&transaction, new, most, state).await? {
                Some(full) => Taking::Full(full),
                None => self.revive(&transaction, who, (id, state), new).await?,
            },
            None => match self.room(&transaction, new, most, LEAVING).await? {
                Some(full) => Taking::Full(full),
                None => self.insert(&transaction, who, new).await?,
            },
        };
        transaction.commit().await?;
        Ok(taking)
    }

    /// The totals of the company, when the file would make them larger than `most`. One that is arriving counts already.
    async fn room(
        self,
        within: &Transaction,
        new: &NewFile,
        most: MediaTotals,
        state: i16,
    ) -> Result<Option<MediaTotals>> {
        if state == ARRIVING {
            return Ok(None);
        }
        let now = totals(within, self.company).await?;
        let is_full = now.files >= most.files || now.bytes.saturating_add(new.bytes) > most.bytes;
        Ok(is_full.then_some(now))
    }

    /// Takes a file again that was removed, or that never arrived.
    async fn revive(
        self,
        within: &Transaction,
        who: &Who,
        (id, state): (Uuid, i16),
        new: &NewFile,
    ) -> Result<Taking> {
        let kept = if state == REMOVED { KEPT } else { ARRIVING };
        let update = format!(
            "UPDATE media_file SET state = {kept}, kind = $2, name = $3, thumbnail = $4, uploaded_by = $5,
             created_at = $6, used_at = NULL, removed_at = NULL WHERE id = $1"
        );
        let values = [
            id.into(),
            new.kind.as_str().into(),
            new.name.as_str().into(),
            new.thumbnail.clone().into(),
            who.to_string().into(),
            Timestamp::now().millis().into(),
        ];
        execute(within, update, values).await?;
        if state == REMOVED {
            self.record(within, who, id, "uploaded").await?;
            return Ok(Taking::Known(id));
        }
        Ok(Taking::Begun(id))
    }

    async fn insert(self, within: &Transaction, who: &Who, new: &NewFile) -> Result<Taking> {
        let id = Uuid::now_v7();
        let insert = format!(
            "INSERT INTO media_file (id, company_id, state, digest, kind, mime_type, bytes, name, thumbnail,
             uploaded_by, created_at) VALUES ($1, $2, {ARRIVING}, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT DO NOTHING"
        );
        let values = [
            id.into(),
            self.company.into(),
            new.digest.to_vec().into(),
            new.kind.as_str().into(),
            new.mime_type.as_str().into(),
            signed(new.bytes).into(),
            new.name.as_str().into(),
            new.thumbnail.clone().into(),
            who.to_string().into(),
            Timestamp::now().millis().into(),
        ];
        let is_begun = execute(within, insert, values).await? > 0;
        Ok(if is_begun { Taking::Begun(id) } else { Taking::Busy })
    }

    /// Shows a file whose content is stored. `false` when it took too long, or another upload of the same content ended
    /// before.
    pub async fn finish(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let update = format!(
            "UPDATE media_file SET state = {KEPT} WHERE id = $1 AND company_id = $2 AND state = {ARRIVING}"
        );
        let is_kept = execute(&transaction, update, [id.into(), self.company.into()]).await? > 0;
        if is_kept {
            self.record(&transaction, who, id, "uploaded").await?;
        }
        transaction.commit().await?;
        Ok(is_kept)
    }

    /// Forgets a file whose content could not be stored.
    pub async fn give_up(self, id: Uuid) -> Result<()> {
        let delete =
            format!("DELETE FROM media_file WHERE id = $1 AND company_id = $2 AND state = {ARRIVING}");
        execute(&self.store.write, delete, [id.into(), self.company.into()]).await?;
        Ok(())
    }

    /// Removes a file: no new send can use it. `false` when the company has no such file.
    pub async fn remove(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let update = format!(
            "UPDATE media_file SET state = {REMOVED}, removed_at = $3
             WHERE id = $1 AND company_id = $2 AND state = {KEPT}"
        );
        let values = [id.into(), self.company.into(), Timestamp::now().millis().into()];
        let is_removed = execute(&transaction, update, values).await? > 0;
        if is_removed {
            self.record(&transaction, who, id, "removed").await?;
        }
        transaction.commit().await?;
        Ok(is_removed)
    }

    async fn record(self, within: &Transaction, who: &Who, id: Uuid, what: &str) -> Result<()> {
        let select = "SELECT name, kind FROM media_file WHERE id = $1";
        let (file, kind) =
            fetch_one::<(String, String)>(within, select, [id.into()]).await?.unwrap_or_default();
        let after = json!({ "company_id": self.company, "file": file, "kind": kind, "state": what });
        changes::record_one(within, who, What::Media, id, None, after).await
    }
}

async fn totals(on: &impl ConnectionTrait, company: Uuid) -> Result<MediaTotals> {
    let select = format!(
        "SELECT count(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM media_file
         WHERE company_id = $1 AND state IN ({ARRIVING}, {KEPT})"
    );
    let (files, bytes) = fetch_one::<(i64, i64)>(on, select, [company.into()]).await?.unwrap_or_default();
    Ok(MediaTotals { files: files.cast_unsigned(), bytes: bytes.cast_unsigned() })
}

fn digest(bytes: Vec<u8>) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| Error::Impossible("the digest of a file".to_owned()))
}

fn read(row: &QueryResult) -> Result<LibraryFile> {
    let kind: String = row.try_get("", "kind")?;
    Ok(LibraryFile {
        id: row.try_get("", "id")?,
        company_id: row.try_get("", "company_id")?,
        digest: digest(row.try_get("", "digest")?)?,
        kind: kind.parse().map_err(|_| Error::Impossible(format!("the kind {kind} of a file")))?,
        mime_type: row.try_get("", "mime_type")?,
        bytes: row.try_get::<i64>("", "bytes")?.cast_unsigned(),
        name: row.try_get("", "name")?,
        has_thumbnail: row.try_get::<i64>("", "has_thumbnail")? != 0,
        uploaded_by: row.try_get("", "uploaded_by")?,
        created_at: Timestamp::from_millis(row.try_get("", "created_at")?),
        used_at: crate::moment(row, "used_at")?,
    })
}
