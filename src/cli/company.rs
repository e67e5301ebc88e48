//! `pombo company`.

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use uuid::Uuid;

use super::output::Listed;
use super::session::Session;
use super::{argument, tier};
use crate::clock::Timestamp;
use crate::domain::phone::Country;
use crate::store;
use crate::store::companies::Company;

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The company's name, which no other company has
    #[arg(value_parser = argument::name)]
    name: String,
    /// The tier of the company's new channels
    #[arg(long, default_value = tier::USUAL)]
    tier: String,
}

#[derive(Debug, Args)]
pub(super) struct SetCountry {
    /// The company's name or id
    company: String,
    /// Its two letters, such as BR; without it, the country is guessed from the numbers of the channels
    #[arg(value_parser = argument::country)]
    country: Option<Country>,
}

#[derive(Serialize)]
struct Record {
    id: Uuid,
    name: String,
    tier: String,
    country: Option<&'static str>,
    created_at: Timestamp,
}

impl From<Company> for Record {
    fn from(Company { id, name, tier, created_at, country }: Company) -> Self {
        Self { id, name, tier, country: country.map(Country::code), created_at }
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] = &["name", "id", "tier", "country", "created at"];

    fn cells(&self) -> Vec<String> {
        let country = self.country.unwrap_or("-").to_owned();
        let Self { name, id, tier, created_at, .. } = self;
        vec![name.clone(), id.to_string(), tier.clone(), country, created_at.to_string()]
    }
}

pub(super) async fn create(session: &Session, Create { name, tier }: Create) -> anyhow::Result<()> {
    tier::find(session, &tier, None).await?;
    let company =
        session.app.store.companies().add(&session.who(), &name, &tier).await.map_err(
            |error| match error {
                store::Error::Taken(_) => anyhow!("there is a company `{name}` already; choose another name"),
                other => other.into(),
            },
        )?;
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

/// The name, quoted for a shell.
fn quoted(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}
