//! The recipients of template sends that wait in the store.

use uuid::Uuid;

use super::APPROVED;
use crate::nouns::AllTemplates;
use crate::sends::{Size, recipients, which};
use crate::{Result, fetch};
use clock::Timestamp;
use domain::send::{Control, Recipients, State};

/// A send of a template that waits in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: Uuid,
    /// Its recipients.
    pub recipients: Recipients,
    /// The first message that was never reserved for an attempt.
    pub high_water: u64,
}

impl AllTemplates<'_> {
    /// The oldest sends of a channel that were accepted after `after`, have a template and wait only for the quota of
    /// templates, at most `limit`. Sends with many recipients are included only if they have messages that were never
    /// reserved for an attempt.
    pub async fn waiting(
        self,
        channel_id: Uuid,
        size: Size,
        now: Timestamp,
        after: Uuid,
        limit: usize,
    ) -> Result<Vec<Candidate>> {
        let which = match size {
            Size::Direct => which(size),
            Size::Bulk => "recipient IS NULL AND send.high_water < send.recipients",
        };
        let sql = format!(
            "SELECT send.id, recipient, recipients, high_water \
             FROM send JOIN template ON template.id = send.template_id \
             WHERE channel_id = $1 AND state < 2 AND state = $2 AND control = $3 \
             AND (due_at IS NULL OR due_at <= $4) AND template.status = '{APPROVED}' AND send.{which} \
             AND send.id > $5 ORDER BY send.id LIMIT $6"
        );
        let values = [
            channel_id.into(),
            State::Active.as_i16().into(),
            Control::Running.as_i16().into(),
            now.millis().into(),
            after.into(),
            i64::try_from(limit).unwrap_or(i64::MAX).into(),
        ];
        let rows = fetch::<(Uuid, Option<i64>, i64, i64)>(&self.store.read, sql, values).await?;
        let candidate = |(id, one, many, high_water): (_, _, _, i64)| {
            Ok(Candidate { id, recipients: recipients(one, many)?, high_water: high_water.cast_unsigned() })
        };
        rows.into_iter().map(candidate).collect()
    }
}
