//! Sends that are over, written as the engine leaves them: the outcome of each message is the test's choice.

use std::sync::LazyLock;

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::State as At;
use pombo::domain::phone::PhoneNumber;
use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, ConnectionTrait as _, Database, DatabaseConnection};
use uuid::Uuid;

use crate::harness::{Company, Service};

/// The number of the first message; the others follow.
pub(crate) const FIRST: u64 = 5_511_900_000_000;
/// When the sends are accepted, three days ago; the provider takes one message of theirs each second. The time within
/// the hour is always the same, because figures count by minutes.
pub(crate) static BEGAN: LazyLock<Timestamp> = LazyLock::new(|| {
    const HOUR: i64 = 3_600_000;
    Timestamp::from_millis((Timestamp::now().millis() / HOUR - 72) * HOUR + 800_000)
});
const BLOCK: u64 = 4096;
const FINISHED: i16 = 2;

/// A send of this company through this channel.
pub(crate) struct Past<'a> {
    pub(crate) service: &'a Service,
    pub(crate) company: &'a Company,
    pub(crate) channel: Uuid,
    /// As the store keeps it.
    pub(crate) content: String,
    pub(crate) template: Option<i64>,
    /// When it was accepted.
    pub(crate) began: Timestamp,
    /// When it ended; `None` is a second after the last message.
    pub(crate) ended: Option<Timestamp>,
}

impl<'a> Past<'a> {
    pub(crate) fn text(service: &'a Service, company: &'a Company, channel: Uuid) -> Self {
        let content = r#"{"type":"text","body":"hi"}"#.to_owned();
        Self { service, company, channel, content, template: None, began: *BEGAN, ended: None }
    }

    /// It was accepted at this moment.
    pub(crate) fn that_began(self, at: Timestamp) -> Self {
        Self { began: at, ..self }
    }

    /// It ended at this moment.
    pub(crate) fn that_ended(self, at: Timestamp) -> Self {
        Self { ended: Some(at), ..self }
    }

    /// Gives the first message of a send another state, as a receipt does.
    pub(crate) async fn set(self, id: Uuid, state: At) {
        let database = Database::connect(&self.service.universe.url).await.unwrap();
        let message = entity::message::ActiveModel {
            send_id: Set(id),
            ordinal: Set(0),
            state: Set(state.as_i16()),
            ..Default::default()
        };
        message.update(&database).await.unwrap();
        database.close().await.unwrap();
    }

    /// Adds the send with one message for each of these states, and the provider's code of its error; returns the
    /// send's id.
    pub(crate) async fn with(self, messages: &[(At, Option<i64>)]) -> Uuid {
        let database = Database::connect(&self.service.universe.url).await.unwrap();
        let id = self.insert(&database, messages.len() as u64).await;
        for (ordinal, (state, code)) in (0_i64..).zip(messages) {
            let at = self.began.millis() + 1_000 * ordinal;
            let taken = matches!(state, At::Sent | At::Delivered | At::Read);
            let message = entity::message::ActiveModel {
                send_id: Set(id),
                ordinal: Set(ordinal),
                company_id: Set(self.company.id),
                recipient: Set(FIRST.cast_signed() + ordinal),
                state: Set(state.as_i16()),
                attempts: Set(1),
                provider_message_id: Set(taken.then(|| format!("wamid.{ordinal}"))),
                error_code: Set(*code),
                error: Set(code.map(|code| format!("=words of {code}"))),
                retry_at: Set(None),
                updated_at: Set(at + 500),
                taken_at: Set(taken.then_some(at)),
                billing: Set(None),
                answered_at: Set(None),
            };
            message.insert(&database).await.unwrap();
        }
        database.close().await.unwrap();
        id
    }

    /// Adds the send with this many messages, each tenth of which failed with the code 131026; returns the send's id.
    pub(crate) async fn with_failures(self, messages: u64) -> Uuid {
        let database = Database::connect(&self.service.universe.url).await.unwrap();
        let id = self.insert(&database, messages).await;
        let literal = |id: Uuid| match database.get_database_backend() {
            sea_orm::DatabaseBackend::Sqlite => format!("x'{}'", id.simple()),
            _ => format!("'{id}'::uuid"),
        };
        let sql = format!(
            "INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, error_code, error, \
             updated_at, taken_at) \
             WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < {last}) \
             SELECT {id}, i, {company}, {FIRST} + i, CASE i % 10 WHEN 0 THEN 5 ELSE 2 END, 1, \
             CASE i % 10 WHEN 0 THEN 131026 END, CASE i % 10 WHEN 0 THEN 'not there' END, {began}, {began} \
             FROM numbers",
            last = messages - 1,
            id = literal(id),
            company = literal(self.company.id),
            began = self.began.millis(),
        );
        database.execute_unprepared(&sql).await.unwrap();
        database.close().await.unwrap();
        id
    }

    async fn insert(&self, database: &DatabaseConnection, recipients: u64) -> Uuid {
        // An id contains the time of its send.
        let accepted = self.began.millis().cast_unsigned() / 1_000;
        let id = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, accepted, 0));
        let end = self.began.millis() + 1_000 * recipients.cast_signed();
        let send = entity::send::ActiveModel {
            id: Set(id),
            company_id: Set(self.company.id),
            channel_id: Set(self.channel),
            state: Set(FINISHED),
            content: Set(self.content.clone()),
            recipients: Set(recipients.cast_signed()),
            template_id: Set(self.template),
            high_water: Set(recipients.cast_signed()),
            settled: Set(recipients.cast_signed()),
            created_at: Set(self.began.millis()),
            finished_at: Set(Some(self.ended.map_or(end, Timestamp::millis))),
            ..Default::default()
        };
        send.insert(database).await.unwrap();
        for first in (0..recipients).step_by(usize::try_from(BLOCK).unwrap()) {
            let numbers: Vec<_> = (first..recipients.min(first + BLOCK))
                .map(|ordinal| PhoneNumber::from_u64(FIRST + ordinal).unwrap())
                .collect();
            let block = entity::recipient_block::ActiveModel {
                send_id: Set(id),
                first_ordinal: Set(first.cast_signed()),
                recipients: Set(numbers.len() as i64),
                packed: Set(pack(&numbers)),
            };
            block.insert(database).await.unwrap();
        }
        id
    }
}
