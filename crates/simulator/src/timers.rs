//! Timers for actions of the simulator, and the task that carries them out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web::Data;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::account::Account;
use super::level::Level;
use super::notice;
use super::outbox::Notice;
use super::pacing::Fate;
use super::phone::PhoneNumber;
use super::world::World;
use super::written::PersonMessage;

/// How long the task sleeps when there is nothing to do; it is woken when there is.
const IDLE: Duration = Duration::from_secs(3_600);

/// An action at a time.
#[derive(Debug)]
pub(super) enum Action {
    /// The end of a number's upgrade: it is faster than before, and a webhook reports it.
    Upgrade(Arc<PhoneNumber>),
    /// The held messages of a template are sent or dropped.
    EndPacing(Arc<Account>, u64, Fate),
    /// A requested webhook is sent.
    Notify(Notice),
    /// A person answers a message of this number.
    Answer(Box<PendingAnswer>),
}

/// An answer of a person that is still to come.
#[derive(Debug)]
pub(super) struct PendingAnswer {
    pub(super) number: Arc<PhoneNumber>,
    pub(super) message: PersonMessage,
    pub(super) is_late: bool,
    pub(super) is_doubled: bool,
}

/// How much later the webhook of a late answer comes, and the second one of an answer that comes twice.
const LATE: Duration = Duration::from_secs(1);

/// The timers: actions by their time.
#[derive(Debug, Default)]
pub(super) struct Timers {
    actions: Mutex<Actions>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Actions {
    serial: u64,
    by_time: BTreeMap<(Instant, u64), Action>,
}

impl Timers {
    /// Adds an action with this delay.
    pub(super) fn add(&self, after: Duration, action: Action) {
        let mut actions = self.actions.lock();
        actions.serial += 1;
        let key = (Instant::now() + after, actions.serial);
        actions.by_time.insert(key, action);
        self.wake.notify_one();
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.actions.lock().by_time.len()
    }

    /// Removes every timer.
    pub(super) fn clear(&self) {
        self.actions.lock().by_time.clear();
    }

    /// The next action that is due, or the time until one may be due.
    fn next(&self) -> Result<Action, Duration> {
        let mut actions = self.actions.lock();
        let Some(first) = actions.by_time.first_entry() else { return Err(IDLE) };
        let wait = first.key().0.saturating_duration_since(Instant::now());
        if wait.is_zero() { Ok(first.remove()) } else { Err(wait) }
    }
}

/// Carries out due actions until it is aborted.
pub(super) async fn keep(world: Data<World>) {
    loop {
        match world.timers.next() {
            Ok(action) => action.carry_out(&world),
            // The next round checks again, whether the task was woken or not.
            Err(wait) => drop(tokio::time::timeout(wait, world.timers.wake.notified()).await),
        }
    }
}

impl Action {
    fn carry_out(self, world: &World) {
        match self {
            Self::Upgrade(number) => {
                number.change(|standing| {
                    standing.is_in_maintenance = false;
                    standing.level = Level::High;
                });
                world.notify(&number.account, None, "phone_number_quality_update", &notice::upgrade(&number));
            }
            Self::EndPacing(account, template, fate) => world.end_pacing(&account, template, fate),
            Self::Notify(notice) => world.outbox.notify(notice),
            Self::Answer(answer) => {
                let PendingAnswer { number, message, is_late, is_doubled } = &*answer;
                let (_, notices) = world.write(number, message);
                for notice in notices {
                    if *is_doubled {
                        world.timers.add(LATE, Self::Notify(notice.clone()));
                    }
                    if *is_late {
                        world.timers.add(LATE, Self::Notify(notice));
                    } else {
                        world.outbox.notify(notice);
                    }
                }
            }
        }
    }
}
