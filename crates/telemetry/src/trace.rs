//! The functions with which the rest of the program reports the steps of a send.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::SystemTime;

use opentelemetry::trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use uuid::Uuid;

use super::origin::Origin;
use super::queue::{Tracer, tracer};

/// What creates the spans.
static SCOPE: LazyLock<InstrumentationScope> =
    LazyLock::new(|| InstrumentationScope::builder("pombo").with_version(env!("CARGO_PKG_VERSION")).build());

/// The start time of a traced step.
#[derive(Debug, Clone, Copy)]
pub struct Begun(SystemTime);

impl Begun {
    pub(super) fn now() -> Self {
        Self(SystemTime::now())
    }
}

/// Whether traces are on.
pub fn is_on() -> bool {
    tracer().is_some()
}

/// Starts a step; `None` while traces are off.
pub fn begin() -> Option<Begun> {
    tracer().map(|_| Begun::now())
}

/// Starts a step of this message; `None` unless the message is traced.
pub fn begin_message(send_id: Uuid, ordinal: u64) -> Option<Begun> {
    tracer()?.of_message(send_id, ordinal).map(|_| Begun::now())
}

/// An accepted send.
#[derive(Debug)]
pub struct Accepted<'a> {
    /// The send.
    pub send_id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// The channel.
    pub channel_id: Uuid,
    /// The kind of content.
    pub content: &'static str,
    /// The number of recipients.
    pub recipients: u64,
    /// The request that caused the send.
    pub origin: &'a Origin,
}

/// Reports that a send is durable. This is the root span of its trace, from the start of the request.
pub fn accepted(send: &Accepted<'_>) {
    let Some(tracer) = tracer().and_then(|tracer| tracer.of(send.send_id)) else { return };
    let end = SystemTime::now();
    let asked = send.origin.asked();
    let mut attributes = vec![
        KeyValue::new("send.id", send.send_id.to_string()),
        KeyValue::new("company.id", send.company_id.to_string()),
        KeyValue::new("channel.id", send.channel_id.to_string()),
        KeyValue::new("send.kind", send.content),
        number("send.recipients", send.recipients),
    ];
    attributes.extend(asked.map(|asked| KeyValue::new("request.id", asked.request_id.clone())));
    let mut links = SpanLinks::default();
    links.links.extend(asked.and_then(|asked| asked.caller.clone()).map(Link::with_context));
    let begun = Begun(asked.map_or(end, |asked| asked.began.min(end)));
    tracer.add(SpanData {
        span_context: context(send.send_id, root_of(send.send_id)),
        parent_span_id: SpanId::INVALID,
        span_kind: SpanKind::Server,
        end_time: end,
        links,
        ..child(send.send_id, "accept", begun, attributes, None)
    });
}

/// The result of resolving an audience.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resolved {
    /// Tags in the request.
    pub tags: usize,
    /// Numbers in the request.
    pub numbers: usize,
    /// Unique recipients.
    pub recipients: u64,
    /// Entries and recipients that were skipped.
    pub skipped: u64,
    /// Whether the audience was written completely.
    pub is_complete: bool,
}

/// Reports that the audience of a send was resolved and written.
pub fn resolved(send_id: Uuid, begun: Begun, resolved: Resolved) {
    let Resolved { tags, numbers, recipients, skipped, is_complete } = resolved;
    let attributes = vec![
        number("audience.tags", tags),
        number("audience.numbers", numbers),
        number("audience.recipients", recipients),
        number("audience.skipped", skipped),
    ];
    let fault = (!is_complete).then_some("not written");
    part(tracer().and_then(|tracer| tracer.of(send_id)), send_id, "resolve", begun, attributes, fault);
}

/// A commit of the ledger.
#[derive(Debug, Clone, Copy)]
pub struct Committed {
    /// Sends in its batch.
    pub sends: usize,
    /// Rows of every kind in its batch.
    pub rows: usize,
    /// Why the commit failed, one word.
    pub fault: Option<&'static str>,
}

