//! `pombo template`.

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::argument::OfCompany;
use super::output::Listed;
use super::session::Session;
use crate::clock::Timestamp;
use crate::store::templates;

#[derive(Debug, Args)]
pub(super) struct Sync {
    /// The channel's id, as `pombo channel list` shows it
    #[arg(long, value_name = "ID")]
    channel: Uuid,
}

#[derive(Serialize)]
struct Record {
    id: i64,
    name: String,
    language: String,
    category: String,
    status: String,
    rejected_reason: Option<String>,
    quality_score: Option<String>,
    parameter_format: &'static str,
    components: Value,
    provider_id: String,
    waba_id: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<templates::Record> for Record {
    fn from(record: templates::Record) -> Self {
        let templates::Record {
            id,
            company_id: _,
            waba_id,
            provider_id,
            name,
            language,
            category,
            status,
            parameter_format,
            components,
            rejected_reason,
            quality_score,
            created_at,
            updated_at,
        } = record;
        Self {
            id,
            name,
            language,
            category: category.to_string(),
            status: status.to_string(),
            rejected_reason,
            quality_score,
            parameter_format: parameter_format.as_str(),
            components,
            provider_id,
            waba_id,
            created_at,
            updated_at,
        }
    }
}

impl Listed for Record {
    const COLUMNS: &'static [&'static str] =
        &["id", "name", "language", "category", "status", "rejected for", "business account"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.name.clone(),
            self.language.clone(),
            self.category.clone(),
            self.status.clone(),
            self.rejected_reason.clone().unwrap_or_default(),
            self.waba_id.clone(),
        ]
    }
}

fn print(session: &Session, templates: Vec<templates::Record>, empty: &str) -> anyhow::Result<()> {
    let records: Vec<Record> = templates.into_iter().map(Record::from).collect();
    session.output.list(&records, empty)
}

pub(super) async fn sync(session: &Session, Sync { channel }: Sync) -> anyhow::Result<()> {
    let channel = session.channel(channel).await?;
    let templates = session.app.sync_templates(&channel).await?;
    print(session, templates, "the business account has no templates; make one in the provider's console")
}

pub(super) async fn list(session: &Session, OfCompany { company }: OfCompany) -> anyhow::Result<()> {
    let company = session.company(&company).await?;
    let templates = session.app.store.of(company.id).templates().all().await?;
    print(session, templates, "no templates are known; fetch them with `pombo template sync --channel ID`")
}
