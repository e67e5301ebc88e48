//! `pombo simulator`: the simulated provider alone, to point a service's `cloud_api.base_url` at.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::output::Output;
use super::{Global, argument};
use crate::app::shutdown::{self, Asked};
use simulator::{Options, Seed};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The port on this machine; 0 takes a free one
    #[arg(long, default_value_t = 8090, value_name = "PORT")]
    port: u16,
    /// How long every answer to a send takes, such as 80ms
    #[arg(long, default_value = "0ms", value_name = "SPAN", value_parser = argument::span)]
    latency: Duration,
    /// End when standard input ends, as it does when the parent process is gone
    #[arg(long, hide = true)]
    end_with_input: bool,
}

pub(super) async fn run(global: &Global, arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { port, latency, end_with_input } = arguments;
    let by = Asked::when(end_with_input);
    let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let options = Options { bind, latency, accept_any: true, ..Options::default() };
    let simulator = simulator::start(options, Seed::default())
        .await
        .context("the simulator did not start; choose another port, or a free one with --port 0")?;
    let base_url = simulator.base_url();
    let said = format!(
        "the simulated provider listens on {base_url}\n\
         it accepts every token that does not begin with EXPIRED, and every id of digits\n\
         point a service at it:  POMBO__CLOUD_API__BASE_URL={base_url} pombo serve\n\
         see what it counted:    curl {base_url}/_sim/numbers"
    );
    let end = shutdown::requested_by(by);
    Output::new(global.json).record(&json!({ "base_url": base_url }), &said)?;
    end.await?;
    simulator.stop().await;
    Ok(())
}
