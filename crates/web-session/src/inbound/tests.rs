//! What the library's messages mean.

use whatsapp_rust::wacore::types::message::{MessageInfo, MessageSource};
use whatsapp_rust::wacore_binary::Jid as LibraryJid;

use super::*;
use domain::phone::PhoneNumber;

const NUMBER: &str = "5511988887777@s.whatsapp.net";
const LID: &str = "200000000000001@lid";

fn jid(text: &str) -> LibraryJid {
    text.parse().unwrap()
}

fn source(sender: &str, other: Option<&str>) -> MessageSource {
    MessageSource {
        chat: jid(sender),
        sender: jid(sender),
        sender_alt: other.map(jid),
        ..MessageSource::default()
    }
}

fn read(source: MessageSource, message: protocol::Message) -> Option<(InboundMessage, Option<Jid>)> {
    let info =
        MessageInfo { source, id: "3EB0".into(), push_name: "Ana".to_owned(), ..MessageInfo::default() };
    message_of(&LibraryMessage::builder().message(Arc::new(message)).info(Arc::new(info)).build())
}

fn words(text: &str) -> protocol::Message {
    protocol::Message { conversation: Some(text.to_owned()), ..Default::default() }
}

#[test]
fn a_person_is_known_by_number_and_hidden_address() {
    let number = PhoneNumber::parse("5511988887777").unwrap();
    for source in [source(NUMBER, Some(LID)), source(LID, Some(NUMBER))] {
        let (message, hidden) = read(source, words("hi")).unwrap();
        assert_eq!((message.peer.number, message.peer.user_id.as_deref()), (Some(number), Some(LID)));
        assert_eq!(
            (message.peer.name.as_deref(), message.direction, hidden),
            (Some("Ana"), Direction::In, None)
        );
        assert_eq!(message.body.content, InboundContent::Text { body: "hi".to_owned() });
    }
    let (message, hidden) = read(source(LID, None), words("hi")).unwrap();
    assert_eq!((message.peer.number, hidden.map(|jid| jid.to_string())), (None, Some(LID.to_owned())));
}

#[test]
fn in_a_group_an_admin_is_told_from_the_writer() {
    let deletion = || {
        let key = protocol::MessageKey { id: Some("3EB1".to_owned()), ..Default::default() };
        let change = protocol::message::ProtocolMessage {
            key: MessageField::some(key),
            r#type: Some(ProtocolType::REVOKE),
            ..Default::default()
        };
        protocol::Message { protocol_message: MessageField::some(change), ..Default::default() }
    };
    let by_admin = |chat: &str, edit| {
        let source = MessageSource { chat: jid(chat), ..source(NUMBER, None) };
        let info = MessageInfo { source, id: "3EB0".into(), edit, ..MessageInfo::default() };
        let message = LibraryMessage::builder().message(Arc::new(deletion())).info(Arc::new(info)).build();
        message_of(&message).unwrap().0.by_admin
    };
    assert!(by_admin("120363000000000001@g.us", EditAttribute::AdminRevoke));
    assert!(!by_admin("120363000000000001@g.us", EditAttribute::SenderRevoke));
    assert!(!by_admin(NUMBER, EditAttribute::AdminRevoke), "two people have no admin");
}

#[test]
fn what_the_owner_writes_on_the_phone_is_an_echo_to_the_person() {
    let own = MessageSource {
        is_from_me: true,
        chat: jid(NUMBER),
        sender: jid("4915100000000@s.whatsapp.net"),
        ..MessageSource::default()
    };
    let (message, _) = read(own, words("on its way")).unwrap();
    assert_eq!(message.direction, Direction::Echo);
    assert_eq!(message.peer.number, PhoneNumber::parse("5511988887777").ok());
    assert_eq!(message.peer.name, None, "it is the owner's");
}

