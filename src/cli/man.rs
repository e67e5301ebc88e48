//! `pombo man`.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_mangen::Man;
use serde_json::json;

use super::Global;
use super::output::{Output, Unwritten};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The directory for a page of each command, such as /usr/local/share/man/man1; it is created if it does
    /// not exist
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(super) fn run(
    global: &Global,
    Arguments { directory }: Arguments,
    command: Command,
) -> anyhow::Result<()> {
    let output = Output::new(global.json);
    let Some(directory) = directory else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        let mut stream = output.stream();
        stream.write_all(&page).and_then(|()| stream.flush()).map_err(Unwritten)?;
        return Ok(());
    };
    let shown = directory.display();
    std::fs::create_dir_all(&directory)
        .and_then(|()| clap_mangen::generate_to(command, &directory))
        .with_context(|| {
            format!("cannot write manual pages into {shown}; give a directory that this user may write to")
        })?;
    let record = json!({ "directory": directory.display().to_string() });
    output.record(&record, &format!("wrote a page for each command into {shown}"))
}
