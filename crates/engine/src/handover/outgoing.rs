//! Hands a message over to a session, and waits for the acknowledgement of WhatsApp's server. A channel's actor calls
//! this where it calls a provider's API for other channels.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use super::handle::SessionHandle;
use super::pending_reply::{HandOver, HandedOver, PendingReply};
use super::window::Slot;
use crate::contents::ContentKeys;
use crate::media::Library;
use clock::Timestamp;
use connectors::media;
use connectors::{Disposition, Reply};
use domain::contact_card::ContactCard;
use domain::content::{self, Stored};
use domain::error::{Code, Refusal};
use domain::message::{Failure, Key};
use domain::phone::PhoneNumber;
use driver::{
    AckState, AskError, Card, Content, Jid, Media, MediaKind, MessageId, RESTRICTED, ReactionTo, SendError,
    Sent, Session,
};
use store::Store;

/// How long WhatsApp's server may take to acknowledge a message. It usually takes less than a second.
const WORD_PATIENCE: Duration = Duration::from_secs(20);
/// WhatsApp's answer to a caller that asks too often.
const TOO_OFTEN: u16 = 429;

/// A channel's access to its session.
#[derive(Clone)]
pub(crate) struct WebChannel {
    pub(crate) handle: Arc<SessionHandle>,
    pub(crate) media: Arc<Library>,
    pub(crate) store: Store,
    pub(crate) company: Uuid,
    pub(crate) channel: Uuid,
    /// The keys of what people wrote.
    pub(crate) contents: Arc<ContentKeys>,
}

/// A message to hand over.
pub(crate) struct Outgoing {
    pub(crate) key: Key,
    /// `None` for the group that the content names.
    pub(crate) recipient: Option<PhoneNumber>,
    pub(crate) content: Arc<Stored>,
    /// The pending reply, while a caller waits.
    pub(crate) pending_reply: Option<Arc<PendingReply>>,
    /// Its slot among the messages of 24 hours.
    pub(crate) attempt: Option<Slot<Uuid>>,
}

impl WebChannel {
    /// Hands a message over and waits for its first acknowledgement.
    pub(crate) async fn send(&self, outgoing: Outgoing) -> Reply {
        let Some(session) = self.handle.session() else { return not_sent(&SendError::NotConnected) };
        let Outgoing { key, recipient, content, pending_reply, attempt } = outgoing;
        if let Err(reply) = self.check_sender(&content) {
            return reply;
        }
        let to = match self.address(&session, recipient, &content, pending_reply.as_deref()).await {
            Ok(to) => to,
            Err(reply) => return reply,
        };
        let file = pending_reply.as_ref().and_then(|pending_reply| pending_reply.take_file());
        // The file's memory stays reserved until the message is sent.
        let (file, _held) = match self.file(&content.content, file).await {
            Ok(file) => file,
            Err(refusal) => return unusable(&refusal),
        };
        let Some(message) = message(&content.content, file, &to) else {
            return failed("a web session cannot send this type of message");
        };
        let id = MessageId::of_send(key.send_id);
        let quoted = self.quoted(&content, recipient, &to).await;
        let prepared = match session.prepare(&id, message, quoted).await {
            Ok(prepared) => prepared,
            Err(error) => return refused(&error),
        };
        let sent = Sent { to: to.clone(), id: id.clone(), built: prepared.built().clone() };
        let text = text(&content.content);
        let ignored = pending_reply.as_ref().map(|pending_reply| pending_reply.ignored.clone());
        let ignored = ignored.unwrap_or_default();
        let handed_over = HandedOver { send_id: key.send_id, sent, text, ignored, at: Timestamp::now() };
        if let Err(reply) = self.keep_answer(&content, pending_reply.as_deref(), &handed_over).await {
            return reply;
        }
        let mut word = self.handle.expect(id.clone());
        let handing_over = session.hand_over(&to, &id, prepared).await;
        if handing_over.as_ref().is_err_and(SendError::is_surely_unsent) {
            self.drop_answer(&content, key.send_id).await;
        } else if let Some(attempt) = attempt {
            attempt.keep(Timestamp::now());
        }
        if let Err(error) = handing_over {
            return refused(&error);
        }
        if let Some(pending_reply) = pending_reply {
            self.note_first(recipient, &pending_reply, handed_over.at).await;
            pending_reply.tell(HandOver::Done(Box::new(handed_over)), Timestamp::now());
        }
        match timeout(WORD_PATIENCE, word.word()).await {
            Ok(Some(AckState::Refused { code })) => nack(code),
            Ok(Some(_)) => Reply::Accepted { id: id.as_str().to_owned(), known_as: None },
            Ok(None) => {
                Reply::Uncertain(failure("the session ended before WhatsApp said that it has the message"))
            }
            Err(_) => Reply::Uncertain(failure("WhatsApp did not say in time whether it has the message")),
        }
    }

