//! The progress of an endpoint, which the engine writes.

use entity::webhook_endpoint::{Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, Value};
use uuid::Uuid;

use super::replay::{StoredReplay, mark_given_up, went_to};
use super::{endpoint, health};
use crate::dialect::{Bulk, Type};
use crate::nouns::AllWebhooks;
use crate::one_row::find_rows;
use crate::queries::{at_least, locked};
use crate::{Result, Store, Transaction};
use clock::Timestamp;
use domain::event::log::{Fact, Sequence};
use domain::webhook::{Endpoint, Health, OPENING_FAILURES, State};

const RETRY: &[(&str, Type)] = &[("sequence", Type::Int), ("attempts", Type::Int), ("next_at", Type::Int)];
const SEQUENCE: &[(&str, Type)] = &[("sequence", Type::Int)];

/// The progress of an endpoint, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointStanding {
    /// All events up to this place in the log are delivered, given up, or have a retry.
    pub cursor: Sequence,
    /// Its state and its failures.
    pub health: Health,
    /// Its retries, in the order of the log.
    pub retries: Vec<StoredRetry>,
    /// The last replay, whether it has ended or not.
    pub replay: Option<StoredReplay>,
    /// How often a person enabled it, or gave it another address.
    pub resumed: i64,
    /// How often a process began to deliver to it.
    pub begun: i64,
}

/// A failed event that waits for its next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRetry {
    /// The event's place in the log.
    pub sequence: Sequence,
    /// The failed attempts; 0 for an event that is sent once more.
    pub attempts: u16,
    /// When the next attempt is due.
    pub next_at: Timestamp,
}

/// Changes of an endpoint's progress. A repetition changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Write {
    /// The new cursor; one that is behind the stored cursor changes nothing.
    pub cursor: Option<Sequence>,
    /// The new state and failures; they change nothing while the endpoint is disabled.
    pub health: Option<Health>,
    /// Retries to insert or replace, each sequence once.
    pub put: Vec<StoredRetry>,
    /// The sequences of retries to remove, if they exist.
    pub remove: Vec<Sequence>,
    /// The sequences of events that are given up although the log has them. Each of them has no retry any more.
    pub give_up: Vec<Sequence>,
    /// A replay, and the place up to which its events became retries.
    pub replay: Option<(Uuid, Sequence)>,
    /// [`EndpointStanding::resumed`] of the standing with which the writer began. With another one, nothing is written.
    pub resumed: i64,
    /// [`EndpointStanding::begun`] of that standing. With another one, nothing is written.
    pub begun: i64,
}

