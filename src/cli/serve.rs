//! `pombo serve`.

use clap::Args;

use super::Global;
use crate::app;
use crate::app::shutdown::Asked;
use crate::config::Config;

/// See [`super::Command::Serve`].
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// End when standard input ends, as it does when whoever started this process is gone
    #[arg(long, hide = true)]
    end_with_input: bool,
}

pub(super) async fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<()> {
    let config = Config::load(global.config.as_deref())?;
    app::serve::run(config, global.json, Asked::when(arguments.end_with_input)).await
}
