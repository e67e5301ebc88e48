//! The simulated process: its memory, which a crash loses.

use std::sync::Arc;
use std::time::Duration;

use super::ledger::Ledger;
use super::nodes::Node;
use super::plan::Plan;
use super::web::InProcess;
use crate::channel::machine::{Caller, Effects, Machine};
use crate::fair_queue::Turn;
use crate::shared::Common;
use config::Config;
use domain::channel::{Channel, Connection};

/// How often a number is probed.
const PROBED: Duration = Duration::from_secs(15 * 60);

pub(super) struct Process {
    /// The number of this process; an event for an earlier process is dropped.
    pub(super) life: u64,
    /// The epoch of its lease.
    pub(super) epoch: u64,
    pub(super) common: Arc<Common>,
    pub(super) ledger: Ledger,
    /// By channel.
    pub(super) channels: Vec<Running>,
    pub(super) effects: Effects,
    /// The machine stands still until then.
    pub(super) stands_until: Duration,
    /// By how much the wall clock was set since the last check, in milliseconds.
    pub(super) clock_set: i64,
    pub(super) callers: u64,
    pub(super) web: InProcess,
    /// It starts nothing more, and ends when its channels have ended.
    pub(super) is_stopping: bool,
    /// Its state as one node of several.
    pub(super) node: Option<Box<Node>>,
}

/// A channel in a process.
pub(super) struct Running {
    /// `None` once it is at its end.
    pub(super) machine: Option<Machine>,
    /// When the timer fires, and which one it is.
    pub(super) wake: Option<Duration>,
    pub(super) timer: u64,
    /// Answers of others that the machine waits for.
    pub(super) under_way: usize,
    /// The wait in the queue for permits.
    pub(super) turns: Vec<Turn>,
    /// The state that callers who want to send see.
    pub(super) shown: Connection,
    /// The connector in use.
    pub(super) generation: u64,
    /// The revision of the record that the machine got last.
    pub(super) revision: i64,
    /// The callers that wait until a send has stopped.
    pub(super) stopping: Vec<(Caller, uuid::Uuid)>,
    /// Its machine is told to stop, because another node will run it.
    pub(super) is_leaving: bool,
}

impl Running {
    /// A channel whose machine does not run yet.
    pub(super) fn idle(record: &Channel) -> Self {
        Self {
            machine: None,
            wake: None,
            timer: 0,
            under_way: 0,
            turns: Vec::new(),
            shown: record.connection.clone(),
            generation: 0,
            revision: record.revision,
            stopping: Vec::new(),
            is_leaving: false,
        }
    }
}

impl Process {
    /// A process without channels yet.
    pub(super) fn new(life: u64, epoch: u64, plan: &Plan) -> Self {
        let config = Config::default();
        let engine = config::Engine {
            concurrency: plan.concurrency,
            in_flight: plan.in_flight,
            total_in_flight: plan.total_in_flight,
            deferred: plan.deferred,
            active_bulk_sends: plan.active_bulk_sends,
            direct_lane: plan.direct_lane,
            ..config.engine
        };
        let retry = config::Retry { unknown_grace: plan.unknown_grace, ..config.retry };
        let common = Common::new(engine, retry, PROBED);
        Self {
            life,
            epoch,
            common: Arc::new(common),
            ledger: Ledger::new(plan.ledger_capacity, plan.channels.len()),
            channels: Vec::new(),
            effects: Effects::default(),
            stands_until: Duration::ZERO,
            clock_set: 0,
            callers: 0,
            web: InProcess::default(),
            is_stopping: false,
            node: None,
        }
    }
}
