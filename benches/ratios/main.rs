//! The service beside its yardsticks: `cargo bench --bench ratios [-- accept|tag-send|dispatch|memory|receipts|contacts|import]`.
//!
//! Absolute figures drift from machine to machine and hour to hour; each row therefore measures both sides
//! in one run, in turns, and gives the ratio of their medians. With `POMBO_BENCH_POSTGRES` set to a server's
//! URL the rows run on PostgreSQL, otherwise on SQLite. Everything stays on this machine and ends by itself.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

mod accept;
mod contacts;
mod dispatch;
mod import;
mod load;
mod people;
mod receipts;
mod service;
mod tag_send;

use std::io::Write as _;

/// The program's, for both sides.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One measured row.
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) ours: String,
    pub(crate) yardstick: String,
    /// The measured ratio, and the bound that it is held to.
    pub(crate) ratio: String,
    pub(crate) bound: &'static str,
}

fn main() -> std::io::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut rows = Vec::new();
    for (name, measure) in [
        ("accept", accept::measure as fn() -> Vec<Row>),
        ("tag-send", tag_send::measure),
        ("memory", tag_send::memory),
        ("dispatch", dispatch::measure),
        ("receipts", receipts::measure),
        ("contacts", contacts::measure),
        ("import", import::measure),
    ] {
        if runs(name) {
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