    /// Refuses a message that was accepted while another phone was linked: its number is not the one that the recipient knows.
    fn check_sender(&self, content: &Stored) -> Result<(), Reply> {
        let Some(sender) = &content.sender else { return Ok(()) };
        match self.handle.number() {
            Some(number) if number.to_string() == *sender => Ok(()),
            Some(_) => Err(failed(
                "another phone was linked to the channel since the message was accepted, and it is not sent from that \
                 phone's number: send it again if it should be",
            )),
            // A phone is being linked.
            None => Err(not_sent(&SendError::NotConnected)),
        }
    }

    /// Notes the first message to a person that no caller waits for: otherwise its caller does.
    async fn note_first(&self, recipient: Option<PhoneNumber>, pending_reply: &PendingReply, at: Timestamp) {
        let Some(number) = recipient.filter(|_| pending_reply.keeps_turn() && pending_reply.is_to_stranger())
        else {
            return;
        };
        if let Err(error) = self.store.web_sessions().note_first_sent(self.channel, number, at).await {
            tracing::warn!(channel.id = %self.channel, %error, "cannot note the first message to a person");
        }
    }

    /// Stores the answer under its request's key, if the request had one, before the message is handed over. If this
    /// process ends after that, a message with a stored answer may have gone out, and one without has not.
    async fn keep_answer(
        &self,
        content: &Stored,
        pending_reply: Option<&PendingReply>,
        handed_over: &HandedOver,
    ) -> Result<(), Reply> {
        let is_kept = match (pending_reply, &content.key) {
            (_, None) => Ok(true),
            (Some(pending_reply), Some(key)) => {
                pending_reply.hands_over(handed_over.clone());
                let answer = (pending_reply.render)(handed_over.clone());
                self.store.of(self.company).answers().keep_web_result(key, handed_over.send_id, &answer).await
            }
            // The message may have gone out before; then its answer is stored.
            (None, Some(key)) => {
                self.store.of(self.company).answers().has_web_result(key, handed_over.send_id).await
            }
        };
        match is_kept {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed(
                "it was not handed over before its caller left, or its request was repeated since",
            )),
            Err(error) => {
                tracing::error!(channel.id = %self.channel, %error, "cannot store an answer under its key");
                let failure = failure("the database did not keep the answer under the request's key");
                Err(Reply::Refused { disposition: Disposition::Retry, failure, retry_after: None })
            }
        }
    }

    /// Deletes the stored answer of a message that was not handed over.
    async fn drop_answer(&self, content: &Stored, send_id: Uuid) {
        let Some(key) = &content.key else { return };
        if let Err(error) = self.store.of(self.company).answers().drop_web_result(key, send_id).await {
            tracing::warn!(channel.id = %self.channel, %error, "cannot delete the stored answer of a message that was not sent");
        }
    }

    /// The recipient's address: found at admission, or again for a message from the store.
    async fn address(
        &self,
        session: &Arc<dyn Session>,
        recipient: Option<PhoneNumber>,
        content: &Stored,
        pending_reply: Option<&PendingReply>,
    ) -> Result<Jid, Reply> {
        if let Some(to) = pending_reply.and_then(|pending_reply| pending_reply.to.clone()) {
            return Ok(to);
        }
        let Some(number) = recipient else {
            let group = content.group.as_deref().unwrap_or_default();
            return Jid::group(group).map_err(|invalid| failed(&invalid.to_string()));
        };
        // The store's addresses come from the session; without the store the session is asked again.
        let known = self.store.web_sessions().known_number(self.channel, number).await.ok().flatten();
        if let Some(jid) = known.and_then(|known| Jid::parse(&known.jid?).ok()) {
            return Ok(jid);
        }
        match session.find(number).await {
            Ok(Some(found)) => Ok(found.jid),
            Ok(None) => Err(failed("the number is not on WhatsApp")),
            Err(error) => Err(unanswered(&error)),
        }
    }

    /// The file of a message: fetched at admission, or again after a restart.
    async fn file(
        &self,
        content: &content::Content,
        fetched: Option<media::Media>,
    ) -> Result<(Option<Media>, Option<media::Media>), Refusal> {
        let Some((link, kind)) = link(content) else { return Ok((None, None)) };
        let mut fetched = match fetched {
            Some(fetched) => fetched,
            None => self.media.fetch(self.company, link, kind).await?,
        };
        let media = Media {
            kind: shown_as(kind, is_voice(content, fetched.is_voice_note), fetched.details.is_animated),
            bytes: std::mem::take(&mut fetched.bytes),
            mimetype: fetched.details.mime_type.to_owned(),
            file_name: file_name(content, fetched.file_name.take()),
            caption: caption(content),
            seconds: fetched.details.duration.map(seconds),
            jpeg_thumbnail: fetched.details.thumbnail.take(),
        };
        Ok((Some(media), Some(fetched)))
    }
}

