//! What played people wrote, and what businesses wrote on their own phones: the newest, so that a conversation can be shown
//! as a person's phone shows it.

use std::collections::VecDeque;

use parking_lot::Mutex;
use serde::Serialize;

use super::person;
use super::written::PersonMessage;
use clock::Timestamp;

/// The most messages that are kept.
const MOST: usize = 10_000;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ConversationLine {
    /// When it was written.
    pub(super) at: Timestamp,
    /// `person`, `channel`, or `echo` for what the business wrote on its own phone.
    pub(super) by: &'static str,
    /// Its id.
    pub(super) id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Its words, if it has some.
    pub(super) text: String,
    /// The id of the message that it answers or changes.
    pub(super) about: Option<String>,
    /// How far it came, where that is known.
    pub(super) state: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(super) struct Diary(Mutex<VecDeque<(String, String, ConversationLine)>>);

impl Diary {
    /// Notes a message between a person and the channel with this name: the id of a number, or that of a session.
    pub(super) fn note(&self, channel: &str, message: &PersonMessage, id: &str) {
        let line = ConversationLine {
            at: Timestamp::now(),
            by: if message.echo { "echo" } else { "person" },
            id: id.to_owned(),
            kind: message.content.kind().to_owned(),
            text: message.content.words(),
            about: message.target().or(message.quoted()).map(str::to_owned),
            state: None,
        };
        let mut lines = self.0.lock();
        if lines.len() == MOST {
            lines.pop_front();
        }
        lines.push_back((channel.to_owned(), person::user_id(&message.person()), line));
    }

    /// The newest messages between them, at most `limit`, the newest last.
    pub(super) fn newest(&self, channel: &str, person: &str, limit: usize) -> Vec<ConversationLine> {
        let person = person::user_id(person);
        let lines = self.0.lock();
        let its = lines.iter().rev().filter(|(of, with, _)| of == channel && *with == person);
        let mut newest: Vec<_> = its.take(limit).map(|(_, _, line)| line.clone()).collect();
        newest.reverse();
        newest
    }

    /// Removes everything.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}
