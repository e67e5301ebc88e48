//! What users and programs change of a conversation.

use entity::conversation::{ActiveModel, Column, Entity};
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{ColumnTrait, EntityTrait, NotSet, QueryFilter, QuerySelect, Set, Value};
use uuid::Uuid;

use super::thread::ThreadSide;
use crate::dialect::{Bulk, Cell, Type};
use crate::nouns::{AllConversations, Conversations};
use crate::{Result, Transaction, execute, fetch};
use clock::Timestamp;
use domain::event;
use domain::event::log::{ConversationFact, Fact, FactKind};
use domain::inbound::{ConversationState, ENTRY_POINT, ENTRY_POINT_ANSWER, PeerKey};
use domain::phone::PhoneNumber;

/// A message of ours to a person, as conversations note it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerNote {
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// The person.
    pub peer: PeerKey,
    /// The send, to whose id the line is sealed.
    pub send_id: Uuid,
    /// When it was accepted.
    pub at: Timestamp,
    /// The word of its type.
    pub kind: &'static str,
    /// Its sealed line; empty when it is not kept.
    pub line: Vec<u8>,
}

const ANSWER: &[(&str, Type)] = &[
    ("channel_id", Type::Uuid),
    ("peer", Type::Text),
    ("send_id", Type::Uuid),
    ("at", Type::Int),
    ("kind", Type::Text),
    ("line", Type::Bytes),
];

/// How many conversations are taken from a user at a time.
const TAKEN: usize = 1_000;

/// What is told of a conversation that changes.
struct ToldConversation {
    channel_id: Uuid,
    peer: PeerKey,
    user_id: Option<String>,
    state: ConversationState,
    assigned_to: Option<Uuid>,
}

impl Conversations<'_> {
    /// Marks everything that the person wrote up to `up_to` as read; `false` when there is no such conversation. What came
    /// later stays unread, because nobody can have seen it.
    pub async fn mark_read(self, id: Uuid, up_to: Timestamp) -> Result<bool> {
        let sql = "UPDATE conversation SET unread = CASE WHEN last_inbound_at <= $3 THEN 0 ELSE \
                   (SELECT COUNT(*) FROM conversation_message AS later WHERE later.conversation_id = $1 \
                   AND later.target IS NULL AND later.direction = 0 AND later.at > $3) END \
                   WHERE id = $1 AND company_id = $2";
        let values = [id.into(), self.company.into(), up_to.millis().into()];
        Ok(execute(&self.store.write, sql, values).await? > 0)
    }

    /// Marks a conversation as unread; `false` when there is no such conversation.
    pub async fn mark_unread(self, id: Uuid) -> Result<bool> {
        let unread = Expr::case(Column::Unread.gt(0_i64), Expr::col(Column::Unread)).finally(1_i64);
        let marked = Entity::update_many()
            .col_expr(Column::Unread, unread.into())
            .filter(Column::Id.eq(id))
            .filter(Column::CompanyId.eq(self.company));
        Ok(marked.exec(&self.store.write).await?.rows_affected > 0)
    }

    /// Gives a conversation to a user, or to nobody; `false` when there is no such conversation. `by` is the author, as the
    /// record of changes names authors.
    pub async fn assign(self, id: Uuid, to: Option<Uuid>, by: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let Some(before) = self.locked(&transaction, id).await? else {
            return transaction.unchanged(false).await;
        };
        if before.assigned_to == to {
            return transaction.unchanged(true).await;
        }
        let assigned = Entity::update_many().col_expr(Column::AssignedTo, Expr::value(to));
        assigned.filter(Column::Id.eq(id)).exec(&transaction).await?;
        let after = ToldConversation { assigned_to: to, ..before };
        self.tell_of(&transaction, id, event::Type::ConversationAssigned, after, by).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(true)
    }

    /// Closes a conversation or opens it again; `false` when there is no such conversation. A conversation that is closed has
    /// nothing unread.
    pub async fn set_state(self, id: Uuid, state: ConversationState, by: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let Some(before) = self.locked(&transaction, id).await? else {
            return transaction.unchanged(false).await;
        };
        if before.state == state {
            return transaction.unchanged(true).await;
        }
        let (r#type, unread) = match state {
            ConversationState::Open => (event::Type::ConversationReopened, NotSet),
            ConversationState::Closed => (event::Type::ConversationClosed, Set(0)),
        };
        let changes = ActiveModel { state: Set(state.as_i16()), unread, ..Default::default() };
        Entity::update_many().set(changes).filter(Column::Id.eq(id)).exec(&transaction).await?;
        self.tell_of(&transaction, id, r#type, before, by).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(true)
    }

    /// Takes all conversations from a user, in the transaction in which the user loses the right to answer them. `by` is the
    /// author, as the record of changes names authors. The caller [tells](crate::Store::tell_of_events) of it after the commit.
    pub(crate) async fn take_from(self, transaction: &Transaction, user: Uuid, by: &str) -> Result<()> {
        // In the order in which messages from people lock them.
        let sql = format!(
            "UPDATE conversation SET assigned_to = NULL FROM (SELECT id AS taken_id FROM conversation \
             WHERE company_id = $1 AND assigned_to = $2 ORDER BY id LIMIT {TAKEN}{locking}) AS taken \
             WHERE conversation.id = taken.taken_id RETURNING id, channel_id, peer, user_id, state",
            locking = self.store.locking()
        );
        type Columns = (Uuid, Uuid, String, Option<String>, i16);
        loop {
            let taken = fetch::<Columns>(transaction, &sql, [self.company.into(), user.into()]).await?;
            let (count, now) = (taken.len(), Timestamp::now());
            let mut facts = Vec::with_capacity(count);
            for (id, channel_id, peer, user_id, state) in taken {
                let (peer, state) = (PeerKey::from_stored(peer), super::state(state)?);
                let told = ToldConversation { channel_id, peer, user_id, state, assigned_to: None };
                facts.push(told.fact(id, event::Type::ConversationAssigned, by, now));
            }
            self.store.event_log().tell_facts(transaction, self.company, facts, now).await?;
            if count < TAKEN {
                return Ok(());
            }
        }
    }

    async fn locked(self, transaction: &Transaction, id: Uuid) -> Result<Option<ToldConversation>> {
        let own = Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company));
        let Some(found) = own.lock(LockType::NoKeyUpdate).one(transaction).await? else { return Ok(None) };
        Ok(Some(ToldConversation {
            channel_id: found.channel_id,
            peer: PeerKey::from_stored(found.peer),
            user_id: found.user_id,
            state: super::state(found.state)?,
            assigned_to: found.assigned_to,
        }))
    }

    async fn tell_of(
        self,
        transaction: &Transaction,
        id: Uuid,
        r#type: event::Type,
        told: ToldConversation,
        by: &str,
    ) -> Result<()> {
        let now = Timestamp::now();
        let fact = told.fact(id, r#type, by, now);
        self.store.event_log().tell_facts(transaction, self.company, vec![fact], now).await
    }
}

