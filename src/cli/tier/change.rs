//! `pombo tier set`, `delete`, `rename` and `rollback`.

use anyhow::anyhow;
use clap::Args;
use serde_json::json;
use uuid::Uuid;

use super::{find, put};
use crate::cli::failure::Misused;
use crate::cli::session::Session;
use crate::domain::tier::{Assignment, MAX_NAME, from_record, is_name};
use crate::store::tiers::{Earlier, Removed, Renamed};

#[derive(Debug, Args)]
pub(in crate::cli) struct Set {
    /// The tier's name
    name: String,
    /// Options with their new values, such as messages_per_second=40/s; OPTION= gives an option its default. The others stay
    #[arg(required = true, value_name = "OPTION=VALUE")]
    assignments: Vec<Assignment>,
    /// Print the difference, and what it would change for active sends, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Delete {
    /// The tier's name; no channel and no company may use it
    name: String,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Rename {
    /// The tier's name
    name: String,
    /// Its new name; channels and companies follow
    new: String,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Rollback {
    /// The tier's name; it may have been deleted
    name: String,
    /// An entry of `pombo tier history --tier NAME`: the tier becomes as it was after this entry; without it, as it was
    /// before the newest one
    entry: Option<Uuid>,
    /// Print the difference, and what it would change for active sends, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(in crate::cli) async fn set(session: &Session, arguments: Set) -> anyhow::Result<()> {
    let Set { name, assignments, dry_run } = arguments;
    let tier = find(session, &name, None).await?;
    let tier = tier.with(&assignments).map_err(|faults| unchanged(&name, &faults))?;
    put(session, &[tier], dry_run, "add another tier").await
}

pub(in crate::cli) async fn delete(session: &Session, Delete { name }: Delete) -> anyhow::Result<()> {
    match session.app.store.tiers().remove(&session.who(), &name).await? {
        Removed::Done => {
            let said = format!("the tier {name} is deleted; `pombo tier rollback {name}` brings it back");
            session.output.record(&json!({ "name": name, "deleted": true }), &said)
        }
        Removed::Missing => find(session, &name, None).await.map(drop),
        Removed::InUse(usage) => Err(anyhow!(
            "the tier `{name}` is used by {usage}; nothing was changed: give them another tier first, with `pombo channel \
             set-tier` and `pombo company set-tier`, or give this one another name with `pombo tier rename`"
        )),
    }
}

pub(in crate::cli) async fn rename(session: &Session, Rename { name, new }: Rename) -> anyhow::Result<()> {
    if !is_name(&new) {
        let sentence = format!("a tier's name has 1 to {MAX_NAME} small letters, digits and hyphens");
        return Err(Misused(sentence).into());
    }
    let store = &session.app.store;
    let usage = store.tiers().usage(&name).await?;
    match store.tiers().rename(&session.who(), &name, &new).await? {
        Renamed::Done => {
            let followed = if usage.is_empty() { String::new() } else { format!(", and {usage} with it") };
            let said =
                format!("the tier {name} is now {new}{followed}; a running service follows within a second");
            let record = json!({
                "name": new, "before": name, "channels": usage.channels, "companies": usage.companies,
            });
            session.output.record(&record, &said)
        }
        Renamed::Missing => find(session, &name, None).await.map(drop),
        Renamed::Taken => Err(anyhow!("there is a tier `{new}` already; choose another name")),
    }
}

pub(in crate::cli) async fn rollback(session: &Session, arguments: Rollback) -> anyhow::Result<()> {
    let Rollback { name, entry, dry_run } = arguments;
    let document = match session.app.store.tiers().earlier(&name, entry).await? {
        Earlier::Options(document) => document,
        Earlier::Absent => {
            return Err(anyhow!(
                "there was no tier `{name}` then; nothing was changed: choose another entry of `pombo tier history --tier \
                 {name}`"
            ));
        }
        Earlier::NoEntry => {
            if entry.is_none() {
                find(session, &name, None).await?;
            }
            return Err(anyhow!(
                "the history of the tier `{name}` has no such entry: `pombo tier history --tier {name}` lists them"
            ));
        }
    };
    let tier = from_record(&name, &document).map_err(|faults| unchanged(&name, &faults))?;
    put(session, &[tier], dry_run, "add another tier").await
}

/// The refusal of a tier with these faults.
fn unchanged(name: &str, faults: &[String]) -> Misused {
    let lines: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
    Misused(format!("the tier {name} was not changed:\n{}", lines.join("\n")))
}
