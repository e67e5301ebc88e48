//! `pombo tier history`: who changed which tier, and which channel's tier, when and how.

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::difference::written;
use super::find;
use crate::api::records::Change;
use crate::cli::output::{Columns, Listed};
use crate::cli::session::Session;
use crate::domain::page::PageRequest;
use crate::domain::tier::{self, OptionChange};
use crate::store::changes::{Filter, What};

/// The longest value that is shown whole.
const MAX_CHARS: usize = 24;

#[derive(Debug, Args)]
pub(in crate::cli) struct History {
    /// Only changes of this tier's options
    #[arg(long, value_name = "NAME")]
    tier: Option<String>,
    /// How many changes to show at most, the newest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    limit: u64,
}

/// A change, and the channel that it is about by its name.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    change: Change,
    /// `COMPANY/NAME`; none for a tier, and for a channel that was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
}

impl Listed for Row {
    const COLUMNS: Columns<Self> = &[
        ("at", |row| row.change.at.to_string()),
        ("who", |row| row.change.who.clone()),
        ("what", |row| row.change.what.to_owned()),
        ("subject", |row| row.channel.clone().unwrap_or_else(|| row.change.subject.clone())),
        ("entry", |row| row.change.id.to_string()),
        ("change", |row| shortly(&row.change)),
    ];
}

/// Only the options that differ, on one line.
fn shortly(Change { before, after, .. }: &Change) -> String {
    let arrow = |old: &Value, new: &Value| format!("{} → {}", short(old), short(new));
    match before {
        None if after.is_object() => "new".to_owned(),
        None => short(after),
        Some(before) if before.is_object() && after.is_object() => {
            let changes = tier::difference(before, after);
            let told = changes
                .iter()
                .map(|OptionChange { option, old, new }| format!("{option} {}", arrow(old, new)));
            told.collect::<Vec<_>>().join(", ")
        }
        // A deleted tier.
        Some(before) if before.is_object() => short(after),
        Some(before) => arrow(before, after),
    }
}

/// A value as a person reads it. A long one, such as a description, is cut.
fn short(value: &Value) -> String {
    let whole = written(value);
    match whole.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", whole[..end].trim_end()),
        None if whole.is_empty() => "(empty)".to_owned(),
        None => whole,
    }
}

pub(in crate::cli) async fn run(session: &Session, History { tier, limit }: History) -> anyhow::Result<()> {
    let filter = match &tier {
        Some(name) => Filter { what: &[What::Tier], subject: Some(name.as_str()), ..Filter::default() },
        None => Filter { what: &[What::Tier, What::ChannelTier], ..Filter::default() },
    };
    let changes = session.app.store.changes().page(filter, PageRequest { page: 1, limit }).await?;
    if let Some(name) = tier.filter(|_| changes.total == 0) {
        find(session, &name, None).await?;
    }
    let changes: Vec<Change> = changes.records.into_iter().map(Change::from).collect();
    let ids: Vec<_> = changes.iter().filter_map(|change| Uuid::try_parse(&change.subject).ok()).collect();
    let channels = session.app.store.channels().find_owned_among(&ids).await?;
    let named = |subject: &str| {
        let found = channels.iter().find(|owned| owned.channel.id.to_string() == subject)?;
        Some(format!("{}/{}", found.company, found.channel.name))
    };
    let rows = changes.into_iter().map(|change| Row { channel: named(&change.subject), change });
    session.output.list(&rows.collect::<Vec<_>>(), "no change is recorded")
}
