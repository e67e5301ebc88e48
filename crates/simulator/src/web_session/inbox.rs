//! The messages that were sent through web sessions, with their states.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use serde::Serialize;
use uuid::Uuid;

use super::message::{self, Outgoing};
use super::people;
use clock::Timestamp;
use domain::location::Location;
use domain::phone::PhoneNumber;
use driver::{AckState, Card, Content, Jid, MessageId, ReactionTo};

/// A message that a session handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebMessage {
    /// The id that the session chose.
    pub id: String,
    /// The number of the phone that the session is linked to.
    pub from: String,
    /// The address that it was sent to.
    pub to: String,
    /// `text`, `image`, `video`, `audio`, `voice`, `document`, `sticker`, `location`, `contacts` or `reaction`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The body of a text.
    pub text: Option<String>,
    /// The caption of a file, if it has one.
    pub caption: Option<String>,
    /// The file, if it is one.
    pub file: Option<WebFile>,
    /// The place, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The cards of people, if it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contacts: Option<Vec<Card>>,
    /// The emoji and its message, if it is a reaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reaction: Option<ReactionTo>,
    /// The id of the message that it answers, if it answers one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotes: Option<String>,
    /// Its state.
    pub state: WebState,
    /// The code with which it was refused.
    pub code: Option<i64>,
    /// When it was handed over.
    pub at: Timestamp,
}

/// A file that was sent; its bytes are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebFile {
    /// Its type, such as `image/jpeg`.
    pub mimetype: String,
    /// Its size.
    pub bytes: u64,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its duration, if given.
    pub seconds: Option<u32>,
}

domain::worded! {
    /// The state of a message; it only moves forward.
    #[derive(PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WebState {
        /// Handed over.
        Pending = "pending",
        /// WhatsApp has it.
        Sent = "sent",
        /// The message is with its recipient.
        Delivered = "delivered",
        /// The message was read.
        Read = "read",
        /// The message was listened to, or watched.
        Played = "played",
        /// WhatsApp refused it.
        Refused = "refused",
    }
}

impl WebState {
    const fn of(ack: AckState) -> Self {
        match ack {
            AckState::Server => Self::Sent,
            AckState::Delivered => Self::Delivered,
            AckState::Read => Self::Read,
            AckState::Played => Self::Played,
            AckState::Refused { .. } => Self::Refused,
        }
    }
}

/// The session and the id of a message. Two sessions may use the same id.
type Key = (Uuid, MessageId);

#[derive(Debug, Default)]
struct Kept {
    messages: VecDeque<(Key, WebMessage)>,
    /// The number of messages that were removed before the first one.
    removed: u64,
    /// The position of each message, counted from the first one ever.
    places: HashMap<Key, u64>,
}

/// The newest messages of all sessions.
#[derive(Debug)]
pub(super) struct Inbox {
    kept: Mutex<Kept>,
    limit: usize,
}

impl Inbox {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: Mutex::default(), limit: limit.max(1) }
    }

    /// Adds a message that a session handed over. If there is one with its id, that one stays, and this is false.
    pub(super) fn add(
        &self,
        session: Uuid,
        from: PhoneNumber,
        to: &Jid,
        id: &MessageId,
        outgoing: Outgoing,
    ) -> bool {
        let key = (session, id.clone());
        let mut kept = self.kept.lock();
        if kept.places.contains_key(&key) {
            return false;
        }
        let message = message(from, to, id, outgoing);
        let place = kept.removed + kept.messages.len() as u64;
        kept.places.insert(key.clone(), place);
        kept.messages.push_back((key, message));
        if kept.messages.len() > self.limit
            && let Some((oldest, _)) = kept.messages.pop_front()
        {
            kept.places.remove(&oldest);
            kept.removed += 1;
        }
        true
    }

    /// The newest messages of a session to the person with this number, at most `limit`, the newest last.
    pub(super) fn of_session(&self, session: Uuid, person: &str, limit: usize) -> Vec<WebMessage> {
        let kept = self.kept.lock();
        let its = |key: &Key, message: &WebMessage| {
            let to = Jid::parse(&message.to).ok().and_then(|to| people::number(&to));
            key.0 == session && to.is_some_and(|to| to.to_string() == person)
        };
        let all = kept.messages.iter().rev().filter(|(key, message)| its(key, message));
        let mut newest: Vec<_> = all.take(limit).map(|(_, message)| message.clone()).collect();
        newest.reverse();
        newest
    }

    /// Notes the outcome of a message.
    pub(super) fn note(&self, session: Uuid, id: &MessageId, ack: AckState) {
        let mut kept = self.kept.lock();
        let place = kept.places.get(&(session, id.clone())).copied();
        let place = place.and_then(|place| usize::try_from(place - kept.removed).ok());
        let Some((_, message)) = place.and_then(|place| kept.messages.get_mut(place)) else { return };
        message.state = message.state.max(WebState::of(ack));
        if let AckState::Refused { code } = ack {
            message.code = code;
        }
    }

    /// The newest messages, the newest last; only those to the address or number `to` if there is one.
    pub(super) fn newest(&self, to: Option<&str>, limit: usize) -> Vec<WebMessage> {
        let kept = self.kept.lock();
        let wanted =
            |message: &WebMessage| to.is_none_or(|to| message.to.split('@').next() == to.split('@').next());
        let all = kept.messages.iter().rev().map(|(_, message)| message);
        let mut newest: Vec<_> = all.filter(|message| wanted(message)).take(limit).cloned().collect();
        newest.reverse();
        newest
    }

    /// Removes all messages.
    pub(super) fn clear(&self) {
        *self.kept.lock() = Kept::default();
    }
}

