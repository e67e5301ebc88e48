//! The service beside its yardsticks: `cargo bench --bench ratios [-- NAME…]`, with the names in [`main`].
//! Some rows run only by their name, because they take long or need programs that not every machine has.
//!
//! Absolute figures drift from machine to machine and hour to hour; each row therefore measures both sides
//! in one run, in turns, and gives the ratio of their medians. With `POMBO_BENCH_POSTGRES` set to a server's
//! URL the rows run on PostgreSQL, otherwise on SQLite. Everything stays on this machine and ends by itself.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot continue ends")]

mod accept;
mod actors;
mod audience;
mod bare_body;
mod contacts;
mod conversations;
mod dispatch;
mod events;
mod fairness;
#[cfg(feature = "web-session")]
#[path = "../../tests/it/fake_whatsapp/mod.rs"]
#[expect(dead_code, unused_imports, clippy::expect_used, reason = "it is there for the tests")]
mod fake_whatsapp;
mod graph;
mod import;
mod inbound;
mod inbox;
mod inbox_live;
mod live_pages;
mod load;
mod opt_outs;
mod pages;
mod peers;
mod people;
mod populate;
mod provider;
mod readers;
mod receipts;
mod retention;
mod seed;
mod service;
#[cfg(feature = "web-session")]
mod sessions;
mod singles;
mod size;
mod statements;
mod tag_send;
mod values;
mod webhooks;
mod writers;

use std::io::Write as _;

/// The program's own allocator, for both sides.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One measured row.
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) ours: String,
    pub(crate) yardstick: String,
    /// The measured ratio, and its bound.
    pub(crate) ratio: String,
    pub(crate) bound: &'static str,
}

fn main() -> std::io::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let named = |name: &str| wanted.iter().any(|word| word == name);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut rows = Vec::new();
    for (name, always, measure) in [
        ("accept", true, accept::measure as fn() -> Vec<Row>),
        ("graph", false, graph::measure),
        ("tag-send", true, tag_send::measure),
        ("memory", true, tag_send::memory),
        ("dispatch", true, dispatch::measure),
        ("events", true, events::measure),
        ("receipts", true, receipts::measure),
        ("singles", true, singles::measure),
        ("opt-outs", false, opt_outs::measure),
        ("fairness", true, fairness::measure),
        ("readers", true, readers::measure),
        ("idle-actors", true, actors::idle),
        ("start", true, actors::start),
        ("contacts", true, contacts::measure),
        ("pages", false, pages::measure),
        ("inbound", false, inbound::measure),
        ("inbox", false, inbox::measure),
        ("inbox-live", false, inbox_live::measure),
        ("live-pages", false, live_pages::measure),
        ("import", false, import::measure),
        ("ten-million", false, audience::measure),
        ("peers", false, peers::measure),
        ("retention", true, retention::measure),
        ("size", false, size::measure),
        ("values", false, values::measure),
        ("webhooks", false, webhooks::measure),
        #[cfg(feature = "web-session")]
        ("web-sessions", false, sessions::measure),
        #[cfg(feature = "web-session")]
        (sessions::whatsapp::NAME, false, sessions::whatsapp::serve),
        #[cfg(feature = "web-session")]
        (sessions::service::NAME, false, sessions::service::serve),
    ] {
        if named(name) || (always && wanted.is_empty()) {
            rows.extend(measure());
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n| what | ours | yardstick | ratio | bound |\n|---|---|---|---|---|")?;
    for Row { what, ours, yardstick, ratio, bound } in rows {
        writeln!(out, "| {what} | {ours} | {yardstick} | {ratio} | {bound} |")?;
    }
    Ok(())
}

/// The middle one of several measurements.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
