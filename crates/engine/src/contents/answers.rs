//! Answers: messages of ours to one person or group, which the conversation notes. They are gathered in memory and written
//! once a second, so that no send waits for it; a process that dies loses a second of notes, and no message.

use std::collections::HashMap;

use parking_lot::Mutex;
use uuid::Uuid;

use super::keys::ContentKeys;
use clock::Timestamp;
use domain::content::Content;
use domain::inbound::{InboundContent, PeerKey};
use store::Store;
use store::conversations::AnswerNote;
use vault::context;

/// The most answers that wait. Further ones are not noted: the list shows an older entry then.
const MOST: usize = 10_000;
/// The answers of one write.
const AT_ONCE: usize = 500;

/// A channel, a person or group, and the answer.
type AnswerTo = ((Uuid, PeerKey), WaitingAnswer);

/// Answers that wait to be noted, the last one in each conversation.
#[derive(Default)]
pub(crate) struct Answers(Mutex<HashMap<(Uuid, PeerKey), WaitingAnswer>>);

/// An answer before its line is sealed.
pub(crate) struct WaitingAnswer {
    company_id: Uuid,
    send_id: Uuid,
    at: Timestamp,
    kind: &'static str,
    line: String,
}

impl Answers {
    /// Notes that a channel of a company sends this to a person or group.
    pub(crate) fn note(
        &self,
        (company_id, channel_id): (Uuid, Uuid),
        peer: PeerKey,
        send_id: Uuid,
        content: &Content,
    ) {
        // A reaction is no entry of a conversation.
        if matches!(content, Content::Reaction { .. }) {
            return;
        }
        let mut waiting = self.0.lock();
        let to = (channel_id, peer);
        if waiting.len() < MOST || waiting.contains_key(&to) {
            let (kind, line) = (content.kind().as_str(), line(content));
            let answer = WaitingAnswer { company_id, send_id, at: Timestamp::now(), kind, line };
            waiting.insert(to, answer);
        }
    }

    /// Writes the answers that wait to their conversations, their lines sealed with these `keys`, if they are kept. People
    /// without a conversation have none to note it.
    pub(crate) async fn write(&self, store: &Store, keys: Option<&ContentKeys>) -> store::Result<()> {
        let waiting = self.take();
        let written = write(store, keys, &waiting).await;
        if written.is_err() {
            self.put_back(waiting);
        }
        written
    }

    fn take(&self) -> Vec<AnswerTo> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }

    /// Puts answers back that were not written, unless there are later ones.
    fn put_back(&self, answers: Vec<AnswerTo>) {
        let mut waiting = self.0.lock();
        for (to, answer) in answers {
            waiting.entry(to).or_insert(answer);
        }
    }
}

/// Writes answers to their conversations.
async fn write(store: &Store, keys: Option<&ContentKeys>, waiting: &[AnswerTo]) -> store::Result<()> {
    for some in waiting.chunks(AT_ONCE) {
        let mut notes = Vec::with_capacity(some.len());
        for ((channel_id, peer), answer) in some {
            let WaitingAnswer { company_id, send_id, at, kind, ref line } = *answer;
            let line = match keys {
                Some(keys) if !line.is_empty() => {
                    let key = keys.current(company_id).await?;
                    key.seal(line.as_bytes(), &context::conversation_line(send_id))
                }
                _ => Vec::new(),
            };
            let (channel_id, peer) = (*channel_id, peer.clone());
            notes.push(AnswerNote { channel_id, peer, send_id, at, kind, line });
        }
        store.conversations().note_answers(&notes).await?;
    }
    Ok(())
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
