//! `pombo migrate`: the schema by hand, for databases whose service does not migrate by itself.

use anyhow::anyhow;
use clap::Args;
use serde_json::json;

use super::Global;
use super::failure::Misused;
use super::output::{Columns, Listed, Output};
use super::session::quiet_config;
use crate::app;
use crate::store;
use crate::store::schema::{Migration, Schema};

#[derive(Debug, Args)]
pub(super) struct Down {
    /// How many migrations to undo; without it, their order is shown and nothing is undone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
}

impl Listed for Migration {
    const COLUMNS: Columns<Self> = &[
        ("name", |migration| migration.name.clone()),
        ("state", |migration| if migration.is_applied { "applied" } else { "pending" }.to_owned()),
    ];
}

async fn open(global: &Global) -> anyhow::Result<Schema> {
    app::open_schema(&quiet_config(global)?).await
}

pub(super) async fn status(global: &Global) -> anyhow::Result<()> {
    let schema = open(global).await?;
    let migrations = schema.status().await?;
    schema.close().await;
    Output::new(global.json).list(&migrations, "this program has no migrations")
}

pub(super) async fn up(global: &Global) -> anyhow::Result<()> {
    let applied = app::migrate_up(&quiet_config(global)?).await?;
    let said = match applied.len() {
        0 => "the schema was up to date".to_owned(),
        _ => format!("applied {}", applied.join(", ")),
    };
    Output::new(global.json).record(&json!({ "applied": applied }), &said)
}

pub(super) async fn down(global: &Global, Down { steps }: Down) -> anyhow::Result<()> {
    let output = Output::new(global.json);
    let schema = open(global).await?;
    let Some(steps) = steps else {
        let applied = schema.status().await?.into_iter().rev().filter(|step| step.is_applied);
        let names: Vec<String> = applied.map(|step| step.name).collect();
        schema.close().await;
        let sentence = match names.len() {
            0 => "give --steps N; there is nothing to undo now".to_owned(),
            _ => format!(
                "nothing was undone; --steps N undoes the first N of these and loses the data in the tables \
                 that they created:\n  {}",
                names.join("\n  ")
            ),
        };
        return Err(Misused(sentence).into());
    };
    let undone = schema.down(steps).await;
    schema.close().await;
    let undone = undone.map_err(|error| match error {
        store::Error::Taken(sentence) => anyhow!("nothing was undone: {sentence}"),
        other => other.into(),
    })?;
    let said = match undone.len() {
        0 => "there was nothing to undo".to_owned(),
        _ => format!(
            "undid {}\nset database.migrate = false, or the next start applies them again",
            undone.join(", ")
        ),
    };
    output.record(&json!({ "undone": undone }), &said)
}