#[test]
fn a_group_is_a_conversation_of_its_own_with_authors() {
    let group =
        MessageSource { chat: jid("120363000000000001@g.us"), is_group: true, ..source(NUMBER, None) };
    let (message, _) = read(group, words("hi all")).unwrap();
    assert_eq!((message.peer.group.as_deref(), message.peer.number), (Some("120363000000000001"), None));
    assert_eq!(message.body.author.unwrap().number.as_deref(), Some("+5511988887777"));
    let everyone = MessageSource { chat: jid("status@broadcast"), is_group: true, ..source(NUMBER, None) };
    assert_eq!(read(everyone, words("party")), None);
}

#[test]
fn files_reactions_changes_and_places_are_read() {
    let image = protocol::message::ImageMessage {
        mimetype: Some("image/jpeg".to_owned()),
        caption: Some("the door".to_owned()),
        direct_path: Some("/v/1".to_owned()),
        media_key: Some(vec![1; 32]),
        file_enc_sha256: Some(vec![2; 32]),
        ..Default::default()
    };
    let message = protocol::Message { image_message: MessageField::some(image), ..Default::default() };
    let Some(InboundContent::Image { media }) = content(&message) else { panic!() };
    assert_eq!(
        (media.caption.as_deref(), media.keys.unwrap().direct_path.as_str()),
        (Some("the door"), "/v/1")
    );

    for elsewhere in ["@169.254.169.254/v/1", ".example.com/v/1", ":8080/v/1", "v/1", ""] {
        assert_eq!(keys(Some(elsewhere), Some(&[1; 32]), Some(&[2; 32])), None, "{elsewhere}");
    }

    let key = || protocol::MessageKey { id: Some("3EB1".to_owned()), ..Default::default() };
    let reaction = protocol::message::ReactionMessage {
        key: MessageField::some(key()),
        text: Some(String::new()),
        ..Default::default()
    };
    let message = protocol::Message { reaction_message: MessageField::some(reaction), ..Default::default() };
    let expected = InboundContent::Reaction { message_id: "3EB1".to_owned(), emoji: None };
    assert_eq!(content(&message), Some(expected), "an empty text removes it");

    let change = |kind, now: Option<&str>| {
        let change = protocol::message::ProtocolMessage {
            key: MessageField::some(key()),
            r#type: Some(kind),
            edited_message: now.map_or_else(MessageField::default, |now| MessageField::some(words(now))),
            ..Default::default()
        };
        content(&protocol::Message { protocol_message: MessageField::some(change), ..Default::default() })
    };
    let message_id = "3EB1".to_owned();
    let deletion = InboundContent::Deletion { message_id: message_id.clone() };
    assert_eq!(change(ProtocolType::REVOKE, None), Some(deletion));
    let edit = InboundContent::Edit { message_id, text: Some("now".to_owned()) };
    assert_eq!(change(ProtocolType::MESSAGE_EDIT, Some("now")), Some(edit));
    assert_eq!(change(ProtocolType::EPHEMERAL_SETTING, None), None, "a setting is no message");

    let place = protocol::message::LocationMessage {
        degrees_latitude: Some(-23.5),
        degrees_longitude: Some(-46.6),
        name: Some("Padaria".to_owned()),
        ..Default::default()
    };
    let message = protocol::Message { location_message: MessageField::some(place), ..Default::default() };
    assert_eq!(content(&message).unwrap().line(), "Padaria");
}

#[test]
fn something_unknown_is_kept_whole_and_keys_alone_are_no_message() {
    let poll =
        protocol::message::PollCreationMessage { name: Some("Lunch?".to_owned()), ..Default::default() };
    let message = protocol::Message { poll_creation_message: MessageField::some(poll), ..Default::default() };
    let Some(InboundContent::Unsupported { raw, .. }) = content(&message) else { panic!() };
    assert!(raw.to_string().contains("Lunch?"), "{raw}");
    assert_eq!(content(&protocol::Message::default()), None);
}
