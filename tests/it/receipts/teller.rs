//! A provider that sends exactly the reports of a test, and reads of their effects.

use entity::message;
use pombo::clock::Timestamp;
use pombo::domain::message::Key;
use sea_orm::{ConnectionTrait as _, Database, EntityTrait as _, QueryOrder as _, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::Universe;
use crate::harness::{Answer, sign};
use crate::running::{APP_SECRET, Running, WABA};

pub(crate) struct Teller<'a> {
    running: &'a Running,
    client: reqwest::Client,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(running: &'a Running) -> Self {
        Self { running, client: reqwest::Client::new() }
    }

    /// The body of a webhook about a number.
    pub(super) fn body(&self, number: &str, value: &Value) -> String {
        let mut value = value.clone();
        value["messaging_product"] = json!("whatsapp");
        value["metadata"] = json!({ "display_phone_number": "15550783881", "phone_number_id": number });
        Self::envelope("messages", &value)
    }

    fn envelope(field: &str, value: &Value) -> String {
        Self::envelope_of(field, value, None)
    }

    /// The same with the time of the report, in seconds since 1970.
    fn envelope_of(field: &str, value: &Value, at: Option<i64>) -> String {
        let mut entry = json!({ "id": WABA, "changes": [{ "field": field, "value": value }] });
        if let Some(at) = at {
            entry["time"] = json!(at);
        }
        json!({ "object": "whatsapp_business_account", "entry": [entry] }).to_string()
    }

    /// The signature header of these bytes.
    pub(super) fn sign(secret: &str, body: &str) -> String {
        sign(secret, body)
    }

    /// Posts these bytes to a channel's address.
    pub(super) async fn post(&self, channel: Uuid, body: String, signature: Option<&str>) -> Answer {
        let mut request = self.client.post(self.running.hook(channel)).body(body);
        if let Some(signature) = signature {
            request = request.header("X-Hub-Signature-256", signature);
        }
        Answer::to(request).await
    }

    /// Reports something about a number, correctly signed.
    pub(crate) async fn tell(&self, channel: Uuid, number: &str, value: &Value) -> Answer {
        let body = self.body(number, value);
        let signature = Self::sign(APP_SECRET, &body);
        self.post(channel, body, Some(&signature)).await
    }

    /// Reports something about the business account, correctly signed.
    pub(crate) async fn tell_field(&self, channel: Uuid, field: &str, value: &Value) -> Answer {
        self.tell_envelope(channel, Self::envelope(field, value)).await
    }

    /// The same with the time of the report, in seconds since 1970.
    pub(super) async fn tell_field_at(&self, channel: Uuid, field: &str, value: &Value, at: i64) -> Answer {
        self.tell_envelope(channel, Self::envelope_of(field, value, Some(at))).await
    }

    async fn tell_envelope(&self, channel: Uuid, body: String) -> Answer {
        let signature = Self::sign(APP_SECRET, &body);
        self.post(channel, body, Some(&signature)).await
    }
}

/// A status of the message in this row of the ledger.
pub(crate) fn status(row: &message::Model, status: &str, error: Option<i64>) -> Value {
    let key = Key { send_id: row.send_id, ordinal: row.ordinal.cast_unsigned() };
    let mut value = json!({
        "id": row.provider_message_id,
        "status": status,
        "timestamp": (Timestamp::now().millis() / 1_000).to_string(),
        "recipient_id": row.recipient.to_string(),
        "biz_opaque_callback_data": key.to_string(),
    });
    if let Some(code) = error {
        value["errors"] = json!([{ "code": code, "title": "refused", "message": "refused" }]);
    }
    value
}

/// The whole ledger, by send and ordinal.
pub(crate) async fn rows(universe: &Universe) -> Vec<message::Model> {
    let database = Database::connect(&universe.url).await.unwrap();
    let found = message::Entity::find()
        .order_by_asc(message::Column::SendId)
        .order_by_asc(message::Column::Ordinal)
        .all(&database)
        .await
        .unwrap();
    database.close().await.unwrap();
    found
}

/// The provider's ids of all messages from people, in the order in which they were written.
pub(super) async fn heard(universe: &Universe) -> Vec<String> {
    let database = Database::connect(&universe.url).await.unwrap();
    let sql = "SELECT provider_id FROM conversation_message ORDER BY id";
    let found = database.query_all_raw(Statement::from_string(database.get_database_backend(), sql));
    let ids = found.await.unwrap().iter().map(|row| row.try_get("", "provider_id").unwrap()).collect();
    database.close().await.unwrap();
    ids
}
