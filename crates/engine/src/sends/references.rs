//! The references of a send's messages: the caller's own names for them.

use std::collections::HashMap;

use uuid::Uuid;

use crate::Error;
use crate::sends::Sends;
use store::sends::messages::Message;
use store::sends::personal::KeptValues;

/// Messages that are so far apart are asked for apart.
const GAP: u64 = 1_000;
/// The longest stretch of messages that is asked for at once.
const STRETCH: u64 = 50_000;

impl Sends<'_> {
    /// The references of these messages of a company's send, by ordinal; they are in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when they cannot be read now.
    pub async fn references(
        &self,
        company_id: Uuid,
        send_id: Uuid,
        messages: &[Message],
    ) -> Result<HashMap<u64, String>, Error> {
        let records = self.engine.records_of(company_id).await?;
        let mut found = HashMap::new();
        if messages.is_empty() || records.sends().values_kept(send_id).await? == KeptValues::None {
            return Ok(found);
        }
        let mut ordinals = messages.iter().map(|message| message.outcome.position.ordinal).peekable();
        while let Some(first) = ordinals.next() {
            let mut last = first;
            let is_near = |next: &u64, last: u64| *next < last + GAP && *next < first + STRETCH;
            while let Some(next) = ordinals.next_if(|next| is_near(next, last)) {
                last = next;
            }
            found.extend(records.sends().references(send_id, (first, last + 1)).await?);
        }
        Ok(found)
    }
}
