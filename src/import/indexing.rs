//! Indexing for search while an import goes on.
//!
//! One step at a time runs beside the batches; when batches get ahead of it, they wait. So contacts that
//! are not indexed yet stay few, and memory constant. Called by [`super::contacts()`].

use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::store::{self, Care, Store};

/// Rows that may be written while one step is under way.
const ROWS_AHEAD: usize = 16_384;

/// See the module.
pub(super) struct Indexing<'a> {
    store: &'a Store,
    company: Uuid,
    step: Option<JoinHandle<store::Result<bool>>>,
    ahead: usize,
}

impl<'a> Indexing<'a> {
    pub(super) const fn new(store: &'a Store, company: Uuid) -> Self {
        Self { store, company, step: None, ahead: 0 }
    }

    /// To be called when so many rows were written.
    pub(super) async fn written(&mut self, rows: usize) -> store::Result<()> {
        self.ahead += rows;
        if self.step.as_ref().is_some_and(|step| step.is_finished() || self.ahead >= ROWS_AHEAD) {
            self.settle().await?;
        }
        if self.step.is_none() {
            let (store, company) = (self.store.clone(), self.company);
            self.step = Some(tokio::spawn(async move { store.index_contacts(company, Care::Passing).await }));
            self.ahead = 0;
        }
        Ok(())
    }

    /// To be called at the end: indexes what is left.
    pub(super) async fn finish(mut self) -> store::Result<()> {
        self.settle().await?;
        while self.store.index_contacts(self.company, Care::Thorough).await? {}
        Ok(())
    }

    async fn settle(&mut self) -> store::Result<()> {
        // A step that panicked can be taken again, by the next import or by the service.
        match self.step.take() {
            Some(step) => step.await.unwrap_or(Ok(false)).map(|_| ()),
            None => Ok(()),
        }
    }
}
