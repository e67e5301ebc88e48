//! The programs written for Meta that people connected to channels: which key and which webhook belong to each.

use entity::connected_program::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, Insert, PaginatorTrait as _, QueryFilter as _, QueryOrder as _,
    Select, Set,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::ConnectedPrograms;
use crate::queries::locked;
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

/// A row as a value; `None` for a kind that this version does not know.
fn program(row: Model) -> Option<ConnectedProgram> {
    let Model {
        id,
        company_id: _,
        kind,
        channel_id,
        key_id,
        webhook_id,
        address,
        account,
        inbox,
        created_at,
    } = row;
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

/// Chatwoot's account, and the inbox in it, as they are stored.
fn numbers(inbox: Option<(u64, u64)>) -> (Option<i64>, Option<i64>) {
    inbox.map(|(account, inbox)| (account.cast_signed(), inbox.cast_signed())).unzip()
}

impl ConnectedPrograms<'_> {
    /// The company's programs, the oldest first: [`MOST_PROGRAMS`] at most.
    pub async fn all(self) -> Result<Vec<ConnectedProgram>> {
        let own = self.own().order_by_asc(Column::Id).all(&self.store.read).await?;
        Ok(own.into_iter().filter_map(program).collect())
    }

    fn own(self) -> Select<Entity> {
        Entity::find().filter(Column::CompanyId.eq(self.company))
    }

    /// Adds a program; `false` when the company has as many as it may have.
    pub async fn add(self, who: &Who, new: &ConnectedProgram) -> Result<bool> {
        let transaction = self.store.begin().await?;
        // One change of a company after the other, so that their number is bounded.
        self.store.lock_row(&transaction, "company", self.company).await?;
        if self.own().count(&transaction).await? >= MOST_PROGRAMS as u64 {
            return transaction.unchanged(false).await;
        }
        let (account, inbox) = numbers(new.inbox);
        let row = Model {
            id: new.id,
            company_id: self.company,
            kind: new.kind.as_i16(),
            channel_id: new.channel_id,
            key_id: new.key_id,
            webhook_id: new.webhook_id,
            address: new.address.clone(),
            account,
            inbox,
            created_at: new.created_at.millis(),
        };
        Insert::one(row).exec_without_returning(&transaction).await?;
        let added = self.shown(new.kind, new.channel_id, &new.address);
        changes::record_one(&transaction, who, What::Program, new.id, None, added).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Notes what a program has got by now: its webhook, its address and its inbox. The rest of it never changes.
    pub async fn update(self, who: &Who, program: &ConnectedProgram) -> Result<()> {
        let transaction = self.store.begin().await?;
        let former = locked(self.own().filter(Column::Id.eq(program.id))).one(&transaction).await?;
        let Some(Model { address: former, .. }) = former else {
            return transaction.unchanged(()).await;
        };
        let (account, inbox) = numbers(program.inbox);
        let columns = ActiveModel {
            webhook_id: Set(program.webhook_id),
            address: Set(program.address.clone()),
            account: Set(account),
            inbox: Set(inbox),
            ..Default::default()
        };
        Entity::update_many().set(columns).filter(Column::Id.eq(program.id)).exec(&transaction).await?;
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
        let own = Entity::delete_by_id(program.id).filter(Column::CompanyId.eq(self.company));
        if own.exec(&transaction).await?.rows_affected == 0 {
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
