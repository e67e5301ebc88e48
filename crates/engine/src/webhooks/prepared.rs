//! What is sent in a request, made of its events once for all its attempts by this machine.

use super::context::DeliveryContext;
use super::open::OpenEndpoint;
use super::{body, graph};
use domain::event::log::Sequence;
use domain::event::{Data, Event};

/// A request with the first of its events, by which the log names it.
pub(super) struct PreparedRequest {
    /// The id of the request.
    pub(super) id: String,
    pub(super) body: Vec<u8>,
    pub(super) event_id: String,
    pub(super) r#type: String,
    /// `None` for an example, which has no place in the log.
    pub(super) sequence: Option<Sequence>,
    /// How many events there are.
    pub(super) events: u64,
}

/// The request with these events, of which there is at least one; `None` when the endpoint cannot be told of them in its shape.
pub(super) async fn prepare(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    mut events: Vec<Event>,
) -> store::Result<Option<PreparedRequest>> {
    let Some(first) = events.first() else { return Ok(None) };
    let (event_id, r#type, sequence) = (first.id.clone(), first.r#type.to_string(), first.sequence);
    let content = match endpoint.profile() {
        // Its requests have one event each.
        Some(_) if !context.tells_groups && is_of_group(first) => None,
        Some(profile) => graph::body(context, profile, first).await?,
        None => {
            context.contents.open_events(&mut events).await;
            if endpoint.masks_numbers() {
                events = events.into_iter().map(body::masked).collect();
            }
            Some(body::body(&events, endpoint.is_batched()))
        }
    };
    Ok(content.map(|body| PreparedRequest {
        id: body::id(&events),
        body,
        event_id,
        r#type,
        sequence: (sequence != Sequence::default()).then_some(sequence),
        events: events.len() as u64,
    }))
}

fn is_of_group(event: &Event) -> bool {
    matches!(&event.data, Data::Inbound(inbound) if inbound.group.is_some())
}
