//! The log of deliveries: the last attempts of each endpoint, with the receivers' answers.

use std::time::Duration;

use entity::webhook_delivery::{Column, Entity, Model};
use entity::webhook_endpoint as endpoint;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _, Select, Set,
};
use uuid::Uuid;

use crate::Result;
use crate::contacts::signed;
use crate::dialect::{Bulk, Cell, Type};
use crate::nouns::{AllWebhooks, Webhooks};
use crate::queries::in_order;
use crate::retention::first_id_at;
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
        let own = self.own(id).select_only().column(endpoint::Column::Id).into_query();
        let mut log = Entity::find().filter(Expr::col(Column::EndpointId).eq(own));
        let total = log.clone().count(&self.store.read).await?;
        if let Some(after) = after {
            log = log.filter(Column::Id.lt(after));
        }
        let log = log.order_by_desc(Column::Id).limit(limit).offset(offset);
        let records = log.all(&self.store.read).await?.into_iter().map(read).collect();
        Ok(Page { records, total })
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
                Ord::min(i64::from(*attempt), i16::MAX.into()).into(),
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
        let columns: Vec<_> = ROW.iter().map(|(column, _)| *column).collect();
        let insert = |rows: &str, _| {
            format!(
                "INSERT INTO webhook_delivery ({}) SELECT incoming.{} FROM {rows} AS incoming \
                 JOIN webhook_endpoint ON webhook_endpoint.id = incoming.endpoint_id WHERE TRUE \
                 ON CONFLICT (id) DO NOTHING",
                columns.join(", "),
                columns.join(", incoming.")
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
        let former = endpoint::Entity::find().filter(endpoint::Column::FormerUntil.lte(now.millis()));
        let former = endpoint::Column::Id.in_subquery(in_order(former, endpoint::Column::Id));
        let none =
            endpoint::ActiveModel { former_secret: Set(None), former_until: Set(None), ..Default::default() };
        endpoint::Entity::update_many().set(none).filter(former).exec(&self.store.write).await?;
        let old = Column::Id.lt(first_id_at(now.minus(DELIVERIES_KEPT)));
        let mut removed = self.remove_deliveries(Entity::find().filter(old)).await?;
        let long = Entity::find().select_only().column(Column::EndpointId).group_by(Column::EndpointId);
        let long = long.having(Column::Id.count().gt(MOST_DELIVERIES)).into_tuple::<Uuid>();
        for endpoint in long.all(&self.store.read).await? {
            let log = Entity::find().filter(Column::EndpointId.eq(endpoint));
            let first_beyond = log.clone().select_only().column(Column::Id).order_by_desc(Column::Id);
            let first_beyond = first_beyond.limit(1).offset(MOST_DELIVERIES).into_query();
            removed += self.remove_deliveries(log.filter(Expr::col(Column::Id).lte(first_beyond))).await?;
        }
        self.trim_given_up().await?;
        Ok(removed)
    }

    /// Removes these deliveries, in steps.
    async fn remove_deliveries(self, of: Select<Entity>) -> Result<u64> {
        let mut removed = 0;
        loop {
            let next = Column::Id.in_subquery(in_order(of.clone().limit(STEP), Column::Id));
            let step = Entity::delete_many().filter(next).exec(&self.store.write).await?.rows_affected;
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

fn read(model: Model) -> Delivery {
    let own: Option<Vec<String>> =
        model.header_names.map(|names| names.split(',').map(str::to_owned).collect());
    let sent = SentHeaders { id: model.request_id, signature: model.signature, own: own.unwrap_or_default() };
    Delivery {
        id: model.id,
        endpoint_id: model.endpoint_id,
        at: Timestamp::from_millis(model.at),
        event_id: model.event_id,
        r#type: model.event_type,
        sequence: model.sequence.map(Sequence::from_i64),
        events: model.events.unsigned_abs(),
        attempt: model.attempt.unsigned_abs(),
        status: model.status.map(i16::unsigned_abs),
        took: Duration::from_millis(model.took_ms.unsigned_abs()),
        answer: model.answer,
        fault: model.fault,
        fault_kind: model.fault_kind.and_then(|word| word.parse().ok()),
        sent,
    }
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
