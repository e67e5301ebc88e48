//! Played people write to numbers and to web sessions (`POST /_sim/write`), and their phones show the conversation
//! (`GET /_sim/conversation`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Query};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::diary::ConversationLine;
use super::inspect::{self, count, refusal};
use super::log::{Filter, LoggedMessage};
use super::outbox::Notice;
use super::phone::PhoneNumber;
use super::span::duration;
use super::timers::Action;
use super::world::World;
use super::written::{self, PersonMessage};
use clock::Timestamp;

/// The most messages in one request.
const MOST: usize = 1_000;
/// How often one message comes at most.
const MOST_COPIES: usize = 100;

/// A message of a person to a channel.
#[derive(Debug, Clone, Deserialize)]
struct WriteRequest {
    /// The id of a number, or that of the channel of a web session.
    to: String,
    /// How often it comes: a provider may repeat it.
    #[serde(default = "one")]
    copies: usize,
    /// How much later it comes than it is written. Messages that are written meanwhile come before it.
    #[serde(default, deserialize_with = "duration")]
    after: Duration,
    #[serde(flatten)]
    message: PersonMessage,
}

const fn one() -> usize {
    1
}

/// A channel that people write to.
enum Addressee {
    Number(Arc<PhoneNumber>),
    Session(Uuid),
}

impl World {
    /// A person writes to a number, or the business to a person on its own phone. Returns the id of the message, and the
    /// webhooks about it, which the caller sends.
    pub(super) fn write(&self, number: &PhoneNumber, message: &PersonMessage) -> (String, Vec<Notice>) {
        let person = message.person();
        let id = self.log.inbound_id(&person);
        if message.opens_window() && message.group.is_none() {
            self.windows.open(number.index, &person, self.now());
        }
        let is_gone = message.content.file().is_some_and(|file| file.gone);
        let file = message.content.stored_file().map(|file| {
            let id = self.media.lock().keep(&number.id, &file, is_gone);
            (id, file)
        });
        let seconds = Timestamp::now().millis() / 1_000;
        let (field, value) = written::webhook(number, message, &id, seconds, file.as_ref());
        self.diary.note(&number.id, message, &id);
        (id, self.notices(&number.account, Some(number), field, &value))
    }

    fn addressee(&self, to: &str) -> Result<Addressee, String> {
        if let Ok(session) = to.parse() {
            let is_there = self.web_sessions.has(session);
            return if is_there {
                Ok(Addressee::Session(session))
            } else {
                Err(format!("no web session {to} was opened here"))
            };
        }
        let known = self.directory.read().number(to).cloned();
        let number = known.or_else(|| self.number_on_first_use(to));
        number.map(Addressee::Number).ok_or_else(|| format!("there is no number {to}"))
    }

    fn carry(&self, write: &WriteRequest) -> Result<String, String> {
        let WriteRequest { to, copies, after, message } = write;
        match self.addressee(to)? {
            Addressee::Session(session) => self.web_sessions.write(session, message, *copies, *after),
            Addressee::Number(number) => {
                let (id, notices) = self.write(&number, message);
                for notice in notices.iter().flat_map(|notice| std::iter::repeat_n(notice, *copies)) {
                    if after.is_zero() {
                        self.outbox.notify(notice.clone());
                    } else {
                        self.timers.add(*after, Action::Notify(notice.clone()));
                    }
                }
                Ok(id)
            }
        }
    }
}

impl WriteRequest {
    fn fault(&self, world: &World) -> Option<String> {
        if !(1..=MOST_COPIES).contains(&self.copies) {
            return Some(format!("copies must be between 1 and {MOST_COPIES}"));
        }
        self.message.fault().or_else(|| world.addressee(&self.to).err())
    }
}

/// `POST /_sim/write`: one message, or an array of them. If one is wrong, none is written.
pub(super) async fn write(world: Data<World>, body: Bytes) -> HttpResponse {
    let read = inspect::read::<Value>(&body).and_then(|body| {
        let all = if body.is_array() { body } else { json!([body]) };
        let writes: Vec<WriteRequest> = serde_json::from_value(all).map_err(|error| error.to_string())?;
        if writes.len() > MOST {
            return Err(format!("a request has at most {MOST} messages"));
        }
        match writes.iter().find_map(|write| write.fault(&world)) {
            Some(fault) => Err(fault),
            None => Ok(writes),
        }
    });
    let written: Result<Vec<_>, String> =
        read.and_then(|writes| writes.iter().map(|write| world.carry(write)).collect());
    match written {
        Ok(ids) => {
            let ids: Vec<_> = ids.into_iter().map(|id| json!({ "id": id })).collect();
            HttpResponse::Ok().json(json!({ "data": ids }))
        }
        Err(fault) => refusal(&fault),
    }
}

/// `GET /_sim/conversation?channel=&person=&limit=`: the newest messages between a channel and a person, the newest last.
pub(super) async fn conversation(world: Data<World>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let limit = match count(&query, "limit", inspect::PAGE as u64) {
        Ok(limit) => usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, MOST),
        Err(fault) => return refusal(&fault),
    };
    let (Some(channel), Some(person)) = (query.get("channel"), query.get("person")) else {
        return refusal("channel and person are required");
    };
    let person = written::digits_of(person);
    let person = person.as_str();
    let mut lines: Vec<_> = match channel.parse() {
        Ok(session) => world.web_sessions.sent(session, person, limit),
        Err(_) => {
            let (phone_number_id, to) = (Some(channel.clone()), Some(person.to_owned()));
            let sent = world.log.newest(Filter { phone_number_id, to, after: 0, limit });
            sent.into_iter().map(line).collect()
        }
    };
    // An answer that was written in the same millisecond comes after its message.
    lines.extend(world.diary.newest(channel, person, limit));
    lines.sort_by_key(|line| line.at);
    let first = lines.len().saturating_sub(limit);
    HttpResponse::Ok().json(json!({ "data": lines[first..] }))
}

/// A message that a number sent.
fn line(message: LoggedMessage) -> ConversationLine {
    let body = message.body.unwrap_or_default();
    let content = &body[message.kind];
    let words =
        ["body", "caption", "emoji", "name", "filename"].iter().find_map(|name| content[*name].as_str());
    let words = words.or_else(|| content["body"]["text"].as_str()).unwrap_or_default();
    let about = content["message_id"].as_str().or_else(|| body["context"]["message_id"].as_str());
    ConversationLine {
        at: message.at,
        by: "channel",
        id: message.id,
        kind: message.kind.to_owned(),
        text: words.to_owned(),
        about: about.map(str::to_owned),
        state: None,
    }
}