/// The link to the content's file, and the kind of the file.
pub(crate) fn link(content: &content::Content) -> Option<(&str, media::Kind)> {
    match content {
        content::Content::Image { link, .. } => Some((link, media::Kind::Image)),
        content::Content::Video { link, .. } => Some((link, media::Kind::Video)),
        content::Content::Audio { link, .. } => Some((link, media::Kind::Audio)),
        content::Content::Document { link, .. } => Some((link, media::Kind::Document)),
        content::Content::Sticker { link } => Some((link, media::Kind::Sticker)),
        content::Content::Text { .. }
        | content::Content::Location { .. }
        | content::Content::Contacts { .. }
        | content::Content::Reaction { .. }
        | content::Content::Template { .. }
        | content::Content::Interactive { .. } => None,
    }
}

/// The name that the recipient of a document sees: the request's, or else the file's own.
pub(crate) fn file_name(content: &content::Content, own: Option<String>) -> Option<String> {
    match content {
        content::Content::Document { filename: Some(given), .. } => Some(given.clone()),
        _ => own,
    }
}

/// Whether an audio is shown as a voice message: one that `can` be, unless the request says no.
pub(crate) const fn is_voice(content: &content::Content, can: bool) -> bool {
    can && !matches!(content, content::Content::Audio { voice: Some(false), .. })
}

fn text(content: &content::Content) -> Option<String> {
    match content {
        content::Content::Text { body, .. } => Some(body.clone()),
        _ => None,
    }
}

/// The content as the session sends it; `None` for one that no session sends.
fn message(content: &content::Content, file: Option<Media>, to: &Jid) -> Option<Content> {
    match (content, file) {
        (content::Content::Text { body, .. }, _) => Some(Content::Text(body.clone())),
        (content::Content::Location { location }, _) => Some(Content::Location(location.clone())),
        (content::Content::Contacts { contacts }, _) => {
            let card =
                |card: &ContactCard| Card { name: card.name.formatted_name.clone(), vcard: card.vcard() };
            Some(Content::Contacts(contacts.iter().map(card).collect()))
        }
        (content::Content::Reaction { reaction }, _) => Some(Content::Reaction(ReactionTo {
            chat: to.clone(),
            message: MessageId::parse(&reaction.message_id).ok()?,
            is_own: reaction.from_me.unwrap_or(true),
            author: reaction.author(),
            emoji: reaction.emoji.clone(),
        })),
        (_, file) => file.map(Content::Media),
    }
}

