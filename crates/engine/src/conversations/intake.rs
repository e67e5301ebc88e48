//! Makes rows of what channels heard: whose conversation it is, what follows from it, and its content sealed.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::Error;
use crate::contacts::suppressions::Barrier;
use crate::shared::Shared;
use clock::Timestamp;
use clock::database::new_id;
use domain::automatic::{AnswerKind, AnswerRules};
use domain::channel::{Channel, Kind};
use domain::event;
use domain::inbound::{
    ConversationKind, Direction, InboundContent, InboundMedia, InboundMessage, MessageAuthor, Peer, PeerKey,
    SERVICE_WINDOW,
};
use domain::phone::PhoneNumber;
use store::conversations::{BY_ADMIN, Inbound};
use vault::{DataKey, context};

/// The people of one query.
const AT_ONCE: usize = 500;
/// The length of a digest that names the writer of a message.
const WRITER_BYTES: usize = 16;

/// A message that a channel heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeardMessage {
    pub(crate) channel_id: Uuid,
    /// Whether the channel's provider takes free messages only for some time after it.
    pub(crate) has_windows: bool,
    pub(crate) message: InboundMessage,
}

impl HeardMessage {
    pub(crate) fn of(channel: &Channel, message: InboundMessage) -> Self {
        Self { channel_id: channel.id, has_windows: channel.kind == Kind::BusinessAccount, message }
    }

    /// The number that takes the place of the person's former one, with that, if the message says so.
    pub(crate) fn moved(&self) -> Option<(PhoneNumber, PhoneNumber)> {
        let message = &self.message;
        let InboundContent::System { new_number: Some(number), .. } = &message.body.content else {
            return None;
        };
        let (former, number) = (message.peer.number?, PhoneNumber::parse(number).ok()?);
        let is_news = message.direction == Direction::In && !message.is_past && message.peer.group.is_none();
        (is_news && former.person() != number.person()).then_some((number, former))
    }

    /// A person's word of another number, as it begins the conversation under that number. Who gets the former number later
    /// is somebody else, so that the two conversations are not joined. Nobody is told of it twice.
    fn under_new_number(&self) -> Option<Self> {
        let (number, former) = self.moved()?;
        let mut copy = self.clone();
        let InboundContent::System { new_user_id, .. } = &copy.message.body.content else { return None };
        let name = copy.message.peer.name.take();
        copy.message.peer = Peer { number: Some(number), user_id: new_user_id.clone(), name, group: None };
        copy.message.body.author =
            Some(MessageAuthor { number: Some(format!("+{former}")), ..MessageAuthor::default() });
        copy.message.is_past = true;
        Some(copy)
    }
}

impl Shared {
    /// The rows of messages that channels of a company heard.
    ///
    /// # Errors
    ///
    /// When the numbers of people or the company's key cannot be read now.
    pub(crate) async fn rows_of_heard(
        &self,
        company_id: Uuid,
        heard: Vec<HeardMessage>,
        rules: &AnswerRules,
        now: Timestamp,
    ) -> Result<Vec<Inbound>, Error> {
        if heard.is_empty() {
            return Ok(Vec::new());
        }
        let users = heard.iter().filter(|heard| heard.message.peer.number.is_none());
        let users = users.filter_map(|heard| heard.message.peer.user_id.as_deref());
        let authors = heard.iter().filter_map(|heard| heard.message.body.author.as_ref());
        let authors = authors.filter(|author| author.number.is_none());
        let users = users.chain(authors.filter_map(|author| author.user_id.as_deref())).collect();
        let numbers = self.numbers_of_users(company_id, users).await?;
        let key = self.contents.current(company_id).await?;
        let sealing = Sealing { company_id, key: &key, shared: self, rules, numbers };
        let moved: Vec<_> = heard.iter().filter_map(HeardMessage::under_new_number).collect();
        Ok(heard.into_iter().chain(moved).map(|heard| sealing.row(heard, now)).collect())
    }

    /// The numbers of people by their ids, as far as they are known.
    pub(crate) async fn numbers_of_users(
        &self,
        company_id: Uuid,
        users: Vec<&str>,
    ) -> Result<HashMap<String, PhoneNumber>, Error> {
        let mut numbers = HashMap::new();
        let mut unknown = Vec::new();
        for user in users {
            match self.people.number_of(company_id, user) {
                Some(number) => drop(numbers.insert(user.to_owned(), number)),
                None => unknown.push(user),
            }
        }
        for users in unknown.chunks(AT_ONCE) {
            let found = self.store.of(company_id).persons().numbers_of_users(users.iter().copied()).await?;
            numbers.extend(found);
        }
        Ok(numbers)
    }
}

/// What is needed to make rows of one company.
struct Sealing<'a> {
    company_id: Uuid,
    key: &'a DataKey,
    shared: &'a Shared,
    /// What the company answers by itself.
    rules: &'a AnswerRules,
    /// The numbers of people by their ids.
    numbers: HashMap<String, PhoneNumber>,
}

