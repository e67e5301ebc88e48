//! The progress of an endpoint, which the engine writes.

use sea_orm::{ConnectionTrait as _, Value};
use uuid::Uuid;

use super::replay::{StoredReplay, mark_given_up, went_to};
use super::{COLUMNS, endpoint, state};
use crate::dialect::{Bulk, Type};
use crate::nouns::AllWebhooks;
use crate::{Error, Result, Store, Transaction, execute, fetch, fetch_one};
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
        let sql = "UPDATE webhook_endpoint SET begun = begun + 1 WHERE id = $1 RETURNING begun";
        let Some(begun) = fetch_one::<i64>(&self.store.write, sql, [id.into()]).await? else {
            return Ok(None);
        };
        let standing = self.standing(id).await?;
        Ok(standing.map(|standing| EndpointStanding { begun, ..standing }))
    }

    /// The progress of an endpoint; `None` when it was removed.
    pub async fn standing(self, id: Uuid) -> Result<Option<EndpointStanding>> {
        // The cursor is read first: an event after it that gets a retry in between is only read again.
        let sql = "SELECT sequence, failures, failing_since, failed_at, cause, cause_since, resumed, begun FROM webhook_endpoint \
                   WHERE id = $1";
        type Row = (i64, i64, Option<i64>, Option<i64>, Option<String>, Option<i64>, i64, i64);
        let row = fetch_one::<Row>(&self.store.read, sql, [id.into()]).await?;
        let Some((cursor, failures, failing_since, failed_at, cause, since, resumed, begun)) = row else {
            return Ok(None);
        };
        let state = state(cause.as_deref(), since);
        let health = Health {
            failures: u32::try_from(failures).unwrap_or(u32::MAX),
            failing_since: failing_since.map(Timestamp::from_millis),
            failed_at: failed_at.map(Timestamp::from_millis),
            state: state.ok_or_else(|| Error::Impossible(format!("the state of the webhook {id}")))?,
        };
        // Before the retries, which its events become.
        let replay = self.replay_of(id).await?;
        let sql =
            "SELECT sequence, attempts, next_at FROM webhook_retry WHERE endpoint_id = $1 ORDER BY sequence";
        let rows = fetch::<(i64, i16, i64)>(&self.store.read, sql, [id.into()]).await?;
        let retries = rows.into_iter().map(|(sequence, attempts, next_at)| StoredRetry {
            sequence: Sequence::from_i64(sequence),
            attempts: attempts.unsigned_abs(),
            next_at: Timestamp::from_millis(next_at),
        });
        Ok(Some(EndpointStanding {
            cursor: Sequence::from_i64(cursor),
            health,
            retries: retries.collect(),
            replay,
            resumed,
            begun,
        }))
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
        let mut values: Vec<Value> = vec![id.into(), cursor.as_i64().into()];
        let mut sql =
            "UPDATE webhook_endpoint SET sequence = CASE WHEN sequence < $2 THEN $2 ELSE sequence END"
                .to_owned();
        if let Some(Health { failures, failing_since, failed_at, state }) = health {
            let (cause, since) = match state {
                State::Enabled => (None, None),
                State::Disabled { cause, since } => (Some(cause.as_str()), Some(since.millis())),
            };
            let columns: [(&str, Value); 5] = [
                ("failures", i64::from(*failures).into()),
                ("failing_since", failing_since.map(Timestamp::millis).into()),
                ("failed_at", failed_at.map(Timestamp::millis).into()),
                ("cause", cause.into()),
                ("cause_since", since.into()),
            ];
            for (column, value) in columns {
                values.push(value);
                // Only a person enables an endpoint that is disabled.
                let number = values.len();
                sql.push_str(&format!(
                    ", {column} = CASE WHEN cause IS NULL THEN ${number} ELSE {column} END"
                ));
            }
        }
        values.extend([(*resumed).into(), (*begun).into()]);
        let last = values.len();
        sql.push_str(&format!(" WHERE id = $1 AND resumed = ${} AND begun = ${last}", last - 1));
        // The row stays locked, so that an endpoint that is being removed gets no more retries.
        if execute(&transaction, sql, values).await? == 0 {
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
            let attempts = i64::from(*attempts).min(i64::from(i16::MAX));
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
        let sql = format!("SELECT {COLUMNS} FROM webhook_endpoint WHERE id = $1{}", self.store.locking());
        let row = within.query_one_raw(self.store.statement(sql, [id.into()])).await?;
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
