//! `pombo company`.

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;

use super::output::{Columns, Listed};
use super::session::Session;
use super::{argument, tier};
use crate::api::records;
use crate::domain::phone::Country;
use crate::store;
use crate::store::companies::Company;

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The company's name, which no other company has
    #[arg(value_parser = argument::name)]
    name: String,
    /// The company's tier: its new channels begin with it, and it limits the company's API requests
    #[arg(long, default_value = tier::USUAL)]
    tier: String,
}

#[derive(Debug, Args)]
pub(super) struct SetTier {
    /// The company's name or id
    company: String,
    /// The tier that its new channels begin with, and whose `api_requests` limits its requests
    tier: String,
}

#[derive(Debug, Args)]
pub(super) struct Rename {
    /// The company's name or id
    company: String,
    /// The new name, which no other company has
    #[arg(value_parser = argument::name)]
    name: String,
}

#[derive(Debug, Args)]
pub(super) struct Disable {
    /// The company's name or id
    company: String,
    /// Let its people and programs in again; its sends stay paused
    #[arg(long)]
    undo: bool,
}

#[derive(Debug, Args)]
pub(super) struct SetCountry {
    /// The company's name or id
    company: String,
    /// Its two letters, such as BR; without it, the country is guessed from the numbers of the channels
    #[arg(value_parser = argument::country)]
    country: Option<Country>,
}

/// A company: the operator API's record, and its country.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    company: records::Company,
    country: Option<&'static str>,
}

impl From<Company> for Record {
    fn from(company: Company) -> Self {
        Self { country: company.country.map(Country::code), company: company.into() }
    }
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("name", |Self { company, .. }| company.name.clone()),
        ("id", |Self { company, .. }| company.id.to_string()),
        ("company tier", |Self { company, .. }| company.tier.clone()),
        ("country", |Self { country, .. }| country.unwrap_or("-").to_owned()),
        ("status", |Self { company, .. }| status(company).to_owned()),
        ("created at", |Self { company, .. }| company.created_at.to_string()),
    ];
}

const fn status(company: &records::Company) -> &'static str {
    if company.disabled_at.is_some() { "disabled" } else { "enabled" }
}

/// The sentence for a name that another company has.
fn unless_taken(error: store::Error, name: &str) -> anyhow::Error {
    match error {
        store::Error::Taken(_) => anyhow!("there is a company `{name}` already; choose another name"),
        other => other.into(),
    }
}

pub(super) async fn create(session: &Session, Create { name, tier }: Create) -> anyhow::Result<()> {
    tier::find(session, &tier, None).await?;
    let added = session.app.store.companies().add(&session.who(), &name, &tier).await;
    let company = added.map_err(|error| unless_taken(error, &name))?;
    let said = format!(
        "company {} is {}\nnext: pombo key create --company {}",
        company.name,
        company.id,
        quoted(&company.name)
    );
    session.output.record(&Record::from(company), &said)
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    let records: Vec<Record> =
        session.app.store.companies().all().await?.into_iter().map(Record::from).collect();
    session.output.list(&records, "there are no companies; add one with `pombo company create NAME`")
}

pub(super) async fn rename(session: &Session, Rename { company, name }: Rename) -> anyhow::Result<()> {
    let company = session.company(&company).await?;
    let changed = session.app.store.companies().change(&session.who(), &company, &name, &company.tier).await;
    let changed = changed.map_err(|error| unless_taken(error, &name))?;
    session.output.record(&Record::from(changed), &format!("{} is called {name} now", company.name))
}

pub(super) async fn disable(session: &Session, Disable { company, undo }: Disable) -> anyhow::Result<()> {
    let company = session.company(&company).await?;
    let changed = session.app.store.companies().set_disabled(&session.who(), &company, !undo).await?;
    let name = &company.name;
    let said = match (undo, changed) {
        (false, true) => format!(
            "{name} is disabled: its keys are refused, nobody chooses it in the console, and a running service pauses its \
             sends"
        ),
        (false, false) => format!("{name} was disabled before"),
        (true, true) => format!("{name} is enabled again; its sends stay paused until they are resumed"),
        (true, false) => format!("{name} is not disabled"),
    };
    session.output.record(&Record::from(session.company(&company.id.to_string()).await?), &said)
}

pub(super) async fn set_country(session: &Session, arguments: SetCountry) -> anyhow::Result<()> {
    let SetCountry { company, country } = arguments;
    let mut company = session.company(&company).await?;
    session.app.store.of(company.id).set_country(&session.who(), country).await?;
    let said = match country {
        Some(country) => {
            format!("files and forms can read numbers without a plus sign as numbers of {}", country.code())
        }
        None => "the country is guessed from the numbers of the channels".to_owned(),
    };
    company.country = country;
    session.output.record(&Record::from(company), &said)
}

pub(super) async fn set_tier(session: &Session, SetTier { company, tier }: SetTier) -> anyhow::Result<()> {
    let company = session.company(&company).await?;
    let tier = tier::find(session, &tier, None).await?.name;
    let companies = session.app.store.companies();
    let changed = companies.change(&session.who(), &company, &company.name, &tier).await?;
    let name = &company.name;
    let said = if company.tier == tier {
        format!("the company tier of {name} is {tier} already")
    } else {
        format!(
            "{name}: company tier {} → {tier}: its new channels begin with it, and it limits the company's API requests\n\
             its channels keep theirs; `pombo channel set-tier ID {tier}` changes the tier of a channel",
            company.tier
        )
    };
    session.output.record(&Record::from(changed), &said)
}

/// The name, quoted for a shell.
fn quoted(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}