fn message(from: PhoneNumber, to: &Jid, id: &MessageId, outgoing: Outgoing) -> WebMessage {
    let Outgoing { content, quoted } = outgoing;
    let mut message = WebMessage {
        id: id.to_string(),
        from: format!("+{from}"),
        to: to.to_string(),
        kind: message::kind(&content),
        text: None,
        caption: None,
        file: None,
        location: None,
        contacts: None,
        reaction: None,
        quotes: quoted.map(|quoted| quoted.message.to_string()),
        state: WebState::Pending,
        code: None,
        at: Timestamp::now(),
    };
    match content {
        Content::Text(text) => message.text = Some(text),
        Content::Location(location) => message.location = Some(location),
        Content::Contacts(cards) => message.contacts = Some(cards),
        Content::Reaction(reaction) => message.reaction = Some(reaction),
        Content::Media(media) => {
            message.caption = media.caption;
            message.file = Some(WebFile {
                mimetype: media.mimetype,
                bytes: media.bytes.len() as u64,
                name: media.file_name,
                seconds: media.seconds,
            });
        }
    }
    message
}

impl WebMessage {
    /// The message in a few words, as a phone's list of messages shows it.
    pub(super) fn words(&self) -> String {
        if let Some(Location { latitude, longitude, name, .. }) = &self.location {
            let place =
                name.clone().unwrap_or_else(|| format!("{}, {}", latitude.degrees(), longitude.degrees()));
            return format!("{} {place}", self.kind);
        }
        if let Some(cards) = &self.contacts {
            let names: Vec<_> = cards.iter().map(|card| card.name.as_str()).collect();
            return format!("{} {}", self.kind, names.join(", "));
        }
        match &self.reaction {
            Some(ReactionTo { emoji, message, .. }) if emoji.is_empty() => {
                format!("{} to {message} removed", self.kind)
            }
            Some(ReactionTo { emoji, message, .. }) => format!("{emoji} to {message}"),
            None => self.text.as_deref().or(self.caption.as_deref()).unwrap_or(self.kind).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(limit: usize, messages: usize) -> (Inbox, Uuid) {
        let (inbox, session) = (Inbox::new(limit), Uuid::now_v7());
        for number in 0..messages {
            add(&inbox, session, number, "hello");
        }
        (inbox, session)
    }

    fn add(inbox: &Inbox, session: Uuid, number: usize, text: &str) {
        let (from, to) =
            (PhoneNumber::parse("999700000001"), Jid::parse(&format!("99990000000{number}@lid")));
        let content = Content::Text(text.to_owned());
        let outgoing = Outgoing { content, quoted: None };
        inbox.add(session, from.unwrap(), &to.unwrap(), &id(number), outgoing);
    }

    fn id(number: usize) -> MessageId {
        MessageId::parse(&number.to_string()).unwrap()
    }

    #[test]
    fn the_newest_messages_are_kept_and_shown_last() {
        let (inbox, session) = filled(3, 5);
        let ids =
            |to, limit| inbox.newest(to, limit).into_iter().map(|message| message.id).collect::<Vec<_>>();
        assert_eq!(ids(None, 9), ["2", "3", "4"]);
        assert_eq!(ids(None, 2), ["3", "4"]);
        assert_eq!(ids(Some("999900000003"), 9), ["3"]);
        assert_eq!(ids(Some("999900000000"), 9), [""; 0], "removed");
        inbox.note(session, &id(3), AckState::Read);
        inbox.note(session, &id(0), AckState::Read);
        let states: Vec<_> = inbox.newest(None, 9).iter().map(|message| message.state).collect();
        assert_eq!(states, [WebState::Pending, WebState::Read, WebState::Pending]);
    }

    #[test]
    fn a_message_under_a_known_id_is_no_second_one() {
        let (inbox, session) = filled(3, 1);
        add(&inbox, session, 0, "again");
        assert_eq!(inbox.newest(None, 9)[0].text.as_deref(), Some("hello"));
        assert_eq!(inbox.newest(None, 9).len(), 1);
        add(&inbox, Uuid::now_v7(), 0, "of another session");
        assert_eq!(inbox.newest(None, 9).len(), 2);
    }

    #[test]
    fn a_message_goes_only_forward() {
        let (inbox, session) = filled(3, 1);
        inbox.note(session, &id(0), AckState::Read);
        inbox.note(session, &id(0), AckState::Delivered);
        assert_eq!(inbox.newest(None, 9)[0].state, WebState::Read);
        inbox.note(session, &id(0), AckState::Refused { code: Some(479) });
        assert_eq!(inbox.newest(None, 9)[0].code, Some(479));
    }
}
