//! The words in which the rest of the program tells what was done for a send.

use std::time::SystemTime;

use uuid::Uuid;

use super::origin::Origin;
use super::queue::{Tracer, tracer};
use super::span::{Side, Span, Value, root_of};

/// When something began that is traced.
#[derive(Debug, Clone, Copy)]
pub struct Begun(SystemTime);

/// Whether spans are made at all.
pub fn is_on() -> bool {
    tracer().is_some()
}

/// Something begins; `None` while traces are off.
pub fn begin() -> Option<Begun> {
    tracer().map(|_| Begun(SystemTime::now()))
}

/// Something begins with this message; `None` unless it is traced.
pub fn begin_message(send_id: Uuid, ordinal: u64) -> Option<Begun> {
    tracer()?.of_message(send_id, ordinal).map(|_| Begun(SystemTime::now()))
}

/// A send that was accepted.
#[derive(Debug)]
pub struct Accepted<'a> {
    /// Which.
    pub send_id: Uuid,
    /// Whose.
    pub company_id: Uuid,
    /// Through which channel.
    pub channel_id: Uuid,
    /// What kind of content it has.
    pub content: &'static str,
    /// To how many.
    pub recipients: u64,
    /// Which request asked for it.
    pub origin: &'a Origin,
}

/// A send is durable: the root of its trace, from the beginning of the request.
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

/// An audience that was resolved, or was not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resolved {
    /// Tags in the request.
    pub tags: usize,
    /// Numbers in the request.
    pub numbers: usize,
    /// Unique recipients.
    pub recipients: u64,
    /// Entries and recipients that were left out.
    pub skipped: u64,
    /// Whether it was written to its end.
    pub is_complete: bool,
}

/// The audience of a send was resolved and written.
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
    /// Why it failed, in a word.
    pub fault: Option<&'static str>,
}

/// A commit with this send came to its end.
pub fn committed(send_id: Uuid, begun: Begun, committed: Committed) {
    let Committed { sends, rows, fault } = committed;
    let attributes = vec![("batch.sends", sends.into()), ("batch.rows", rows.into())];
    part(tracer().and_then(|tracer| tracer.of(send_id)), send_id, "commit", begun, attributes, fault);
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy)]
pub struct Attempted {
    /// The message.
    pub ordinal: u64,
    /// Which of its attempts this was, counted from 1.
    pub attempt: u16,
    /// How it ended, in a word.
    pub outcome: &'static str,
    /// The provider's code, if it gave one.
    pub code: Option<i64>,
    /// Whether the provider took the message.
    pub is_accepted: bool,
}

/// A message was handed to the provider, or was not.
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

/// What was heard of a message.
#[derive(Debug, Clone, Copy)]
pub struct Heard {
    /// The message.
    pub ordinal: u64,
    /// Where it is now, in a word.
    pub state: &'static str,
    /// The provider's code, of a message that failed.
    pub code: Option<i64>,
    /// Whether it was written down.
    pub is_written: bool,
}

/// A receipt was taken in.
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

/// A part of the root that ends now.
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
