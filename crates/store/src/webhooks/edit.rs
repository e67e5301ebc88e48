//! People's changes of webhook endpoints. Each is recorded in its own transaction, without secrets.

use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{COLUMNS, endpoint};
use crate::changes::{self, What, Who};
use crate::nouns::Webhooks;
use crate::one_row::{delete_rows, update_rows};
use crate::revision::{self, Topic};
use crate::{Result, Transaction, execute, fetch_one};
use clock::Timestamp;
use domain::event::Type;
use domain::event::log::{Fact, Sequence};
use domain::webhook::{Cause, Endpoint, Health, Resume, Settings, Shape, State};

/// The most endpoints of a company.
pub const MOST_ENDPOINTS: i64 = 20;

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
        if self.count(&transaction).await? >= MOST_ENDPOINTS {
            return transaction.unchanged(None).await;
        }
        let sql = "INSERT INTO webhook_endpoint (id, company_id, url, shape, types, channels, max_in_flight, batch, \
                   masks, profile, headers, secret, sequence, set_for, failures, created_at, updated_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, $15, $15)";
        let has_headers = headers.is_some();
        let mut values: Vec<sea_orm::Value> = vec![id.into(), self.company.into()];
        values.extend(stored(&settings));
        let set_for = settings.set_for.as_ref().map(ToString::to_string);
        values.extend([headers.into(), secret.into(), end.as_i64().into(), set_for.into()]);
        values.push(now.millis().into());
        execute(&transaction, sql, values).await?;
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
        let sql = "UPDATE webhook_endpoint SET url = $2, shape = $3, types = $4, channels = $5, max_in_flight = $6, \
                   batch = $7, masks = $8, profile = $9, updated_at = $10 WHERE id = $1";
        let mut values: Vec<sea_orm::Value> = vec![id.into()];
        values.extend(stored(&settings));
        values.push(Timestamp::now().millis().into());
        execute(&transaction, sql, values).await?;
        if before.settings.url != settings.url && before.is_enabled() {
            let sql = "UPDATE webhook_endpoint SET failures = 0, failing_since = NULL, failed_at = NULL, \
                       resumed = resumed + 1 WHERE id = $1";
            execute(&transaction, sql, [id.into()]).await?;
        }
        let (was, mut is) = (self.shown(&before.settings), self.shown(&settings));
        let changed = match headers {
            HeadersChange::Keep => None,
            HeadersChange::Replace(sealed) => Some((Some(sealed), "replaced")),
            HeadersChange::Remove => Some((None, "removed")),
        };
        if let Some((sealed, word)) = changed {
            let set = [("headers", sealed.into())];
            update_rows(&transaction, "webhook_endpoint", set, [("id", id.into())]).await?;
            is["headers"] = json!(word);
        }
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
        let sql = "UPDATE webhook_endpoint SET cause = $2, cause_since = $3, updated_at = $3 WHERE id = $1";
        let values = [id.into(), cause.as_str().into(), since.millis().into()];
        execute(&transaction, sql, values).await?;
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
        let sql = "UPDATE webhook_endpoint SET cause = NULL, cause_since = NULL, failures = 0, failing_since = NULL, \
                   failed_at = NULL, lost = 0, resumed = resumed + 1, \
                   sequence = CASE WHEN sequence < $2 THEN $2 ELSE sequence END, updated_at = $3 WHERE id = $1";
        let values = [id.into(), end.as_i64().into(), Timestamp::now().millis().into()];
        execute(&transaction, sql, values).await?;
        if resume == Resume::FromNow {
            for sql in [
                "DELETE FROM webhook_retry WHERE endpoint_id = $1",
                "DELETE FROM webhook_replay WHERE endpoint_id = $1 AND finished_at IS NULL",
            ] {
                execute(&transaction, sql, [id.into()]).await?;
            }
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
        if self.begin_change(&transaction, id).await?.is_none() {
            return transaction.unchanged(false).await;
        }
        let sql = "UPDATE webhook_endpoint SET former_secret = $2, former_until = $3, secret = $4, updated_at = $5 \
                   WHERE id = $1 AND secret = $6";
        let (former, former_until) = former.unzip();
        let until = former_until.map(Timestamp::millis);
        let now = Timestamp::now().millis();
        let values =
            [id.into(), former.into(), until.into(), secret.into(), now.into(), present.to_vec().into()];
        if execute(&transaction, sql, values).await? == 0 {
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
        if self.begin_change(&transaction, id).await?.is_none() {
            return transaction.unchanged(()).await;
        }
        self.note_mended(&transaction, id).await?;
        transaction.commit().await?;
        Ok(())
    }

    pub(super) async fn note_mended(self, within: &Transaction, id: Uuid) -> Result<()> {
        let sql = "UPDATE webhook_endpoint SET mended = mended + 1 WHERE id = $1";
        execute(within, sql, [id.into()]).await?;
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
        let deliveries = format!(
            "DELETE FROM webhook_delivery WHERE id IN \
             (SELECT id FROM webhook_delivery WHERE endpoint_id = $1 ORDER BY id{})",
            self.store.locking()
        );
        delete_rows(within, "webhook_endpoint", [("id", id.into())]).await?;
        for table in ["webhook_retry", "webhook_given_up", "webhook_replay"] {
            delete_rows(within, table, [("endpoint_id", id.into())]).await?;
        }
        execute(within, deliveries, [id.into()]).await?;
        let was = self.shown(&before.settings);
        changes::record_one(within, who, What::Webhook, id, Some(was), json!("removed")).await?;
        Ok(true)
    }

    async fn count(self, within: &Transaction) -> Result<i64> {
        let sql = "SELECT count(*) FROM webhook_endpoint WHERE company_id = $1";
        Ok(fetch_one(within, sql, [self.company.into()]).await?.unwrap_or_default())
    }

    /// The endpoint as it is before a change. Its row stays locked until the transaction ends.
    pub(super) async fn begin_change(self, within: &Transaction, id: Uuid) -> Result<Option<Endpoint>> {
        revision::bump(within, Topic::Webhook).await?;
        let sql = format!(
            "SELECT {COLUMNS} FROM webhook_endpoint WHERE id = $1 AND company_id = $2{}",
            self.store.locking()
        );
        let statement = self.store.statement(sql, [id.into(), self.company.into()]);
        within.query_one_raw(statement).await?.as_ref().map(endpoint).transpose()
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

/// The values of the columns from `url` to `masks`, and of `profile`.
fn stored(settings: &Settings) -> [sea_orm::Value; 8] {
    let Settings { url, shape, profile, set_for: _, types, channels, max_in_flight, batch, masks_numbers } =
        settings;
    [
        url.as_str().into(),
        shape.as_str().into(),
        json!(words(types)).to_string().into(),
        json!(channels).to_string().into(),
        i16::from(*max_in_flight).into(),
        i16::from(*batch).into(),
        i16::from(*masks_numbers).into(),
        profile.as_str().into(),
    ]
}
