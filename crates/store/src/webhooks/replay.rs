//! Replays: events that people want an endpoint to get once more. An endpoint has one at a time, and keeps the last one.

use std::time::Duration;

use entity::event_block;
use entity::webhook_replay::{Column, Entity, Model};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};
use serde_json::json;
use uuid::Uuid;

use super::standing::places;
use crate::changes::{self, What, Who};
use crate::nouns::{AllWebhooks, Webhooks};
use crate::queries::at_least;
use crate::{Error, Result, Store, Transaction, execute, fetch};
use clock::Timestamp;
use clock::database::new_id;
use domain::event::log::Sequence;
use domain::webhook::{Replay, ReplayOf, ReplayRequest};

/// The most given-up events of an endpoint that are kept; more for a while, until they are trimmed.
pub const MOST_GIVEN_UP: u64 = 10_000;

/// A replay, as the engine carries it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReplay {
    /// What a person asked for.
    pub replay: Replay,
    /// Events up to this place became retries.
    pub after: Sequence,
    /// The place of the last event that is sent once more.
    pub up_to: Sequence,
}

/// The result of asking for a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replaying {
    /// It begins.
    Begins,
    /// The one before has not ended.
    Busy,
    /// The company has no such endpoint.
    NoEndpoint,
}

impl Webhooks<'_> {
    /// Begins a replay of events that were written to the log in the given time, and that the endpoint has got or that were
    /// given up. Events that it has not got yet are not part of it. A person who wants that expects that the receiver works, so a
    /// running service sends the next probe at once.
    pub async fn replay(self, who: &Who, id: Uuid, request: ReplayRequest) -> Result<Replaying> {
        let now = Timestamp::now();
        // Before others wait for this. A part of the log belongs to the time at which it was written.
        let after = match request.since {
            Some(since) => self.last_before(since).await?,
            None => Sequence::default(),
        };
        let up_to = match request.until {
            Some(until) => self.last_before(until.plus(Duration::from_millis(1))).await?,
            None => Sequence::from_i64(i64::MAX),
        };
        let transaction = self.store.begin().await?;
        let Some(endpoint) = self.row_to_change(&transaction, id).await? else {
            return transaction.unchanged(Replaying::NoEndpoint).await;
        };
        Entity::delete_by_id(id).filter(Column::FinishedAt.is_not_null()).exec(&transaction).await?;
        let ReplayRequest { of, types, since, until } = request;
        let words: Vec<_> = types.iter().map(|r#type| r#type.as_str()).collect();
        let (after, last) = (after.as_i64(), up_to.as_i64().min(endpoint.sequence));
        let row = Model {
            endpoint_id: id,
            id: new_id(),
            state: of.as_str().to_owned(),
            types: json!(words).to_string(),
            since: since.map_or(0, Timestamp::millis),
            until: until.map_or(i64::MAX, Timestamp::millis),
            after_place: after,
            last_place: last,
            started_at: now.millis(),
            finished_at: (after >= last).then_some(now.millis()),
        };
        let unless_busy = OnConflict::column(Column::EndpointId).do_nothing().to_owned();
        if Insert::one(row).on_conflict(unless_busy).exec_without_returning(&transaction).await? == 0 {
            return transaction.unchanged(Replaying::Busy).await;
        }
        self.note_mended(&transaction, id).await?;
        let asked = json!({
            "company_id": self.company, "replay": of.as_str(), "types": words, "since": since, "until": until,
        });
        changes::record_one(&transaction, who, What::Webhook, id, None, asked).await?;
        transaction.commit().await?;
        Ok(Replaying::Begins)
    }

    /// The place after all of the log that was written before this time, as far as the log still has it.
    async fn last_before(self, time: Timestamp) -> Result<Sequence> {
        use event_block::Column;
        let before = event_block::Entity::find().filter(Column::WrittenAt.lt(time.millis()));
        let last = before.order_by_desc(Column::WrittenAt).order_by_desc(Column::Seq).select_only();
        let block = last.column(Column::Seq).into_tuple::<i64>().one(&self.store.read).await?;
        Ok(block.map_or_else(Sequence::default, Sequence::end_of))
    }

    /// Ends the endpoint's replay: events that are not retries yet are not sent once more. `false` when the company has no
    /// such endpoint.
    pub async fn end_replay(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if self.row_to_change(&transaction, id).await?.is_none() {
            return transaction.unchanged(false).await;
        }
        if !end_unfinished(&transaction, id).await? {
            return transaction.unchanged(true).await;
        }
        let ended = json!({ "company_id": self.company, "replay": "canceled" });
        changes::record_one(&transaction, who, What::Webhook, id, None, ended).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

impl AllWebhooks<'_> {
    /// The last replay of an endpoint, whether it has ended or not.
    pub(super) async fn replay_of(self, id: Uuid) -> Result<Option<StoredReplay>> {
        let Some(model) = Entity::find_by_id(id).one(&self.store.read).await? else { return Ok(None) };
        let [after, up_to] = [model.after_place, model.last_place].map(Sequence::from_i64);
        Ok(Some(StoredReplay { replay: replay(model)?, after, up_to }))
    }

    /// Failed events of an endpoint between two places, in their order: those that were given up, and those that wait for
    /// another attempt.
    pub async fn failed(
        self,
        id: Uuid,
        (after, up_to): (Sequence, Sequence),
        limit: usize,
    ) -> Result<Vec<Sequence>> {
        let sql = "SELECT sequence FROM webhook_given_up WHERE endpoint_id = $1 AND sequence > $2 AND sequence <= $3 \
                   UNION SELECT sequence FROM webhook_retry WHERE endpoint_id = $1 AND sequence > $2 \
                   AND sequence <= $3 AND attempts > 0 ORDER BY sequence LIMIT $4";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [id.into(), after.as_i64().into(), up_to.as_i64().into(), limit.into()];
        let found = fetch::<i64>(&self.store.read, sql, values).await?;
        Ok(found.into_iter().map(Sequence::from_i64).collect())
    }

    /// Removes given-up events that the log no longer has, and those of each endpoint beyond the last [`MOST_GIVEN_UP`].
    pub(super) async fn trim_given_up(self) -> Result<()> {
        let blocks = event_block::Entity::find().order_by_asc(event_block::Column::Seq).select_only();
        let first = blocks.column(event_block::Column::Seq).into_tuple::<i64>().one(&self.store.read).await?;
        let first = first.map_or(Sequence::from_i64(i64::MAX), |block| Sequence::new(block, 0));
        let most = i64::try_from(MOST_GIVEN_UP).unwrap_or(i64::MAX);
        // What is to be removed, read without a lock.
        let sql = "SELECT endpoint_id FROM webhook_given_up GROUP BY endpoint_id \
                   HAVING count(*) > $1 OR min(sequence) < $2";
        for endpoint in fetch::<Uuid>(&self.store.read, sql, [most.into(), first.as_i64().into()]).await? {
            let sql = "DELETE FROM webhook_given_up WHERE endpoint_id = $1 AND (sequence < $3 OR sequence <= \
                       (SELECT sequence FROM webhook_given_up WHERE endpoint_id = $1 ORDER BY sequence DESC LIMIT 1 \
                       OFFSET $2))";
            let values = [endpoint.into(), most.into(), first.as_i64().into()];
            execute(&self.store.write, sql, values).await?;
        }
        Ok(())
    }
}

/// Marks the events at these places as given up, and forgets that those in `again` were.
pub(super) async fn mark_given_up(
    store: &Store,
    within: &Transaction,
    id: Uuid,
    (given_up, again): (&[Sequence], &[Sequence]),
) -> Result<()> {
    let rows = places(store, given_up);
    let insert = |rows: &str, endpoint| {
        format!(
            "INSERT INTO webhook_given_up (endpoint_id, sequence) SELECT ${endpoint}, sequence \
             FROM {rows} AS incoming WHERE TRUE ON CONFLICT (endpoint_id, sequence) DO NOTHING"
        )
    };
    store.write(within, rows, vec![id.into()], insert).await?;
    let rows = places(store, again);
    let delete = |rows: &str, endpoint| {
        format!(
            "DELETE FROM webhook_given_up WHERE endpoint_id = ${endpoint} \
             AND sequence IN (SELECT sequence FROM {rows} AS again)"
        )
    };
    store.write(within, rows, vec![id.into()], delete).await?;
    Ok(())
}

/// The replay went up to this place, or further: a node that no longer delivers may be late. One that a person ended meanwhile, or
/// that another took the place of, stays as it is.
pub(super) async fn went_to(within: &Transaction, (id, place): (Uuid, Sequence)) -> Result<()> {
    let (place, now) = (place.as_i64(), Timestamp::now().millis());
    let finished = Expr::case(Column::LastPlace.lte(place), Column::FinishedAt.if_null(now));
    let went = Entity::update_many()
        .col_expr(Column::AfterPlace, at_least(Column::AfterPlace, place))
        .col_expr(Column::FinishedAt, finished.finally(Expr::col(Column::FinishedAt)).into());
    went.filter(Column::Id.eq(id)).exec(within).await?;
    Ok(())
}

/// Ends the replay of an endpoint that has not ended. Returns whether there was one.
pub(super) async fn end_unfinished(within: &Transaction, endpoint: Uuid) -> Result<bool> {
    let unfinished = Entity::delete_by_id(endpoint).filter(Column::FinishedAt.is_null());
    Ok(unfinished.exec(within).await?.rows_affected > 0)
}

pub(super) fn replay(model: Model) -> Result<Replay> {
    let Model { id, state, types, since, until, started_at, finished_at, .. } = model;
    let impossible = |what: &str| Error::Impossible(format!("{what} of the replay {id}"));
    let types: Vec<String> = serde_json::from_str(&types).map_err(|_| impossible("the types"))?;
    Ok(Replay {
        id,
        request: ReplayRequest {
            of: state.parse::<ReplayOf>().map_err(|_| impossible("the state"))?,
            types: types.iter().filter_map(|word| word.parse().ok()).collect(),
            since: (since > 0).then(|| Timestamp::from_millis(since)),
            until: (until < i64::MAX).then(|| Timestamp::from_millis(until)),
        },
        started_at: Timestamp::from_millis(started_at),
        finished_at: finished_at.map(Timestamp::from_millis),
    })
}
