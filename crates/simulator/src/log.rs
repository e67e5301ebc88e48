//! The log of accepted messages: the newest of them, compactly, in the order of acceptance.
//!
//! Messages are in segments. A full segment never changes, so that a reader scans without blocking the
//! writer. Memory is bounded by whole segments: messages over the limit are not shown any more, and are
//! removed when their whole segment is over the limit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use clock::Timestamp;

const SEGMENT: usize = 4_096;

/// One accepted message as `GET /_sim/messages` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoggedMessage {
    /// The position in the order of acceptance, from 1.
    pub sequence: u64,
    /// The provider's message id (`wamid.…`).
    pub id: String,
    /// The number that sent it.
    pub phone_number_id: String,
    /// The recipient: digits, a group id or a business-scoped user id.
    pub to: String,
    /// The message type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `biz_opaque_callback_data`; absent when none was sent.
    pub key: Option<String>,
    /// When it was accepted.
    pub at: Timestamp,
    /// The request body, for the newest messages only.
    pub body: Option<Value>,
}

/// Selects messages of the log.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    pub(super) phone_number_id: Option<String>,
    pub(super) to: Option<String>,
    pub(super) after: u64,
    pub(super) limit: usize,
}

impl Filter {
    fn wants(&self, phone_number_id: &str, to: &str) -> bool {
        self.phone_number_id.as_deref().is_none_or(|wanted| wanted == phone_number_id)
            && self.to.as_deref().is_none_or(|wanted| wanted == to)
    }
}

/// The data that is logged for an accepted message.
pub(super) struct Note<'a> {
    pub(super) phone_number_id: &'a Arc<str>,
    pub(super) to: &'a str,
    pub(super) kind: &'static str,
    pub(super) key: &'a str,
    pub(super) at: Timestamp,
    pub(super) body: &'a [u8],
}

#[derive(Debug, Clone)]
struct Line {
    phone_number_id: Arc<str>,
    at: Timestamp,
    kind: &'static str,
    to_end: u32,
    key_end: u32,
}

/// Up to [`SEGMENT`] messages; recipients and keys lie end to end in one text.
#[derive(Debug, Clone, Default)]
struct Segment {
    lines: Vec<Line>,
    text: String,
}

impl Segment {
    fn push(&mut self, note: &Note<'_>) {
        self.text.push_str(note.to);
        let to_end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.text.push_str(note.key);
        let key_end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let phone_number_id = Arc::clone(note.phone_number_id);
        self.lines.push(Line { phone_number_id, at: note.at, kind: note.kind, to_end, key_end });
    }

    fn texts(&self, place: usize) -> (&str, &str) {
        let begin = place.checked_sub(1).map_or(0, |before| self.lines[before].key_end);
        let line = &self.lines[place];
        let part = |from: u32, to: u32| self.text.get(from as usize..to as usize).unwrap_or_default();
        (part(begin, line.to_end), part(line.to_end, line.key_end))
    }
}

#[derive(Debug, Default)]
struct Kept {
    accepted: u64,
    dropped_segments: u64,
    segments: VecDeque<Arc<Segment>>,
    bodies: VecDeque<Box<[u8]>>,
}

/// The log.
#[derive(Debug)]
pub(super) struct Log {
    kept: Mutex<Kept>,
    limit: u64,
    body_limit: usize,
    run: AtomicU64,
}

impl Log {
    pub(super) fn new(limit: usize, body_limit: usize) -> Self {
        Self {
            kept: Mutex::default(),
            limit: limit.max(1) as u64,
            body_limit,
            run: AtomicU64::new(rand::random()),
        }
    }

    /// Notes an accepted message and returns its sequence.
    pub(super) fn append(&self, note: &Note<'_>) -> u64 {
        let body: Box<[u8]> = Box::from(note.body);
        let mut kept = self.kept.lock();
        if kept.segments.back().is_none_or(|open| open.lines.len() == SEGMENT) {
            kept.segments.push_back(Arc::default());
        }
        if let Some(open) = kept.segments.back_mut() {
            Arc::make_mut(open).push(note);
        }
        kept.accepted += 1;
        let over = kept.accepted.saturating_sub(self.limit) / SEGMENT as u64;
        while kept.dropped_segments < over {
            kept.segments.pop_front();
            kept.dropped_segments += 1;
        }
        kept.bodies.push_back(body);
        if kept.bodies.len() > self.body_limit {
            kept.bodies.pop_front();
        }
        kept.accepted
    }

    /// Removes all messages. Sequences restart; message ids do not repeat.
    pub(super) fn clear(&self) {
        let mut kept = self.kept.lock();
        self.run.store(rand::random(), Ordering::Relaxed);
        *kept = Kept::default();
    }

    /// Messages in order of acceptance, and the sequence for the next page if the limit cut this one.
    pub(super) fn page(&self, filter: &Filter) -> (Vec<LoggedMessage>, Option<u64>) {
        let mut found: Vec<LoggedMessage> = Vec::new();
        let mut number = self.shown_after(filter) / SEGMENT as u64;
        while let Some(segment) = self.segment(number) {
            let shown_after = self.shown_after(filter);
            for (place, line) in segment.lines.iter().enumerate() {
                let sequence = number * SEGMENT as u64 + place as u64 + 1;
                let (to, key) = segment.texts(place);
                if sequence <= shown_after || !filter.wants(&line.phone_number_id, to) {
                    continue;
                }
                if found.len() == filter.limit {
                    let next = found.last().map(|message| message.sequence);
                    return (found, next);
                }
                found.push(LoggedMessage {
                    sequence,
                    id: self.message_id(sequence, to),
                    phone_number_id: line.phone_number_id.to_string(),
                    to: to.to_owned(),
                    kind: line.kind,
                    key: (!key.is_empty()).then(|| key.to_owned()),
                    at: line.at,
                    body: self.body(sequence),
                });
            }
            number += 1;
        }
        (found, None)
    }

