//! `pombo tier`, and how other commands find the tier that they name.

mod change;
mod difference;
mod edit;
pub(super) mod effect;
mod history;

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde::Serialize;

pub(super) use self::change::{Delete, Rename, Rollback, Set, delete, rename, rollback, set};
use self::difference::Difference;
pub(super) use self::edit::{Edit, run as edit};
pub(super) use self::history::{History, run as history};
use super::failure::Misused;
use super::output::{Columns, Listed};
use super::session::Session;
use crate::api::records::SendEffect;
use crate::clock::Timestamp;
use crate::domain::channel::Kind;
use crate::domain::nearest::nearest;
use crate::domain::tier::{self, Tier};
use crate::store;

/// The default tier of a business account.
pub(super) const USUAL: &str = "standard";
/// The default tier of a web session.
const USUAL_WEB: &str = "web-new";

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The tier's name
    name: String,
    /// Print it as a file that `pombo tier apply` reads
    #[arg(long)]
    toml: bool,
}

#[derive(Debug, Args)]
pub(super) struct Apply {
    /// A file with one TOML table for each tier, like config/tiers.toml
    file: PathBuf,
    /// Print the difference, and what it would change for active sends, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// The output of [`apply`].
#[derive(Serialize)]
struct Applied<'a> {
    #[serde(flatten)]
    difference: &'a Difference,
    dry_run: bool,
    /// Only of a dry run: what it would change for active sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    sends: Option<Vec<SendEffect>>,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    tier: Tier,
    updated_at: Timestamp,
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("name", |Self { tier, .. }| tier.name.clone()),
        ("for", |Self { tier, .. }| word(&tier.kind)),
        ("messages", |Self { tier, .. }| tier.messages_per_second.to_string()),
        ("burst", |Self { tier, .. }| match tier.messages_per_second.is_unlimited() {
            true => String::new(),
            false => tier.burst().to_string(),
        }),
        ("template quota", |Self { tier, .. }| tier.template_quota.to_string()),
        ("daily cap", |Self { tier, .. }| tier.daily_cap.to_string()),
        ("unknown outcome", |Self { tier, .. }| word(&tier.unknown_outcome)),
        ("description", |Self { tier, .. }| tier.description.clone()),
    ];
}

pub(super) async fn list(session: &Session) -> anyhow::Result<()> {
    let records = session.app.store.tiers().all().await?.into_iter();
    let records = records
        .map(|record| Ok(Record { tier: read(&record)?, updated_at: record.updated_at }))
        .collect::<anyhow::Result<Vec<_>>>()?;
    session.output.list(&records, "there are no tiers; add some with `pombo tier apply FILE`")
}

pub(super) async fn show(session: &Session, Show { name, toml }: Show) -> anyhow::Result<()> {
    let tier = find(session, &name, None).await?;
    if toml {
        return session.output.text(tier::to_toml(&tier).trim_end());
    }
    if session.output.json {
        return session.output.record(&tier, "");
    }
    let options = difference::options(&tier)?;
    let rows = options.into_iter().map(|(option, value)| vec![option, difference::written(&value)]);
    session.output.table(&[], rows)
}

pub(super) async fn apply(session: &Session, Apply { file, dry_run }: Apply) -> anyhow::Result<()> {
    let shown = file.display();
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("cannot read {shown}; check the path"))?;
    let tiers = tier::parse(&text).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
        Misused(format!("{shown} was not applied, nothing was changed:\n{}", lines.join("\n")))
    })?;
    put(session, &tiers, dry_run, &format!("choose another name in {shown}")).await
}

/// Adds and replaces these tiers, or only shows what that would change. `otherwise` says what to do when a tier has another
/// kind than before.
async fn put(session: &Session, tiers: &[Tier], dry_run: bool, otherwise: &str) -> anyhow::Result<()> {
    let stored = all(session).await?;
    let difference = Difference::between(&stored, tiers)?;
    if let Some(name) = difference.changes_kind() {
        let sentence = format!(
            "the tier `{name}` cannot become one for another kind of channel, since channels may run under it; \
             nothing was changed: {otherwise}"
        );
        return Err(Misused(sentence).into());
    }
    let sends = if dry_run { Some(effect::of_all(session, &stored, tiers).await?) } else { None };
    // The difference is printed first, so that it is seen even when applying fails.
    let said = if dry_run { format!("{difference}\nnothing was changed") } else { difference.to_string() };
    let applied = Applied { difference: &difference, dry_run, sends };
    session.output.record(&applied, &said)?;
    if let Some(sends) = applied.sends.filter(|sends| !sends.is_empty() && !session.output.json) {
        return session.output.list(&sends, "");
    }
    if !dry_run {
        let documents = tiers.iter().map(|tier| Ok((tier.name.clone(), serde_json::to_string(tier)?)));
        let documents = documents.collect::<anyhow::Result<Vec<_>>>()?;
        session.app.store.tiers().apply(&session.who(), &documents).await?;
    }
    Ok(())
}

/// The tier of this name. It must be for `kind`, if that is given.
pub(super) async fn find(session: &Session, name: &str, kind: Option<Kind>) -> anyhow::Result<Tier> {
    let stored = session.app.store.tiers().all().await?;
    let tier = stored.iter().find(|record| record.name == name).map(read).transpose()?;
    match (tier, kind) {
        (Some(tier), None) => return Ok(tier),
        (Some(tier), Some(kind)) if tier.kind == kind => return Ok(tier),
        (Some(_) | None, _) => {}
    }
    let mut known = Vec::new();
    for record in &stored {
        if kind.is_none_or(|kind| read(record).is_ok_and(|tier| tier.kind == kind)) {
            known.push(record.name.as_str());
        }
    }
    let sort = kind.map_or_else(String::new, |kind| format!(" for a {kind}"));
    let near = nearest(name, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(anyhow!("there is no tier `{name}`{sort}{near} (there are {})", known.join(", ")))
}

/// All tiers.
pub(super) async fn all(session: &Session) -> anyhow::Result<Vec<Tier>> {
    session.app.store.tiers().all().await?.iter().map(read).collect()
}

/// The tier of a new channel of `kind`: the given tier, else the company's, else the default.
pub(super) async fn choose(
    session: &Session,
    given: Option<String>,
    company: &str,
    kind: Kind,
) -> anyhow::Result<String> {
    let usual = match kind {
        Kind::BusinessAccount => USUAL,
        Kind::WebSession => USUAL_WEB,
    };
    let name = match given {
        Some(name) => name,
        None if find(session, company, Some(kind)).await.is_ok() => company.to_owned(),
        None => usual.to_owned(),
    };
    Ok(find(session, &name, Some(kind)).await?.name)
}

fn read(record: &store::tiers::Record) -> anyhow::Result<Tier> {
    serde_json::from_str(&record.settings).with_context(|| {
        format!("the tier `{}` in the database cannot be read; apply it again from a file", record.name)
    })
}

/// The word for a value of a tier in files.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
