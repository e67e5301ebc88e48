//! Messages from people, as the ledger takes them.

use pombo::clock::Timestamp;
use pombo::domain::event::Type;
use pombo::domain::inbound::{ConversationKind, Direction, PeerKey, SERVICE_WINDOW};
use pombo::domain::phone::PhoneNumber;
use pombo::store::changes::{ContactRecord, Who};
use pombo::store::conversations::Inbound;
use uuid::Uuid;

/// The person who writes.
pub(crate) fn ana() -> PhoneNumber {
    PhoneNumber::parse("5511900000007").unwrap()
}

/// The record of an erasure.
pub(crate) fn erasure(company: Uuid) -> ContactRecord {
    ContactRecord::new(&Who::Pombo, company)
}

/// A text of hers, whose content is sealed with a key that nobody has.
pub(crate) fn wrote((company_id, channel_id): (Uuid, Uuid), provider_id: &str, at: Timestamp) -> Inbound {
    wrote_by(ana(), (company_id, channel_id), provider_id, at)
}

/// The same by somebody else.
pub(crate) fn wrote_by(
    number: PhoneNumber,
    (company_id, channel_id): (Uuid, Uuid),
    provider_id: &str,
    at: Timestamp,
) -> Inbound {
    Inbound {
        id: Uuid::now_v7(),
        company_id,
        channel_id,
        with: ConversationKind::Person,
        peer: PeerKey::of_number(number),
        others: Vec::new(),
        number: Some(number),
        user_id: None,
        name: Some("Ana".to_owned()),
        provider_id: provider_id.to_owned(),
        direction: Direction::In,
        writer: None,
        kind: "text",
        r#type: Type::MessageReceived,
        target: None,
        at,
        is_past: false,
        is_to_be_read: true,
        window_until: Some(at.plus(SERVICE_WINDOW)),
        is_referred: false,
        body: provider_id.as_bytes().to_vec(),
        line: b"line".to_vec(),
        answer: None,
        is_kept: true,
        file: Vec::new(),
    }
}
