//! The functions with which the rest of the program reports the steps of a send.

use std::time::SystemTime;

use uuid::Uuid;

use super::origin::Origin;
use super::queue::{Tracer, tracer};
use super::span::{Side, Span, Value, root_of};

/// The start time of a traced step.
#[derive(Debug, Clone, Copy)]
pub struct Begun(SystemTime);

/// Whether traces are on.
pub fn is_on() -> bool {
    tracer().is_some()
}

/// Starts a step; `None` while traces are off.
pub fn begin() -> Option<Begun> {
    tracer().map(|_| Begun(SystemTime::now()))
}

/// Starts a step of this message; `None` unless the message is traced.
pub fn begin_message(send_id: Uuid, ordinal: u64) -> Option<Begun> {
    tracer()?.of_message(send_id, ordinal).map(|_| Begun(SystemTime::now()))
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
        ("send.id", send.send_id.into()),
        ("company.id", send.company_id.into()),
        ("channel.id", send.channel_id.into()),
        ("send.kind", Value::Word(send.content)),
        ("send.recipients", send.recipients.into()),
    ];
    attributes.extend(asked.map(|asked| ("request.id", Value::Text(asked.request_id.clone()))));
    tracer.add(Span {
        send_id: send.send_id,
        id: root_of(send.send_id),
        parent: None,
        name: "accept",
        side: Side::Server,
        start: asked.map_or(end, |asked| asked.began.min(end)),
        end,
        attributes,
        fault: None,
        caller: asked.and_then(|asked| asked.caller),
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
        ("audience.tags", tags.into()),
        ("audience.numbers", numbers.into()),
        ("audience.recipients", recipients.into()),
        ("audience.skipped", skipped.into()),
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
    let attributes = vec![("batch.sends", sends.into()), ("batch.rows", rows.into())];
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
        ("message.ordinal", ordinal.into()),
        ("message.attempt", u64::from(attempt).into()),
        ("outcome", Value::Word(outcome)),
    ];
    attributes.extend(code.map(|code| ("provider.code", Value::Number(code))));
    let fault = (!is_accepted).then_some(outcome);
    let Some(tracer) = tracer() else { return };
    tracer.add(Span { side: Side::Client, ..child(send_id, "attempt", begun, attributes, fault) });
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
    let mut attributes = vec![("message.ordinal", ordinal.into()), ("state", Value::Word(state))];
    attributes.extend(code.map(|code| ("provider.code", Value::Number(code))));
    let fault = (!is_written).then_some("not written");
    part(tracer(), send_id, "receipt", begun, attributes, fault);
}

fn part(
    tracer: Option<&Tracer>,
    send_id: Uuid,
    name: &'static str,
    begun: Begun,
    attributes: Vec<(&'static str, Value)>,
    fault: Option<&'static str>,
) {
    if let Some(tracer) = tracer {
        tracer.add(child(send_id, name, begun, attributes, fault));
    }
}

/// A child of the root span, which ends now.
fn child(
    send_id: Uuid,
    name: &'static str,
    begun: Begun,
    attributes: Vec<(&'static str, Value)>,
    fault: Option<&'static str>,
) -> Span {
    Span {
        send_id,
        // No span has the id zero.
        id: rand::random::<u64>().max(1),
        parent: Some(root_of(send_id)),
        name,
        side: Side::Internal,
        start: begun.0,
        end: SystemTime::now().max(begun.0),
        attributes,
        fault,
        caller: None,
    }
}
