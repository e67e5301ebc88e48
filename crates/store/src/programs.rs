//! The programs written for Meta that people connected to channels: which key and which webhook belong to each.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::nouns::ConnectedPrograms;
use crate::{Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::graph::ProgramKind;

/// The most programs of a company: each has a webhook, of which there are no more.
pub const MOST_PROGRAMS: usize = 20;

/// A connected program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedProgram {
    /// Time-ordered id.
    pub id: Uuid,
    /// Which program it is.
    pub kind: ProgramKind,
    /// The channel that it works with, which may be gone.
    pub channel_id: Uuid,
    /// Its key, which may be revoked.
    pub key_id: Uuid,
    /// Its webhook, which may be gone; `None` until it has one.
    pub webhook_id: Option<Uuid>,
    /// The address of Chatwoot, or of Typebot's receiver; empty until it is known.
    pub address: String,
    /// Chatwoot's account, and the inbox in it.
    pub inbox: Option<(u64, u64)>,
    /// When it was connected.
    pub created_at: Timestamp,
}

type ProgramRow = (Uuid, i16, Uuid, Uuid, Option<Uuid>, String, Option<i64>, Option<i64>, i64);

/// A row as a value; `None` for a kind that this version does not know.
fn program(row: ProgramRow) -> Option<ConnectedProgram> {
    let (id, kind, channel_id, key_id, webhook_id, address, account, inbox, created_at) = row;
    Some(ConnectedProgram {
        id,
        kind: ProgramKind::from_i16(kind)?,
        channel_id,
        key_id,
        webhook_id,
        address,
        inbox: account.zip(inbox).map(|(account, inbox)| (account.cast_unsigned(), inbox.cast_unsigned())),
        created_at: Timestamp::from_millis(created_at),
    })
}

impl ConnectedPrograms<'_> {
    /// The company's programs, the oldest first: [`MOST_PROGRAMS`] at most.
    pub async fn all(self) -> Result<Vec<ConnectedProgram>> {
        let sql = "SELECT id, kind, channel_id, key_id, webhook_id, address, account, inbox, created_at \
                   FROM connected_program WHERE company_id = $1 ORDER BY id";
        let rows = fetch::<ProgramRow>(&self.store.read, sql, [self.company.into()]).await?;
        Ok(rows.into_iter().filter_map(program).collect())
    }

    /// Adds a program; `false` when the company has as many as it may have.
    pub async fn add(self, who: &Who, new: &ConnectedProgram) -> Result<bool> {
        let transaction = self.store.begin().await?;
        // One change of a company after the other, so that their number is bounded.
        let sql = format!("SELECT id FROM company WHERE id = $1{}", self.store.locking());
        execute(&transaction, sql, [self.company.into()]).await?;
        let sql = "SELECT id FROM connected_program WHERE company_id = $1";
        let known = fetch::<Uuid>(&transaction, sql, [self.company.into()]).await?;
        if known.len() >= MOST_PROGRAMS {
            return transaction.unchanged(false).await;
        }
        let number = |number: u64| number.cast_signed();
        let sql = "INSERT INTO connected_program (id, company_id, kind, channel_id, key_id, webhook_id, address, \
                   account, inbox, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values = [
            new.id.into(),
            self.company.into(),
            new.kind.as_i16().into(),
            new.channel_id.into(),
            new.key_id.into(),
            new.webhook_id.into(),
            new.address.as_str().into(),
            new.inbox.map(|(account, _)| number(account)).into(),
            new.inbox.map(|(_, inbox)| number(inbox)).into(),
            new.created_at.millis().into(),
        ];
        execute(&transaction, sql, values).await?;
        let added = self.shown(new.kind, new.channel_id, &new.address);
        changes::record_one(&transaction, who, What::Program, new.id, None, added).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Notes what a program has got by now: its webhook, its address and its inbox. The rest of it never changes.
    pub async fn update(self, who: &Who, program: &ConnectedProgram) -> Result<()> {
        let number = |number: u64| number.cast_signed();
        let transaction = self.store.begin().await?;
        let sql = format!(
            "SELECT address FROM connected_program WHERE id = $1 AND company_id = $2{}",
            self.store.locking()
        );
        let ids = [program.id.into(), self.company.into()];
        let Some(former) = fetch_one::<String>(&transaction, sql, ids).await? else {
            return transaction.unchanged(()).await;
        };
        let sql = "UPDATE connected_program SET webhook_id = $3, address = $4, account = $5, inbox = $6 \
                   WHERE id = $1 AND company_id = $2";
        let values = [
            program.id.into(),
            self.company.into(),
            program.webhook_id.into(),
            program.address.as_str().into(),
            program.inbox.map(|(account, _)| number(account)).into(),
            program.inbox.map(|(_, inbox)| number(inbox)).into(),
        ];
        execute(&transaction, sql, values).await?;
        // Webhooks have records of their own.
        if former != program.address {
            let shown = |address: &str| self.shown(program.kind, program.channel_id, address);
            let (was, is) = (shown(&former), shown(&program.address));
            changes::record_one(&transaction, who, What::Program, program.id, Some(was), is).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Forgets a program. Its key and its webhook are the caller's to remove.
    pub async fn remove(self, who: &Who, program: &ConnectedProgram) -> Result<()> {
        let transaction = self.store.begin().await?;
        let sql = "DELETE FROM connected_program WHERE id = $1 AND company_id = $2";
        let ids = [program.id.into(), self.company.into()];
        if execute(&transaction, sql, ids).await? == 0 {
            return transaction.unchanged(()).await;
        }
        let was = self.shown(program.kind, program.channel_id, &program.address);
        let removed = json!("removed");
        changes::record_one(&transaction, who, What::Program, program.id, Some(was), removed).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// A program, as the record of changes shows it.
    fn shown(self, kind: ProgramKind, channel: Uuid, address: &str) -> Value {
        json!({ "company_id": self.company, "kind": kind.title(), "channel_id": channel, "address": address })
    }
}
