//! Answers: messages of ours to one person, which the person's conversation notes. They are gathered in memory and written
//! once a second, so that no send waits for it; a process that dies loses a second of notes, and no message.

use std::collections::HashMap;

use parking_lot::Mutex;
use uuid::Uuid;

use crate::Engine;
use clock::Timestamp;
use domain::content::Content;
use domain::inbound::{InboundContent, PeerKey};
use domain::phone::PhoneNumber;
use store::conversations::AnswerNote;
use vault::context;

/// The most answers that wait. Further ones are not noted: the list shows an older entry then.
const MOST: usize = 10_000;
/// The answers of one write.
const AT_ONCE: usize = 500;

/// A channel, a person, and the answer to the person.
type Waiting = ((Uuid, PhoneNumber), WaitingAnswer);

/// Answers that wait to be noted, the last one to each person.
#[derive(Default)]
pub(crate) struct Answers(Mutex<HashMap<(Uuid, PhoneNumber), WaitingAnswer>>);

/// An answer before its line is sealed.
pub(crate) struct WaitingAnswer {
    company_id: Uuid,
    send_id: Uuid,
    at: Timestamp,
    kind: &'static str,
    line: String,
}

impl Answers {
    /// Notes that a channel of a company sends this to a person.
    pub(crate) fn note(
        &self,
        (company_id, channel_id): (Uuid, Uuid),
        person: PhoneNumber,
        send_id: Uuid,
        content: &Content,
    ) {
        // A reaction is no entry of a conversation.
        if matches!(content, Content::Reaction { .. }) {
            return;
        }
        let mut waiting = self.0.lock();
        if waiting.len() < MOST || waiting.contains_key(&(channel_id, person)) {
            let (kind, line) = (content.kind().as_str(), line(content));
            let answer = WaitingAnswer { company_id, send_id, at: Timestamp::now(), kind, line };
            waiting.insert((channel_id, person), answer);
        }
    }

    fn take(&self) -> Vec<Waiting> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }

    /// Puts answers back that were not written, unless there are later ones.
    fn put_back(&self, answers: Vec<Waiting>) {
        let mut waiting = self.0.lock();
        for (to, answer) in answers {
            waiting.entry(to).or_insert(answer);
        }
    }
}

impl Engine {
    /// Writes the answers that wait to their conversations. People without a conversation have none to note it.
    pub(crate) async fn note_answers(&self) -> Result<(), crate::Error> {
        let waiting = self.0.shared.answers.take();
        let noted = self.write_answers(&waiting).await;
        if noted.is_err() {
            self.0.shared.answers.put_back(waiting);
        }
        noted
    }

    async fn write_answers(&self, waiting: &[Waiting]) -> Result<(), crate::Error> {
        let shared = &self.0.shared;
        for some in waiting.chunks(AT_ONCE) {
            let mut notes = Vec::with_capacity(some.len());
            for ((channel_id, person), answer) in some {
                let WaitingAnswer { company_id, send_id, at, kind, ref line } = *answer;
                let line = if shared.keeps_inbox && !line.is_empty() {
                    let key = shared.contents.current(company_id).await?;
                    key.seal(line.as_bytes(), &context::conversation_line(send_id))
                } else {
                    Vec::new()
                };
                let (channel_id, peer) = (*channel_id, PeerKey::of_number(*person));
                notes.push(AnswerNote { channel_id, peer, send_id, at, kind, line });
            }
            self.store().conversations().note_answers(&notes).await?;
        }
        Ok(())
    }
}

/// The words of a message of ours in one line.
fn line(content: &Content) -> String {
    let words = match content {
        Content::Text { body, .. } => body.as_str(),
        Content::Image { caption, .. } | Content::Video { caption, .. } => {
            caption.as_deref().unwrap_or_default()
        }
        Content::Document { caption, filename, .. } => {
            caption.as_deref().or(filename.as_deref()).unwrap_or_default()
        }
        Content::Location { location } => location.name.as_deref().unwrap_or_default(),
        Content::Template { name, .. } => name,
        Content::Interactive { interactive } => interactive["body"]["text"].as_str().unwrap_or_default(),
        Content::Audio { .. }
        | Content::Sticker { .. }
        | Content::Contacts { .. }
        | Content::Reaction { .. } => "",
    };
    InboundContent::Text { body: words.to_owned() }.line()
}
