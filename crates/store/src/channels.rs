//! Channels. Secrets are read and written sealed, and never as part of a [`Channel`].
//!
//! Every change raises the `channel` revision in its own transaction and stamps the row with it, so that a running
//! service reads again exactly the channels that changed. Operators' changes are in [`operation`], their view of all
//! channels in [`overview`], the service's own changes in [`mod@change`], and the specifics of web sessions in
//! [`linked`].

mod change;
mod linked;
mod operation;
mod overview;
pub mod tier_end;
mod trial;
mod verify_token;
mod words;
mod work;

use std::collections::HashSet;

use entity::channel::{self as stored, ActiveModel, Column, Entity, Model};
use entity::send;
use sea_orm::sea_query::{Condition, Expr, ExprTrait, Func, LikeExpr, SimpleExpr};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select, Set,
};
use serde_json::json;
use uuid::Uuid;

use self::words::{FromStored as _, ToStored as _};
use crate::Result;
use crate::changes::{What, Who, record_one};
use crate::nouns::{AllChannels, Channels};
use crate::revision::{self, Topic};
use clock::Timestamp;
use domain::channel::{Channel, Connection, Kind, Reason, Status};
use domain::fold::{digits, fold, like_anywhere, looks_like_a_number};
use domain::page::{Page, PageRequest};
use domain::send::State;
use domain::tier::OwnOptions;

pub use overview::Owned;
pub use work::{AtWork, Recent};

/// The characters of written phone numbers beside digits; see [`looks_like_a_number`].
const SEPARATORS: [&str; 7] = ["+", "-", "(", ")", ".", "/", " "];

/// A channel to add.
#[derive(Debug, Clone)]
pub struct NewChannel {
    /// Chosen by the caller, because secrets may be sealed to it.
    pub id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The kind of provider.
    pub kind: Kind,
    /// The company's name for it.
    pub name: String,
    /// The number as shown to people.
    pub phone_number: Option<String>,
    /// The provider's id of the number; no two channels share one.
    pub phone_number_id: Option<String>,
    /// The provider's id of the business account.
    pub waba_id: Option<String>,
    /// The tier to run under.
    pub tier: String,
    /// The provider's access token and app secret.
    pub secrets: Sealed,
    /// The state to begin in.
    pub status: Status,
}

/// A channel's secrets as they are kept: sealed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sealed {
    /// The provider's access token.
    pub token: Option<Vec<u8>>,
    /// The provider's app secret, which signs its webhooks.
    pub app_secret: Option<Vec<u8>>,
}

impl AllChannels<'_> {
    /// Adds a channel. The record of the change does not contain the channel's secrets.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`](crate::Error::Taken) when another channel has the provider's id of the number.
    pub async fn add(self, who: &Who, new: NewChannel) -> Result<Channel> {
        let now = Timestamp::now().millis();
        let added = json!({
            "company_id": new.company_id, "kind": new.kind.as_str(), "name": new.name, "tier": new.tier,
            "phone_number": new.phone_number, "phone_number_id": new.phone_number_id, "waba_id": new.waba_id,
        });
        let transaction = self.store.begin().await?;
        let revision = revision::bump(&transaction, Topic::Channel).await?;
        let model = ActiveModel {
            id: Set(new.id),
            company_id: Set(new.company_id),
            kind: Set(new.kind.stored()),
            name_folded: Set(fold(&new.name)),
            name: Set(new.name),
            phone_number: Set(new.phone_number),
            phone_number_id: Set(new.phone_number_id),
            waba_id: Set(new.waba_id),
            tier: Set(new.tier),
            token: Set(new.secrets.token),
            app_secret: Set(new.secrets.app_secret),
            status: Set(new.status.stored()),
            status_since: Set(now),
            revision: Set(revision),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let model = model.insert(&transaction).await?;
        record_one(&transaction, who, What::Channel, new.id, None, added).await?;
        transaction.commit().await?;
        Ok(channel(model))
    }

    /// The channel of this id, of any company.
    pub async fn find(self, id: Uuid) -> Result<Option<Channel>> {
        Ok(Entity::find_by_id(id).one(&self.store.read).await?.map(channel))
    }

    /// The channels stamped after `revision`, in the order of their changes.
    pub async fn changed_since(self, revision: i64) -> Result<Vec<Channel>> {
        let changed = Entity::find().filter(Column::Revision.gt(revision)).order_by_asc(Column::Revision);
        Ok(changed.all(&self.store.read).await?.into_iter().map(channel).collect())
    }

    /// How many channels of a kind there are, of all companies.
    pub async fn count(self, kind: Kind) -> Result<u64> {
        Ok(Entity::find().filter(Column::Kind.eq(kind.stored())).count(&self.store.read).await?)
    }

    /// The channels with active sends.
    pub async fn working(self) -> Result<Vec<Channel>> {
        // The condition repeats that of the partial index of unfinished sends, so that databases use the index.
        let not_over = Expr::cust(format!("send.state < 2 AND send.state = {}", State::Active.as_i16()));
        let with_work = send::Entity::find().select_only().column(send::Column::ChannelId).filter(not_over);
        let working = Entity::find().filter(Column::Id.in_subquery(with_work.distinct().into_query()));
        Ok(working.all(&self.store.read).await?.into_iter().map(channel).collect())
    }

    /// The business accounts that are not connected and have to be probed.
    pub async fn unconfirmed(self) -> Result<Vec<Channel>> {
        let unconfirmed = Entity::find()
            .filter(Column::Kind.eq(stored::Kind::BusinessAccount))
            .filter(Column::Status.ne(stored::Status::Connected));
        Ok(unconfirmed.all(&self.store.read).await?.into_iter().map(channel).collect())
    }

    /// The sealed secrets of a channel; `None` when there is no such channel.
    pub async fn secrets(self, id: Uuid) -> Result<Option<Sealed>> {
        let model = Entity::find_by_id(id).one(&self.store.read).await?;
        Ok(model.map(|model| Sealed { token: model.token, app_secret: model.app_secret }))
    }
}

