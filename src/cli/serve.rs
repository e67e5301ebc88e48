//! `pombo serve`.

use clap::Args;

use super::Global;
use crate::app;
use crate::app::shutdown::StopRequest;
#[cfg(debug_assertions)]
use crate::clock;
use crate::config::Config;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// End when standard input ends, as it does when the parent process is gone
    #[arg(long, hide = true)]
    end_with_input: bool,
    /// A file with the milliseconds that the wall clock is ahead; only in builds for tests
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_name = "FILE")]
    clock_offset: Option<std::path::PathBuf>,
}

pub(super) async fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<()> {
    #[cfg(debug_assertions)]
    if let Some(file) = &arguments.clock_offset {
        clock::offset::follow(file.clone());
    }
    let config = Config::load(global.config.as_deref())?;
    Box::pin(app::serve::run(config, global.json, StopRequest::when(arguments.end_with_input))).await
}
