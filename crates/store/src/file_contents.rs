//! Whether a name in the store of files is in use. Files of the library and files that people sent share names, so a
//! transaction that begins to use a name, or decides to delete what is under it, holds the lock of the company.

use entity::media_file::{Column, Entity};
use sea_orm::{ColumnTrait as _, ConnectionTrait, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use uuid::Uuid;

use crate::{Result, fetch_one};

/// States of a file of the library.
pub(crate) const LIBRARY_ARRIVING: i16 = 0;
pub(crate) const LIBRARY_LEAVING: i16 = 3;
/// States of a file that a person sent: to be fetched, and kept.
pub(crate) const SENT_WAITING: i16 = 0;
pub(crate) const SENT_KEPT: i16 = 1;
/// The first of the states in which its content is to be deleted.
pub(crate) const SENT_LEAVING: i16 = 3;

/// What the library does with a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LibraryUse {
    /// It is about to store it.
    Arriving,
    /// It keeps it, for now at least.
    Stored,
    /// It is deleting it.
    Leaving,
}

/// What the library of a company does with a content; `None` for one that it does not have.
pub(crate) async fn library_use(
    on: &impl ConnectionTrait,
    (company, digest): (Uuid, &[u8]),
) -> Result<Option<LibraryUse>> {
    let file =
        Entity::find().filter(Column::CompanyId.eq(company)).filter(Column::Digest.eq(digest.to_vec()));
    let state = file.select_only().column(Column::State).into_tuple::<i16>().one(on).await?;
    Ok(state.map(|state| match state {
        LIBRARY_ARRIVING => LibraryUse::Arriving,
        LIBRARY_LEAVING => LibraryUse::Leaving,
        _ => LibraryUse::Stored,
    }))
}

/// Whether a person's file has this content, or is about to have it. With `but`, another one than that.
pub(crate) async fn is_used_by_inbound(
    within: &impl ConnectionTrait,
    (company, digest): (Uuid, &[u8]),
    but: Uuid,
) -> Result<bool> {
    let state = format!("state IN ({SENT_WAITING}, {SENT_KEPT})");
    is_sent(within, (company, digest), but, &state).await
}

/// Whether this content of a person's file is being deleted.
pub(crate) async fn is_going_from_inbound(
    within: &impl ConnectionTrait,
    (company, digest): (Uuid, &[u8]),
) -> Result<bool> {
    let state = format!("digest IS NOT NULL AND state >= {SENT_LEAVING}");
    is_sent(within, (company, digest), Uuid::nil(), &state).await
}

/// Whether another file of a person than `but` has this content, and is in this state.
async fn is_sent(
    within: &impl ConnectionTrait,
    (company, digest): (Uuid, &[u8]),
    but: Uuid,
    state: &str,
) -> Result<bool> {
    let sql = format!(
        "SELECT message_id FROM inbound_file WHERE company_id = $1 AND digest = $2 AND message_id <> $3
         AND {state} LIMIT 1"
    );
    let values = [company.into(), digest.to_vec().into(), but.into()];
    Ok(fetch_one::<Uuid>(within, sql, values).await?.is_some())
}
