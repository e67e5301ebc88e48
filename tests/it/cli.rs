//! The `pombo` program as an operator meets it: output, sentences, exit codes.

mod by_chance;
mod channel_webhook;
mod demo;
#[cfg(unix)]
mod doctor;
mod explain;
mod loadtest;
mod log;
mod operator;
mod prices;
#[cfg(unix)]
mod private;
mod provider_version;
mod refusals;
#[cfg(unix)]
mod secret_options;
mod secrets;
mod send;
mod shell;
mod simulator;
mod suppression;
mod tiers;
mod tuning;
mod user;
mod webhook;
