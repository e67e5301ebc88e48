//! Indexes contacts for search during an import.
//!
//! One segment at a time is built in the background and written between two batches. When the batches are far
//! ahead, they wait. So few contacts are not indexed yet, and memory stays constant. Called by
//! [`super::contacts()`].

use std::time::Duration;

use tokio::task::JoinHandle;
use uuid::Uuid;

use store::{Care, Pace, Prepared, Store};

/// The maximum of rows that are written while one segment is built.
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
    /// The indexing of contacts of `company`, which are written at this pace.
    pub fn new(store: &Store, company: Uuid, pace: Pace) -> Self {
        Self { store: store.clone(), company, pace, step: None, ahead: 0 }
    }

    /// The pace, which says how many rows to write in the next transaction.
    pub const fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Must be called after each transaction, with the number of rows and the duration. Lets other writers
    /// write, too.
    pub async fn written(&mut self, rows: usize, took: Duration) -> store::Result<()> {
        self.ahead += rows;
        self.pace.wrote(rows, took);
        self.pace.pause().await;
        if self.step.as_ref().is_some_and(|step| step.is_finished() || self.ahead >= ROWS_AHEAD) {
            self.settle().await?;
        }
        if self.step.is_none() {
            let (store, company) = (self.store.clone(), self.company);
            self.step =
                Some(tokio::spawn(
                    async move { store.of(company).index().prepare_segment(Care::Passing).await },
                ));
            self.ahead = 0;
        }
        Ok(())
    }

    /// Must be called at the end: indexes the remaining contacts.
    pub async fn finish(mut self) -> store::Result<()> {
        self.settle().await?;
        while let Some(prepared) = self.store.of(self.company).index().prepare_segment(Care::Thorough).await?
        {
            self.store.contacts().write_segment(prepared).await?;
            self.pace.pause().await;
        }
        Ok(())
    }

    async fn settle(&mut self) -> store::Result<()> {
        let Some(step) = self.step.take() else { return Ok(()) };
        // A segment whose task panicked can be built again, by the next import or by the service.
        let Some(prepared) = step.await.unwrap_or(Ok(None))? else { return Ok(()) };
        self.store.contacts().write_segment(prepared).await?;
        self.pace.pause().await;
        Ok(())
    }
}