/// Reports the end of a commit with this send.
pub fn committed(send_id: Uuid, begun: Begun, committed: Committed) {
    let Committed { sends, rows, fault } = committed;
    let attributes = vec![number("batch.sends", sends), number("batch.rows", rows)];
    part(tracer().and_then(|tracer| tracer.of(send_id)), send_id, "commit", begun, attributes, fault);
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct Attempted {
    /// The message.
    pub ordinal: u64,
    /// The number of the attempt, counted from 1.
    pub attempt: u16,
    /// The outcome, one word.
    pub outcome: &'static str,
    /// The provider's code, if it gave one.
    pub code: Option<i64>,
    /// Whether the provider accepted the message.
    pub is_accepted: bool,
}

/// Reports an attempt to hand a message to the provider.
pub fn attempted(send_id: Uuid, begun: Begun, attempted: Attempted) {
    let Attempted { ordinal, attempt, outcome, code, is_accepted } = attempted;
    let mut attributes = vec![
        number("message.ordinal", ordinal),
        number("message.attempt", attempt),
        KeyValue::new("outcome", outcome),
    ];
    attributes.extend(code.map(|code| KeyValue::new("provider.code", code)));
    let fault = (!is_accepted).then_some(outcome);
    let Some(tracer) = tracer() else { return };
    tracer
        .add(SpanData { span_kind: SpanKind::Client, ..child(send_id, "attempt", begun, attributes, fault) });
}

/// A receipt of a message.
#[derive(Debug, Clone, Copy)]
pub struct Heard {
    /// The message.
    pub ordinal: u64,
    /// The state of the message, one word.
    pub state: &'static str,
    /// The provider's code, for a failed message.
    pub code: Option<i64>,
    /// Whether the receipt was stored.
    pub is_written: bool,
}

/// Reports a receipt.
pub fn heard(send_id: Uuid, begun: Begun, heard: Heard) {
    let Heard { ordinal, state, code, is_written } = heard;
    let mut attributes = vec![number("message.ordinal", ordinal), KeyValue::new("state", state)];
    attributes.extend(code.map(|code| KeyValue::new("provider.code", code)));
    let fault = (!is_written).then_some("not written");
    part(tracer(), send_id, "receipt", begun, attributes, fault);
}

fn part(
    tracer: Option<&Tracer>,
    send_id: Uuid,
    name: &'static str,
    begun: Begun,
    attributes: Vec<KeyValue>,
    fault: Option<&'static str>,
) {
    if let Some(tracer) = tracer {
        tracer.add(child(send_id, name, begun, attributes, fault));
    }
}

/// A child of the root span, which ends now.
pub(super) fn child(
    send_id: Uuid,
    name: &'static str,
    begun: Begun,
    attributes: Vec<KeyValue>,
    fault: Option<&'static str>,
) -> SpanData {
    SpanData {
        // No span has the id zero.
        span_context: context(send_id, span_id(rand::random::<u64>().max(1))),
        parent_span_id: root_of(send_id),
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Borrowed(name),
        start_time: begun.0,
        end_time: SystemTime::now().max(begun.0),
        attributes,
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: fault.map_or(Status::Unset, Status::error),
        instrumentation_scope: SCOPE.clone(),
    }
}

/// A span of the trace of a send, whose id is the trace's.
fn context(send_id: Uuid, id: SpanId) -> SpanContext {
    let trace = TraceId::from_bytes(send_id.into_bytes());
    SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default())
}

/// The id of the root span of a send's trace: the same in every process.
///
/// The span's id is the last half of the send's id. Two bits of that are the id's variant, so that it is never zero.
fn root_of(send_id: Uuid) -> SpanId {
    span_id(send_id.as_u64_pair().1)
}

fn span_id(id: u64) -> SpanId {
    SpanId::from_bytes(id.to_be_bytes())
}

/// A number; larger values are cut to the maximum.
fn number(name: &'static str, value: impl TryInto<i64>) -> KeyValue {
    KeyValue::new(name, value.try_into().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_s_id_is_the_send_s_and_not_zero() {
        let send_id = Uuid::parse_str("0190a0c4-7c1b-7f00-8000-000000000000").unwrap();
        assert_eq!(root_of(send_id).to_string(), "8000000000000000");
        assert_ne!(root_of(Uuid::now_v7()), root_of(Uuid::now_v7()));
    }
}
