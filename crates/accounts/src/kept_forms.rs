//! Forms that a person's session keeps for a day: what they typed, at an address of its own.

use uuid::Uuid;

use super::{Accounts, Result, Session};
use clock::Timestamp;

impl Accounts {
    /// Keeps the content of a form for this session, and returns its id. A session keeps a few; the oldest one makes room.
    pub async fn keep_form(&self, session: &Session, content: &str) -> Result<Uuid> {
        Ok(self.store().sessions().keep_form(session.id, content, Timestamp::now()).await?)
    }

    /// Changes the content of a form that this session keeps; without such a form, nothing happens.
    pub async fn change_kept_form(&self, session: &Session, id: Uuid, content: &str) -> Result<()> {
        Ok(self.store().sessions().change_kept_form(session.id, id, content).await?)
    }

    /// The content of a form that this session keeps; `None` when it has no such form any more.
    pub async fn kept_form(&self, session: &Session, id: Uuid) -> Result<Option<String>> {
        Ok(self.store().sessions().kept_form(session.id, id, Timestamp::now()).await?)
    }
}
