//! New sends that people are writing: what they typed, until they send it or delete it.
//!
//! A draft that a person saved is the company's: every member sees it. One that was kept by itself, because the person went
//! on or their session ended, is seen by that person alone.

use std::time::Duration;

use sea_orm::Value;
use uuid::Uuid;

use crate::nouns::Drafts;
use crate::one_row::insert_row;
use crate::{Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::page::{Page, PageRequest};

/// How long a draft is kept after its last change.
pub const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The longest content, in bytes: some fifteen thousand numbers.
pub const LONGEST: usize = 256 * 1024;
/// The most drafts that one person may have saved in a company.
pub const MOST_SAVED: u64 = 50;
/// The most drafts of one person in a company that were kept by themselves; the oldest one makes room.
const MOST_UNSAVED: i64 = 8;

/// A draft in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Time-ordered id.
    pub id: Uuid,
    /// The name of the send; may be empty.
    pub name: String,
    /// The name of the chosen channel, if one is chosen that is still there.
    pub channel: Option<String>,
    /// The kind of the message, as the console names it.
    pub kind: String,
    /// The e-mail of the person who kept it last.
    pub by: String,
    /// Whether it was saved for the company.
    pub is_saved: bool,
    /// When it was kept last.
    pub kept_at: Timestamp,
}

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub struct NewDraft<'a> {
    /// The draft that it continues, if that is still there.
    pub id: Option<Uuid>,
    /// The name of the send; may be empty.
    pub name: &'a str,
    /// The chosen channel.
    pub channel_id: Option<Uuid>,
    /// The kind of the message.
    pub kind: &'a str,
    /// The fields as a browser encodes them, at most [`LONGEST`].
    pub content: &'a str,
    /// Whether a person saves it for the company. A saved one stays saved.
    pub is_saved: bool,
}

impl Drafts<'_> {
    /// Keeps what a person typed, in place of the draft that it continues. Returns the draft's id; `None` when the person
    /// wants to save more than [`MOST_SAVED`].
    pub async fn keep(self, user_id: Uuid, draft: NewDraft<'_>, now: Timestamp) -> Result<Option<Uuid>> {
        let NewDraft { id, name, channel_id, kind, content, is_saved } = draft;
        let transaction = self.store.begin().await?;
        // One draft of a person after the other, so that their number is bounded.
        self.store.lock_row(&transaction, "user_account", user_id).await?;
        if is_saved {
            let sql = "SELECT count(*) FROM draft WHERE company_id = $1 AND user_id = $2 AND is_saved = 1 AND id <> $3";
            let values = [self.company.into(), user_id.into(), id.unwrap_or_default().into()];
            let saved = fetch_one::<i64>(&transaction, sql, values).await?.unwrap_or_default();
            if saved.cast_unsigned() >= MOST_SAVED {
                return transaction.unchanged(None).await;
            }
        }
        let saved = i16::from(is_saved);
        if let Some(id) = id {
            let sql = "UPDATE draft SET user_id = $3, name = $4, channel_id = $5, kind = $6, content = $7, kept_at = $8, \
                       is_saved = is_saved | $9 \
                       WHERE id = $1 AND company_id = $2 AND (is_saved = 1 OR user_id = $3)";
            let values = [
                id.into(),
                self.company.into(),
                user_id.into(),
                name.into(),
                channel_id.into(),
                kind.into(),
                content.into(),
                now.millis().into(),
                saved.into(),
            ];
            if execute(&transaction, sql, values).await? > 0 {
                transaction.commit().await?;
                return Ok(Some(id));
            }
        }
        if !is_saved {
            let sql = format!(
                "DELETE FROM draft WHERE id IN (SELECT id FROM draft \
                 WHERE company_id = $1 AND user_id = $2 AND is_saved = 0 \
                 ORDER BY kept_at DESC, id DESC LIMIT {} OFFSET {})",
                i64::MAX,
                MOST_UNSAVED - 1
            );
            execute(&transaction, sql, [self.company.into(), user_id.into()]).await?;
        }
        let id = Uuid::now_v7();
        let row = [
            ("id", id.into()),
            ("company_id", self.company.into()),
            ("user_id", user_id.into()),
            ("is_saved", saved.into()),
            ("name", name.into()),
            ("channel_id", channel_id.into()),
            ("kind", kind.into()),
            ("content", content.into()),
            ("kept_at", now.millis().into()),
        ];
        insert_row(&transaction, "draft", row).await?;
        transaction.commit().await?;
        Ok(Some(id))
    }

    /// A page of the drafts that a person sees, the last kept first.
    pub async fn page(self, user_id: Uuid, page: PageRequest, now: Timestamp) -> Result<Page<Draft>> {
        type Row = (Uuid, String, Option<String>, String, String, i16, i64);
        const SEEN: &str =
            "FROM draft WHERE draft.company_id = $1 AND (is_saved = 1 OR user_id = $2) AND kept_at > $3";
        let seen: [Value; 3] = [self.company.into(), user_id.into(), now.minus(KEPT).millis().into()];
        let total =
            fetch_one::<i64>(&self.store.read, format!("SELECT count(*) {SEEN}"), seen.clone()).await?;
        let sql = format!(
            "SELECT shown.id, shown.name, channel.name, shown.kind, user_account.email, shown.is_saved, shown.kept_at \
             FROM (SELECT draft.* {SEEN} ORDER BY kept_at DESC, id DESC LIMIT $4 OFFSET $5) AS shown \
             JOIN user_account ON user_account.id = shown.user_id \
             LEFT JOIN channel ON channel.id = shown.channel_id AND channel.company_id = shown.company_id \
             ORDER BY shown.kept_at DESC, shown.id DESC"
        );
        let place = [page.limit, page.offset()].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let values = seen.into_iter().chain(place.map(Value::from));
        let rows = fetch::<Row>(&self.store.read, sql, values).await?;
        let draft = |(id, name, channel, kind, by, is_saved, kept_at): Row| Draft {
            id,
            name,
            channel,
            kind,
            by,
            is_saved: is_saved != 0,
            kept_at: Timestamp::from_millis(kept_at),
        };
        Ok(Page {
            records: rows.into_iter().map(draft).collect(),
            total: total.unwrap_or_default().cast_unsigned(),
        })
    }

    /// The content of a draft that a person sees; `None` when there is none of this id.
    pub async fn content(self, user_id: Uuid, id: Uuid, now: Timestamp) -> Result<Option<String>> {
        let sql = "SELECT content FROM draft WHERE id = $1 AND company_id = $2 AND (is_saved = 1 OR user_id = $3) \
                   AND kept_at > $4";
        let values = [id.into(), self.company.into(), user_id.into(), now.minus(KEPT).millis().into()];
        fetch_one(&self.store.read, sql, values).await
    }

    /// Removes a draft that a person sees. Returns whether there was one of this id.
    pub async fn remove(self, user_id: Uuid, id: Uuid) -> Result<bool> {
        let sql = "DELETE FROM draft WHERE id = $1 AND company_id = $2 AND (is_saved = 1 OR user_id = $3)";
        let values = [id.into(), self.company.into(), user_id.into()];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }
}
