//! The messages of a company's sends.
//!
//! They are read with the [`SendSnapshot`] of their send, which only its company gets.

use uuid::Uuid;

use super::CompanyRecords;
use crate::Error;
use domain::message::{Selection, State};
use domain::page::{Page, PageRequest};
pub use store::sends::messages::{Found, Message, SendSnapshot};

/// The messages of one company's sends.
pub struct Messages<'a>(pub(super) &'a CompanyRecords);

impl Messages<'_> {
    /// The snapshot of the send of this id, for reading its messages; `None` when the company has no such send.
    pub async fn send_snapshot(&self, send_id: Uuid) -> Result<Option<SendSnapshot>, Error> {
        Ok(self.0.store().send_snapshot(self.0.company, send_id).await?)
    }

    /// One page of a send's messages by ordinal, only those in `state` if given.
    pub async fn page(
        &self,
        snapshot: &SendSnapshot,
        state: Option<State>,
        page: PageRequest,
    ) -> Result<Page<Message>, Error> {
        Ok(self.0.store().messages(snapshot, state, page).await?)
    }

    /// One page of a send's messages that failed with one of the codes of `selection`.
    pub async fn with_codes(
        &self,
        snapshot: &SendSnapshot,
        selection: &Selection,
        page: PageRequest,
    ) -> Result<Page<Message>, Error> {
        Ok(self.0.store().coded_messages(snapshot, selection, page).await?)
    }

    /// The messages from ordinal `from` on that `selection` includes: at most `limit`, and among the next `span` only,
    /// so that one call costs no more when few or none of them match.
    pub async fn selected(
        &self,
        snapshot: &SendSnapshot,
        selection: &Selection,
        from: u64,
        limit: u64,
        span: u64,
    ) -> Result<Found, Error> {
        Ok(self.0.store().selected_messages(snapshot, selection, from, limit, span).await?)
    }
}
