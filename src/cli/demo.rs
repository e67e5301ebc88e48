//! stub
use clap::Args;
#[derive(Debug, Args)]
pub(super) struct Arguments {}
pub(super) async fn run(_: &super::Global, _: Arguments) -> anyhow::Result<()> { Ok(()) }
