//! `pombo operator`.

use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::argument;
use super::key::{Created, or_never, status, until};
use super::output::{Columns, Listed};
use super::session::Session;
use crate::clock::Timestamp;
use crate::domain::nearest::nearest;
use crate::store;
use crate::store::operators::{NewOperator, Operator};
use crate::vault::api_key;

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The operator's name in the record of changes; a name is never used twice
    #[arg(value_parser = argument::operator)]
    name: String,
    /// How long the key is valid from now, such as 90d; without it, the key does not expire
    #[arg(long, value_name = "SPAN", value_parser = argument::span)]
    expires_in: Option<Duration>,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The operator's name, as `pombo operator list` shows it
    name: String,
}

#[derive(Serialize)]
struct Record {
    id: Uuid,
    name: String,
    prefix: String,
    status: &'static str,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    created_at: Timestamp,
}

impl From<Operator> for Record {
    fn from(operator: Operator) -> Self {
        let status = status(operator.is_valid(Timestamp::now()), operator.revoked_at);
        let Operator { id, name, prefix, expires_at, revoked_at, created_at } = operator;
        Self { id, name, prefix, status, expires_at, revoked_at, created_at }
    }
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("name", |operator| operator.name.clone()),
        ("begins with", |operator| format!("{}…", operator.prefix)),
        ("status", |operator| operator.status.to_owned()),
        ("expires at", |operator| or_never(operator.expires_at)),
        ("created at", |operator| operator.created_at.to_string()),
    ];
}

pub(super) async fn create(session: &Session, Create { name, expires_in }: Create) -> anyhow::Result<()> {
    let (plain, prefix) = api_key::generate_operator();
    let new = NewOperator {
        name: &name,
        prefix: &prefix,
        hash: api_key::hash(plain.expose()),
        expires_at: expires_in.map(|span| Timestamp::now().plus(span)),
    };
    let added = session.app.store.operators().add(&session.who(), new).await;
    let record = Record::from(added.map_err(|error| match error {
        store::Error::Taken(_) => anyhow!(
            "there is or was an operator `{name}`; choose another name, so that the record of changes stays unambiguous"
        ),
        other => other.into(),
    })?);
    let (key, until) = (plain.expose(), until(record.expires_at));
    let said = format!(
        "{key}\n\nThis is the key of operator {name}, valid{until}. It is shown only once: store it now. It \
         can change tiers and channels of every company."
    );
    session.output.record(&Created { key, record: &record }, &said)
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    let operators = session.app.store.operators().all().await?.into_iter();
    let records: Vec<Record> = operators.map(Record::from).collect();
    session.output.list(&records, "there are no operators; add one with `pombo operator create NAME`")
}

pub(super) async fn revoke(session: &Session, Revoke { name }: Revoke) -> anyhow::Result<()> {
    let store = &session.app.store;
    if !store.operators().revoke(&session.who(), &name).await? {
        let operators = store.operators().all().await?;
        let valid = operators.iter().filter(|operator| operator.revoked_at.is_none());
        let near = nearest(&name, valid.map(|operator| operator.name.as_str()));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`pombo operator list` shows the operators".to_owned(),
        };
        return Err(anyhow!("there is no active operator `{name}` to revoke; {hint}"));
    }
    let said = format!("the key of operator {name} is revoked and refused from now on");
    session.output.record(&json!({ "name": name, "status": "revoked" }), &said)
}
