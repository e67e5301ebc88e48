//! The quick replies of companies.

use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::QuickReplies;
use crate::one_row::{delete_rows, find_rows, put_row};
use clock::Timestamp;
use domain::quick_reply::{MOST_QUICK_REPLIES, ReplyDraft};

/// A quick reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickReply {
    /// Time-ordered id.
    pub id: Uuid,
    /// What it says.
    pub draft: ReplyDraft,
    /// When it was added or changed last.
    pub changed_at: Timestamp,
}

/// The outcome of saving a quick reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedReply {
    /// It is saved.
    Saved(QuickReply),
    /// Another quick reply has the word.
    Taken,
    /// The company has as many as it may have.
    Full,
    /// There is none of this id.
    Missing,
}

impl QuickReplies<'_> {
    /// The quick replies of the company, by their words; at most [`MOST_QUICK_REPLIES`].
    pub async fn all(self) -> Result<Vec<QuickReply>> {
        self.all_in(&self.store.read).await
    }

    async fn all_in(self, on: &impl ConnectionTrait) -> Result<Vec<QuickReply>> {
        type Row = (Uuid, String, String, Option<Uuid>, i64);
        let table = ("quick_reply", "id, word, body, file_id, changed_at", " ORDER BY word");
        let rows = find_rows::<Row>(on, table, [("company_id", self.company.into())]).await?;
        let reply = |(id, word, text, file_id, changed_at): Row| QuickReply {
            id,
            draft: ReplyDraft { word, text, file_id },
            changed_at: Timestamp::from_millis(changed_at),
        };
        Ok(rows.into_iter().map(reply).collect())
    }

    /// Adds a quick reply, or puts this in place of the one with an id.
    pub async fn save(
        self,
        who: &Who,
        id: Option<Uuid>,
        draft: ReplyDraft,
        now: Timestamp,
    ) -> Result<SavedReply> {
        let transaction = self.store.begin().await?;
        // One change of a company after the other, so that their number is bounded.
        self.store.lock_row(&transaction, "company", self.company).await?;
        let known = self.all_in(&transaction).await?;
        let before = id.and_then(|id| known.iter().find(|reply| reply.id == id));
        if id.is_some() && before.is_none() {
            return transaction.unchanged(SavedReply::Missing).await;
        }
        if known.iter().any(|reply| Some(reply.id) != id && reply.draft.word == draft.word) {
            return transaction.unchanged(SavedReply::Taken).await;
        }
        if id.is_none() && known.len() >= MOST_QUICK_REPLIES {
            return transaction.unchanged(SavedReply::Full).await;
        }
        if let Some(before) = before.filter(|before| before.draft == draft) {
            return transaction.unchanged(SavedReply::Saved(before.clone())).await;
        }
        let reply = QuickReply { id: id.unwrap_or_else(Uuid::now_v7), draft, changed_at: now };
        let ReplyDraft { word, text, file_id } = &reply.draft;
        let row = [
            ("id", reply.id.into()),
            ("company_id", self.company.into()),
            ("word", word.as_str().into()),
            ("body", text.as_str().into()),
            ("file_id", (*file_id).into()),
            ("changed_at", now.millis().into()),
        ];
        put_row(&transaction, "quick_reply", &["id"], row).await?;
        let (before, after) = (before.map(shown), shown(&reply));
        changes::record_one(&transaction, who, What::QuickReplies, self.company, before, after).await?;
        transaction.commit().await?;
        Ok(SavedReply::Saved(reply))
    }

    /// Deletes a quick reply. Returns whether there was one.
    pub async fn delete(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let known = self.all_in(&transaction).await?;
        let of = [("id", id.into()), ("company_id", self.company.into())];
        let deleted = delete_rows(&transaction, "quick_reply", of).await?;
        let Some(before) = known.iter().find(|reply| reply.id == id).filter(|_| deleted > 0) else {
            return transaction.unchanged(false).await;
        };
        let (what, before) = (What::QuickReplies, Some(shown(before)));
        changes::record_one(&transaction, who, what, self.company, before, json!("deleted")).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// A quick reply as the record of changes has it.
fn shown(reply: &QuickReply) -> Value {
    let ReplyDraft { word, text, file_id } = &reply.draft;
    json!({ "id": reply.id, "word": word, "text": text, "file": file_id })
}
