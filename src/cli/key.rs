//! `pombo key`.

use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::argument::{self, MaybeOfCompany};
use super::output::{Columns, Listed};
use super::session::Session;
use crate::api::records;
use crate::clock::Timestamp;
use crate::domain::scope::{Scope, Scopes};
use crate::store::api_keys::{ApiKey, NewKey};
use crate::store::companies::Company;
use crate::vault::api_key;

#[derive(Debug, Args)]
pub(super) struct Create {
    #[command(flatten)]
    of: argument::OfCompany,
    /// A name to recognise the key by
    #[arg(long, default_value = "default", value_parser = argument::name)]
    name: String,
    /// How long the key is valid from now, such as 90d; without it, the key does not expire
    #[arg(long, value_name = "SPAN", value_parser = argument::span)]
    expires_in: Option<Duration>,
    /// The key's scopes: send, read, contacts, control, events, inbox, graph; several with commas between them. Without
    /// it, all scopes
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = argument::scope)]
    scope: Vec<Scope>,
    /// A channel that the key is good for, by name or id; several times for several. Without it, all channels. Such a key has
    /// the scope graph alone
    #[arg(long, value_name = "CHANNEL")]
    channel: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The key's id, as `pombo key list` shows it
    id: Uuid,
}

/// A key: the operator API's record, with its company and its status.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    key: records::Key,
    status: &'static str,
    company_id: Uuid,
    #[serde(skip)]
    company: String,
}

/// The answer to the creation of a key, the only one that contains it.
#[derive(Serialize)]
pub(super) struct Created<'a, R> {
    pub(super) key: &'a str,
    #[serde(flatten)]
    pub(super) record: &'a R,
}

impl Record {
    fn new(key: ApiKey, company: &Company) -> Self {
        let key = records::Key::from(key);
        let status = status(key.is_valid, key.revoked_at);
        Self { company_id: company.id, company: company.name.clone(), status, key }
    }
}

/// The word for the state of a key.
pub(super) const fn status(is_valid: bool, revoked_at: Option<Timestamp>) -> &'static str {
    match revoked_at {
        Some(_) => "revoked",
        None if is_valid => "valid",
        None => "expired",
    }
}

/// The end of a key that is valid, in a sentence.
pub(super) fn until(expires_at: Option<Timestamp>) -> String {
    expires_at.map_or_else(String::new, |end| format!(" until {end}"))
}

/// The time, or `never`.
pub(super) fn or_never(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "never".to_owned(), |time| time.to_string())
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("company", |Self { company, .. }| company.clone()),
        ("name", |Self { key, .. }| key.name.clone()),
        ("id", |Self { key, .. }| key.id.to_string()),
        ("begins with", |Self { key, .. }| format!("{}…", key.prefix)),
        ("status", |Self { status, .. }| (*status).to_owned()),
        ("scopes", |Self { key, .. }| key.scopes.join(",")),
        ("last used at", |Self { key, .. }| or_never(key.last_used_at)),
        ("expires at", |Self { key, .. }| or_never(key.expires_at)),
        ("created at", |Self { key, .. }| key.created_at.to_string()),
    ];
}

pub(super) async fn create(session: &Session, arguments: Create) -> anyhow::Result<()> {
    let Create { of, name, expires_in, scope, channel } = arguments;
    let company = session.company(&of.company).await?;
    let mut bound = Vec::new();
    for wanted in &channel {
        let found = session.channel(wanted).await?;
        if found.company_id != company.id {
            return Err(anyhow!("the channel {wanted} does not belong to {}", company.name));
        }
        bound.push(found.id);
    }
    let scopes: Scopes = match (scope.is_empty(), bound.is_empty()) {
        (true, true) => Scopes::ALL,
        (true, false) => Scopes::from_iter([Scope::Graph]),
        (false, _) => scope.into_iter().collect(),
    };
    if !bound.is_empty() && !scopes.may_be_bound() {
        return Err(anyhow!("a key for some channels has the scope graph alone: leave out --scope"));
    }
    let (plain, prefix) = api_key::generate();
    let new = NewKey {
        name: &name,
        prefix: &prefix,
        hash: api_key::hash(plain.expose()),
        expires_at: expires_in.map(|span| Timestamp::now().plus(span)),
        scopes,
    };
    let bound = (!bound.is_empty()).then_some(bound.as_slice());
    let added = session.app.store.of(company.id).keys().add_for(&session.who(), new, bound).await?;
    let record = Record::new(added, &company);
    let (key, Record { company, key: records::Key { id, .. }, .. }) = (plain.expose(), &record);
    let until = until(record.key.expires_at);
    let said =
        format!("{key}\n\nThis is key {id} of {company}, valid{until}. It is shown only once: store it now.");
    session.output.record(&Created { key, record: &record }, &said)
}

pub(super) async fn list(session: &Session, arguments: MaybeOfCompany) -> anyhow::Result<()> {
    let mut records = Vec::new();
    for company in session.companies(arguments.company.as_deref()).await? {
        let keys = session.app.store.of(company.id).keys().all().await?;
        records.extend(keys.into_iter().map(|key| Record::new(key, &company)));
    }
    session.output.list(&records, "there are no keys; create one with `pombo key create --company COMPANY`")
}

pub(super) async fn revoke(session: &Session, Revoke { id }: Revoke) -> anyhow::Result<()> {
    if !session.app.store.keys().revoke(&session.who(), id).await? {
        return Err(anyhow!("there is no active key {id} to revoke; `pombo key list` shows the keys"));
    }
    let said = format!("key {id} is revoked; a running service refuses it within a second");
    session.output.record(&json!({ "id": id, "status": "revoked" }), &said)
}
