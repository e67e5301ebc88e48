//! One attempt: reads the events, sends them in one request, and says what the answer means.

use std::time::Duration;

use tokio::time::sleep;

use super::context::DeliveryContext;
use super::machine::AttemptVerdict;
use super::open::OpenEndpoint;
use super::prepared::{PreparedRequest, prepare};
use super::{graph, moment};
use clock::database::new_id;
use connectors::webhook::{DeliveryAnswer, DeliveryFault};
use domain::event::Event;
use domain::event::log::Sequence;
use domain::webhook::SentHeaders;
use store::webhooks::Delivery;

/// Delay before something is repeated that failed by no fault of the receiver.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a request is repeated by fault of this machine, a second apart. After that it counts as a failure of the
/// receiver, which may be the only one that cannot be reached.
const OWN_FAULTS: u32 = 60;

/// Sends the events at these places, as the `number`-th attempt. `has_accepted` says whether the receiver accepted a request and
/// failed with none since. `known` are these events, if they are at hand. It ends when the receiver has answered or was awaited long
/// enough. A database that fails is not held against the receiver, and a machine without sockets only after [`OWN_FAULTS`] repetitions.
pub(super) async fn attempt(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    sequences: &[i64],
    known: Option<Vec<Event>>,
    (number, has_accepted): (u16, bool),
) -> AttemptVerdict {
    let _permit = context.permit(endpoint.company_id, has_accepted).await;
    let mut events = match known {
        Some(events) => events,
        None => read_again(context, endpoint, sequences).await,
    };
    // The settings may have changed since the events were read first.
    events.retain(|event| endpoint.wants(event));
    let prepared = match endpoint.profile() {
        // Only bodies in Meta's form need the database.
        None => prepare(context, endpoint, events).await.unwrap_or_default(),
        Some(_) => again(endpoint, async || graph_request(context, endpoint, &events, number).await).await,
    };
    let Some(request) = prepared else {
        count(AttemptVerdict::Missing);
        return AttemptVerdict::Missing;
    };
    verdict(&deliver(context, endpoint, request, number, OWN_FAULTS).await)
}

/// The request with these events in Meta's form; `None` when there is nothing to tell of them, or no longer.
async fn graph_request(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    events: &[Event],
    number: u16,
) -> store::Result<Option<PreparedRequest>> {
    let _turn = context.turn(endpoint.company_id).await;
    if number > 1
        && let Some(first) = events.first()
        && graph::is_outrun(context, first).await?
    {
        return Ok(None);
    }
    prepare(context, endpoint, events.to_vec()).await
}

/// Reads until the database answers.
async fn again<T>(endpoint: &OpenEndpoint, read: impl AsyncFn() -> store::Result<T>) -> T {
    loop {
        match read().await {
            Ok(read) => return read,
            Err(error) => {
                tracing::debug!(webhook.id = %endpoint.id, %error, "events of a webhook cannot be read yet");
                sleep(PAUSE).await;
            }
        }
    }
}

/// The events at these places that are still in the log.
async fn read_again(context: &DeliveryContext, endpoint: &OpenEndpoint, sequences: &[i64]) -> Vec<Event> {
    let places: Vec<_> = sequences.iter().copied().map(Sequence::from_i64).collect();
    let read = async || {
        let _turn = context.turn(endpoint.company_id).await;
        context.store.event_log().events_at(endpoint.company_id, &places).await
    };
    again(endpoint, read).await
}

/// Sends a request, counts it and logs it. When this machine is at fault, it is repeated at most `repetitions` times.
pub(super) async fn deliver(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    request: PreparedRequest,
    number: u16,
    repetitions: u32,
) -> DeliveryAnswer {
    let PreparedRequest { id, body, event_id, r#type, sequence, events } = request;
    let mut tries = 0;
    let (begun, signature, answer) = loop {
        let begun = moment().wall;
        let delivery = endpoint.delivery(id.clone(), body.clone(), begun, number);
        let signature = delivery.signature.clone();
        let answer = context.sender.deliver(delivery).await;
        match answer.fault.as_ref().filter(|fault| fault.is_own() && tries < repetitions) {
            Some(fault) => tell_own(fault, tries == 0),
            None => break (begun, signature, answer),
        }
        tries += 1;
        sleep(PAUSE).await;
    };
    count(verdict(&answer));
    let id = (id != event_id).then_some(id);
    context.log(Delivery {
        id: new_id(),
        endpoint_id: endpoint.id,
        at: begun,
        event_id,
        r#type,
        sequence,
        events,
        attempt: number,
        status: answer.status,
        took: answer.took,
        answer: (!answer.kept.is_empty()).then(|| answer.kept.clone()),
        fault: answer.fault.as_ref().map(ToString::to_string),
        fault_kind: answer.fault.as_ref().map(DeliveryFault::kind),
        sent: SentHeaders { id, signature, own: endpoint.header_names() },
    });
    answer
}

fn tell_own(fault: &DeliveryFault, is_first: bool) {
    if is_first {
        tracing::warn!(%fault, "a webhook cannot be delivered now, its delivery is repeated");
    }
}

/// What an answer means for the events of its request.
fn verdict(answer: &DeliveryAnswer) -> AttemptVerdict {
    if answer.is_delivered() {
        AttemptVerdict::Delivered
    } else if answer.is_gone() {
        AttemptVerdict::Gone
    } else if answer.aborts {
        AttemptVerdict::Abort
    } else {
        AttemptVerdict::Failed { retry_after: answer.retry_after }
    }
}

fn count(verdict: AttemptVerdict) {
    let result = match verdict {
        AttemptVerdict::Delivered => "delivered",
        AttemptVerdict::Failed { .. } => "failed",
        AttemptVerdict::Gone => "gone",
        AttemptVerdict::Abort => "aborted",
        AttemptVerdict::Missing => "missing",
    };
    metrics::counter!("pombo_webhook_deliveries_total", "result" => result).increment(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: Option<u16>) -> DeliveryAnswer {
        DeliveryAnswer {
            status,
            took: Duration::ZERO,
            kept: String::new(),
            retry_after: None,
            aborts: false,
            fault: status.is_none().then_some(DeliveryFault::Refused),
        }
    }

    #[test]
    fn an_answer_decides_about_the_events_of_its_request() {
        let minute = Some(Duration::from_secs(60));
        for (answer, expected) in [
            (answer(Some(204)), AttemptVerdict::Delivered),
            (DeliveryAnswer { aborts: true, ..answer(Some(200)) }, AttemptVerdict::Delivered),
            (answer(Some(410)), AttemptVerdict::Gone),
            (DeliveryAnswer { aborts: true, ..answer(Some(422)) }, AttemptVerdict::Abort),
            (answer(Some(302)), AttemptVerdict::Failed { retry_after: None }),
            (
                DeliveryAnswer { retry_after: minute, ..answer(Some(429)) },
                AttemptVerdict::Failed { retry_after: minute },
            ),
            (answer(None), AttemptVerdict::Failed { retry_after: None }),
        ] {
            assert_eq!(verdict(&answer), expected, "{answer:?}");
        }
    }
}
