//! People's changes of webhook endpoints. Each is recorded in its own transaction, without secrets.

use entity::webhook_delivery;
use entity::webhook_endpoint::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _, Set, UpdateMany};
use serde_json::{Value, json};
use uuid::Uuid;

use super::endpoint;
use super::replay::end_unfinished;
use crate::changes::{self, What, Who};
use crate::nouns::Webhooks;
use crate::one_row::delete_rows;
use crate::queries::{at_least, in_order, locked};
use crate::revision::{self, Topic};
use crate::{Result, Transaction};
use clock::Timestamp;
use domain::event::Type;
use domain::event::log::{Fact, Sequence};
use domain::webhook::{Cause, Endpoint, Health, Resume, Settings, Shape, State};

/// The most endpoints of a company.
pub const MOST_ENDPOINTS: u64 = 20;

/// An endpoint to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// Time-ordered id, to which the secrets are sealed.
    pub id: Uuid,
    /// Its settings, which were checked.
    pub settings: Settings,
    /// The sealed headers of its requests.
    pub headers: Option<Vec<u8>>,
    /// The sealed secret that signs its requests.
    pub secret: Vec<u8>,
}

/// A change of the headers of an endpoint's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadersChange {
    /// They stay.
    Keep,
    /// These sealed headers take the place of all others.
    Replace(Vec<u8>),
    /// There are none any more.
    Remove,
}

/// The result of changing an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changing {
    /// It has the settings.
    Done,
    /// Its settings are other ones by now.
    Outdated,
    /// The company has no such endpoint.
    NoEndpoint,
}

