//! `pombo key`.

use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::argument::{self, MaybeOfCompany};
use super::output::Listed;
use super::session::Session;
use crate::clock::Timestamp;
use crate::domain::scope::{Scope, Scopes};
use crate::store::api_keys::{ApiKey, NewKey};
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
    /// The key's scopes: send, read, contacts, control; several with commas between them. Without it, all
    /// scopes
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = argument::scope)]
    scope: Vec<Scope>,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The key's id, as `pombo key list` shows it
    id: Uuid,
}

#[derive(Serialize)]
struct Record {
    id: Uuid,
    company_id: Uuid,
    #[serde(skip)]
    company: String,
    name: String,
    prefix: String,
    status: &'static str,
    scopes: Vec<&'static str>,
    last_used_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    created_at: Timestamp,
}

/// The answer to [`create`], the only one that contains the key.
#[derive(Serialize)]
struct Created<'a> {
    id: Uuid,
    key: &'a str,
    company_id: Uuid,
    name: String,
    prefix: String,
    scopes: Vec<&'static str>,
    expires_at: Option<Timestamp>,
    created_at: Timestamp,
}

impl Record {
    fn new(key: ApiKey, company: &str) -> Self {
        let ApiKey { id, company_id, name, prefix, expires_at, revoked_at, created_at, scopes, last_used_at } =
            key;
        let status = match (revoked_at, expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(end)) if end <= Timestamp::now() => "expired",
            (None, _) => "valid",
        };
        let (company, scopes) = (company.to_owned(), scopes.words());
        Self {
            id,
            company_id,
            company,
            name,
            prefix,
            status,
            scopes,
            last_used_at,
            expires_at,
            revoked_at,
            created_at,
        }
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] = &[
        "company",
        "name",
        "id",
        "begins with",
        "status",
        "scopes",
        "last used at",
        "expires at",
        "created at",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.company.clone(),
            self.name.clone(),
            self.id.to_string(),
            format!("{}…", self.prefix),
            self.status.to_owned(),
            self.scopes.join(","),
            self.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string()),
            self.expires_at.map_or_else(|| "never".to_owned(), |end| end.to_string()),
            self.created_at.to_string(),
        ]
    }
}

pub(super) async fn create(session: &Session, arguments: Create) -> anyhow::Result<()> {
    let Create { of, name, expires_in, scope } = arguments;
    let company = session.company(&of.company).await?;
    let (plain, prefix) = api_key::generate();
    let new = NewKey {
        name: &name,
        prefix: &prefix,
        hash: api_key::hash(plain.expose()),
        expires_at: expires_in.map(|span| Timestamp::now().plus(span)),
        scopes: if scope.is_empty() { Scopes::ALL } else { scope.into_iter().collect() },
    };
    let ApiKey { id, company_id, name, prefix, expires_at, created_at, scopes, .. } =
        session.app.store.of(company.id).keys().add(&session.who(), new).await?;
    let until = expires_at.map_or_else(String::new, |end| format!(" until {end}"));
    let said = format!(
        "{}\n\nThis is key {id} of {}, valid{until}. It is shown only once: store it now.",
        plain.expose(),
        company.name
    );
    let key = plain.expose();
    let scopes = scopes.words();
    session
        .output
        .record(&Created { id, key, company_id, name, prefix, scopes, expires_at, created_at }, &said)
}

pub(super) async fn list(session: &Session, arguments: MaybeOfCompany) -> anyhow::Result<()> {
    let mut records = Vec::new();
    for company in session.companies(arguments.company.as_deref()).await? {
        let keys = session.app.store.of(company.id).keys().all().await?;
        records.extend(keys.into_iter().map(|key| Record::new(key, &company.name)));
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