    /// The last messages that the filter wants, the oldest of them first.
    pub(super) fn newest(&self, mut filter: Filter) -> Vec<LoggedMessage> {
        let mut found = VecDeque::new();
        loop {
            let (page, next) = self.page(&filter);
            found.extend(page);
            while found.len() > filter.limit {
                found.pop_front();
            }
            match next {
                Some(next) => filter.after = next,
                None => return found.into(),
            }
        }
    }

    /// The sequence after which messages are shown: the requested one, within the kept messages.
    fn shown_after(&self, filter: &Filter) -> u64 {
        self.kept.lock().accepted.saturating_sub(self.limit).max(filter.after)
    }

    fn segment(&self, number: u64) -> Option<Arc<Segment>> {
        let kept = self.kept.lock();
        let place = number.checked_sub(kept.dropped_segments)?;
        kept.segments.get(usize::try_from(place).ok()?).cloned()
    }

    fn body(&self, sequence: u64) -> Option<Value> {
        let kept = self.kept.lock();
        let from_end = usize::try_from(kept.accepted.checked_sub(sequence)?).ok()?;
        let place = kept.bodies.len().checked_sub(1 + from_end)?;
        serde_json::from_slice(kept.bodies.get(place)?).ok()
    }

    /// An id for a message from a person to a number.
    pub(super) fn inbound_id(&self, from: &str) -> String {
        self.message_id(rand::random(), from)
    }

    /// The message id of a sequence: unique within a run and, by the run's random part, beyond it.
    /// The id is computed and not stored; the recipient is part of it, as at the provider.
    pub(super) fn message_id(&self, sequence: u64, to: &str) -> String {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&[0x1c, 0x18]);
        bytes.push(u8::try_from(to.len()).unwrap_or(u8::MAX));
        bytes.extend_from_slice(to.as_bytes());
        bytes.extend_from_slice(&[0x15, 0x02, 0x00, 0x11, 0x18, 0x12]);
        let run = self.run.load(Ordering::Relaxed);
        let serial = scatter(run.wrapping_add(sequence));
        bytes.extend_from_slice(format!("{serial:016X}{:02X}", run & 0xff).as_bytes());
        bytes.push(0);
        format!("wamid.{}", STANDARD.encode(bytes))
    }
}

/// A one-to-one mapping of 64-bit numbers (the finaliser of SplitMix64): serials look random and never
/// collide.
fn scatter(serial: u64) -> u64 {
    let mixed = (serial ^ (serial >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(limit: usize, messages: u64) -> Log {
        let log = Log::new(limit, 2);
        let phone_number_id = Arc::from("100");
        for number in 0..messages {
            let to = number.to_string();
            let body = format!("{{\"n\":{number}}}");
            log.append(&Note {
                phone_number_id: &phone_number_id,
                to: &to,
                kind: "text",
                key: &format!("k{number}"),
                at: Timestamp::from_millis(0),
                body: body.as_bytes(),
            });
        }
        log
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_repeat() {
        let log = filled(100_000, 10_000);
        let mut filter = Filter { limit: 999, ..Filter::default() };
        let mut seen = Vec::new();
        loop {
            let (page, next) = log.page(&filter);
            seen.extend(page.into_iter().map(|message| message.to));
            let Some(next) = next else { break };
            filter.after = next;
        }
        assert_eq!(seen, (0..10_000).map(|number| number.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn only_the_newest_messages_are_shown_and_kept() {
        let log = filled(1_000, 20_000);
        let (page, _) = log.page(&Filter { limit: 1, ..Filter::default() });
        assert_eq!(page[0].sequence, 19_001);
        assert_eq!(page[0].key.as_deref(), Some("k19000"));
        assert!(log.kept.lock().segments.len() <= 2);
    }

    #[test]
    fn only_the_newest_bodies_are_kept() {
        let log = filled(1_000, 10);
        let (page, next) = log.page(&Filter { limit: 100, ..Filter::default() });
        assert_eq!(next, None);
        let bodies: Vec<_> = page.into_iter().filter_map(|message| message.body).collect();
        assert_eq!(bodies, [serde_json::json!({"n": 8}), serde_json::json!({"n": 9})]);
    }

    #[test]
    fn the_last_messages_are_shown_in_their_order() {
        let log = filled(100_000, 10_000);
        let newest = log.newest(Filter { limit: 3, ..Filter::default() });
        assert_eq!(
            newest.into_iter().map(|message| message.to).collect::<Vec<_>>(),
            ["9997", "9998", "9999"]
        );
    }

    #[test]
    fn a_recipient_is_found() {
        let log = filled(1_000, 10);
        let (page, _) = log.page(&Filter { to: Some("7".into()), limit: 10, ..Filter::default() });
        assert_eq!(page.len(), 1);
        assert_eq!(page[0].id, log.message_id(8, "7"));
    }
}
