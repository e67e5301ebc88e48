//! Who gets no free message because the provider would not take it: people whose window is closed.

use uuid::Uuid;

use crate::contacts::people::People;
use crate::ledger::Order;
use crate::shared::Shared;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::request::{SkipCode, Skipped};
use store::Store;

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

    /// Removes the numbers of people without an open window.
    pub(crate) async fn skip_closed(
        &self,
        store: &Store,
        people: &People,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> store::Result<()> {
        let Some(at) = self.at else { return Ok(()) };
        let person = |number: &PhoneNumber| people.person(self.company, *number);
        let asked: Vec<_> = numbers.iter().map(person).collect();
        let open = store.of(self.company).conversations().with_window(self.channel, asked, at).await?;
        numbers.retain(|number| {
            let is_open = open.contains(&person(number));
            if !is_open {
                skipped.add_as(SkipCode::WindowClosed, &format!("+{number}"), &CLOSED);
            }
            is_open
        });
        Ok(())
    }
}

impl Shared {
    /// The gate of a send.
    pub(crate) async fn window_gate(&self, order: &Order) -> store::Result<WindowGate> {
        let now = Timestamp::now();
        let at = order.schedule.send_at.map_or(now, |send_at| send_at.max(now));
        WindowGate::of(&self.store, (order.company_id, order.channel_id), order.template.is_some(), at).await
    }
}
