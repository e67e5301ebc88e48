//! Indexing for search while an import goes on.
//!
//! One segment at a time is put together beside the batches and written between two of them; when batches get
//! far ahead of it, they wait. So contacts that are not indexed yet stay few, and memory constant. Called by
//! [`super::contacts()`].

use std::time::Duration;

use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::store::{self, Care, Pace, Prepared, Store};

/// Rows that may be written while one segment is put together.
const ROWS_AHEAD: usize = 16_384;

/// The indexing of one company during an import.
pub struct Indexing {
    store: Store,
    company: Uuid,
    pace: Pace,
    step: Option<JoinHandle<store::Result<Option<Prepared>>>>,
    ahead: usize,
}

impl Indexing {
    /// Of the contacts of `company`, which are written at this pace.
    pub fn new(store: &Store, company: Uuid, pace: Pace) -> Self {
        Self { store: store.clone(), company, pace, step: None, ahead: 0 }
    }

    /// How many rows to write in the next transaction.
    pub const fn rows(&self) -> usize {
        self.pace.rows()
    }

    /// To be called when so many rows were written in a transaction, with what that took. Lets others write, too.
    ///
    /// # Errors
    ///
    /// Fails when the database does.
    pub async fn written(&mut self, rows: usize, took: Duration) -> store::Result<()> {
        self.ahead += rows;
        if rows == self.pace.rows() {
            self.pace.wrote(took);
        }
        self.pace.pause().await;
        if self.step.as_ref().is_some_and(|step| step.is_finished() || self.ahead >= ROWS_AHEAD) {
            self.settle().await?;
        }
        if self.step.is_none() {
            let (store, company) = (self.store.clone(), self.company);
            self.step =
                Some(tokio::spawn(async move { store.prepare_segment(company, Care::Passing).await }));
            self.ahead = 0;
        }
        Ok(())
    }

    /// To be called at the end: indexes what is left.
    ///
    /// # Errors
    ///
    /// Fails when the database does.
    pub async fn finish(mut self) -> store::Result<()> {
        self.settle().await?;
        while let Some(prepared) = self.store.prepare_segment(self.company, Care::Thorough).await? {
            self.store.write_segment(prepared).await?;
            self.pace.pause().await;
        }
        Ok(())
    }

    async fn settle(&mut self) -> store::Result<()> {
        let Some(step) = self.step.take() else { return Ok(()) };
        // One that panicked can be taken again, by the next import or by the service.
        let Some(prepared) = step.await.unwrap_or(Ok(None))? else { return Ok(()) };
        self.store.write_segment(prepared).await?;
        self.pace.pause().await;
        Ok(())
    }
}
