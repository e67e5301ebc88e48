//! Reads kept answers, and removes old ones. They are written with their sends, see [`crate::ledger`]; the
//! complete answer of a web session's send, which is known only later, is written here.

use sea_orm::QueryResult;
use uuid::Uuid;

use super::family::CLOSED;
use crate::dialect::bytewise;
use crate::nouns::{Answers, Retention};
use crate::one_row::{delete_rows, find_row, update_rows};
use crate::{Error, Result, execute, moment};
use clock::Timestamp;
use domain::request::Skipped;
use domain::send::{Schedule, State};

/// The answer to a request under a client's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// SHA-256 of the request.
    pub fingerprint: [u8; 32],
    /// The send that the request created.
    pub send_id: Uuid,
    /// The send's channel.
    pub channel_id: Uuid,
    /// Its unique recipients.
    pub recipients: u64,
    /// Entries that were skipped.
    pub skipped: Skipped,
    /// The schedule of the send.
    pub schedule: Schedule,
    /// The send of a template that went to people whose window was closed, which may be the same, and its recipients.
    pub instead: Option<(Uuid, u64)>,
    /// The whole answer, JSON, once [`Answers::keep_web_result`](crate::Answers::keep_web_result) wrote it: of sends through web sessions only.
    pub result: Option<String>,
}

impl Answers<'_> {
    /// The answer to the company's request under `key`, unless it is older than `since`. An answer whose send was
    /// withdrawn does not count.
    pub async fn find(self, key: &str, since: Timestamp) -> Result<Option<KeptAnswer>> {
        let sql = format!(
            "SELECT kept.fingerprint, kept.send_id, send.channel_id, kept.recipients, kept.skipped, kept.skipped_first, \
             send.send_at, send.expires_at, kept.result, other.id AS other_id, other.recipients AS other_recipients \
             FROM idempotency_key AS kept JOIN send ON send.id = kept.send_id \
             LEFT JOIN send_source AS closed ON closed.kind = {CLOSED} \
             AND (closed.source_id = kept.send_id OR closed.send_id = kept.send_id) \
             LEFT JOIN send AS other ON other.id = closed.send_id \
             WHERE kept.company_id = $1 AND kept.key = $2 AND kept.created_at > $3 AND send.state > $4"
        );
        let values =
            [self.company.into(), key.into(), since.millis().into(), State::Resolving.as_i16().into()];
        let row = self.store.row(sql, values).await?;
        row.as_ref().map(read).transpose()
    }

    /// Stores the complete answer of the company's request under `key`, as JSON, in addition to the answer that was
    /// stored with its send. Returns whether the key still belongs to that send: if not, the request was abandoned, or
    /// repeated since.
    pub async fn keep_web_result(self, key: &str, send: Uuid, result: &str) -> Result<bool> {
        let of = [("company_id", self.company.into()), ("key", key.into()), ("send_id", send.into())];
        Ok(update_rows(&self.store.write, "idempotency_key", [("result", result.into())], of).await? > 0)
    }

    /// Whether the complete answer of the company's request under `key` is stored, and the key still belongs to this
    /// send.
    pub async fn has_web_result(self, key: &str, send: Uuid) -> Result<bool> {
        let of = [("company_id", self.company.into()), ("key", key.into()), ("send_id", send.into())];
        let result = find_row::<Option<String>>(&self.store.read, ("idempotency_key", "result"), of).await?;
        Ok(result.flatten().is_some())
    }

    /// Removes the complete answer of the company's request under `key`, if the key still belongs to this send.
    pub async fn drop_web_result(self, key: &str, send: Uuid) -> Result<()> {
        let of = [("company_id", self.company.into()), ("key", key.into()), ("send_id", send.into())];
        update_rows(&self.store.write, "idempotency_key", [("result", None::<String>.into())], of).await?;
        Ok(())
    }

    /// Removes the answer to the company's request under `key`: the next request counts as a first one.
    pub async fn remove(self, key: &str) -> Result<()> {
        let of = [("company_id", self.company.into()), ("key", key.into())];
        delete_rows(&self.store.write, "idempotency_key", of).await?;
        Ok(())
    }
}

impl Retention<'_> {
    /// Removes answers that were given before this time, at most `limit` of them, so that a call is short. Returns how
    /// many; call it again while that is `limit`.
    pub async fn remove_answers(self, before: Timestamp, limit: u32) -> Result<u64> {
        let sql = format!(
            "DELETE FROM idempotency_key WHERE (company_id, key) IN \
             (SELECT company_id, key FROM idempotency_key WHERE (company_id, key) IN \
             (SELECT company_id, key FROM idempotency_key WHERE created_at < $1 ORDER BY created_at LIMIT $2) \
             ORDER BY company_id, key COLLATE {}{})",
            bytewise(self.store.backend),
            self.store.locking()
        );
        let values = [before.millis().into(), i64::from(limit).into()];
        execute(&self.store.write, sql, values).await
    }
}

fn read(row: &QueryResult) -> Result<KeptAnswer> {
    let send_id: Uuid = row.try_get("", "send_id")?;
    let damaged = |what: &str| Error::Impossible(format!("the answer about send {send_id}: {what}"));
    let fingerprint: Vec<u8> = row.try_get("", "fingerprint")?;
    let first: String = row.try_get("", "skipped_first")?;
    let skipped = row.try_get::<i64>("", "skipped")?.cast_unsigned();
    let other =
        (row.try_get::<Option<Uuid>>("", "other_id")?, row.try_get::<Option<i64>>("", "other_recipients")?);
    let skipped = Skipped::kept(skipped, &first).map_err(|error| damaged(&error.to_string()))?;
    Ok(KeptAnswer {
        fingerprint: fingerprint.try_into().map_err(|_| damaged("its fingerprint has another length"))?,
        send_id,
        channel_id: row.try_get("", "channel_id")?,
        recipients: row.try_get::<i64>("", "recipients")?.cast_unsigned(),
        skipped,
        schedule: Schedule { send_at: moment(row, "send_at")?, expires_at: moment(row, "expires_at")? },
        instead: other.0.zip(other.1.map(i64::cast_unsigned)),
        result: row.try_get("", "result")?,
    })
}
