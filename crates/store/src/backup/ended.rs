//! Ends the work in a restored database that must not continue.
//!
//! A backup does not know what happened after it was made. A message that waited then may have been sent since, so
//! every send that was under way is ended: its messages without an answer have an *unknown* outcome, as after a crash.
//! A person decides what is sent again, by a retry of the unknown messages. A scheduled send cannot have begun, but may
//! have been canceled, so it is paused. Sign-in sessions may have been ended, links may have been used, and
//! conversations of web sessions have moved on, so these are removed.

use sea_orm::ConnectionTrait;
use serde_json::json;

use super::Restoring;
use crate::changes::{self, What};
use crate::lease::RESTORE;
use crate::one_row::{delete_rows, update_rows};
use crate::{Result, Store, Transaction, run};
use clock::Timestamp;
use domain::message;
use domain::send::{Control, EndReason, State};

/// What happened to the work that was under way in the backup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ended {
    /// Sends that were ended, because they may have gone on after the backup.
    pub ended_sends: u64,
    /// How many messages of these sends have an unknown outcome, at most.
    pub unknown_messages: u64,
    /// Sends that are paused until a person resumes them.
    pub paused_sends: u64,
    /// Keys of companies and operators that were revoked.
    pub revoked_keys: u64,
}

impl Store {
    /// Ends the sends that may have continued since the backup was made, and lets a service use the database.
    pub(super) async fn end_restored(&self, how: Restoring<'_>) -> Result<Ended> {
        let now = Timestamp::now();
        let transaction = self.begin().await?;
        let mut ended = Ended::default();
        if !how.nothing_sent_since {
            self.remove_conversations(&transaction, how.conversations).await?;
            ended = self.end_sends(&transaction, now).await?;
        }
        if !how.nothing_sent_since || how.revoke_access {
            self.remove_sign_ins(&transaction).await?;
        }
        if how.revoke_access {
            ended.revoked_keys = self.revoke_keys(&transaction, now).await?;
        }
        let after = json!({
            "ended_sends": ended.ended_sends,
            "unknown_messages": ended.unknown_messages,
            "paused_sends": ended.paused_sends,
            "nothing_sent_since": how.nothing_sent_since,
            "revoked_keys": ended.revoked_keys,
        });
        changes::record_one(&transaction, how.who, What::Database, "restored", None, after).await?;
        delete_rows(&transaction, "lease", [("name", RESTORE.into())]).await?;
        transaction.commit().await?;
        Ok(ended)
    }

    /// Ends the sends that may have continued; messages in them without an answer have an unknown outcome.
    async fn end_sends(&self, to: &Transaction, now: Timestamp) -> Result<Ended> {
        let active = State::Active.as_i16();
        // No message of a send goes before the send's scheduled time.
        let begun = format!("state = {active} AND (high_water > 0 OR send_at IS NULL OR send_at <= $1)");
        let sql = format!(
            "SELECT COUNT(*), CAST(COALESCE(SUM(recipients - settled), 0) AS BIGINT) FROM send WHERE {begun}"
        );
        let row = to.query_one_raw(self.statement(sql, [now.millis().into()])).await?;
        let (sends, unsettled): (i64, i64) = match row {
            Some(row) => (row.try_get_by_index(0)?, row.try_get_by_index(1)?),
            None => (0, 0),
        };
        // Among the settled ordinals, only the messages that wait for a retry have no answer. The ordinals above are
        // counted already.
        let waiting = format!("retry_at IS NOT NULL AND send_id IN (SELECT id FROM send WHERE {begun})");
        let sql = format!(
            "SELECT COUNT(*) FROM message WHERE {waiting} \
             AND ordinal < (SELECT settled FROM send WHERE send.id = message.send_id)"
        );
        let row = to.query_one_raw(self.statement(sql, [now.millis().into()])).await?;
        let retried: i64 = row.map(|row| row.try_get_by_index(0)).transpose()?.unwrap_or_default();
        let sql = format!(
            "UPDATE message SET state = {unknown}, retry_at = NULL, \
             taken_at = COALESCE(taken_at, updated_at), updated_at = $1 WHERE {waiting}",
            unknown = message::State::Unknown.as_i16(),
        );
        run(to, self.statement(sql, [now.millis().into()])).await?;
        // Every ordinal below the mark may have been attempted since the backup.
        let sql = format!(
            "UPDATE send SET state = {canceled}, end_reason = {restored}, high_water = recipients, \
             finished_at = $1, due_at = NULL WHERE {begun}",
            canceled = State::Canceled.as_i16(),
            restored = EndReason::Restored.as_i16(),
        );
        run(to, self.statement(sql, [now.millis().into()])).await?;
        let of = [("state", active.into()), ("control", Control::Running.as_i16().into())];
        let paused_sends =
            update_rows(to, "send", [("control", Control::Paused.as_i16().into())], of).await?;
        Ok(Ended {
            ended_sends: sends.cast_unsigned(),
            unknown_messages: (unsettled + retried).cast_unsigned(),
            paused_sends,
            revoked_keys: 0,
        })
    }

    /// Revokes the keys of companies and operators that are valid in the backup.
    async fn revoke_keys(&self, to: &Transaction, now: Timestamp) -> Result<u64> {
        let mut revoked = 0;
        for table in ["api_key", "operator_key"] {
            let sql = format!("UPDATE {table} SET revoked_at = $1 WHERE revoked_at IS NULL");
            revoked += run(to, self.statement(sql, [now.millis().into()])).await?;
        }
        Ok(revoked)
    }

    /// Removes links, sign-ins and known devices: a person who signed out stays signed out, and a used link cannot be used
    /// again.
    async fn remove_sign_ins(&self, to: &Transaction) -> Result<()> {
        for table in ["link", "user_session", "sign_in_ticket", "totp_setup", "known_device"] {
            run(to, self.statement(format!("DELETE FROM {table}"), [])).await?;
        }
        Ok(())
    }

    /// Removes conversations, so that no message to a person is encrypted twice with the same key.
    async fn remove_conversations(&self, to: &Transaction, conversations: &[&str]) -> Result<()> {
        for namespace in conversations {
            delete_rows(to, "web_session_record", [("namespace", (*namespace).into())]).await?;
        }
        Ok(())
    }
}
