//! The values that a send had for its recipients, while they are kept.

use uuid::Uuid;

use crate::contents::StoredValues;
use crate::{Error, Sends, no_such_send};
use domain::values::Unpacked;

/// The most recipients whose values are read at once.
const MOST_READ: u64 = 10_000;

impl Sends<'_> {
    /// The values of the recipients of a company's send with ordinals from one up to another, of at most 10,000, in order; `None` for each whose values are gone, or who never had any.
    ///
    /// # Errors
    ///
    /// `send_not_found`; [`Error::Unavailable`] when they cannot be read now.
    pub async fn values_of(
        self,
        company_id: Uuid,
        send_id: Uuid,
        (from, to): (u64, u64),
    ) -> Result<Vec<Option<Unpacked>>, Error> {
        let (store, keys) = (self.engine.store(), &*self.engine.0.shared.contents);
        store.of(company_id).sends().snapshot(send_id).await?.ok_or_else(no_such_send)?;
        let mut stored = StoredValues::of(store, send_id).await?;
        let mut values = Vec::new();
        for ordinal in from..to.min(from.saturating_add(MOST_READ)) {
            values.push(stored.at((store, keys), ordinal).await?.cloned());
        }
        Ok(values)
    }
}
