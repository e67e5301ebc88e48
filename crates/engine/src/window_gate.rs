//! Who gets no free message because the provider would not take it: people whose window is closed.

use std::time::{Duration, Instant};

use dashmap::DashMap;
use uuid::Uuid;

use crate::contacts::people::People;
use crate::gathered::Gathered;
use crate::ledger::Order;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::request::{SkipCode, Skipped};
use store::Store;
use store::conversations::{AskedWindow, KnownWindow};

/// How long a channel is taken not to enforce windows: another node may have changed that meanwhile, or the time may have come.
const UNENFORCED: Duration = Duration::from_secs(1);
/// The most channels of which this is known; some 4 MB.
const MOST_CHANNELS: usize = 100_000;
/// Why a recipient is skipped, in words that continue "the number …".
const CLOSED: &str = "did not write in the last 24 hours, so that WhatsApp takes only templates to it";

/// Lets only people with an open window through, where windows are enforced.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WindowGate {
    company: Uuid,
    channel: Uuid,
    /// When the message may go first; `None` while everybody passes.
    at: Option<Timestamp>,
}

impl WindowGate {
    /// The gate of free messages of a channel that go at this moment or later.
    pub(crate) async fn of(
        store: &Store,
        (company, channel): (Uuid, Uuid),
        has_template: bool,
        at: Timestamp,
    ) -> store::Result<Self> {
        if has_template {
            return Ok(Self::default());
        }
        let windows = store.of(company).conversations().windows(channel).await?;
        let is_enforced = windows.are_enforced(Timestamp::now());
        Ok(Self { company, channel, at: is_enforced.then_some(at) })
    }

    /// The gate of a send.
    pub(crate) async fn of_order(store: &Store, order: &Order) -> store::Result<Self> {
        Self::of(store, (order.company_id, order.channel_id), order.template.is_some(), goes_at(order)).await
    }

    /// Removes the numbers of people without an open window, and returns them in the same order.
    pub(crate) async fn take_closed(
        &self,
        store: &Store,
        people: &People,
        numbers: &mut Vec<PhoneNumber>,
    ) -> store::Result<Vec<PhoneNumber>> {
        let Some(at) = self.at else { return Ok(Vec::new()) };
        let person = |number: &PhoneNumber| people.person(self.company, *number);
        let asked: Vec<_> = numbers.iter().map(person).collect();
        let open = store.of(self.company).conversations().with_window(self.channel, asked, at).await?;
        Ok(numbers.extract_if(.., |number| !open.contains(&person(number))).collect())
    }
}

/// What single sends ask about windows.
#[derive(Default)]
pub(crate) struct SharedWindows {
    asked: Gathered<AskedWindow, KnownWindow>,
    /// Until when channels are known not to enforce windows: their sends read nothing.
    unenforced: DashMap<Uuid, Instant>,
}

impl SharedWindows {
    /// Removes the only number of a send, and returns it, unless the person's window is open or none is needed. Many such sends
    /// at once read the store together.
    pub(crate) async fn take_closed_one(
        &self,
        (store, people): (&Store, &People),
        order: &Order,
        numbers: &mut Vec<PhoneNumber>,
    ) -> store::Result<Vec<PhoneNumber>> {
        let Some(number) = numbers.first().copied().filter(|_| order.template.is_none()) else {
            return Ok(Vec::new());
        };
        let (company_id, channel_id) = (order.company_id, order.channel_id);
        let asked = AskedWindow { company_id, channel_id, person: people.person(company_id, number) };
        let known = self.known(store, asked).await?;
        if known.is_some_and(|known| known.until.is_none_or(|until| until <= goes_at(order))) {
            return Ok(std::mem::take(numbers));
        }
        Ok(Vec::new())
    }

    /// What is known of a person's window; `None` when the channel enforces none.
    async fn known(&self, store: &Store, asked: AskedWindow) -> store::Result<Option<KnownWindow>> {
        // Not by the wall clock, which may be set back.
        let (channel, began) = (asked.channel_id, Instant::now());
        if self.unenforced.get(&channel).is_some_and(|until| *until > began) {
            return Ok(None);
        }
        let store = store.clone();
        let read = move |asked: Vec<AskedWindow>| {
            let store = store.clone();
            async move { store.conversations().windows(&asked).await }
        };
        let known = self.asked.ask(asked, read).await?;
        if known.of_channel.are_enforced(Timestamp::now()) {
            return Ok(Some(known));
        }
        if self.unenforced.len() >= MOST_CHANNELS {
            self.unenforced.clear();
        }
        self.unenforced.insert(channel, began + UNENFORCED);
        Ok(None)
    }

    /// The rule of a channel was changed here.
    pub(crate) fn changed(&self, channel: Uuid) {
        self.unenforced.remove(&channel);
    }
}

/// When the messages of a send go at the earliest.
fn goes_at(order: &Order) -> Timestamp {
    let now = Timestamp::now();
    order.schedule.send_at.map_or(now, |send_at| send_at.max(now))
}

/// Counts the numbers of people without an open window as skipped.
pub(crate) fn skip(closed: &[PhoneNumber], skipped: &mut Skipped) {
    for number in closed {
        skipped.add_as(SkipCode::WindowClosed, &format!("+{number}"), &CLOSED);
    }
}
