//! The files that companies keep: what they are. Their content is in the store of files, under company and digest.
//!
//! A row is there before the content and after it, so that no content is without one: it is *arriving* until the content is
//! stored, and *leaving* while it is deleted. A removed file is hidden at once. Its content stays for as long as a provider may
//! still fetch it, and as an unfinished send needs it. Uploading the same content again gives the same file.

mod leaving;

pub use self::leaving::LeavingFiles;

use entity::media_file::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DerivePartialModel, EntityTrait as _, Insert, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, Select, Set,
};
use serde_json::json;
use uuid::Uuid;

use super::changes::{self, What, Who};
use super::contacts::signed;
use super::file_contents::{self, LIBRARY_ARRIVING as ARRIVING, LIBRARY_LEAVING as LEAVING};
use crate::nouns::MediaFiles;
use crate::one_row::{delete_rows, update_rows};
use crate::queries::{locked, sum_of};
use crate::{Error, Result, Transaction};
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

/// A file without its thumbnail.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "Entity")]
struct FileRow {
    id: Uuid,
    company_id: Uuid,
    digest: Vec<u8>,
    kind: String,
    mime_type: String,
    bytes: i64,
    name: String,
    #[sea_orm(from_expr = "Column::Thumbnail.is_not_null()")]
    has_thumbnail: bool,
    uploaded_by: String,
    created_at: i64,
    used_at: Option<i64>,
}

