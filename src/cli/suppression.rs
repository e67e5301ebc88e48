//! `pombo suppression`: shows and changes which numbers a company's sends skip.
//!
//! Most suppressions come from the provider: recipients who do not want marketing, or who blocked the
//! business.

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::argument::{self, OfCompany};
use super::output::Listed;
use super::session::Session;
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::{Source, Suppression};
use crate::store::suppressions::Kept;

#[derive(Debug, Args)]
pub(super) struct Add {
    /// The number, in international form
    #[arg(value_parser = argument::recipient)]
    number: PhoneNumber,
    #[command(flatten)]
    of: OfCompany,
    /// Suppress all messages to the number, not only marketing
    #[arg(long)]
    everything: bool,
}

#[derive(Debug, Args)]
pub(super) struct Lift {
    /// The number, as `pombo suppression list` shows it
    #[arg(value_parser = argument::recipient)]
    number: PhoneNumber,
    #[command(flatten)]
    of: OfCompany,
}

#[derive(Serialize)]
struct Record {
    company_id: Uuid,
    phone_number: String,
    left_out_of: &'static str,
    since: Timestamp,
    until: Option<Timestamp>,
    provider_code: Option<i64>,
    source: Option<&'static str>,
}

impl From<Kept> for Record {
    fn from(Kept { record, since, source }: Kept) -> Self {
        Self {
            company_id: record.company_id,
            phone_number: format!("+{}", record.recipient),
            left_out_of: record.scope.as_str(),
            since,
            until: record.until,
            provider_code: record.provider_code,
            source: source.map(Source::as_str),
        }
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] =
        &["number", "left out of", "since", "until", "provider's code", "source"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.phone_number.clone(),
            self.left_out_of.to_owned(),
            self.since.to_string(),
            self.until.map_or_else(|| "lifted".to_owned(), |until| until.to_string()),
            self.provider_code.map_or_else(String::new, |code| code.to_string()),
            self.source.unwrap_or_default().to_owned(),
        ]
    }
}

pub(super) async fn list(session: &Session, of: OfCompany) -> anyhow::Result<()> {
    let company = session.company(&of.company).await?;
    let kept = session.app.store.of(company.id).suppressions().all(Timestamp::now()).await?;
    let records: Vec<_> = kept.into_iter().map(Record::from).collect();
    session.output.list(&records, "there are no suppressions")
}

pub(super) async fn add(session: &Session, Add { number, of, everything }: Add) -> anyhow::Result<()> {
    let company = session.company(&of.company).await?;
    let scope = if everything { Suppression::Everything } else { Suppression::Marketing };
    let is_new = session.app.store.of(company.id).suppressions().add(&session.who(), number, scope).await?;
    let said = if is_new {
        format!(
            "+{number} is suppressed for {scope} by {}; a running service applies it within a second, and \
             messages that start before then still go out",
            company.name
        )
    } else {
        format!("+{number} is suppressed for {scope} by {} already", company.name)
    };
    let record = json!({
        "company_id": company.id, "phone_number": format!("+{number}"), "left_out_of": scope.as_str(), "added": is_new,
    });
    session.output.record(&record, &said)
}

pub(super) async fn lift(session: &Session, Lift { number, of }: Lift) -> anyhow::Result<()> {
    let company = session.company(&of.company).await?;
    let lifted = session.app.store.of(company.id).suppressions().lift(&session.who(), number).await?;
    if lifted.is_empty() {
        return Err(anyhow!(
            "+{number} is not suppressed by {}; `pombo suppression list --company '{}'` shows the \
            suppressions",
            company.name,
            company.name
        ));
    }
    let scopes: Vec<_> = lifted.iter().map(|kept| kept.record.scope.as_str()).collect();
    let said = format!(
        "+{number} is no longer suppressed for {} by {}; a running service applies it within a second",
        scopes.join(" and "),
        company.name
    );
    let record = json!({ "company_id": company.id, "phone_number": format!("+{number}"), "lifted": scopes });
    session.output.record(&record, &said)
}
