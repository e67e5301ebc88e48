//! The outbox: mails that were not sent yet.

use std::time::Duration;

use entity::alert_mail::{Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _,
};
use uuid::Uuid;

use super::read_json;
use crate::nouns::Alerts;
use crate::one_row::{delete_rows, update_rows};
use crate::queries::locked;
use crate::{Error, Result, Transaction};
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

pub(super) async fn add(within: &Transaction, mail: &NewMail<'_>, now: Timestamp) -> Result<()> {
    let NewMail { user_id, company_id, items, more } = mail;
    let items = serde_json::to_string(items)
        .map_err(|error| Error::Impossible(format!("an alert that is no JSON: {error}")))?;
    let row = Model {
        id: new_id(),
        user_id: *user_id,
        company_id: *company_id,
        items,
        more: more.cast_signed(),
        made_at: now.millis(),
        failures: 0,
        next_at: now.millis(),
    };
    Insert::one(row).exec_without_returning(within).await?;
    Ok(())
}

impl Alerts<'_> {
    /// Takes a mail that is due. No other process takes it for `hold`: until then it is sent, or put off.
    pub async fn take(self, now: Timestamp, hold: Duration) -> Result<Option<AlertMail>> {
        let is_due = Column::NextAt.lte(now.millis());
        let first =
            Entity::find().filter(is_due.clone()).order_by_asc(Column::NextAt).order_by_asc(Column::Id);
        let first = locked(first.select_only().column(Column::Id).limit(1)).into_query();
        let taken = Entity::update_many()
            .col_expr(Column::NextAt, Expr::value(now.plus(hold).millis()))
            .filter(Expr::col(Column::Id).eq(first))
            .filter(is_due);
        let Some(mail) = taken.exec_with_returning(&self.store.write).await?.pop() else { return Ok(None) };
        Ok(Some(AlertMail {
            id: mail.id,
            user_id: mail.user_id,
            company_id: mail.company_id,
            items: read_json(&mail.items, "the items of a mail")?,
            more: mail.more.cast_unsigned(),
            made_at: Timestamp::from_millis(mail.made_at),
            failures: u16::try_from(mail.failures).unwrap_or(u16::MAX),
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
        let old = Entity::delete_many().filter(Column::MadeAt.lt(before.millis()));
        let old = old.filter(Column::NextAt.lte(now.millis()));
        Ok(old.exec(&self.store.write).await?.rows_affected)
    }

    /// How many mails wait, and when the oldest was written.
    pub async fn waiting(self) -> Result<(u64, Option<Timestamp>)> {
        let all = Entity::find().select_only().expr(Column::Id.count()).expr(Column::MadeAt.min());
        let all = all.into_tuple::<(i64, Option<i64>)>().one(&self.store.read);
        let (count, oldest) = all.await?.unwrap_or_default();
        Ok((count.cast_unsigned(), oldest.map(Timestamp::from_millis)))
    }
}
