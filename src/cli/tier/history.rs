//! `pombo tier history`: who changed which tier, and which channel's tier, when and how.

use clap::Args;
use serde_json::Value;

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

impl Listed for Change {
    const COLUMNS: Columns<Self> = &[
        ("at", |change| change.at.to_string()),
        ("who", |change| change.who.clone()),
        ("what", |change| change.what.to_owned()),
        ("subject", |change| change.subject.clone()),
        ("change", shortly),
    ];
}

/// Only the options that differ, on one line.
fn shortly(Change { before, after, .. }: &Change) -> String {
    let arrow = |old: &Value, new: &Value| format!("{} → {}", short(old), short(new));
    match before {
        None if after.is_object() => "new".to_owned(),
        None => short(after),
        Some(before) if before.is_object() => {
            let changes = tier::difference(before, after);
            let told = changes
                .iter()
                .map(|OptionChange { option, old, new }| format!("{option} {}", arrow(old, new)));
            told.collect::<Vec<_>>().join(", ")
        }
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
        Some(name) => {
            find(session, name, None).await?;
            Filter { what: &[What::Tier], subject: Some(name.as_str()), ..Filter::default() }
        }
        None => Filter { what: &[What::Tier, What::ChannelTier], ..Filter::default() },
    };
    let changes = session.app.store.changes().page(filter, PageRequest { page: 1, limit }).await?;
    let records: Vec<Change> = changes.records.into_iter().map(Change::from).collect();
    session.output.list(&records, "no change is recorded")
}