impl ToldConversation {
    /// What is told of it now, and of who did it.
    fn fact(self, id: Uuid, r#type: event::Type, by: &str, now: Timestamp) -> Fact {
        let Self { channel_id, peer, user_id, state: _, assigned_to } = self;
        let what = FactKind::Conversation(ConversationFact {
            r#type: r#type.as_str().to_owned(),
            id,
            number: peer.number().map(PhoneNumber::as_i64),
            user_id,
            assigned_to,
            by: Some(by.to_owned()),
        });
        Fact { channel_id: Some(channel_id), at: now, what }
    }
}

impl AllConversations<'_> {
    /// Notes answers in the conversations that are there: the person's messages are read, and the entry of the list is the
    /// answer. An answer to a person who came from an advertisement begins the time in which messages are free.
    pub async fn note_answers(self, answers: &[AnswerNote]) -> Result<()> {
        let mut answers: Vec<_> = answers.iter().collect();
        answers.sort_by(|one, other| {
            (one.channel_id, &one.peer, one.at).cmp(&(other.channel_id, &other.peer, other.at))
        });
        // Of several to one person, the last one.
        answers.reverse();
        answers.dedup_by(|next, kept| (next.channel_id, &next.peer) == (kept.channel_id, &kept.peer));
        answers.reverse();
        let mut rows = Bulk::new(self.store.backend, ANSWER);
        for answer in answers {
            rows.push([
                answer.channel_id.into(),
                answer.peer.as_str().into(),
                answer.send_id.into(),
                answer.at.millis().into(),
                answer.kind.into(),
                Cell::Bytes(&answer.line),
            ]);
        }
        // Locked in the order in which messages from people lock them.
        let [within, lasts] = [ENTRY_POINT_ANSWER, ENTRY_POINT].map(|span| span.as_millis());
        let sql = |incoming: &str, _: usize| {
            format!(
                "UPDATE conversation SET \
                 unread = CASE WHEN new.at >= conversation.last_inbound_at THEN 0 ELSE conversation.unread END, \
                 last_outbound_at = CASE WHEN new.at > conversation.last_outbound_at THEN new.at \
                     ELSE conversation.last_outbound_at END, \
                 last_at = CASE WHEN new.at > conversation.last_at THEN new.at ELSE conversation.last_at END, \
                 entry_point_until = CASE WHEN conversation.referral_at > 0 AND new.at >= conversation.referral_at \
                     AND new.at <= conversation.referral_at + {within} THEN new.at + {lasts} \
                     ELSE conversation.entry_point_until END, \
                 referral_at = CASE WHEN new.at >= conversation.referral_at THEN 0 ELSE conversation.referral_at END, \
                 last_id = CASE WHEN new.at >= conversation.last_line_at THEN new.send_id \
                     ELSE conversation.last_id END, \
                 last_kind = CASE WHEN new.at >= conversation.last_line_at THEN new.kind \
                     ELSE conversation.last_kind END, \
                 last_direction = CASE WHEN new.at >= conversation.last_line_at THEN {own} \
                     ELSE conversation.last_direction END, \
                 last_line = CASE WHEN new.at >= conversation.last_line_at THEN new.line \
                     ELSE conversation.last_line END, \
                 last_line_at = CASE WHEN new.at > conversation.last_line_at THEN new.at \
                     ELSE conversation.last_line_at END \
                 FROM (SELECT one.id AS conversation_id, new.* FROM {incoming} AS new CROSS JOIN conversation AS one \
                 WHERE one.channel_id = new.channel_id AND one.peer = new.peer ORDER BY one.id{locking}) AS new \
                 WHERE conversation.id = new.conversation_id",
                own = ThreadSide::Own.as_i16(),
                locking = self.store.locking_of("one")
            )
        };
        self.store.write(&self.store.write, rows, Vec::<Value>::new(), sql).await?;
        Ok(())
    }
}
