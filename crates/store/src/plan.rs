//! Reads for dry runs: the messages ahead on the channel, and the tags by their names.

use entity::tag;
use sea_orm::{QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use super::templates::APPROVED;
use super::{Result, fetch, fetch_one};
use crate::nouns::{AllSends, Tags};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::plan::{Amount, Queue};
use domain::send::{Control, State};

/// The messages ahead of a new send on its channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ahead {
    /// By lane.
    pub queue: Queue,
    /// Messages of sends to one recipient that go to the given recipient.
    pub to_recipient: u64,
}

impl AllSends<'_> {
    /// The messages that `channel_id` may send at `now` but has not sent yet, without paused or scheduled sends, and
    /// without templates that the provider refuses. Sends to `recipient` alone are also counted by themselves.
    pub async fn ahead(
        self,
        channel_id: Uuid,
        recipient: Option<PhoneNumber>,
        now: Timestamp,
    ) -> Result<Ahead> {
        let ready = format!(
            "FROM send LEFT JOIN template ON template.id = send.template_id \
             WHERE channel_id = $1 AND state < 2 AND state = $2 AND control = $3 \
             AND (due_at IS NULL OR due_at <= $4) AND (template_id IS NULL OR template.status = '{APPROVED}')"
        );
        let values = [
            channel_id.into(),
            State::Active.as_i16().into(),
            Control::Running.as_i16().into(),
            now.millis().into(),
        ];
        let bulk = format!(
            "SELECT recipients - settled, CASE WHEN template_id IS NULL THEN 0 ELSE 1 END {ready} \
             AND recipient IS NULL"
        );
        let mut ahead = Ahead::default();
        for (remaining, is_template) in fetch::<(i64, i32)>(&self.store.read, bulk, values.clone()).await? {
            let remaining = remaining.cast_unsigned();
            ahead.queue.bulk.push(match is_template {
                0 => Amount { plain: remaining, templates: 0 },
                _ => Amount { plain: 0, templates: remaining },
            });
        }
        let direct = format!(
            "SELECT COUNT(*), COUNT(template_id), COUNT(CASE WHEN recipient = $5 THEN 1 END) {ready} \
             AND recipient IS NOT NULL"
        );
        let recipient = recipient.map_or(0, PhoneNumber::as_i64);
        let values = values.into_iter().chain([recipient.into()]);
        let row = fetch_one::<(i64, i64, i64)>(&self.store.read, direct, values).await?;
        if let Some((all, templates, to_recipient)) = row {
            let (all, templates) = (all.cast_unsigned(), templates.cast_unsigned());
            ahead.queue.direct = Amount { plain: all.saturating_sub(templates), templates };
            ahead.to_recipient = to_recipient.cast_unsigned();
        }
        Ok(ahead)
    }
}

impl Tags<'_> {
    /// The company's tags, by name, each with its id.
    pub async fn names(self) -> Result<Vec<(String, Uuid)>> {
        let names = self.present().order_by_asc(tag::Column::Name);
        let names = names.select_only().columns([tag::Column::Name, tag::Column::Id]);
        Ok(names.into_tuple::<(String, Uuid)>().all(&self.store.read).await?)
    }
}
