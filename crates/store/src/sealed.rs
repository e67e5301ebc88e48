//! All sealed values of all tables, so that they can be sealed with another key while the service runs.
//!
//! Values come in pages, without those that are under the current key already. A value is replaced only while it is
//! unchanged, so that a write of the service in between wins. A kind of value that is missing here would be lost with
//! its sealing key.

use sea_orm::{FromQueryResult, QueryResult, Value};
use uuid::Uuid;

use super::dialect::{Bulk, Cell, Type};
use crate::nouns::SealedValues;
use crate::{Result, fetch};

domain::worded! {
    /// The kind of a sealed value, each with its column.
    pub enum Kind {
        /// A channel's access token.
        Token = "token",
        /// The secret that signs a channel's webhooks.
        AppSecret = "app_secret",
        /// The verify token of a channel's webhook handshake.
        VerifyToken = "verify_token",
        /// A record of a web session.
        SessionRecord = "value",
        /// The secret of a person's second factor.
        TotpSecret = "totp_secret",
        /// The secret that signs the requests to a webhook endpoint.
        WebhookSecret = "secret",
        /// The secret that signed them before, and still does for a while.
        FormerWebhookSecret = "former_secret",
        /// The headers of the requests to a webhook endpoint.
        WebhookHeaders = "headers",
        /// A key with which the contents of a company are sealed.
        DataKey = "data_key",
    }
}

impl Kind {
    const fn table(self) -> &'static str {
        match self {
            Self::Token | Self::AppSecret | Self::VerifyToken => "channel",
            Self::SessionRecord => "web_session_record",
            Self::TotpSecret => "user_account",
            Self::WebhookSecret | Self::FormerWebhookSecret | Self::WebhookHeaders => "webhook_endpoint",
            Self::DataKey => "company_key",
        }
    }

    /// The columns of a [`Place`], in its order; a constant for one that the table does not have.
    const fn key(self) -> [&'static str; 3] {
        if self.is_record() { ["channel_id", "namespace", "key"] } else { ["id", "''", "''"] }
    }

    const fn is_record(self) -> bool {
        matches!(self, Self::SessionRecord)
    }
}

/// The place of a sealed value. Only records of web sessions have a namespace and a key.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Place {
    /// The channel; for a second factor, the person; for a webhook, the endpoint; for a data key, its own id.
    pub channel_id: Uuid,
    /// The namespace of a session's record.
    pub namespace: String,
    /// Its key.
    pub key: String,
}

impl Place {
    /// The place before all others.
    pub const fn first() -> Self {
        Self { channel_id: Uuid::nil(), namespace: String::new(), key: String::new() }
    }
}

/// A sealed value, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue {
    /// Its place.
    pub place: Place,
    /// The value as it is stored.
    pub sealed: Vec<u8>,
}

/// How many values begin with the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// The first bytes: as many as requested, or one for a format without ids.
    pub bytes: Vec<u8>,
    /// How many values begin with them.
    pub values: u64,
}

const ROW: &[(&str, Type)] = &[
    ("channel_id", Type::Uuid),
    ("namespace", Type::Text),
    ("key", Type::Text),
    ("former", Type::Bytes),
    ("sealed", Type::Bytes),
];

impl SealedValues<'_> {
    /// The numbers of values of a kind that begin with the same `length` bytes; those that begin with the byte
    /// `without_id` are counted together.
    pub async fn beginnings(self, kind: Kind, length: usize, without_id: u8) -> Result<Vec<Beginning>> {
        let (table, column) = (kind.table(), kind.as_str());
        let sql = format!(
            "SELECT CASE WHEN substr({column}, 1, 1) = $1 THEN substr({column}, 1, 1)
                         ELSE substr({column}, 1, {length}) END, COUNT(*)
             FROM {table} WHERE {column} IS NOT NULL AND length({column}) > 0 GROUP BY 1"
        );
        let rows = fetch::<(Vec<u8>, i64)>(&self.store.read, sql, [vec![without_id].into()]).await?;
        let rows = rows.into_iter();
        Ok(rows.map(|(bytes, total)| Beginning { bytes, values: total.cast_unsigned() }).collect())
    }

    /// The next values of a kind after a place that do not begin with these bytes, in the order of their places.
    pub async fn otherwise(
        self,
        kind: Kind,
        beginning: &[u8],
        after: &Place,
        limit: u32,
    ) -> Result<Vec<SealedValue>> {
        let (table, column, [channel, namespace, key]) = (kind.table(), kind.as_str(), kind.key());
        let length = beginning.len();
        let mut values: Vec<Value> = vec![beginning.to_vec().into(), after.channel_id.into()];
        let (behind, order) = if kind.is_record() {
            values.extend([after.namespace.as_str().into(), after.key.as_str().into()]);
            ("(channel_id, namespace, key) > ($2, $3, $4)", "channel_id, namespace, key")
        } else {
            ("id > $2", "id")
        };
        let sql = format!(
            "SELECT {channel} AS channel_id, {namespace} AS namespace, {key} AS key, {column} AS sealed
             FROM {table}
             WHERE {column} IS NOT NULL AND length({column}) > 0
                 AND substr({column}, 1, {length}) <> $1 AND {behind}
             ORDER BY {order} LIMIT {limit}"
        );
        let read = |row: QueryResult| {
            let place = Place::from_query_result(&row, "")?;
            Ok(SealedValue { place, sealed: row.try_get("", "sealed")? })
        };
        self.store.rows(sql, values).await?.into_iter().map(read).collect()
    }

    /// Replaces values that are unchanged since they were read. Returns how many were replaced. On PostgreSQL, a row
    /// that another transaction is writing is skipped, so that nothing waits while rows are locked.
    pub async fn reseal(self, kind: Kind, values: &[(SealedValue, Vec<u8>)]) -> Result<u64> {
        let (table, column) = (kind.table(), kind.as_str());
        let mut rows = Bulk::new(self.store.backend, ROW);
        for (SealedValue { place: Place { channel_id, namespace, key }, sealed: former }, sealed) in values {
            rows.push([
                (*channel_id).into(),
                namespace.as_str().into(),
                key.as_str().into(),
                Cell::Bytes(former),
                Cell::Bytes(sealed),
            ]);
        }
        let (same, names) = if kind.is_record() {
            (
                "stored.channel_id = incoming.channel_id AND stored.namespace = incoming.namespace \
                 AND stored.key = incoming.key",
                "stored.channel_id = found.channel_id AND stored.namespace = found.namespace \
                 AND stored.key = found.key",
            )
        } else {
            ("stored.id = incoming.channel_id", "stored.id = found.channel_id")
        };
        let locking = match self.store.locking_of("stored").as_str() {
            "" => String::new(),
            locking => format!("{locking} SKIP LOCKED"),
        };
        let transaction = self.store.begin().await?;
        let resealed = self
            .store
            .write(&transaction, rows, Vec::new(), |rows, _| {
                format!(
                    "UPDATE {table} AS stored SET {column} = found.sealed
                     FROM (SELECT incoming.channel_id, incoming.namespace, incoming.key, incoming.sealed
                           FROM {rows} AS incoming JOIN {table} AS stored
                               ON {same} AND stored.{column} = incoming.former{locking}) AS found
                     WHERE {names}"
                )
            })
            .await?;
        transaction.commit().await?;
        Ok(resealed)
    }
}
