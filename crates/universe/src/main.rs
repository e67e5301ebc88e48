//! The program of `scripts/universe`: runs simulated worlds, and ends with one line.
#![expect(clippy::print_stdout, reason = "it is a program for a terminal")]

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clap::Parser;
use engine::universe::{Report, plant, trace, trace_nodes};

/// Simulated worlds that try to break the engine.
#[derive(Parser)]
struct Arguments {
    /// How many worlds.
    #[arg(long, default_value_t = 300)]
    seeds: u64,
    /// How many worlds with several nodes, in addition; by default as many as worlds of one process.
    #[arg(long)]
    node_seeds: Option<u64>,
    /// Shows every step of one world with several nodes.
    #[arg(long)]
    trace_nodes: bool,
    /// The first seed, or the only one with --trace.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Plants a fault by its name, such as `LimiterTooFast`, to see which rule finds it.
    #[arg(long)]
    fault: Option<String>,
    /// Shows every step of one world.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    let Arguments { seeds, node_seeds, seed, fault, trace: is_traced, trace_nodes: nodes_are_traced } =
        Arguments::parse();
    let is_planted = || fault.as_deref().is_none_or(plant);
    if !is_planted() {
        println!("there is no such fault");
        return ExitCode::FAILURE;
    }
    if is_traced {
        println!("{}", trace(seed, usize::MAX));
        return ExitCode::SUCCESS;
    }
    if nodes_are_traced {
        println!("{}", trace_nodes(seed, usize::MAX));
        return ExitCode::SUCCESS;
    }
    // Worlds of one process, and then those with several nodes.
    let all_seeds = seeds.saturating_add(node_seeds.unwrap_or(seeds));
    let next = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let report = thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    is_planted();
                    let mut report = Report::default();
                    loop {
                        let one = next.fetch_add(1, Ordering::Relaxed);
                        if one >= all_seeds {
                            return report;
                        }
                        if one < seeds {
                            report.run(seed.saturating_add(one));
                        } else {
                            report.run_nodes(seed.saturating_add(one - seeds));
                        }
                    }
                })
            })
            .collect();
        let mut all = Report::default();
        for thread in running {
            match thread.join() {
                Ok(report) => all.add(report),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    println!("{}{report}", report.stories());
    if report.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
