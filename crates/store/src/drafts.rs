//! New sends that people are writing: what they typed, until they send it or delete it.
//!
//! A draft that a person saved is the company's: every member sees it. One that was kept by itself, because the person went
//! on or their session ended, is seen by that person alone.

use std::time::Duration;

use entity::draft::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, Insert, NotSet, PaginatorTrait as _, QueryFilter as _,
    QueryOrder as _, Set, Value,
};
use uuid::Uuid;

use crate::nouns::Drafts;
use crate::queries::beyond;
use crate::{Result, fetch, fetch_one};
use clock::Timestamp;
use domain::page::{Page, PageRequest};

/// How long a draft is kept after its last change.
pub const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The longest content, in bytes: some fifteen thousand numbers.
pub const LONGEST: usize = 256 * 1024;
/// The most drafts that one person may have saved in a company.
pub const MOST_SAVED: u64 = 50;
/// The most drafts of one person in a company that were kept by themselves; the oldest one makes room.
const MOST_UNSAVED: u64 = 8;

/// A draft in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Time-ordered id.
    pub id: Uuid,
    /// The name of the send; may be empty.
    pub name: String,
    /// The name of the chosen channel, if one is chosen that is still there.
    pub channel: Option<String>,
    /// The kind of the message, as the console names it.
    pub kind: String,
    /// The e-mail of the person who kept it last.
    pub by: String,
    /// Whether it was saved for the company.
    pub is_saved: bool,
    /// When it was kept last.
    pub kept_at: Timestamp,
}

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub struct NewDraft<'a> {
    /// The draft that it continues, if that is still there.
    pub id: Option<Uuid>,
    /// The name of the send; may be empty.
    pub name: &'a str,
    /// The chosen channel.
    pub channel_id: Option<Uuid>,
    /// The kind of the message.
    pub kind: &'a str,
    /// The fields as a browser encodes them, at most [`LONGEST`].
    pub content: &'a str,
    /// Whether a person saves it for the company. A saved one stays saved.
    pub is_saved: bool,
}

impl Drafts<'_> {
    /// Keeps what a person typed, in place of the draft that it continues. Returns the draft's id; `None` when the person
    /// wants to save more than [`MOST_SAVED`].
    pub async fn keep(self, user_id: Uuid, draft: NewDraft<'_>, now: Timestamp) -> Result<Option<Uuid>> {
        let NewDraft { id, name, channel_id, kind, content, is_saved } = draft;
        let transaction = self.store.begin().await?;
        // One draft of a person after the other, so that their number is bounded.
        self.store.lock_row(&transaction, "user_account", user_id).await?;
        let own =
            Entity::find().filter(Column::CompanyId.eq(self.company)).filter(Column::UserId.eq(user_id));
        if is_saved {
            let others = own.clone().filter(Column::IsSaved.eq(1_i16));
            let others = others.filter(Column::Id.ne(id.unwrap_or_default()));
            if others.count(&transaction).await? >= MOST_SAVED {
                return transaction.unchanged(None).await;
            }
        }
        if let Some(id) = id {
            let columns = ActiveModel {
                user_id: Set(user_id),
                is_saved: if is_saved { Set(1) } else { NotSet },
                name: Set(name.to_owned()),
                channel_id: Set(channel_id),
                kind: Set(kind.to_owned()),
                content: Set(content.to_owned()),
                kept_at: Set(now.millis()),
                ..Default::default()
            };
            let update = Entity::update_many().set(columns).filter(Column::Id.eq(id));
            if update.filter(self.seen_by(user_id)).exec(&transaction).await?.rows_affected > 0 {
                transaction.commit().await?;
                return Ok(Some(id));
            }
        }
        if !is_saved {
            let unsaved = own.filter(Column::IsSaved.eq(0_i16));
            let newest = unsaved.order_by_desc(Column::KeptAt).order_by_desc(Column::Id);
            let too_many = Column::Id.in_subquery(beyond(newest, Column::Id, MOST_UNSAVED - 1));
            Entity::delete_many().filter(too_many).exec(&transaction).await?;
        }
        let id = Uuid::now_v7();
        let row = Model {
            id,
            company_id: self.company,
            user_id,
            is_saved: is_saved.into(),
            name: name.to_owned(),
            channel_id,
            kind: kind.to_owned(),
            content: content.to_owned(),
            kept_at: now.millis(),
        };
        Insert::one(row).exec_without_returning(&transaction).await?;
        transaction.commit().await?;
        Ok(Some(id))
    }

    /// A page of the drafts that a person sees, the last kept first.
    pub async fn page(self, user_id: Uuid, page: PageRequest, now: Timestamp) -> Result<Page<Draft>> {
        type Row = (Uuid, String, Option<String>, String, String, i16, i64);
        const SEEN: &str =
            "FROM draft WHERE draft.company_id = $1 AND (is_saved = 1 OR user_id = $2) AND kept_at > $3";
        let seen: [Value; 3] = [self.company.into(), user_id.into(), now.minus(KEPT).millis().into()];
        let total =
            fetch_one::<i64>(&self.store.read, format!("SELECT count(*) {SEEN}"), seen.clone()).await?;
        let sql = format!(
            "SELECT shown.id, shown.name, channel.name, shown.kind, user_account.email, shown.is_saved, shown.kept_at \
             FROM (SELECT draft.* {SEEN} ORDER BY kept_at DESC, id DESC LIMIT $4 OFFSET $5) AS shown \
             JOIN user_account ON user_account.id = shown.user_id \
             LEFT JOIN channel ON channel.id = shown.channel_id AND channel.company_id = shown.company_id \
             ORDER BY shown.kept_at DESC, shown.id DESC"
        );
        let place = [page.limit, page.offset()].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let values = seen.into_iter().chain(place.map(Value::from));
        let rows = fetch::<Row>(&self.store.read, sql, values).await?;
        let draft = |(id, name, channel, kind, by, is_saved, kept_at): Row| Draft {
            id,
            name,
            channel,
            kind,
            by,
            is_saved: is_saved != 0,
            kept_at: Timestamp::from_millis(kept_at),
        };
        Ok(Page {
            records: rows.into_iter().map(draft).collect(),
            total: total.unwrap_or_default().cast_unsigned(),
        })
    }

    /// The content of a draft that a person sees; `None` when there is none of this id.
    pub async fn content(self, user_id: Uuid, id: Uuid, now: Timestamp) -> Result<Option<String>> {
        let draft = Entity::find_by_id(id).filter(self.seen_by(user_id));
        let draft = draft.filter(Column::KeptAt.gt(now.minus(KEPT).millis()));
        Ok(draft.one(&self.store.read).await?.map(|draft| draft.content))
    }

    /// Removes a draft that a person sees. Returns whether there was one of this id.
    pub async fn remove(self, user_id: Uuid, id: Uuid) -> Result<bool> {
        let draft = Entity::delete_by_id(id).filter(self.seen_by(user_id));
        Ok(draft.exec(&self.store.write).await?.rows_affected > 0)
    }

    /// The drafts that a person sees, however old they are.
    fn seen_by(self, user_id: Uuid) -> Condition {
        let is_seen = Column::IsSaved.eq(1_i16).or(Column::UserId.eq(user_id));
        Condition::all().add(Column::CompanyId.eq(self.company)).add(is_seen)
    }
}
