//! `pombo template`.

use clap::Args;
use serde::Serialize;

use super::argument::OfCompany;
use super::output::{Columns, Listed};
use super::session::Session;
use crate::api::records;
use crate::store::templates;

#[derive(Debug, Args)]
pub(super) struct Sync {
    /// The channel's name, COMPANY/NAME where companies share a name, or its id
    #[arg(long, value_name = "CHANNEL")]
    channel: String,
}

/// A template: the API's record, and what only an operator needs.
#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    template: records::Template,
    rejected_reason: Option<String>,
    quality_score: Option<String>,
    provider_id: String,
    waba_id: String,
}

impl From<templates::Record> for Record {
    fn from(mut record: templates::Record) -> Self {
        Self {
            rejected_reason: record.rejected_reason.take(),
            quality_score: record.quality_score.take(),
            provider_id: record.provider_id.clone(),
            waba_id: record.waba_id.clone(),
            template: record.into(),
        }
    }
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("id", |Self { template, .. }| template.id.to_string()),
        ("name", |Self { template, .. }| template.name.clone()),
        ("language", |Self { template, .. }| template.language.clone()),
        ("category", |Self { template, .. }| template.category.clone()),
        ("status", |Self { template, .. }| template.status.clone()),
        ("rejected for", |record| record.rejected_reason.clone().unwrap_or_default()),
        ("business account", |record| record.waba_id.clone()),
    ];
}

fn print(session: &Session, templates: Vec<templates::Record>, empty: &str) -> anyhow::Result<()> {
    let records: Vec<Record> = templates.into_iter().map(Record::from).collect();
    session.output.list(&records, empty)
}

pub(super) async fn sync(session: &Session, Sync { channel }: Sync) -> anyhow::Result<()> {
    let channel = session.channel(&channel).await?;
    let templates = session.app.sync_templates(&channel).await?;
    print(session, templates, "the business account has no templates; make one in the provider's console")
}

pub(super) async fn list(session: &Session, OfCompany { company }: OfCompany) -> anyhow::Result<()> {
    let company = session.company(&company).await?;
    let templates = session.app.store.of(company.id).templates().all().await?;
    print(
        session,
        templates,
        "no templates are known; fetch them with `pombo template sync --channel CHANNEL`",
    )
}
