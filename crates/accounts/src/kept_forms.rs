//! Forms that a person's session keeps for a day: what they typed, at an address of its own.

use uuid::Uuid;

use super::{Accounts, Result, Session};
use clock::Timestamp;

/// Forms that sessions keep.
#[derive(Clone, Copy)]
pub struct KeptForms<'a>(&'a Accounts);

impl<'a> KeptForms<'a> {
    /// The forms of these people's sessions.
    pub const fn of(accounts: &'a Accounts) -> Self {
        Self(accounts)
    }

    /// Keeps the content of a form for this session, and returns its id. A session keeps a few; the oldest one makes room.
    pub async fn keep(self, session: &Session, content: &str) -> Result<Uuid> {
        Ok(self.0.store().sessions().keep_form(session.id, content, Timestamp::now()).await?)
    }

    /// Changes the content of a form that this session keeps; without such a form, nothing happens.
    pub async fn change(self, session: &Session, id: Uuid, content: &str) -> Result<()> {
        Ok(self.0.store().sessions().change_kept_form(session.id, id, content).await?)
    }

    /// The content of a form that this session keeps; `None` when it has no such form any more.
    pub async fn find(self, session: &Session, id: Uuid) -> Result<Option<String>> {
        Ok(self.0.store().sessions().kept_form(session.id, id, Timestamp::now()).await?)
    }
}