impl AllWebhooks<'_> {
    /// The progress of an endpoint for a process that begins to deliver to it; `None` when it was removed. What another one
    /// that began before still writes is refused.
    pub async fn begin(self, id: Uuid) -> Result<Option<EndpointStanding>> {
        let begin = Entity::update_many().col_expr(Column::Begun, Expr::col(Column::Begun).add(1));
        let begin = begin.filter(Column::Id.eq(id)).exec_with_returning(&self.store.write);
        match begin.await?.pop() {
            Some(endpoint) => Ok(Some(self.standing_of(&endpoint).await?)),
            None => Ok(None),
        }
    }

    /// The progress of an endpoint; `None` when it was removed.
    pub async fn standing(self, id: Uuid) -> Result<Option<EndpointStanding>> {
        match Entity::find_by_id(id).one(&self.store.read).await? {
            Some(endpoint) => Ok(Some(self.standing_of(&endpoint).await?)),
            None => Ok(None),
        }
    }

    /// The progress of an endpoint whose row was read first: an event after its cursor that gets a retry in between is only read
    /// again.
    async fn standing_of(self, endpoint: &Model) -> Result<EndpointStanding> {
        let id = endpoint.id;
        // Before the retries, which its events become.
        let replay = self.replay_of(id).await?;
        let table = ("webhook_retry", "sequence, attempts, next_at", " ORDER BY sequence");
        let rows =
            find_rows::<(i64, i16, i64)>(&self.store.read, table, [("endpoint_id", id.into())]).await?;
        let retries = rows.into_iter().map(|(sequence, attempts, next_at)| StoredRetry {
            sequence: Sequence::from_i64(sequence),
            attempts: attempts.unsigned_abs(),
            next_at: Timestamp::from_millis(next_at),
        });
        Ok(EndpointStanding {
            cursor: Sequence::from_i64(endpoint.sequence),
            health: health(endpoint)?,
            retries: retries.collect(),
            replay,
            resumed: endpoint.resumed,
            begun: endpoint.begun,
        })
    }

    /// Writes changes of an endpoint's progress, all of them or none. `false` when it was removed, and when a person enabled it
    /// or gave it another address since the writer began, or another writer began: what the writer knows of the receiver is of
    /// the past, and what it delivered may be delivered again. The company's other endpoints and programs are told when this disables the endpoint, and
    /// when it recovers.
    pub async fn write(self, id: Uuid, changes: &Write) -> Result<bool> {
        let Write { cursor, health, put, remove, give_up, replay, resumed, begun } = changes;
        let transaction = self.store.begin().await?;
        let before = match health {
            Some(_) => self.locked(&transaction, id).await?,
            None => None,
        };
        let cursor = cursor.unwrap_or_default();
        let mut update =
            Entity::update_many().col_expr(Column::Sequence, at_least(Column::Sequence, cursor.as_i64()));
        if let Some(Health { failures, failing_since, failed_at, state }) = health {
            let (cause, since) = match state {
                State::Enabled => (None, None),
                State::Disabled { cause, since } => (Some(cause.as_str()), Some(since.millis())),
            };
            let columns: [(Column, Value); 5] = [
                (Column::Failures, i64::from(*failures).into()),
                (Column::FailingSince, failing_since.map(Timestamp::millis).into()),
                (Column::FailedAt, failed_at.map(Timestamp::millis).into()),
                (Column::Cause, cause.into()),
                (Column::CauseSince, since.into()),
            ];
            for (column, value) in columns {
                // Only a person enables an endpoint that is disabled.
                let unless_disabled = Expr::case(Column::Cause.is_null(), value).finally(Expr::col(column));
                update = update.col_expr(column, unless_disabled.into());
            }
        }
        let of_writer = update
            .filter(Column::Id.eq(id))
            .filter(Column::Resumed.eq(*resumed))
            .filter(Column::Begun.eq(*begun));
        // The row stays locked, so that an endpoint that is being removed gets no more retries.
        if of_writer.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        let rows = places(self.store, remove);
        let delete = |rows: &str, endpoint| {
            format!(
                "DELETE FROM webhook_retry WHERE endpoint_id = ${endpoint} \
                 AND sequence IN (SELECT sequence FROM {rows} AS gone)"
            )
        };
        self.store.write(&transaction, rows, vec![id.into()], delete).await?;
        let mut rows = Bulk::new(self.store.backend, RETRY);
        for StoredRetry { sequence, attempts, next_at } in put {
            let attempts = Ord::min(i64::from(*attempts), i16::MAX.into());
            rows.push([sequence.as_i64().into(), attempts.into(), next_at.millis().into()]);
        }
        let insert = |rows: &str, endpoint| {
            format!(
                "INSERT INTO webhook_retry (endpoint_id, sequence, attempts, next_at) \
                 SELECT ${endpoint}, sequence, attempts, next_at FROM {rows} AS incoming WHERE TRUE \
                 ON CONFLICT (endpoint_id, sequence) \
                 DO UPDATE SET attempts = excluded.attempts, next_at = excluded.next_at"
            )
        };
        self.store.write(&transaction, rows, vec![id.into()], insert).await?;
        let put = put.iter().map(|retry| retry.sequence);
        let again = put.chain(remove.iter().copied()).filter(|sequence| !give_up.contains(sequence));
        mark_given_up(self.store, &transaction, id, (give_up, &again.collect::<Vec<_>>())).await?;
        if let Some(place) = replay {
            went_to(&transaction, *place).await?;
        }
        let now = Timestamp::now();
        if let Some((before, health)) = before.zip(*health)
            && let Some(fact) = told(&before, health, now)
        {
            self.store.event_log().tell_facts(&transaction, before.company_id, vec![fact], now).await?;
        }
        transaction.commit().await?;
        if health.is_some() {
            self.store.tell_of_events();
        }
        Ok(true)
    }

    /// The endpoint as it is now. Its row stays locked until the transaction ends.
    async fn locked(self, within: &Transaction, id: Uuid) -> Result<Option<Endpoint>> {
        let row = locked(Entity::find_by_id(id)).one(within).await?;
        row.as_ref().map(endpoint).transpose()
    }
}

/// What is told of an endpoint that gets this health: that it is disabled, or that it accepted an event although so many had
/// failed before that it got one a minute. A later failure may be part of the same change.
fn told(before: &Endpoint, health: Health, now: Timestamp) -> Option<Fact> {
    let Health { failures, failing_since, failed_at: _, state: State::Enabled } = before.health else {
        return None;
    };
    let id = before.id;
    match health.state {
        State::Disabled { cause, since } => Some(Fact::of_disabled_webhook(id, cause, since)),
        State::Enabled if failures >= OPENING_FAILURES && health.failures < failures => {
            failing_since.map(|since| Fact::of_recovered_webhook(id, since, now))
        }
        State::Enabled => None,
    }
}

/// The rows of these places, for [`Store::write`].
pub(super) fn places(store: &Store, places: &[Sequence]) -> Bulk {
    let mut rows = Bulk::new(store.backend, SEQUENCE);
    places.iter().for_each(|place| rows.push([place.as_i64().into()]));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::webhook::{Cause, Settings};

    #[test]
    fn a_disabled_endpoint_and_the_end_of_failures_that_lasted_are_told() {
        let (id, now) = (Uuid::from_u128(5), Timestamp::from_millis(90));
        let since = Timestamp::from_millis(7);
        let failing = |failures| Health {
            failures,
            failing_since: Some(since),
            failed_at: Some(since),
            state: State::Enabled,
        };
        let gone = Health { state: State::Disabled { cause: Cause::Gone, since: now }, ..failing(9) };
        let disabled = Some(Fact::of_disabled_webhook(id, Cause::Gone, now));
        let recovered = Some(Fact::of_recovered_webhook(id, since, now));
        for (before, after, expected) in [
            (Health::NEW, failing(1), None),
            (failing(4), Health::NEW, None),
            (failing(4), failing(5), None),
            (failing(5), Health::NEW, recovered.clone()),
            (failing(7), failing(1), recovered),
            (Health::NEW, gone, disabled.clone()),
            (failing(9), gone, disabled),
            (gone, gone, None),
            (gone, Health::NEW, None),
        ] {
            let settings = Settings::new("https://example.com/");
            let endpoint =
                Endpoint { id, company_id: Uuid::nil(), settings, health: before, created_at: since };
            assert_eq!(told(&endpoint, after, now), expected, "{before:?} {after:?}");
        }
    }
}