impl MediaFiles<'_> {
    /// A page of the company's files, newest first; with `kind`, those that can be sent as it.
    pub async fn page(self, kind: Option<Kind>, page: PageRequest) -> Result<Page<LibraryFile>> {
        // Any file is a document.
        let kind = kind.filter(|kind| *kind != Kind::Document);
        let mut matching = self.kept();
        if let Some(kind) = kind {
            matching = matching.filter(Column::Kind.eq(kind.as_str()));
        }
        let total = matching.clone().count(&self.store.read).await?;
        let newest = matching.order_by_desc(Column::Id).limit(page.limit).offset(page.offset());
        let rows = newest.into_partial_model::<FileRow>().all(&self.store.read).await?;
        Ok(Page { records: rows.into_iter().map(read).collect::<Result<_>>()?, total })
    }

    /// The company's file of this id.
    pub async fn find(self, id: Uuid) -> Result<Option<LibraryFile>> {
        let file = self.kept().filter(Column::Id.eq(id)).into_partial_model::<FileRow>();
        file.one(&self.store.read).await?.map(read).transpose()
    }

    /// The thumbnail of the company's file of this id.
    pub async fn thumbnail(self, id: Uuid) -> Result<Option<Vec<u8>>> {
        let file = self.kept().filter(Column::Id.eq(id)).select_only().column(Column::Thumbnail);
        Ok(file.into_tuple::<Option<Vec<u8>>>().one(&self.store.read).await?.flatten())
    }

    fn kept(self) -> Select<Entity> {
        Entity::find().filter(Column::CompanyId.eq(self.company)).filter(Column::State.eq(KEPT))
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
        let known = Entity::find().filter(Column::CompanyId.eq(self.company));
        let known = locked(known.filter(Column::Digest.eq(new.digest.to_vec()))).one(&transaction).await?;
        let taking = match known {
            Some(file) if file.state == KEPT => {
                // Unused files are kept from their upload on.
                let mut columns =
                    ActiveModel { created_at: Set(Timestamp::now().millis()), ..Default::default() };
                // What was kept as a document can be what it is.
                if new.kind != Kind::Document {
                    columns.kind = Set(new.kind.as_str().to_owned());
                    columns.thumbnail = Set(new.thumbnail.clone().or(file.thumbnail));
                }
                // What a program uploaded before is not the program's alone any more.
                if file.uploaded_by.starts_with("key:") && !matches!(who, Who::Key(_)) {
                    columns.uploaded_by = Set(who.to_string());
                }
                Entity::update_many().set(columns).filter(Column::Id.eq(file.id)).exec(&transaction).await?;
                Taking::Known(file.id)
            }
            Some(file) if file.state == LEAVING => Taking::Busy,
            Some(file) => match self.room(&transaction, new, most, file.state).await? {
                Some(full) => Taking::Full(full),
                None => self.revive(&transaction, who, (file.id, file.state), new).await?,
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
        let columns = ActiveModel {
            state: Set(if state == REMOVED { KEPT } else { ARRIVING }),
            kind: Set(new.kind.as_str().to_owned()),
            name: Set(new.name.clone()),
            thumbnail: Set(new.thumbnail.clone()),
            uploaded_by: Set(who.to_string()),
            created_at: Set(Timestamp::now().millis()),
            used_at: Set(None),
            removed_at: Set(None),
            ..Default::default()
        };
        Entity::update_many().set(columns).filter(Column::Id.eq(id)).exec(within).await?;
        if state == REMOVED {
            self.record(within, who, id, "uploaded").await?;
            return Ok(Taking::Known(id));
        }
        Ok(Taking::Begun(id))
    }

    async fn insert(self, within: &Transaction, who: &Who, new: &NewFile) -> Result<Taking> {
        let id = Uuid::now_v7();
        let row = Model {
            id,
            company_id: self.company,
            state: ARRIVING,
            digest: new.digest.to_vec(),
            kind: new.kind.as_str().to_owned(),
            mime_type: new.mime_type.clone(),
            bytes: signed(new.bytes),
            name: new.name.clone(),
            thumbnail: new.thumbnail.clone(),
            uploaded_by: who.to_string(),
            created_at: Timestamp::now().millis(),
            used_at: None,
            removed_at: None,
        };
        let unless_there = OnConflict::columns([Column::CompanyId, Column::Digest]).do_nothing().to_owned();
        let begun = Insert::one(row).on_conflict(unless_there).exec_without_returning(within).await?;
        Ok(if begun > 0 { Taking::Begun(id) } else { Taking::Busy })
    }

    /// Shows a file whose content is stored. `false` when it took too long, or another upload of the same content ended
    /// before.
    pub async fn finish(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let of = [("id", id.into()), ("company_id", self.company.into()), ("state", ARRIVING.into())];
        let is_kept = update_rows(&transaction, "media_file", [("state", KEPT.into())], of).await? > 0;
        if is_kept {
            self.record(&transaction, who, id, "uploaded").await?;
        }
        transaction.commit().await?;
        Ok(is_kept)
    }

    /// Forgets a file whose content could not be stored.
    pub async fn give_up(self, id: Uuid) -> Result<()> {
        let of = [("id", id.into()), ("company_id", self.company.into()), ("state", ARRIVING.into())];
        delete_rows(&self.store.write, "media_file", of).await?;
        Ok(())
    }

    /// Removes a file: no new send can use it. `false` when the company has no such file.
    pub async fn remove(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let set = [("state", REMOVED.into()), ("removed_at", Timestamp::now().millis().into())];
        let of = [("id", id.into()), ("company_id", self.company.into()), ("state", KEPT.into())];
        let is_removed = update_rows(&transaction, "media_file", set, of).await? > 0;
        if is_removed {
            self.record(&transaction, who, id, "removed").await?;
        }
        transaction.commit().await?;
        Ok(is_removed)
    }

    async fn record(self, within: &Transaction, who: &Who, id: Uuid, what: &str) -> Result<()> {
        let file = Entity::find_by_id(id).select_only().columns([Column::Name, Column::Kind]);
        let (file, kind) = file.into_tuple::<(String, String)>().one(within).await?.unwrap_or_default();
        let after = json!({ "company_id": self.company, "file": file, "kind": kind, "state": what });
        changes::record_one(within, who, What::Media, id, None, after).await
    }
}

async fn totals(on: &impl ConnectionTrait, company: Uuid) -> Result<MediaTotals> {
    let own = Entity::find().filter(Column::CompanyId.eq(company)).select_only();
    let own = own.filter(Expr::cust(format!("state IN ({ARRIVING}, {KEPT})"))).expr(Column::Id.count());
    let own = own.expr(sum_of(Expr::col(Column::Bytes))).into_tuple::<(i64, i64)>();
    let (files, bytes) = own.one(on).await?.unwrap_or_default();
    Ok(MediaTotals { files: files.cast_unsigned(), bytes: bytes.cast_unsigned() })
}

fn digest(bytes: Vec<u8>) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| Error::Impossible("the digest of a file".to_owned()))
}

fn read(row: FileRow) -> Result<LibraryFile> {
    Ok(LibraryFile {
        id: row.id,
        company_id: row.company_id,
        digest: digest(row.digest)?,
        kind: row.kind.parse().map_err(|_| Error::Impossible(format!("the kind {} of a file", row.kind)))?,
        mime_type: row.mime_type,
        bytes: row.bytes.cast_unsigned(),
        name: row.name,
        has_thumbnail: row.has_thumbnail,
        uploaded_by: row.uploaded_by,
        created_at: Timestamp::from_millis(row.created_at),
        used_at: row.used_at.map(Timestamp::from_millis),
    })
}
