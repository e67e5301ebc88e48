//! Forms that a session keeps for a day, so that the page that shows them has an address of its own.

use std::time::Duration;

use uuid::Uuid;

use crate::nouns::Sessions;
use crate::one_row::{insert_row, update_rows};
use crate::{Result, execute, fetch_one};
use clock::Timestamp;

/// How long a form is kept. Old ones are removed when another one is kept, and by retention.
pub const KEPT: Duration = Duration::from_secs(24 * 3_600);
/// The most forms of a session; the oldest one makes room. Each is as long as a person has typed, and a new send keeps one
/// for each of its steps.
const MOST: i64 = 32;

impl Sessions<'_> {
    /// Keeps the content of a form of this session, and returns its id.
    pub async fn keep_form(self, session_id: Uuid, content: &str, now: Timestamp) -> Result<Uuid> {
        let id = Uuid::now_v7();
        let transaction = self.store.begin().await?;
        let sql = "DELETE FROM kept_form WHERE kept_at <= $1";
        execute(&transaction, sql, [now.minus(KEPT).millis().into()]).await?;
        let sql = format!(
            "DELETE FROM kept_form WHERE id IN (
                SELECT id FROM kept_form WHERE session_id = $1 ORDER BY kept_at DESC, id DESC LIMIT {} OFFSET {}
             )",
            i64::MAX,
            MOST - 1
        );
        execute(&transaction, sql, [session_id.into()]).await?;
        let row = [
            ("id", id.into()),
            ("session_id", session_id.into()),
            ("content", content.into()),
            ("kept_at", now.millis().into()),
        ];
        insert_row(&transaction, "kept_form", row).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// Changes the content of a form that this session keeps; without such a form, nothing happens.
    pub async fn change_kept_form(self, session_id: Uuid, id: Uuid, content: &str) -> Result<()> {
        let of = [("id", id.into()), ("session_id", session_id.into())];
        update_rows(&self.store.write, "kept_form", [("content", content.into())], of).await?;
        Ok(())
    }

    /// The content of a form that this session keeps; `None` when it has no such form any more.
    pub async fn kept_form(self, session_id: Uuid, id: Uuid, now: Timestamp) -> Result<Option<String>> {
        let sql = "SELECT content FROM kept_form WHERE id = $1 AND session_id = $2 AND kept_at > $3";
        let values = [id.into(), session_id.into(), now.minus(KEPT).millis().into()];
        fetch_one(&self.store.read, sql, values).await
    }
}
