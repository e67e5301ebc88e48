//! Worlds of some hundred seeds keep every rule, and planted faults break one. `scripts/universe` runs more of them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::report::Report;
use crate::planted::Fault;

/// How many worlds run with every test, unless the environment variable `POMBO_TEST_SEEDS` says how many (`10000`) or
/// which (`2500..5000`).
const SEEDS: u64 = 300;
/// The same for worlds with several nodes, unless `POMBO_TEST_NODE_SEEDS` says otherwise.
const NODE_SEEDS: u64 = 100;
/// Each planted fault is found within this many worlds, and a fault of several nodes within [`NODE_SEEDS`].
const FINDS: u64 = 300;

/// The seeds that find the faults which no early seed finds. They are tried first: the way there from 0 takes minutes. When a
/// change of the world changes the story of one, the search finds the next, and the test is slower until the seed here is that.
const FOUND_BY: [(Fault, u64); 16] = [
    (Fault::GenerationNotCompared, 11),
    (Fault::ReceiptIgnored, 42),
    (Fault::PauseForgetsAnnounced, 22),
    (Fault::QuotaNotRestored, 28),
    (Fault::SlotNotAskedAgain, 5),
    (Fault::BulkTriedAgainFirst, 24),
    (Fault::TurnKept, 31),
    (Fault::LineJumped, 31),
    (Fault::TemplateHoldsAll, 36),
    (Fault::DoubtNotHeld, 12),
    (Fault::ProbedForEver, 15),
    (Fault::WallClockUsed, 36),
    (Fault::DoubtNotSettled, 4),
    (Fault::RefusedRowFailsAll, 6),
    (Fault::LeaseTrustedTooLong, 20),
    (Fault::LeaseNotAsked, 19),
];

/// Seeds of worlds that broke a rule once, and why. A change of the world changes the story of each seed, so the tests
/// next to the corrected code check what it must do.
const BROKE: [(u64, &str); 15] = [
    (61, "places that a channel gave back unused were held against it, so that it had a third of its share"),
    (
        183,
        "the rule of pairs went by an interval that the channel's tier no longer had, and saw first attempts only",
    ),
    (
        243,
        "recipients that were read twice pushed those out that were not handed out yet, so that the send stood still",
    ),
    (290, "the same as 183"),
    (435, "a person who was granted to a channel with a larger quota passed a smaller one that was used up"),
    (
        622,
        "two messages to a person were both refused, and the person passed a quota that others had used up",
    ),
    (
        1071,
        "the world was wrong: a process that lost the lease, was stopped and had nothing to write never ended",
    ),
    (1221, "the same as 622"),
    (1495, "the same as 435"),
    (6148, "two channels that wanted the same people of a quota exchanged them without end"),
    (
        8501,
        "a caller read that its message was not sent when the lease was lost, and the next process sent it",
    ),
    (10_425, "a message that expired after a doubtful attempt was left out of the day's cap after a restart"),
    (13_448, "the rule of callers forgot that the clock was set while their message was written"),
    (13_838, "the same as 13448"),
    (16_986, "the same as 13448"),
];

/// The same for worlds with several nodes.
const BROKE_WITH_NODES: [(u64, &str); 18] = [
    (263, "a message that was sent while the store was read was taken in as it was before, and sent again"),
    (
        1868,
        "an account that waited for a listing of its templates did not learn to whom another node wrote meanwhile",
    ),
    (3008, "the world was wrong: a channel that started while its tier changed was not told of the change"),
    (
        3516,
        "a late answer put a message back in a send that had ended while its channel was given away, permanently",
    ),
    (5830, "the same as 3516"),
    (
        6103,
        "a person who was refused counted, because the message was canceled while its next attempt was announced",
    ),
    (6717, "the same as 3516"),
    (7235, "the same as 3516"),
    (7793, "the same as 3516"),
    (9356, "the same as 3008"),
    (
        10_471,
        "the world was wrong: a node that had lost a channel without noticing answered for the new owner",
    ),
    (12_682, "the rule of the pace kept the debt of a burst that was larger before"),
    (13_235, "the same as 10471"),
    (13_455, "a node that was fenced while it stood still removed a note to the new owner"),
    (14_303, "the same as 10471"),
    (16_669, "a message whose outcome was not written yet was read as it was before, and sent again"),
    (19_113, "the same as 10471"),
    (19_635, "the same as 10471"),
];

fn run(seeds: impl IntoIterator<Item = u64>) -> Report {
    run_each(seeds, Report::run)
}

