//! The log of deliveries: the last attempts of each endpoint, with the receivers' answers.

use std::time::Duration;

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::contacts::signed;
use crate::dialect::{Bulk, Cell, Type};
use crate::nouns::{AllWebhooks, Webhooks};
use crate::retention::first_id_at;
use crate::{Result, execute, fetch};
use clock::Timestamp;
use domain::event::log::Sequence;
use domain::page::{Page, Window};
use domain::webhook::{FaultKind, SentHeaders};

/// How long the log of deliveries is kept.
pub const DELIVERIES_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many deliveries of an endpoint are kept; more for a while, until the log is trimmed.
pub const MOST_DELIVERIES: u64 = 1_000;
/// The most bytes of a receiver's answer that are kept.
const ANSWER: usize = 2_048;
/// Rows that one step removes.
const STEP: u64 = 1_000;

/// An attempt to deliver events to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Time-ordered id.
    pub id: Uuid,
    /// The endpoint.
    pub endpoint_id: Uuid,
    /// When the attempt began.
    pub at: Timestamp,
    /// The id of the first event.
    pub event_id: String,
    /// The type of the first event.
    pub r#type: String,
    /// The place of the first event in the company's log; `None` for an example.
    pub sequence: Option<Sequence>,
    /// The number of events in the request.
    pub events: u64,
    /// The number of the attempt, from 1.
    pub attempt: u16,
    /// The status of the answer; `None` when there was none.
    pub status: Option<u16>,
    /// How long the attempt took.
    pub took: Duration,
    /// The beginning of the answer. Of a longer text than 2,048 bytes, the rest is not kept.
    pub answer: Option<String>,
    /// Why the attempt failed, for a person.
    pub fault: Option<String>,
    /// What kind of fault that is; `None` for a kind that this version does not know, too.
    pub fault_kind: Option<FaultKind>,
    /// The headers of the request.
    pub sent: SentHeaders,
}

const COLUMNS: &str = "id, endpoint_id, at, event_id, type, sequence, events, attempt, status, took_ms, answer, fault, \
                       fault_kind, request_id, signature, header_names";
const ROW: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("endpoint_id", Type::Uuid),
    ("at", Type::Int),
    ("event_id", Type::Text),
    ("type", Type::Text),
    ("sequence", Type::Int),
    ("events", Type::Int),
    ("attempt", Type::Int),
    ("status", Type::Int),
    ("took_ms", Type::Int),
    ("answer", Type::Text),
    ("fault", Type::Text),
    ("fault_kind", Type::Text),
    ("request_id", Type::Text),
    ("signature", Type::Text),
    ("header_names", Type::Text),
];

impl Webhooks<'_> {
    /// A part of the log of an endpoint's deliveries, the newest first. Empty when the company has no such endpoint.
    pub async fn deliveries(self, id: Uuid, window: impl Into<Window<Uuid>>) -> Result<Page<Delivery>> {
        let window = window.into();
        let limit = window.limit;
        let (offset, after) = window.parts();
        let of_endpoint = "FROM webhook_delivery WHERE endpoint_id = \
                           (SELECT id FROM webhook_endpoint WHERE id = $1 AND company_id = $2)";
        let mut values: Vec<Value> = vec![id.into(), self.company.into()];
        let total = self.store.count(format!("SELECT count(*) {of_endpoint}"), values.clone()).await?;
        values.extend([signed(limit).into(), signed(offset).into()]);
        let mut sql = format!("SELECT {COLUMNS} {of_endpoint}");
        if let Some(after) = after {
            sql.push_str(" AND id < $5");
            values.push(after.into());
        }
        sql.push_str(" ORDER BY id DESC LIMIT $3 OFFSET $4");
        let rows = self.store.rows(sql, values).await?;
        Ok(Page { records: rows.iter().map(read).collect::<Result<_>>()?, total })
    }
}

