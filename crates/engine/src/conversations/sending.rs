//! A message to the other side of a conversation, through either kind of channel.

use uuid::Uuid;

use super::Conversations;
use crate::{Accepted, Error, Form, KEPT, KeyGuard, Skipped, Who};
use clock::Timestamp;
use domain::channel::Kind;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::inbound::Direction;
use domain::phone::PhoneNumber;
use domain::reaction::Reaction;
use domain::request::{ConversationRequest, RequestedContent, WebRecipient, WebRequest};
use domain::send::Schedule;
use store::conversations::Conversation;

impl Conversations<'_> {
    /// Whether an answer was accepted under this idempotency key within [`KEPT`].
    pub async fn is_answered_under(&self, key: &str) -> Result<bool, Error> {
        let since = Timestamp::now().minus(KEPT);
        let records = self.engine.records_of(self.company).await?;
        Ok(records.of(self.company).answers().find(key, since).await?.is_some())
    }

    /// Accepts a message to the person or group of a conversation: a direct send like every other, under the same limits. It
    /// is durable when this returns, and the send's state shows its outcome. Through a web session, the request's answer under
    /// its key is stored in this form when the message is handed over.
    ///
    /// # Errors
    ///
    /// As for [`Conversations::place`], [`crate::Engine::send`] and [`crate::WebSends::begin`]; `window_closed`;
    /// `invalid_phone_number` for a person whose number is not known, and for a group of a business account.
    pub async fn answer(
        &self,
        who: &Who,
        id: Uuid,
        request: ConversationRequest,
        guard: Option<KeyGuard>,
        form: Form,
    ) -> Result<Accepted, Error> {
        let ConversationRequest { content, quotes, mut label, ignored } = request;
        label.made_by = Some(who.to_string());
        let (channel, conversation) = self.place(id).await?;
        if channel.kind == Kind::BusinessAccount {
            let accepted = self.reply(id, content, quotes, label, guard).await?;
            return Ok(Accepted { ignored, ..accepted });
        }
        let recipient = match (conversation.peer.group(), conversation.peer.number()) {
            (Some(group), _) => WebRecipient::Group(group.to_owned()),
            (None, Some(number)) => WebRecipient::Number(number),
            (None, None) => return Err(number_is_unknown().into()),
        };
        let RequestedContent::Ready(mut content) = content else {
            return Err(Refusal::new(Code::InvalidType, "a web session sends no templates")
                .about("type")
                .into());
        };
        if let Content::Reaction { reaction } = &mut content {
            self.complete(&conversation, reaction).await?;
        }
        let request = WebRequest { recipient, content, quotes, label, values: None, ignored: Vec::new() };
        let send_id = self.engine.web_sends().begin(&channel, request, guard, form).await?;
        self.note_answers().await;
        let schedule = Schedule { send_at: None, expires_at: None };
        Ok(Accepted { send_id, recipients: 1, instead: None, skipped: Skipped::default(), schedule, ignored })
    }

    /// Says whose message a reaction is below, if the conversation has it.
    async fn complete(&self, conversation: &Conversation, reaction: &mut Reaction) -> Result<(), Error> {
        let stored = self.store();
        let Some(message) = stored.message_named(conversation.id, &reaction.message_id).await? else {
            return Ok(());
        };
        let is_own = message.direction == Direction::Echo;
        if is_own || conversation.peer.group().is_none() {
            (reaction.from_me, reaction.participant) = (Some(is_own), None);
            return Ok(());
        }
        let author = self.whole_body(&message).await?.and_then(|body| body.author);
        let participant = author.and_then(|author| {
            let number = author.number.and_then(|number| PhoneNumber::parse(&number).ok());
            number.map(|number| number.to_string()).or(author.user_id)
        });
        if participant.is_some() {
            (reaction.from_me, reaction.participant) = (Some(false), participant);
        }
        Ok(())
    }
}

/// The refusal of a message to a person of whom only an id is known.
pub(super) fn number_is_unknown() -> Refusal {
    let sentence = "the number of this person is not known, so that no message can be sent to it";
    Refusal::new(Code::InvalidPhoneNumber, sentence)
}
