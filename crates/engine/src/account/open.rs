//! An account as the threads of a process share it: its machine, behind a lock that is held for one input.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::machine::{Answer, Effect, Effects, Input, Machine, Published};
use crate::machine::Moment;

/// An account that is in use.
pub(super) struct Account {
    id: Arc<str>,
    state: Mutex<State>,
    published: Shown,
    outbox: Arc<Outbox>,
}

thread_local! {
    /// The buffer of effects, one for all accounts of a thread. It is empty between two inputs.
    static EFFECTS: Cell<Effects> = Cell::default();
}

struct State {
    machine: Machine,
    /// The moment of the last input.
    last: Moment,
}

/// The part that channels read without the lock.
#[derive(Default)]
struct Shown {
    is_throttled: AtomicBool,
    is_counting: AtomicBool,
    voids: AtomicU64,
}

/// The effects of all accounts, until the shell takes them.
#[derive(Default)]
pub(super) struct Outbox {
    effects: Mutex<Vec<(Arc<str>, Effect)>>,
    rung: Notify,
}

impl Account {
    /// An account with a machine that had no input yet.
    pub(super) fn new(id: Arc<str>, machine: Machine, outbox: Arc<Outbox>, at: Moment) -> Self {
        let state = State { machine, last: at };
        Self { id, state: Mutex::new(state), published: Shown::default(), outbox }
    }

    /// Passes the machine an input. Its effects go to the shell; returns the answer.
    pub(super) fn feed(&self, input: Input, at: Moment) -> Option<Answer> {
        let mut state = self.state.lock();
        state.last = at;
        self.handle(&mut state, input)
    }

    /// The same at the moment of the last input, for callers without a clock.
    pub(super) fn feed_at_last(&self, input: Input) -> Option<Answer> {
        self.handle(&mut self.state.lock(), input)
    }

    fn handle(&self, state: &mut State, input: Input) -> Option<Answer> {
        let mut effects = EFFECTS.take();
        state.machine.handle(input, state.last, &mut effects);
        let mut answer = None;
        for effect in effects.drain() {
            match effect {
                Effect::Answer(given) => answer = Some(given),
                Effect::Publish(published) => self.published.show(published),
                effect => self.outbox.put(&self.id, effect),
            }
        }
        EFFECTS.set(effects);
        answer
    }

    /// Reads from the machine.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Machine) -> T) -> T {
        look(&self.state.lock().machine)
    }

    /// When messages of the account may go again; `None` when they may now.
    pub(super) fn throttled_until(&self, now: Instant) -> Option<Instant> {
        if !self.is_throttled() {
            return None;
        }
        self.look(|machine| machine.throttled_until(now))
    }

    /// Whether the provider refused messages because of the account.
    pub(super) fn is_throttled(&self) -> bool {
        self.published.is_throttled.load(Ordering::Acquire)
    }

    /// Whether the recipients of templates are counted.
    pub(super) fn is_counting(&self) -> bool {
        self.published.is_counting.load(Ordering::Acquire)
    }

    /// How often grants became void.
    pub(super) fn voids(&self) -> u64 {
        self.published.voids.load(Ordering::Acquire)
    }

    /// Whether a channel uses the account, or its state is still needed.
    pub(super) fn is_used(&self) -> bool {
        let state = self.state.lock();
        state.machine.is_used(state.last.monotonic)
    }
}

impl Shown {
    fn show(&self, Published { is_throttled, is_counting, voids }: Published) {
        self.is_throttled.store(is_throttled, Ordering::Release);
        self.is_counting.store(is_counting, Ordering::Release);
        self.voids.store(voids, Ordering::Release);
    }
}

impl Outbox {
    fn put(&self, account: &Arc<str>, effect: Effect) {
        self.effects.lock().push((Arc::clone(account), effect));
        self.rung.notify_one();
    }

    /// Takes out all effects, in their order.
    pub(super) fn take(&self) -> Vec<(Arc<str>, Effect)> {
        std::mem::take(&mut *self.effects.lock())
    }

    /// Returns when there are effects.
    pub(super) async fn wait(&self) {
        self.rung.notified().await;
    }
}
