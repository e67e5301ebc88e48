//! Replays: sending events to an endpoint once more, many of them.

use uuid::Uuid;

use super::context::DeliveryContext;
use super::endpoints::{WebhookEndpoints, no_such_webhook};
use super::machine::{ReplayPage, ReplayRange};
use super::open::OpenEndpoint;
use super::reading::item;
use super::stored::ShownEndpoint;
use crate::{Error, Who};
use domain::error::{Code, Refusal};
use domain::event::Event;
use domain::event::log::Sequence;
use domain::webhook::{ReplayOf, ReplayRequest};
use store::webhooks::{Replaying, StoredReplay};

impl WebhookEndpoints<'_> {
    /// Sends events of the log to an endpoint once more. They go beside new events, one after the other for each person, with
    /// the ids that they had. One that fails is retried as every event is.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`, `invalid_field`, `replay_running` while the replay before has not ended.
    pub async fn replay(
        &self,
        who: &Who,
        company: Uuid,
        id: Uuid,
        request: ReplayRequest,
    ) -> Result<ShownEndpoint, Error> {
        let request = request.checked()?;
        let records = self.engine.records_of(company).await?;
        let replaying = records.of(company).webhooks().replay(who, id, request).await?;
        drop(records);
        match replaying {
            Replaying::Begins => {
                self.changed();
                self.find(company, id).await
            }
            Replaying::Busy => {
                let sentence = "this webhook endpoint already gets events once more: wait until `replay.finished_at` is \
                                set, or end it with DELETE /api/v1/webhooks/{id}/replay";
                Err(Refusal::new(Code::ReplayRunning, sentence).into())
            }
            Replaying::NoEndpoint => Err(no_such_webhook().into()),
        }
    }

    /// Ends the replay of an endpoint. At most 500 of its events still follow.
    ///
    /// # Errors
    ///
    /// `webhook_not_found`.
    pub async fn end_replay(&self, who: &Who, company: Uuid, id: Uuid) -> Result<ShownEndpoint, Error> {
        let records = self.engine.records_of(company).await?;
        if !records.of(company).webhooks().end_replay(who, id).await? {
            return Err(no_such_webhook().into());
        }
        drop(records);
        self.changed();
        self.find(company, id).await
    }
}

/// What the machine is to send once more.
pub(super) fn range(replay: &StoredReplay) -> Option<ReplayRange> {
    let StoredReplay { replay, after, up_to } = replay;
    let range = ReplayRange { after: after.as_i64(), up_to: up_to.as_i64() };
    replay.finished_at.is_none().then_some(range)
}

/// A part of the events that are sent once more: for the machine, and the events themselves.
pub(super) async fn page(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    request: &ReplayRequest,
    range: ReplayRange,
    limit: usize,
) -> store::Result<(ReplayPage, Vec<Event>)> {
    let _turn = context.turn(endpoint.company_id).await;
    let (after, up_to) = (Sequence::from_i64(range.after), Sequence::from_i64(range.up_to));
    let (log, company) = (context.store.event_log(), endpoint.company_id);
    let (mut events, read_to): (Vec<Event>, _) = match request.of {
        ReplayOf::All => {
            let wants = |r#type| endpoint.wants_type(r#type) && request.wants_type(r#type);
            let page = log.read_kept(Some(company), (after, up_to.block()), limit, wants).await?;
            let events = page.told.into_iter().filter_map(|told| told.event);
            (events.collect(), if page.more { page.next } else { up_to })
        }
        ReplayOf::Failed => {
            let failed = context.store.webhooks().failed(endpoint.id, (after, up_to), limit).await?;
            let last = failed.last().copied().filter(|_| failed.len() == limit);
            (log.events_at(company, &failed).await?, last.unwrap_or(up_to))
        }
    };
    events
        .retain(|event| event.sequence <= up_to && endpoint.wants(event) && request.wants_type(event.r#type));
    let items = events.iter().map(item).collect();
    Ok((ReplayPage { items, up_to: read_to.min(up_to).as_i64() }, events))
}