impl Sealing<'_> {
    fn row(&self, heard: HeardMessage, now: Timestamp) -> Inbound {
        let HeardMessage { channel_id, has_windows, message } = heard;
        let (peer, others) = self.keys(&message);
        let writer = self.writer(channel_id, &message);
        let with = if peer.group().is_some() { ConversationKind::Group } else { ConversationKind::Person };
        let opens = has_windows && with == ConversationKind::Person && message.opens_window();
        let answer = self.answer(&message, &peer, now);
        let InboundMessage { id: provider_id, direction, peer: named, at, is_past, by_admin: _, body } =
            message;
        let (id, at) = (new_id(), at.min(now));
        let line = body.content.line();
        let seal_line = || self.key.seal(line.as_bytes(), &context::conversation_line(id));
        Inbound {
            id,
            company_id: self.company_id,
            channel_id,
            with,
            number: named.number.or_else(|| peer.number()),
            peer,
            others,
            user_id: named.user_id,
            name: named.name.filter(|_| direction == Direction::In),
            provider_id,
            direction,
            writer,
            kind: body.content.kind(),
            r#type: event::Type::of_inbound(direction, &body.content),
            target: body.content.target().map(str::to_owned),
            at,
            is_past,
            is_to_be_read: direction == Direction::In && !is_past && body.content.is_to_be_read(),
            window_until: opens.then(|| at.plus(SERVICE_WINDOW)),
            is_referred: opens && body.referral.is_some(),
            line: if line.is_empty() { Vec::new() } else { seal_line() },
            body: self.key.seal(&body.to_json(), &context::inbound_body(id)),
            answer,
            is_kept: self.shared.keeps_inbox,
            file: self.file(id, &body.content).filter(|_| !is_past).unwrap_or_default(),
        }
    }

    /// What is needed to fetch the file of a message, sealed.
    fn file(&self, id: Uuid, content: &InboundContent) -> Option<Vec<u8>> {
        let media = content.media().filter(|_| self.shared.media.keeps_incoming())?;
        let source = InboundMedia { caption: None, file: None, ..media.clone() };
        let source = serde_json::to_vec(&source).ok()?;
        Some(self.key.seal(&source, &context::inbound_file(id)))
    }

    /// The answer that a message gets by itself. An opt-in is confirmed only to a person who opted out, and nobody can be
    /// answered whose number is not known.
    fn answer(&self, message: &InboundMessage, peer: &PeerKey, now: Timestamp) -> Option<AnswerKind> {
        let (kind, number) = (self.rules.answer_to(message, now)?, peer.number()?);
        let barrier = || self.shared.suppressions.barrier(self.company_id, number, true, now);
        let is_wanted = kind != AnswerKind::Start || matches!(barrier(), Some(Barrier::OptedOut(_)));
        is_wanted.then_some(kind)
    }

    /// Who of a group wrote the message, as rows name them: not readable, because the author is sealed with the content.
    fn writer(&self, channel: Uuid, message: &InboundMessage) -> Option<String> {
        let group = message.peer.group.as_deref()?;
        if message.by_admin && matches!(message.body.content, InboundContent::Deletion { .. }) {
            return Some(BY_ADMIN.to_owned());
        }
        let MessageAuthor { number, user_id, name: _ } = message.body.author.as_ref()?;
        let number = number.as_deref().and_then(|number| PhoneNumber::parse(number).ok());
        let number = number.or_else(|| self.numbers.get(user_id.as_deref()?).copied());
        let key = match number {
            Some(number) => PeerKey::of_number(self.shared.people.person(self.company_id, number)),
            None => PeerKey::of_user(user_id.as_deref().unwrap_or_default()),
        };
        let parts: [&[u8]; 4] = [channel.as_bytes(), group.as_bytes(), b" ", key.as_str().as_bytes()];
        let mut digest = Sha256::new();
        parts.into_iter().for_each(|part| digest.update(part));
        Some(hex::encode(&digest.finalize()[..WRITER_BYTES]))
    }

    /// The key of the conversation, and other keys of the same person.
    fn keys(&self, message: &InboundMessage) -> (PeerKey, Vec<PeerKey>) {
        let peer = &message.peer;
        if let Some(group) = &peer.group {
            return (PeerKey::of_group(group), Vec::new());
        }
        let user = peer.user_id.as_deref();
        let mut others: Vec<_> = user.map(PeerKey::of_user).into_iter().collect();
        if let InboundContent::System { new_user_id: Some(new), new_number, .. } = &message.body.content {
            // With another number, the id is that of the conversation under it.
            let number = new_number.as_deref().and_then(|number| PhoneNumber::parse(number).ok());
            if number.is_none_or(|number| Some(number.person()) == peer.number.map(PhoneNumber::person)) {
                others.push(PeerKey::of_user(new));
            }
        }
        let number = peer.number.or_else(|| self.numbers.get(user?).copied());
        let Some(number) = number else {
            return (PeerKey::of_user(user.unwrap_or_default()), Vec::new());
        };
        let person = self.shared.people.person(self.company_id, number);
        let learned = self.shared.people.forms(self.company_id, number).into_iter();
        let learned = learned.filter(|form| *form != person && form.person() == *form);
        others.extend(learned.map(PeerKey::of_number));
        (PeerKey::of_number(person), others)
    }
}
