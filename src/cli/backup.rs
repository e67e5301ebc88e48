//! `pombo backup`.

use std::path::PathBuf;

use clap::Args;
use indicatif::BinaryBytes;
use serde_json::json;

use super::Global;
use super::failure::Misused;
use super::output::Output;
use super::session::quiet_config;
use crate::app::backup::{self, Made};
use crate::store::backup::Error;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file to write; it must not exist yet. A SQLite database, or an archive of `pg_dump`
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) async fn run(global: &Global, Arguments { file }: Arguments) -> anyhow::Result<()> {
    let config = quiet_config(global)?;
    let Made { format, bytes, key_file } = backup::write(&config, &file).await.map_err(misused)?;
    let keys = match &key_file {
        Some(path) => format!("{}: keep a copy of that file elsewhere", path.display()),
        None => "the configuration, as secrets.key".to_owned(),
    };
    let said = format!(
        "wrote {}, {}\nThe backup does not contain the keys that open its secrets. They are in {keys}.",
        file.display(),
        BinaryBytes(bytes)
    );
    let record = json!({
        "file": file.display().to_string(),
        "database": format.as_str(),
        "bytes": bytes,
        "key_file": key_file.map(|path| path.display().to_string()),
    });
    Output::new(global.json).record(&record, &said)
}

/// An error about the given file is a misuse of the command line.
pub(super) fn misused(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Error>() {
        Some(wrong) if wrong.is_about_the_file() => Misused(wrong.to_string()).into(),
        _ => error,
    }
}