impl AllWebhooks<'_> {
    /// Adds attempts to the log. Those of endpoints that were removed are left out.
    pub async fn log(self, deliveries: &[Delivery]) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, ROW);
        for delivery in deliveries {
            let Delivery {
                id,
                endpoint_id,
                at,
                event_id,
                r#type,
                sequence,
                events,
                attempt,
                status,
                took,
                answer,
                fault,
                fault_kind,
                sent: SentHeaders { id: request_id, signature, own },
            } = delivery;
            let header_names = (!own.is_empty()).then(|| own.join(","));
            let (answer, fault) = (answer.as_deref().map(kept), fault.as_deref().map(kept));
            rows.push([
                (*id).into(),
                (*endpoint_id).into(),
                at.millis().into(),
                event_id.as_str().into(),
                r#type.as_str().into(),
                Cell::Int(sequence.map(Sequence::as_i64)),
                signed(*events).into(),
                i64::from(*attempt).min(i64::from(i16::MAX)).into(),
                Cell::Int(status.map(i64::from)),
                i64::try_from(took.as_millis()).unwrap_or(i64::MAX).into(),
                Cell::Text(answer.as_deref()),
                Cell::Text(fault.as_deref()),
                Cell::Text(fault_kind.map(FaultKind::as_str)),
                Cell::Text(request_id.as_deref()),
                signature.as_str().into(),
                Cell::Text(header_names.as_deref()),
            ]);
        }
        let columns = COLUMNS.split(", ").map(|column| format!("incoming.{column}"));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let insert = |rows: &str, _| {
            format!(
                "INSERT INTO webhook_delivery ({COLUMNS}) SELECT {columns} FROM {rows} AS incoming \
                 JOIN webhook_endpoint ON webhook_endpoint.id = incoming.endpoint_id WHERE TRUE \
                 ON CONFLICT (id) DO NOTHING"
            )
        };
        self.store.write(&self.store.write, rows, Vec::new(), insert).await?;
        Ok(())
    }

    /// Removes deliveries that are older than [`DELIVERIES_KEPT`], those of each endpoint beyond the last
    /// [`MOST_DELIVERIES`], given-up events that nobody can send any more, and former secrets that no longer sign. Returns how
    /// many deliveries were removed.
    ///
    /// # Errors
    ///
    /// When the database fails; the steps before stay.
    pub async fn trim(self, now: Timestamp) -> Result<u64> {
        let sql = format!(
            "UPDATE webhook_endpoint SET former_secret = NULL, former_until = NULL WHERE id IN \
             (SELECT id FROM webhook_endpoint WHERE former_until <= $1 ORDER BY id{})",
            self.store.locking()
        );
        execute(&self.store.write, sql, [now.millis().into()]).await?;
        let oldest = first_id_at(now.minus(DELIVERIES_KEPT));
        let mut removed = self.remove_deliveries("id < $1", &[oldest.into()]).await?;
        let sql = "SELECT endpoint_id FROM webhook_delivery GROUP BY endpoint_id HAVING count(*) > $1";
        for endpoint in fetch::<Uuid>(&self.store.read, sql, [signed(MOST_DELIVERIES).into()]).await? {
            let beyond = "endpoint_id = $1 AND id <= (SELECT id FROM webhook_delivery WHERE endpoint_id = $1 \
                          ORDER BY id DESC LIMIT 1 OFFSET $2)";
            let values = [endpoint.into(), signed(MOST_DELIVERIES).into()];
            removed += self.remove_deliveries(beyond, &values).await?;
        }
        self.trim_given_up().await?;
        Ok(removed)
    }

    /// Removes the deliveries that meet the condition, in steps.
    async fn remove_deliveries(self, condition: &str, values: &[Value]) -> Result<u64> {
        let sql = format!(
            "DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM webhook_delivery WHERE {condition} \
             ORDER BY id LIMIT {STEP}{})",
            self.store.locking()
        );
        let mut removed = 0;
        loop {
            let step = execute(&self.store.write, sql.as_str(), values.iter().cloned()).await?;
            removed += step;
            if step < STEP {
                return Ok(removed);
            }
        }
    }
}

/// The part of a text that is kept. PostgreSQL stores no null characters.
fn kept(text: &str) -> String {
    let mut kept = String::with_capacity(text.len().min(ANSWER));
    for character in text.chars().map(|c| if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }) {
        if kept.len() + character.len_utf8() > ANSWER {
            break;
        }
        kept.push(character);
    }
    kept
}

fn read(row: &QueryResult) -> Result<Delivery> {
    let (events, took): (i64, i64) = (row.try_get_by_index(6)?, row.try_get_by_index(9)?);
    let sequence: Option<i64> = row.try_get_by_index(5)?;
    let attempt: i16 = row.try_get_by_index(7)?;
    let status: Option<i16> = row.try_get_by_index(8)?;
    let (fault_kind, header_names): (Option<String>, Option<String>) =
        (row.try_get_by_index(12)?, row.try_get_by_index(15)?);
    let own: Option<Vec<String>> = header_names.map(|names| names.split(',').map(str::to_owned).collect());
    let sent = SentHeaders {
        id: row.try_get_by_index(13)?,
        signature: row.try_get_by_index(14)?,
        own: own.unwrap_or_default(),
    };
    Ok(Delivery {
        id: row.try_get_by_index(0)?,
        endpoint_id: row.try_get_by_index(1)?,
        at: Timestamp::from_millis(row.try_get_by_index(2)?),
        event_id: row.try_get_by_index(3)?,
        r#type: row.try_get_by_index(4)?,
        sequence: sequence.map(Sequence::from_i64),
        events: events.unsigned_abs(),
        attempt: attempt.unsigned_abs(),
        status: status.map(i16::unsigned_abs),
        took: Duration::from_millis(took.unsigned_abs()),
        answer: row.try_get_by_index(10)?,
        fault: row.try_get_by_index(11)?,
        fault_kind: fault_kind.and_then(|word| word.parse().ok()),
        sent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_between_two_characters() {
        assert_eq!(kept("a\0b"), "a\u{fffd}b");
        let long = "ç".repeat(ANSWER);
        assert_eq!(kept(&long), &long[..ANSWER]);
        let shifted = format!("a{long}");
        assert_eq!(kept(&shifted), &shifted[..ANSWER - 1]);
    }
}
