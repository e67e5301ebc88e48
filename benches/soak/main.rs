//! The program under load and every kind of trouble for minutes or hours:
//! `cargo bench --bench soak -- --minutes 10 [--json]`.
//!
//! Starts the real `pombo serve` on a directory of its own with SQLite, and beside it, in this process, the
//! simulated provider. Sends keep coming while the provider throttles, loses answers, breaks off and goes
//! away by turns, and the service is killed and started again. At the end, the soak waits for all messages
//! and compares the ones that the provider got with the promised ones. It ends by itself, at the latest some
//! minutes after the given time, and ends only processes that it started.
//!
//! The exit code is 1 if a message was lost or repeated, and 2 if the soak could not run.

#![expect(clippy::unwrap_used, reason = "a poisoned lock means that a task has panicked: then this ends too")]

mod channel;
mod ledger;
mod memory;
mod report;
mod service;
mod traffic;
mod trouble;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simulator::{Level, Number, Options, Seed, Simulator};

use self::channel::Channel;
use self::memory::Memory;
use self::report::Report;
use self::service::Service;
use self::traffic::Traffic;
use self::trouble::{Kills, Trouble};

/// The program's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The simulated account, its token, and the secret that signs its webhooks.
pub(crate) const WABA: &str = "102290129340398";
pub(crate) const TOKEN: &str = "EAAG-soak";
pub(crate) const APP_SECRET: &str = "soak-app-secret";
/// How long the simulator takes to answer a send.
const LATENCY: Duration = Duration::from_millis(40);
/// The longest wait for the last messages, after the given time.
const SETTLE: Duration = Duration::from_secs(600);
/// A pause after which no more messages are expected. Longer than the service waits for a lost answer's
/// receipt.
const QUIET: Duration = Duration::from_secs(service::UNKNOWN_GRACE_SECONDS + 10);
/// The share of the time during which the service is killed; in the rest its memory is measured.
const KILLING: f64 = 0.6;
/// Pause between two kills; shorter if the soak is short.
const KILL_EVERY: Duration = Duration::from_secs(60);
/// How often the line of progress changes.
const TICK: Duration = Duration::from_millis(500);

#[derive(Debug, Parser)]
struct Arguments {
    /// How long to send, in minutes
    #[arg(long)]
    minutes: Option<f64>,
    /// Contacts that every tag send goes to
    #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    contacts: u64,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    /// The argument that cargo passes to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(minutes) = arguments.minutes else {
        // A plain `cargo bench` skips the soak, which takes minutes.
        let _ = writeln!(
            std::io::stderr().lock(),
            "the soak is skipped: give its duration, such as -- --minutes 10"
        );
        return ExitCode::SUCCESS;
    };
    // No other provider of cryptography is installed before this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ran = tokio::runtime::Runtime::new()
        .context("no runtime")
        .and_then(|runtime| runtime.block_on(soak(&arguments, minutes)));
    let printed = ran.and_then(|report| {
        let text = if arguments.json { report.json()? } else { report.table() };
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(report.is_clean())
    });
    match printed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // If standard error is closed, only the exit code reports the failure.
            let _ = writeln!(std::io::stderr().lock(), "the soak could not be carried out: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn soak(arguments: &Arguments, minutes: f64) -> anyhow::Result<Report> {
    let lasting = Duration::from_secs_f64(minutes.clamp(0.1, 60.0 * 24.0 * 7.0) * 60.0);
    let simulator = Arc::new(simulator().await?);
    let mut service = Service::set_up(&simulator.base_url(), arguments.contacts)?;
    let channels: Vec<Arc<Channel>> = service.channels().map(Arc::new).collect();
    service.start().await?;
    service.aim(&simulator, &channels)?;
    let begun = Instant::now();
    let end = begun + lasting;
    let traffic = Traffic::start(&service, &channels, &simulator, end).await?;
    let memory = Memory::watch(service.pid());
    let trouble = Trouble::default();
    let line = progress(begun, &channels, &simulator, &memory, &trouble);

    let kills = Kills { until: begun + lasting.mul_f64(KILLING), every: KILL_EVERY.min(lasting / 5) };
    trouble.make(&mut service, &simulator, &channels, kills, end).await?;
    // Only of the time under load, because an idle service does not grow.
    let figures = memory.figures();
    trouble.say("waiting until everything is settled");
    trouble.end(&simulator)?;
    let undecided = traffic.finish(end + SETTLE).await;
    settle(&simulator, &channels, end + SETTLE).await;
    line.abort();
    service.stop().await?;
    let states = ledger::states(&service.database()).await?;
    let mut report = Report::new(&channels, &simulator, lasting, states, figures);
    report.undecided = undecided;
    report.kills = trouble.kills();
    if !report.is_clean() {
        report.kept = Some(service.keep());
    }
    Ok(report)
}

async fn simulator() -> anyhow::Result<Simulator> {
    let number = |of: &channel::Plan, level| Number::new(of.number, of.display).at_level(level);
    let [standard, high] = &channel::PLANS;
    let account = simulator::Account {
        waba_id: WABA.to_owned(),
        tokens: vec![TOKEN.to_owned()],
        numbers: vec![number(standard, Level::Standard), number(high, Level::High)],
        templates: simulator::default_templates(),
    };
    let options =
        Options { latency: LATENCY.into(), pair_throttle: true, log_limit: 10_000, ..Options::default() };
    Ok(simulator::start(options, Seed { accounts: vec![account] }).await?)
}

/// Waits until all promised messages have arrived, and then until no more come; at the latest until
/// `deadline`.
async fn settle(simulator: &Simulator, channels: &[Arc<Channel>], deadline: Instant) {
    let mut heard = (0, Instant::now());
    while Instant::now() < deadline {
        let arrived: u64 = channels.iter().map(|channel| channel.figures(simulator).arrivals).sum();
        let is_quiet = simulator.receipts_outstanding() == 0 && arrived == heard.0;
        if !is_quiet {
            heard = (arrived, Instant::now());
        }
        if heard.1.elapsed() > QUIET {
            return;
        }
        tokio::time::sleep(TICK).await;
    }
}

/// A line of progress on standard error, if that is a terminal.
fn progress(
    begun: Instant,
    channels: &[Arc<Channel>],
    simulator: &Arc<Simulator>,
    memory: &Memory,
    trouble: &Trouble,
) -> tokio::task::JoinHandle<()> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    let (channels, simulator) = (channels.to_vec(), Arc::clone(simulator));
    let (memory, trouble) = (memory.clone(), trouble.clone());
    tokio::spawn(async move {
        loop {
            let promised: u64 = channels.iter().map(|channel| channel.promised()).sum();
            let arrived: u64 = channels.iter().map(|channel| channel.figures(&simulator).messages).sum();
            let seconds = begun.elapsed().as_secs();
            bar.set_message(format!(
                "{:02}:{:02}  promised {promised}  arrived {arrived}  {:.1} MiB  {}",
                seconds / 60,
                seconds % 60,
                memory.newest(),
                trouble.now()
            ));
            tokio::time::sleep(TICK).await;
        }
    })
}