fn run_each(seeds: impl IntoIterator<Item = u64>, run: fn(&mut Report, u64) -> bool) -> Report {
    let seeds: Vec<_> = seeds.into_iter().collect();
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut all = Report::default();
    std::thread::scope(|scope| {
        let one = || {
            let mut report = Report::default();
            while let Some(seed) = seeds.get(usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap()) {
                run(&mut report, *seed);
            }
            report
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().for_each(|thread| all.add(thread.join().unwrap()));
    });
    all
}

fn asked_for(variable: &str, usual: u64) -> Range<u64> {
    let Ok(seeds) = std::env::var(variable) else { return 0..usual };
    let (first, end) = seeds.split_once("..").unwrap_or(("0", &seeds));
    first.parse().unwrap()..end.parse().unwrap()
}

#[test]
#[expect(clippy::print_stdout, reason = "the result of a long run is worth reading")]
fn worlds_of_many_seeds_keep_every_rule() {
    let asked = asked_for("POMBO_TEST_SEEDS", SEEDS);
    let seeds = asked.end - asked.start;
    let report = run(asked);
    println!("{report}");
    assert!(report.broken.is_empty(), "{}\n{report}", report.stories());
    // Worlds in which nothing happens say nothing.
    let figures = report.figures;
    assert!(
        figures.attempts > 150 * seeds && figures.crashes > seeds / 3 && figures.faults > 15 * seeds,
        "{report}"
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "the result of a long run is worth reading")]
fn worlds_of_many_nodes_keep_every_rule() {
    let asked = asked_for("POMBO_TEST_NODE_SEEDS", NODE_SEEDS);
    let seeds = asked.end - asked.start;
    let report = run_each(asked, Report::run_nodes);
    println!("{report}, moves {}, attempts {}", report.figures.moves, report.figures.attempts);
    assert!(report.broken.is_empty(), "{}\n{report}", report.stories());
    // Worlds in which nothing happens say nothing.
    let figures = report.figures;
    let (attempts, moves, crashes) = (figures.attempts, figures.moves, figures.crashes);
    assert!(attempts > 150 * seeds && moves > 10 * seeds && crashes > seeds, "{report}, moves {moves}");
}

#[test]
fn worlds_that_broke_a_rule_once_keep_it() {
    let of_one = run(BROKE.map(|(seed, _)| seed));
    let of_nodes = run_each(BROKE_WITH_NODES.map(|(seed, _)| seed), Report::run_nodes);
    for (report, broke) in [(of_one, &BROKE[..]), (of_nodes, &BROKE_WITH_NODES)] {
        let is_broken = |seed| report.broken.iter().any(|broken| broken.seed == seed);
        let why: Vec<_> = broke.iter().filter(|(seed, _)| is_broken(*seed)).collect();
        assert!(why.is_empty(), "{}\n{why:?}", report.stories());
    }
}

#[test]
fn a_seed_tells_the_same_story_again() {
    let told = |seed| {
        let mut report = Report::default();
        report.run(seed);
        (report.to_string(), super::report::trace(seed, usize::MAX))
    };
    for seed in 0..3 {
        assert_eq!(told(seed), told(seed));
        let of_nodes = || super::report::trace_nodes(seed, usize::MAX);
        assert_eq!(of_nodes(), of_nodes());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "which rule finds a fault is worth reading")]
fn every_planted_fault_is_found() {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let missed: Vec<_> = std::thread::scope(|scope| {
        let search = || {
            let mut missed = Vec::new();
            loop {
                let place = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap();
                let Some(fault) = Fault::ALL.get(place).copied() else { return missed };
                Fault::plant(Some(fault));
                let mut report = Report::default();
                let within = if fault.is_of_nodes() { NODE_SEEDS } else { FINDS };
                let usual = FOUND_BY.iter().filter(|(found, _)| *found == fault).map(|(_, seed)| *seed);
                let is_found = usual.chain(0..within).any(|seed| {
                    let keeps = if fault.is_of_nodes() { report.run_nodes(seed) } else { report.run(seed) };
                    !keeps
                });
                Fault::plant(None);
                match report.broken.first() {
                    Some(broken) if is_found => {
                        println!("{fault:?}: seed {} breaks \"{}\"", broken.seed, broken.rule);
                    }
                    _ => missed.push(fault),
                }
            }
        };
        let searching: Vec<_> = (0..threads).map(|_| scope.spawn(search)).collect();
        searching.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(missed.is_empty(), "no rule is broken by {missed:?}");
}
