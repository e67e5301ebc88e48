//! The deliveries to a webhook endpoint: their log, and the receiver's answer to one that a person asked for.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::faults::fault;
use super::words::event;
use crate::connector::webhook::DeliveryAnswer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::copy;
use crate::console::component::formatting::plain;
use crate::console::component::table::{Column, table};
use crate::console::component::time::second;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::event::Type;
use crate::domain::webhook::{FaultKind, is_example};
use crate::engine::records::webhooks::Delivery;

/// The most characters of an answer that the log shows.
const SHOWN: usize = 500;

/// A receiver's answer, as it is kept until the next page shows it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptAnswer {
    status: Option<u16>,
    took_ms: u64,
    beginning: String,
    /// The word of the kind of fault.
    kind: Option<String>,
    /// The fault in English.
    sentence: Option<String>,
    /// For a test, the word of the event's type and the body of the request.
    test: Option<(String, String)>,
}

impl KeptAnswer {
    /// The answer to a test with an event of this type and this body, or to an event that was sent once more.
    pub(super) fn new(answer: &DeliveryAnswer, test: Option<(Type, String)>) -> Self {
        let DeliveryAnswer { status, took, kept, retry_after: _, aborts: _, fault } = answer;
        Self {
            status: *status,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            beginning: kept.clone(),
            kind: fault.as_ref().map(|fault| fault.kind().to_string()),
            sentence: fault.as_ref().map(ToString::to_string),
            test: test.map(|(r#type, body)| (r#type.to_string(), body)),
        }
    }

    /// The word of the type that was tested.
    pub(super) fn tested(&self) -> Option<&str> {
        self.test.as_ref().map(|(word, _)| word.as_str())
    }
}

/// How the receiver answered to a delivery that a person asked for.
pub(super) fn answered(text: Text, answer: &KeptAnswer) -> Markup {
    let KeptAnswer { status, took_ms, beginning, kind, sentence, test } = answer;
    let kind: Option<FaultKind> = kind.as_deref().and_then(|word| word.parse().ok());
    html! {
        section.panel aria-labelledby="answer" {
            h2 id="answer" { (text.get("webhooks-answered")) }
            @if let Some((word, _)) = test {
                p { (text.with("webhooks-tested", [("event", what(text, word).into())])) }
            }
            p role="status" {
                (verdict(text, *status)) " " (text.with("webhooks-took", [("ms", (*took_ms).into())]))
            }
            @if kind.is_some() || sentence.is_some() { p { (fault(text, kind, *status, sentence.as_deref())) } }
            @if !beginning.is_empty() {
                p { (text.get("webhooks-answer-beginning")) }
                (copy::block(text, &text.get("webhooks-answer"), beginning))
            } @else if matches!(status, Some(200..=299)) {
                p.soft { (text.get("webhooks-answer-empty")) }
            }
            @if let Some((_, body)) = test {
                details.more id="request" {
                    summary { (text.get("webhooks-request")) }
                    (copy::block(text, &text.get("webhooks-request"), body))
                }
            }
        }
    }
}

/// Whether the receiver accepted a delivery, with the status of its answer.
fn verdict(text: Text, status: Option<u16>) -> Markup {
    let (tone, key) = match status {
        Some(200..=299) => (Tone::Good, "webhooks-accepted"),
        Some(_) => (Tone::Bad, "webhooks-refused-it"),
        None => return badge(Tone::Bad, &text.get("webhooks-no-answer")),
    };
    let status = status.map(|status| status.to_string()).unwrap_or_default();
    badge(tone, &text.with(key, [("status", status.into())]))
}

/// The log. The buttons that send an event again belong to the form around it; only owners have them.
pub(super) fn log(viewer: &Viewer, deliveries: &[Delivery]) -> Markup {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("webhooks-time")),
        Column::brief(text.get("webhooks-event")),
        Column::numbers(text.get("webhooks-attempt")),
        Column::words(text.get("webhooks-result")),
        Column::numbers(text.get("webhooks-duration")),
        Column::words(text.get("webhooks-fault")),
        Column::brief(""),
    ];
    let rows = deliveries.iter().map(|delivery| {
        let Delivery { id, at, event_id, events, attempt, status, took, .. } = delivery;
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        vec![
            second(viewer, *at),
            html! {
                span title=(event_id) { (what(text, &delivery.r#type)) }
                @if is_example(event_id) { " " (badge(Tone::Plain, &text.get("webhooks-example"))) }
                @if *events > 1 { p.soft { (text.with("webhooks-and-more", [("count", (events - 1).into())])) } }
            },
            html! { (text.number((*attempt).into())) },
            verdict(text, *status),
            html! { (text.with("webhooks-ms", [("ms", ms.into())])) },
            html! {
                (fault(text, delivery.fault_kind, *status, delivery.fault.as_deref()))
                @if let Some(answer) = &delivery.answer {
                    details.more id=(format!("answer-{id}")) {
                        summary { (text.get("webhooks-answer")) }
                        p.said { bdi { (plain(answer, SHOWN)) } }
                    }
                }
                @if viewer.is_owner() { (request_headers(text, delivery)) }
            },
            again(viewer, delivery),
        ]
    });
    table(&text.get("webhooks-deliveries"), &columns, rows)
}

/// The headers of the request, those of the endpoint by their names only.
fn request_headers(text: Text, delivery: &Delivery) -> Markup {
    html! {
        details.more id=(format!("headers-{}", delivery.id)) {
            summary { (text.get("webhooks-request-headers")) }
            @for (name, value) in delivery.sent.all(&delivery.event_id, delivery.at) {
                p.said {
                    (name) ": "
                    @match value {
                        Some(value) => bdi { (value) },
                        None => span.soft { (text.get("webhooks-header-not-kept")) },
                    }
                }
            }
        }
    }
}

/// The event, in words if this version knows its type.
fn what(text: Text, word: &str) -> String {
    word.parse::<Type>().map_or_else(|_| word.to_owned(), |known| event(text, known))
}

/// The button that sends the first event of the request again.
fn again(viewer: &Viewer, delivery: &Delivery) -> Markup {
    let text = viewer.text;
    let key = if delivery.events > 1 { "webhooks-again-first" } else { "webhooks-again" };
    html! {
        @if let Some(sequence) = delivery.sequence.filter(|_| viewer.is_owner()) {
            button.quiet id=(format!("again-{}", delivery.id)) type="submit" name="sequence" value=(sequence.as_i64()) { (text.get(key)) }
        }
    }
}
