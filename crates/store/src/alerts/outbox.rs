//! The outbox: mails that were not sent yet.

use std::time::Duration;

use uuid::Uuid;

use super::read_json;
use crate::nouns::Alerts;
use crate::one_row::{delete_rows, insert_row, update_rows};
use crate::{Error, Result, Transaction, execute, fetch, fetch_one};
use clock::Timestamp;
use clock::database::new_id;
use domain::alert::AlertItem;

/// The mails that may wait. While there are more, what happens waits in its threads.
pub const MOST_MAILS: u64 = 10_000;

/// A mail to write.
#[derive(Debug, Clone, Copy)]
pub struct NewMail<'a> {
    /// The recipient.
    pub user_id: Uuid,
    /// The company that it is about.
    pub company_id: Uuid,
    /// What it tells.
    pub items: &'a [AlertItem],
    /// How many subjects there are beside these.
    pub more: u64,
}

/// A mail that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertMail {
    /// Time-ordered id.
    pub id: Uuid,
    /// The recipient.
    pub user_id: Uuid,
    /// The company that it is about.
    pub company_id: Uuid,
    /// What it tells.
    pub items: Vec<AlertItem>,
    /// How many subjects there are beside these.
    pub more: u64,
    /// When it was written.
    pub made_at: Timestamp,
    /// How often it could not be sent.
    pub failures: u16,
}

type MailRow = (Uuid, Uuid, Uuid, String, i64, i64, i64);

pub(super) async fn add(within: &Transaction, mail: &NewMail<'_>, now: Timestamp) -> Result<()> {
    let NewMail { user_id, company_id, items, more } = mail;
    let items = serde_json::to_string(items)
        .map_err(|error| Error::Impossible(format!("an alert that is no JSON: {error}")))?;
    let row = [
        ("id", new_id().into()),
        ("user_id", (*user_id).into()),
        ("company_id", (*company_id).into()),
        ("items", items.into()),
        ("more", more.cast_signed().into()),
        ("made_at", now.millis().into()),
        ("failures", 0_i64.into()),
        ("next_at", now.millis().into()),
    ];
    insert_row(within, "alert_mail", row).await
}

impl Alerts<'_> {
    /// Takes a mail that is due. No other process takes it for `hold`: until then it is sent, or put off.
    pub async fn take(self, now: Timestamp, hold: Duration) -> Result<Option<AlertMail>> {
        let sql = format!(
            "UPDATE alert_mail SET next_at = $2 WHERE id = (SELECT id FROM alert_mail WHERE next_at <= $1 \
             ORDER BY next_at, id LIMIT 1{}) AND next_at <= $1 \
             RETURNING id, user_id, company_id, items, more, made_at, failures",
            self.store.locking()
        );
        let values = [now.millis().into(), now.plus(hold).millis().into()];
        let row = fetch_one::<MailRow>(&self.store.write, sql, values).await?;
        let Some((id, user_id, company_id, items, more, made_at, failures)) = row else { return Ok(None) };
        Ok(Some(AlertMail {
            id,
            user_id,
            company_id,
            items: read_json(&items, "the items of a mail")?,
            more: more.cast_unsigned(),
            made_at: Timestamp::from_millis(made_at),
            failures: u16::try_from(failures).unwrap_or(u16::MAX),
        }))
    }

    /// A mail was sent, or nobody wants it any more.
    pub async fn remove(self, mail: Uuid) -> Result<()> {
        delete_rows(&self.store.write, "alert_mail", [("id", mail.into())]).await?;
        Ok(())
    }

    /// A mail could not be sent, and is tried again at this time.
    pub async fn put_off(self, mail: Uuid, failures: u16, until: Timestamp) -> Result<()> {
        let set = [("failures", i64::from(failures).into()), ("next_at", until.millis().into())];
        update_rows(&self.store.write, "alert_mail", set, [("id", mail.into())]).await?;
        Ok(())
    }

    /// Removes mails that were written before this time and that nobody is sending now. Returns how many.
    pub async fn give_up(self, before: Timestamp, now: Timestamp) -> Result<u64> {
        let sql = "DELETE FROM alert_mail WHERE made_at < $1 AND next_at <= $2";
        execute(&self.store.write, sql, [before.millis().into(), now.millis().into()]).await
    }

    /// How many mails wait, and when the oldest was written.
    pub async fn waiting(self) -> Result<(u64, Option<Timestamp>)> {
        let sql = "SELECT COUNT(*), MIN(made_at) FROM alert_mail";
        let rows = fetch::<(i64, Option<i64>)>(&self.store.read, sql, []).await?;
        let (count, oldest) = rows.into_iter().next().unwrap_or_default();
        Ok((count.cast_unsigned(), oldest.map(Timestamp::from_millis)))
    }
}