impl Webhooks<'_> {
    /// Adds an endpoint; `None` when the company has [`MOST_ENDPOINTS`]. It gets the events that happen from now on: those of
    /// this process in its next write, those of others within a second.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Taken`] when the id is stored already, and [`crate::Error::Unavailable`] when the end of the log of
    /// events is not known in time: the endpoint would begin with events of the past.
    pub async fn add(self, who: &Who, new: NewEndpoint) -> Result<Option<Endpoint>> {
        let NewEndpoint { id, settings, headers, secret } = new;
        let end = self.store.event_log().end().await?;
        let now = Timestamp::now();
        let transaction = self.store.begin().await?;
        // Others that add endpoints wait for the counter's row, so that the count below holds.
        revision::bump(&transaction, Topic::Webhook).await?;
        let known = Entity::find().filter(Column::CompanyId.eq(self.company)).count(&transaction).await?;
        if known >= MOST_ENDPOINTS {
            return transaction.unchanged(None).await;
        }
        let has_headers = headers.is_some();
        let row = ActiveModel {
            id: Set(id),
            company_id: Set(self.company),
            headers: Set(headers),
            secret: Set(secret),
            sequence: Set(end.as_i64()),
            set_for: Set(settings.set_for.as_ref().map(ToString::to_string)),
            failures: Set(0),
            created_at: Set(now.millis()),
            ..stored(&settings, now)
        };
        Entity::insert(row).exec_without_returning(&transaction).await?;
        let mut added = self.shown(&settings);
        if has_headers {
            added["headers"] = json!("given");
        }
        changes::record_one(&transaction, who, What::Webhook, id, None, added).await?;
        transaction.commit().await?;
        self.store.event_log().readers_changed();
        Ok(Some(Endpoint { id, company_id: self.company, settings, health: Health::NEW, created_at: now }))
    }

    /// Gives an endpoint these settings, which were checked, in place of those that it has, and changes its headers. The failures
    /// of a former address do not count for another one.
    pub async fn change(
        self,
        who: &Who,
        id: Uuid,
        (present, settings): (&Settings, Settings),
        headers: HeadersChange,
    ) -> Result<Changing> {
        let transaction = self.store.begin().await?;
        let Some(before) = self.begin_change(&transaction, id).await? else {
            return transaction.unchanged(Changing::NoEndpoint).await;
        };
        if before.settings != *present {
            return transaction.unchanged(Changing::Outdated).await;
        }
        if before.settings == settings && headers == HeadersChange::Keep {
            return transaction.unchanged(Changing::Done).await;
        }
        let mut columns = stored(&settings, Timestamp::now());
        let (was, mut is) = (self.shown(&before.settings), self.shown(&settings));
        let changed = match headers {
            HeadersChange::Keep => None,
            HeadersChange::Replace(sealed) => Some((Some(sealed), "replaced")),
            HeadersChange::Remove => Some((None, "removed")),
        };
        if let Some((sealed, word)) = changed {
            columns.headers = Set(sealed);
            is["headers"] = json!(word);
        }
        let has_moved = before.settings.url != settings.url && before.is_enabled();
        let update = if has_moved { resumed(columns) } else { Entity::update_many().set(columns) };
        update.filter(Column::Id.eq(id)).exec(&transaction).await?;
        changes::record_one(&transaction, who, What::Webhook, id, Some(was), is).await?;
        transaction.commit().await?;
        Ok(Changing::Done)
    }

    /// Disables an endpoint: no events are sent to it until it is enabled, and its place in the log stays. `None` when the
    /// company has no such endpoint. One that is disabled keeps its cause.
    pub async fn disable(self, who: &Who, id: Uuid) -> Result<Option<Endpoint>> {
        let transaction = self.store.begin().await?;
        let Some(before) = self.begin_change(&transaction, id).await? else {
            return transaction.unchanged(None).await;
        };
        if !before.is_enabled() {
            return transaction.unchanged(Some(before)).await;
        }
        let (cause, since) = (Cause::Person, Timestamp::now());
        let columns = ActiveModel {
            cause: Set(Some(cause.as_str().to_owned())),
            cause_since: Set(Some(since.millis())),
            updated_at: Set(since.millis()),
            ..Default::default()
        };
        Entity::update_many().set(columns).filter(Column::Id.eq(id)).exec(&transaction).await?;
        self.record_state(&transaction, who, id, ("enabled", "disabled")).await?;
        let fact = Fact::of_disabled_webhook(id, cause, since);
        self.store.event_log().tell_facts(&transaction, self.company, vec![fact], since).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        let health = Health { state: State::Disabled { cause, since }, ..before.health };
        Ok(Some(Endpoint { health, ..before }))
    }

    /// Enables an endpoint; its failures no longer count. `None` when the company has no such endpoint.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Unavailable`] when it goes on from now, and the end of the log of events is not known in time.
    pub async fn enable(self, who: &Who, id: Uuid, resume: Resume) -> Result<Option<Endpoint>> {
        let end = match resume {
            Resume::CatchUp => Sequence::default(),
            Resume::FromNow => self.store.event_log().end().await?,
        };
        let transaction = self.store.begin().await?;
        let Some(before) = self.begin_change(&transaction, id).await? else {
            return transaction.unchanged(None).await;
        };
        if before.is_enabled() {
            return transaction.unchanged(Some(before)).await;
        }
        let columns = ActiveModel {
            cause: Set(None),
            cause_since: Set(None),
            lost: Set(0),
            updated_at: Set(Timestamp::now().millis()),
            ..Default::default()
        };
        let update = resumed(columns).col_expr(Column::Sequence, at_least(Column::Sequence, end.as_i64()));
        update.filter(Column::Id.eq(id)).exec(&transaction).await?;
        if resume == Resume::FromNow {
            delete_rows(&transaction, "webhook_retry", [("endpoint_id", id.into())]).await?;
            end_unfinished(&transaction, id).await?;
        }
        self.record_state(&transaction, who, id, ("disabled", "enabled")).await?;
        transaction.commit().await?;
        Ok(Some(Endpoint { health: Health::NEW, ..before }))
    }

    /// Replaces the sealed secret `present` of an endpoint by another one. `former` are the sealed secrets that sign, too, and
    /// the time at which the last of them ends. `false` when the company has no such endpoint, or its secret is another one
    /// by now.
    pub async fn rotate(
        self,
        who: &Who,
        id: Uuid,
        present: &[u8],
        secret: Vec<u8>,
        former: Option<(Vec<u8>, Timestamp)>,
    ) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if self.row_to_change(&transaction, id).await?.is_none() {
            return transaction.unchanged(false).await;
        }
        let (former, former_until) = former.unzip();
        let columns = ActiveModel {
            former_secret: Set(former),
            former_until: Set(former_until.map(Timestamp::millis)),
            secret: Set(secret),
            updated_at: Set(Timestamp::now().millis()),
            ..Default::default()
        };
        let same = Entity::update_many().set(columns).filter(Column::Id.eq(id));
        let same = same.filter(Column::Secret.eq(present.to_vec()));
        if same.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        let after = json!({ "company_id": self.company, "status": "replaced", "former_until": former_until });
        changes::record_one(&transaction, who, What::WebhookSecret, id, None, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// There is a sign that the receiver of an endpoint works again: it accepted a request that a person asked for. A running
    /// service then sends it the next probe at once. An endpoint of another company stays as it is.
    pub async fn mended(self, id: Uuid) -> Result<()> {
        let transaction = self.store.begin().await?;
        if self.row_to_change(&transaction, id).await?.is_none() {
            return transaction.unchanged(()).await;
        }
        self.note_mended(&transaction, id).await?;
        transaction.commit().await?;
        Ok(())
    }

    pub(super) async fn note_mended(self, within: &Transaction, id: Uuid) -> Result<()> {
        let mended = Entity::update_many().col_expr(Column::Mended, Expr::col(Column::Mended).add(1));
        mended.filter(Column::Id.eq(id)).exec(within).await?;
        Ok(())
    }

    /// Removes an endpoint with its retries and the log of its deliveries. `false` when the company has no such endpoint.
    pub async fn remove(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if !self.remove_within(&transaction, who, id).await? {
            return transaction.unchanged(false).await;
        }
        transaction.commit().await?;
        self.store.event_log().readers_changed();
        Ok(true)
    }

    /// The same within a transaction, after which the readers of the log are others.
    pub(super) async fn remove_within(self, within: &Transaction, who: &Who, id: Uuid) -> Result<bool> {
        let Some(before) = self.begin_change(within, id).await? else { return Ok(false) };
        delete_rows(within, "webhook_endpoint", [("id", id.into())]).await?;
        for table in ["webhook_retry", "webhook_given_up", "webhook_replay"] {
            delete_rows(within, table, [("endpoint_id", id.into())]).await?;
        }
        let log = webhook_delivery::Entity::find().filter(webhook_delivery::Column::EndpointId.eq(id));
        let log = webhook_delivery::Column::Id.in_subquery(in_order(log, webhook_delivery::Column::Id));
        webhook_delivery::Entity::delete_many().filter(log).exec(within).await?;
        let was = self.shown(&before.settings);
        changes::record_one(within, who, What::Webhook, id, Some(was), json!("removed")).await?;
        Ok(true)
    }

    /// The endpoint as it is before a change. Its row stays locked until the transaction ends.
    async fn begin_change(self, within: &Transaction, id: Uuid) -> Result<Option<Endpoint>> {
        self.row_to_change(within, id).await?.as_ref().map(endpoint).transpose()
    }

    /// The same, as it is stored.
    pub(super) async fn row_to_change(self, within: &Transaction, id: Uuid) -> Result<Option<Model>> {
        revision::bump(within, Topic::Webhook).await?;
        Ok(locked(self.own(id)).one(within).await?)
    }

    async fn record_state(
        self,
        within: &Transaction,
        who: &Who,
        id: Uuid,
        (before, after): (&str, &str),
    ) -> Result<()> {
        let status = |word: &str| json!({ "company_id": self.company, "status": word });
        changes::record_one(within, who, What::Webhook, id, Some(status(before)), status(after)).await
    }

    /// Settings in the record of changes. The query of an address may contain a secret.
    fn shown(self, settings: &Settings) -> Value {
        let url = settings.public_url();
        let Settings {
            url: _,
            shape,
            profile,
            set_for,
            types,
            channels,
            max_in_flight,
            batch,
            masks_numbers,
        } = settings;
        let mut shown = json!({
            "company_id": self.company,
            "url": url,
            "shape": shape.as_str(),
            "types": words(types),
            "channels": channels,
            "max_in_flight": max_in_flight,
            "batch": batch,
            "masks_numbers": masks_numbers,
        });
        if *shape == Shape::Graph {
            shown["profile"] = json!(profile.as_str());
            shown["set_for"] = json!(set_for.as_ref().map(ToString::to_string));
        }
        shown
    }
}

fn words(types: &[Type]) -> Vec<&'static str> {
    types.iter().map(|r#type| r#type.as_str()).collect()
}

/// The columns of an endpoint that gets these settings now, but `set_for`, which never changes.
fn stored(settings: &Settings, now: Timestamp) -> ActiveModel {
    let Settings { url, shape, profile, set_for: _, types, channels, max_in_flight, batch, masks_numbers } =
        settings;
    ActiveModel {
        url: Set(url.clone()),
        shape: Set(shape.as_str().to_owned()),
        profile: Set(profile.as_str().to_owned()),
        types: Set(json!(words(types)).to_string()),
        channels: Set(json!(channels).to_string()),
        max_in_flight: Set((*max_in_flight).into()),
        batch: Set((*batch).into()),
        masks: Set((*masks_numbers).into()),
        updated_at: Set(now.millis()),
        ..Default::default()
    }
}

/// Sets these columns of an endpoint whose failures no longer count.
fn resumed(columns: ActiveModel) -> UpdateMany<Entity> {
    let columns = ActiveModel { failures: Set(0), failing_since: Set(None), failed_at: Set(None), ..columns };
    Entity::update_many().set(columns).col_expr(Column::Resumed, Expr::col(Column::Resumed).add(1))
}
