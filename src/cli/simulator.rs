//! `pombo simulator`: the simulated provider alone, to point a service's `cloud_api.base_url` at, and questions to one
//! that runs.

mod behaviour;
mod control;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(in crate::cli) use self::behaviour::{Behaviour, Delays};
use self::control::Control;
use super::output::Output;
use super::{Global, secret_input};
use crate::app::shutdown::{self, StopRequest};
use simulator::{Options, Seed};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    control: Option<Control>,
    /// The port on this machine; 0 takes a free one
    #[arg(long, default_value_t = 8090, value_name = "PORT")]
    port: u16,
    #[command(flatten)]
    behaviour: Behaviour,
    /// Refuse messages that are no templates for people who did not write within 24 hours
    #[arg(long)]
    window: bool,
    /// A file with accounts, numbers, tokens and templates that exist at the start, as POST /_sim/accounts takes it
    #[arg(long, value_name = "FILE")]
    accounts: Option<PathBuf>,
    /// Know only the accounts of that file: other ids and tokens are refused
    #[arg(long, requires = "accounts")]
    only_accounts: bool,
    /// A file with a script of failures and switches to begin with, as POST /_sim/script takes it
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Where receipts and answers go: the webhook address of a channel
    #[arg(long, value_name = "URL", requires = "app_secret_file")]
    webhook: Option<String>,
    /// The file with the secret that signs them; - reads standard input
    #[arg(long, value_name = "FILE", requires = "webhook")]
    app_secret_file: Option<PathBuf>,
    #[command(flatten)]
    delays: Delays,
    /// End when standard input ends, as it does when the parent process is gone
    #[arg(long, hide = true)]
    end_with_input: bool,
}

pub(super) async fn run(global: &Global, arguments: Arguments) -> anyhow::Result<()> {
    if let Some(control) = arguments.control {
        return control.run(&Output::new(global.json)).await;
    }
    let by = StopRequest::when(arguments.end_with_input);
    let receipts = match (&arguments.webhook, &arguments.app_secret_file) {
        (Some(url), Some(file)) => Some(arguments.delays.receiver(url, secret_input::read(file)?.expose())?),
        _ => None,
    };
    let seed = arguments.accounts.as_deref().map(read::<Seed>).transpose()?.unwrap_or_default();
    let script = arguments.script.as_deref().map(read::<Value>).transpose()?;
    let options = Options {
        bind: SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port)),
        service_window: arguments.window,
        accept_any: !arguments.only_accounts,
        receipts,
        ..arguments.behaviour.options()
    };
    let simulator = simulator::start(options, seed)
        .await
        .context("the simulator did not start; choose another port, or a free one with --port 0")?;
    if let Some(script) = script {
        simulator.script(&script).context("the script was not understood")?;
    }
    let base_url = simulator.base_url();
    let accepts = if arguments.only_accounts {
        "it accepts the tokens and ids of its accounts"
    } else {
        "it accepts every token that does not begin with EXPIRED, and every id of digits"
    };
    let said = format!(
        "the simulated provider listens on {base_url}\n\
         {accepts}\n\
         point a service at it:  POMBO__CLOUD_API__BASE_URL={base_url} pombo serve\n\
         see what it counted:    pombo simulator numbers --at {base_url}"
    );
    let end = shutdown::requested_by(by);
    Output::new(global.json).record(&json!({ "base_url": base_url }), &said)?;
    end.await?;
    simulator.stop().await;
    Ok(())
}

/// Reads a file of JSON.
fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not understood", path.display()))
}
