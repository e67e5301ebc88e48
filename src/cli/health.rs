//! `pombo health`: asks the service whether it is ready, for containers without another HTTP client.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::Global;
use super::failure::Misused;
use super::output::Output;
use super::session::{own_url, quiet_config};
use crate::connector::http;

/// How long the service may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn run(global: &Global) -> anyhow::Result<()> {
    let config = quiet_config(global)?;
    if config.server.bind.port() == 0 {
        let sentence = "server.bind names no fixed port, so the address of the service is unknown; set a \
        port";
        return Err(Misused(sentence.to_owned()).into());
    }
    let url = own_url(&config);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = http::direct().timeout(PATIENCE).build()?;
    let answer = client
        .get(format!("{url}/readyz"))
        .send()
        .await
        .with_context(|| format!("no service answers at {url}; start it, or look at its log"))?;
    let is_ready = answer.status().is_success();
    let body: Value = answer.json().await.unwrap_or_default();
    if !is_ready {
        bail!("{}", body["error"].as_str().unwrap_or("the service is not ready"));
    }
    Output::new(global.json).record(&body, &format!("the service at {url} is ready"))
}
