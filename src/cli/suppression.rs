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
use super::output::{Columns, Listed};
use super::session::Session;
use crate::api::records;
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::Suppression;

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

/// A suppression: the operator API's record, with its company.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    suppression: records::Suppression,
    company_id: Uuid,
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("number", |Self { suppression, .. }| suppression.phone_number.clone()),
        ("left out of", |Self { suppression, .. }| suppression.left_out_of.to_owned()),
        ("since", |Self { suppression, .. }| suppression.since.to_string()),
        ("until", |Self { suppression, .. }| {
            suppression.until.map_or_else(|| "lifted".to_owned(), |until| until.to_string())
        }),
        ("provider's code", |Self { suppression, .. }| {
            suppression.provider_code.map_or_else(String::new, |code| code.to_string())
        }),
        ("source", |Self { suppression, .. }| suppression.source.unwrap_or_default().to_owned()),
    ];
}

pub(super) async fn list(session: &Session, of: OfCompany) -> anyhow::Result<()> {
    let company = session.company(&of.company).await?;
    let kept = session.app.store.of(company.id).suppressions().all(Timestamp::now()).await?;
    let record = |kept| Record { company_id: company.id, suppression: records::Suppression::from(kept) };
    let records: Vec<_> = kept.into_iter().map(record).collect();
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