const fn shown_as(kind: media::Kind, is_voice: bool, is_animated: bool) -> MediaKind {
    match kind {
        media::Kind::Image => MediaKind::Image,
        media::Kind::Video => MediaKind::Video,
        media::Kind::Audio => MediaKind::Audio { is_voice },
        media::Kind::Document => MediaKind::Document,
        media::Kind::Sticker => MediaKind::Sticker { is_animated },
    }
}

fn caption(content: &content::Content) -> Option<String> {
    match content {
        content::Content::Image { caption, .. }
        | content::Content::Video { caption, .. }
        | content::Content::Document { caption, .. } => caption.clone(),
        _ => None,
    }
}

/// Seconds, rounded up: a sound of less than a second is not zero seconds long.
pub(crate) fn seconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// The reply for a refusal by WhatsApp's server.
fn nack(code: Option<i64>) -> Reply {
    Reply::Refused { disposition: Disposition::Fail, failure: refusal(code), retry_after: None }
}

/// The failure of a message that WhatsApp refused.
pub(crate) fn refusal(code: Option<i64>) -> Failure {
    let sentence = match code {
        Some(RESTRICTED) => {
            "WhatsApp refused the message: the account is restricted to people who wrote to it before"
                .to_owned()
        }
        Some(code) => format!("WhatsApp refused the message with {code}"),
        None => "WhatsApp refused the message".to_owned(),
    };
    Failure { code, sentence }
}

fn refused(error: &SendError) -> Reply {
    let code = match error {
        SendError::Refused { code, .. } => Some(i64::from(*code)),
        _ => None,
    };
    let failure = Failure { code, sentence: error.to_string() };
    let disposition = match error {
        SendError::NotConnected => return not_sent(error),
        SendError::Uncertain(_) => return Reply::Uncertain(failure),
        SendError::Recipient(_) => Disposition::Fail,
        SendError::Refused { code: TOO_OFTEN, .. } => Disposition::SlowNumber,
        SendError::Refused { code: 400..=499, .. } => Disposition::Fail,
        SendError::Refused { .. } | SendError::Unprepared(_) | SendError::Upload(_) => Disposition::Retry,
    };
    Reply::Refused { disposition, failure, retry_after: None }
}

fn unanswered(error: &AskError) -> Reply {
    let failure = failure(&error.to_string());
    match error {
        AskError::NotConnected => Reply::NotSent(failure),
        AskError::Refused { code: TOO_OFTEN, .. } => {
            Reply::Refused { disposition: Disposition::SlowNumber, failure, retry_after: None }
        }
        AskError::Refused { .. } | AskError::NoAnswer(_) => {
            Reply::Refused { disposition: Disposition::Retry, failure, retry_after: None }
        }
    }
}

fn not_sent(error: &SendError) -> Reply {
    Reply::NotSent(failure(&error.to_string()))
}

/// The reply for a file that cannot be sent, for now or at all.
fn unusable(refusal: &Refusal) -> Reply {
    let disposition =
        if refusal.code == Code::ServiceUnavailable { Disposition::Retry } else { Disposition::Fail };
    Reply::Refused { disposition, failure: failure(&refusal.sentence), retry_after: None }
}

fn failed(sentence: &str) -> Reply {
    Reply::Refused { disposition: Disposition::Fail, failure: failure(sentence), retry_after: None }
}

fn failure(sentence: &str) -> Failure {
    Failure { code: None, sentence: sentence.to_owned() }
}
