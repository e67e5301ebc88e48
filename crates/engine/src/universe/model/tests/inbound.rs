//! What people write, in random batches and in the store's tables.

use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use uuid::Uuid;

use super::operation::ACCOUNTS;
use crate::universe::model::inbound::InboundRow;
use clock::Timestamp;
use domain::event::Type;
use domain::inbound::{ConversationKind, Direction, PeerKey};
use machines::dice::Dice;
use store::conversations::Inbound;

/// The tables that have rows of it.
pub(super) const TABLES: [&str; 3] = ["conversation_message", "conversation_word", "conversation"];

/// A message of few people with few ids, so that many are repeated.
pub(super) fn message(dice: &mut Dice, now: Timestamp) -> Inbound {
    let account = ACCOUNTS[usize::from(dice.happens(250))];
    let at = Timestamp::from_millis(now.millis() - i64::try_from(dice.below(60_000)).unwrap());
    Inbound {
        id: Uuid::from_u128(dice.wide()),
        company_id: account.company_id,
        channel_id: account.channels[usize::from(dice.happens(500))],
        with: ConversationKind::Person,
        peer: PeerKey::of_user(&format!("US.{}", dice.below(4))),
        others: Vec::new(),
        number: None,
        user_id: None,
        name: dice.happens(500).then(|| "Ana".to_owned()),
        provider_id: format!("wamid.{}", dice.below(20)),
        direction: if dice.happens(200) { Direction::Echo } else { Direction::In },
        writer: None,
        kind: "text",
        r#type: Type::MessageReceived,
        target: None,
        at,
        is_past: dice.happens(100),
        is_to_be_read: dice.happens(800),
        window_until: None,
        is_referred: false,
        body: vec![1],
        line: vec![2],
        answer: None,
        is_kept: dice.happens(900),
        file: Vec::new(),
    }
}

/// All messages of conversations.
pub(super) async fn rows(raw: &DatabaseConnection) -> Vec<InboundRow> {
    let sql = "SELECT message.channel_id, conversation.peer, message.provider_id FROM conversation_message AS message \
               JOIN conversation ON conversation.id = message.conversation_id";
    let rows =
        raw.query_all_raw(sea_orm::Statement::from_string(raw.get_database_backend(), sql)).await.unwrap();
    let row = |row: sea_orm::QueryResult| InboundRow {
        channel_id: row.try_get("", "channel_id").unwrap(),
        peer: PeerKey::from_stored(row.try_get("", "peer").unwrap()),
        provider_id: row.try_get("", "provider_id").unwrap(),
    };
    rows.into_iter().map(row).collect()
}
