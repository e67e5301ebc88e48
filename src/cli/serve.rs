//! `pombo serve`.

use super::Global;
use crate::app;
use crate::config::Config;

pub(super) async fn run(global: &Global) -> anyhow::Result<()> {
    let config = Config::load(global.config.as_deref())?;
    app::serve::run(config, global.json).await
}