impl Channels<'_> {
    /// A page of the company's channels of one kind, newest first, ties by id. `search` is matched in the
    /// name and the number, without case and accents; a written number also by its digits.
    pub async fn of_kind(self, kind: Kind, page: PageRequest, search: Option<&str>) -> Result<Page<Channel>> {
        let mut matching =
            Entity::find().filter(Column::CompanyId.eq(self.company)).filter(Column::Kind.eq(kind.stored()));
        if let Some(search) = search {
            matching = matching.filter(matches(search));
        }
        Ok(self.store.page_of(newest_first(matching), page).await?.map(channel))
    }

    /// The channel of this id, if it is the company's.
    pub async fn find(self, id: Uuid) -> Result<Option<Channel>> {
        let own = Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company));
        Ok(own.one(&self.store.read).await?.map(channel))
    }

    /// The first of these ids that is no channel of the company.
    pub async fn first_unknown(self, ids: &[Uuid]) -> Result<Option<Uuid>> {
        let own = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Id.is_in(ids.iter().copied()));
        let own = own.select_only().column(Column::Id);
        let own = own.into_tuple::<Uuid>().all(&self.store.read).await?;
        let own: HashSet<_> = own.into_iter().collect();
        Ok(ids.iter().copied().find(|id| !own.contains(id)))
    }

    /// All of the company's business accounts, the oldest first.
    pub async fn business_accounts(self) -> Result<Vec<Channel>> {
        let all = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Kind.eq(stored::Kind::BusinessAccount));
        Ok(all.order_by_asc(Column::Id).all(&self.store.read).await?.into_iter().map(channel).collect())
    }
}

/// The newest channels first, ties by id.
fn newest_first(channels: Select<Entity>) -> Select<Entity> {
    channels.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id)
}

fn matches(search: &str) -> Condition {
    let anywhere = |text: &str| LikeExpr::new(like_anywhere(text)).escape('\\');
    let folded = fold(search);
    let number = || Expr::col(Column::PhoneNumber);
    let mut condition = Condition::any()
        .add(Expr::col(Column::NameFolded).like(anywhere(&folded)))
        .add(SimpleExpr::from(Func::lower(number())).like(anywhere(&folded)));
    if looks_like_a_number(&folded) {
        let bare = SEPARATORS.iter().fold(SimpleExpr::from(number()), |text, separator| {
            Func::cust("replace").arg(text).arg(*separator).arg("").into()
        });
        condition = condition.add(bare.like(anywhere(&digits(&folded))));
    }
    condition
}

fn channel(model: Model) -> Channel {
    let reason = model.status_code.map(|code| Reason {
        code: code.as_str().into(),
        sentence: model.status_sentence.unwrap_or_default(),
        provider_code: model.status_provider_code,
    });
    let since = Timestamp::from_millis(model.status_since);
    Channel {
        id: model.id,
        company_id: model.company_id,
        kind: model.kind.word(),
        name: model.name,
        phone_number: model.phone_number,
        phone_number_id: model.phone_number_id,
        waba_id: model.waba_id,
        tier: model.tier,
        own_options: model.own_options.as_deref().map(OwnOptions::read).unwrap_or_default(),
        connection: Connection { status: model.status.word(), reason, since },
        trial: trial::read(model.trial_wait, model.trial_due),
        quality_rating: model.quality_rating,
        // A word that only another version knows is ignored.
        level: model.level.and_then(|word| word.parse().ok()),
        messaging_limit: model.messaging_limit.and_then(|word| word.parse().ok()),
        linked_at: model.linked_at.map(Timestamp::from_millis),
        revision: model.revision,
        created_at: Timestamp::from_millis(model.created_at),
        updated_at: Timestamp::from_millis(model.updated_at),
    }
}
