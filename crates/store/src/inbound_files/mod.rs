//! The files that people send: which are to be fetched, which are kept, and why others are missing.
//!
//! A file is queued in the transaction that writes its message, under the message's id. Its content is in the store of files
//! under company and digest, as that of the [library](crate::media) is: the same content has one name.
//! So whether a name is in use is decided in one place (`file_contents`), with the company's row locked.

mod leaving;
mod queue;

use entity::inbound_file::{Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryResult, QuerySelect, UpdateMany};
use uuid::Uuid;

pub(crate) use self::leaving::LEAVES;
pub use self::leaving::LeavingFile;
pub(crate) use self::queue::AnnouncedFile;
pub use self::queue::{FileHold, QueuedFile};
use crate::dialect::Rows;
use crate::file_contents::{SENT_KEPT as KEPT, SENT_LEAVING as LEAVING, SENT_WAITING as WAITING};
use crate::nouns::{AllInboundFiles, InboundFiles};
use crate::queries::sum_of;
use crate::{Error, Result};
use clock::Timestamp;
use domain::inbound::MissingFile;
use domain::media::Kind;

/// Missing, and nothing of its content is stored.
const MISSING: i16 = 2;
/// Missing, and what was stored of the content is to be deleted.
const GIVEN_UP: i16 = 4;

/// A file that a person sent, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFile {
    /// The message.
    pub message_id: Uuid,
    /// Its company.
    pub company_id: Uuid,
    /// Its state.
    pub standing: FileStanding,
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileStanding {
    /// It is to be fetched.
    Waiting {
        /// When its message came.
        received_at: Timestamp,
        /// Why the last attempt did not succeed, if it is of interest.
        reason: Option<MissingFile>,
    },
    /// It can be read.
    Kept(KeptFile),
    /// It is not there.
    Missing(MissingFile),
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// The digest of its content (SHA-256).
    pub digest: [u8; 32],
    /// What it is by its content: anything but a picture, a film or a sound is a document.
    pub kind: Kind,
    /// Its type, by its content.
    pub mime_type: String,
    /// Its length.
    pub bytes: u64,
    /// Its name, without folders and deceptive characters.
    pub name: String,
    /// Whether it has a thumbnail.
    pub has_thumbnail: bool,
    /// When its message came.
    pub received_at: Timestamp,
}

const COLUMNS: &str = "inbound_file.message_id, inbound_file.company_id, inbound_file.state, inbound_file.kind, \
    inbound_file.received_at, inbound_file.reason, inbound_file.digest, inbound_file.mime_type, inbound_file.bytes, \
    inbound_file.name, \
    CAST(CASE WHEN inbound_file.thumbnail IS NULL THEN 0 ELSE 1 END AS BIGINT) AS has_thumbnail";

impl AllInboundFiles<'_> {
    /// The states of the files of these messages, of any company. Messages without one are left out.
    pub async fn of_messages(self, messages: &[Uuid]) -> Result<Vec<SentFile>> {
        let (asked, values) = Rows::of_ids(self.store.backend, messages).select(1);
        let sql = format!(
            "SELECT {COLUMNS} FROM {asked} AS asked CROSS JOIN inbound_file WHERE inbound_file.message_id = asked.id"
        );
        self.store.rows(sql, values).await?.iter().map(read).collect()
    }

    /// The state of the file of this message.
    pub async fn find(self, message: Uuid) -> Result<Option<SentFile>> {
        let sql = format!("SELECT {COLUMNS} FROM inbound_file WHERE message_id = $1");
        self.store.row(sql, [message.into()]).await?.as_ref().map(read).transpose()
    }
}

impl InboundFiles<'_> {
    /// The thumbnail of the file of this message.
    pub async fn thumbnail(self, message: Uuid) -> Result<Option<Vec<u8>>> {
        let own = Entity::find_by_id(message).filter(Column::CompanyId.eq(self.company));
        let kept = own.filter(Column::State.eq(KEPT)).select_only().column(Column::Thumbnail);
        Ok(kept.into_tuple::<Option<Vec<u8>>>().one(&self.store.read).await?.flatten())
    }

    /// The bytes of all kept files of the company.
    pub async fn bytes(self) -> Result<u64> {
        let own =
            Entity::find().filter(Column::CompanyId.eq(self.company)).filter(Column::Digest.is_not_null());
        let kept = own.filter(Expr::cust(format!("state IN ({WAITING}, {KEPT})"))).select_only();
        let bytes =
            kept.expr(sum_of(Expr::col(Column::Bytes))).into_tuple::<i64>().one(&self.store.read).await?;
        Ok(bytes.unwrap_or_default().cast_unsigned())
    }
}

/// A file in this state, to be changed.
fn change(message: Uuid, state: i16) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::MessageId.eq(message)).filter(Column::State.eq(state))
}

fn digest(bytes: Vec<u8>) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| Error::Impossible("the digest of a file that was sent".to_owned()))
}

fn read(row: &QueryResult) -> Result<SentFile> {
    let state: i16 = row.try_get("", "state")?;
    let reason: Option<i16> = row.try_get("", "reason")?;
    let reason = reason.and_then(MissingFile::from_i16);
    let received_at = Timestamp::from_millis(row.try_get("", "received_at")?);
    let standing = match state {
        WAITING => FileStanding::Waiting { received_at, reason },
        KEPT => {
            let kind: String = row.try_get("", "kind")?;
            let content: Option<Vec<u8>> = row.try_get("", "digest")?;
            FileStanding::Kept(KeptFile {
                digest: digest(content.unwrap_or_default())?,
                kind: kind.parse().map_err(|_| Error::Impossible(format!("the kind {kind} of a file")))?,
                mime_type: row.try_get::<Option<String>>("", "mime_type")?.unwrap_or_default(),
                bytes: row.try_get::<i64>("", "bytes")?.cast_unsigned(),
                name: row.try_get::<Option<String>>("", "name")?.unwrap_or_default(),
                has_thumbnail: row.try_get::<i64>("", "has_thumbnail")? != 0,
                received_at,
            })
        }
        MISSING | GIVEN_UP => FileStanding::Missing(reason.unwrap_or(MissingFile::NotKept)),
        _ => FileStanding::Missing(MissingFile::NotKept),
    };
    Ok(SentFile {
        message_id: row.try_get("", "message_id")?,
        company_id: row.try_get("", "company_id")?,
        standing,
    })
}
