//! Messages and their events.

use super::*;
use domain::location::Location;
use driver::{AskError, Built, Card, Media, MediaKind, ReactionTo, SendError};

const MARIA: &str = "+999900000001";

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

fn voice() -> Content {
    Content::Media(Media {
        kind: MediaKind::Audio { is_voice: true },
        bytes: vec![0; 10],
        mimetype: "audio/ogg; codecs=opus".to_owned(),
        file_name: None,
        caption: None,
        seconds: Some(2),
        jpeg_thumbnail: None,
    })
}

async fn send(session: &Watched, to: &Jid, content: Content) -> Result<MessageId, SendError> {
    let id = MessageId::generate();
    let sent = session.session.send(to, &id, content).await?;
    assert_eq!((&sent.to, &sent.id), (to, &id));
    Ok(id)
}

#[tokio::test]
async fn a_text_arrives_and_each_step_is_told_in_its_order() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    let to = Jid::person(number(MARIA));
    let id = send(&session, &to, text("Hello")).await.unwrap();
    for (state, from) in
        [(AckState::Server, None), (AckState::Delivered, Some(&to)), (AckState::Read, Some(&to))]
    {
        let ack = session.ack().await;
        assert_eq!((&ack.id, ack.state, ack.from.as_ref()), (&id, state, from));
    }
    let mut shown = stage.messages("?to=%2B999900000001").await["data"][0].clone();
    shown.as_object_mut().unwrap().remove("at");
    let expected = json!({
        "id": id.as_str(), "from": OWN, "to": "999900000001@s.whatsapp.net", "type": "text", "text": "Hello",
        "caption": null, "file": null, "state": "read", "code": null,
    });
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_location_cards_and_a_reaction_arrive_and_are_shown_in_a_few_words() {
    let stage = Stage::set().await;
    let (session, _) = stage.linked().await;
    let to = Jid::person(number(MARIA));
    let location = Location::parse(&json!({"latitude": 1.5, "longitude": -2})).unwrap();
    let named = Location { name: Some("Sol".to_owned()), ..location.clone() };
    let cards = ["Ana", "Rui"].map(|name| Card { name: name.to_owned(), vcard: "BEGIN:VCARD".to_owned() });
    let reaction = |emoji: &str| ReactionTo {
        chat: to.clone(),
        message: MessageId::parse("3EB0").unwrap(),
        is_own: true,
        author: None,
        emoji: emoji.to_owned(),
    };
    for (content, kind, words) in [
        (Content::Location(location), "location", "location 1.5, -2"),
        (Content::Location(named), "location", "location Sol"),
        (Content::Contacts(cards.to_vec()), "contacts", "contacts Ana, Rui"),
        (Content::Reaction(reaction("👍")), "reaction", "👍 to 3EB0"),
        (Content::Reaction(reaction("")), "reaction", "reaction to 3EB0 removed"),
    ] {
        let sent = session.session.send(&to, &MessageId::generate(), content.clone()).await.unwrap();
        let shown = stage.driver.messages(1).remove(0);
        assert_eq!((shown.kind, shown.words().as_str()), (kind, words));
        let built = match content {
            Content::Location(location) => Built::Location(location),
            Content::Contacts(cards) => Built::Contacts(cards),
            Content::Reaction(reaction) => Built::Reaction(reaction),
            Content::Text(_) | Content::Media(_) => Built::Text,
        };
        assert_eq!(sent.built, built);
    }
    let listed = stage.messages("").await["data"][3].clone();
    assert_eq!(
        (&listed["reaction"]["emoji"], &listed["reaction"]["message"]),
        (&json!("👍"), &json!("3EB0"))
    );
}

#[tokio::test]
async fn a_voice_message_is_played_and_its_file_is_described() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    let (to, id) = (Jid::person(number(MARIA)), MessageId::generate());
    let sent = session.session.send(&to, &id, voice()).await.unwrap();
    let Built::Media(built) = sent.built else { panic!("it is a file") };
    assert!(built.url.starts_with("https://mmg.example/"), "{}", built.url);
    assert_eq!((built.file_length, built.seconds), (10, Some(2)));
    let mut states = Vec::new();
    for _ in 0..4 {
        states.push(session.ack().await.state);
    }
    assert_eq!(states, [AckState::Server, AckState::Delivered, AckState::Read, AckState::Played]);
    let shown = stage.driver.messages(1).remove(0);
    assert_eq!((shown.kind, shown.state, shown.file.unwrap().bytes), ("voice", WebState::Played, 10));
}

#[tokio::test]
async fn some_messages_are_refused_and_some_are_never_delivered() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    for (to, state) in [
        ("+999900000463", AckState::Refused { code: Some(463) }),
        ("+999900000479", AckState::Refused { code: Some(479) }),
        ("+999900000000", AckState::Server),
    ] {
        let id = send(&session, &Jid::person(number(to)), text("Hello")).await.unwrap();
        let ack = session.ack().await;
        assert_eq!((ack.id, ack.state), (id, state), "{to}");
    }
    let shown = stage.messages("").await;
    let states: Vec<_> = shown["data"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["refused", "refused", "sent"]);
    assert_eq!(shown["data"][0]["code"], 463);
}

#[tokio::test]
async fn a_repeated_message_is_kept_once() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    let (to, id) = (Jid::person(number(MARIA)), MessageId::generate());
    for _ in 0..2 {
        session.session.send(&to, &id, text("Hello")).await.unwrap();
        let states = [session.ack().await.state, session.ack().await.state, session.ack().await.state];
        assert_eq!(states, [AckState::Server, AckState::Delivered, AckState::Read]);
    }
    assert_eq!(stage.driver.messages(9).len(), 1);
}

#[tokio::test]
async fn a_group_gets_messages_unless_there_is_none() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    let group = Jid::group("120363000000000001").unwrap();
    send(&session, &group, text("Hello")).await.unwrap();
    let mut acks = Vec::new();
    for _ in 0..5 {
        acks.push(session.ack().await);
    }
    assert_ne!(acks[1].from, acks[2].from, "its members, one by one");
    assert_eq!(acks[4].state, AckState::Read);
    let unknown = Jid::group("120363000000000000").unwrap();
    let refused = send(&session, &unknown, text("Hello")).await.unwrap_err();
    assert!(matches!(refused, SendError::Recipient(_)), "{refused}");
}

#[tokio::test]
async fn a_session_looks_up_numbers_and_pictures() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    let found = session.session.find(number(MARIA)).await.unwrap().unwrap();
    assert_eq!((found.jid, found.is_business), (Jid::person(number(MARIA)), false));
    let lid = found.lid.unwrap();
    assert_eq!(session.next().await, Event::LidLearned { number: number(MARIA), lid: lid.clone() });
    assert_eq!(session.session.find(number("+999900000000")).await, Ok(None));
    let picture = session.session.picture(&Jid::person(number("+999900000002"))).await.unwrap().unwrap();
    assert!(picture.url.starts_with("https://pps.example/"), "{}", picture.url);
    assert_eq!(session.session.picture(&lid).await, Ok(None));
}

#[tokio::test]
async fn a_session_without_connection_neither_sends_nor_asks() {
    let options =
        WebSessionOptions { connect_after: Duration::from_secs(60), ..WebSessionOptions::default() };
    let stage = Stage::with(options).await;
    let mut session = stage.open(&Arc::new(Memory::default())).await;
    let to = Jid::person(number(MARIA));
    let code = session.qr().await;
    assert_eq!(send(&session, &to, text("Hello")).await, Err(SendError::NotConnected), "not linked");
    assert!(stage.driver.scan(&code, None).await);
    for is_over in [false, true] {
        assert_eq!(send(&session, &to, text("Hello")).await, Err(SendError::NotConnected), "{is_over}");
        assert_eq!(session.session.find(number(MARIA)).await, Err(AskError::NotConnected));
        assert_eq!(session.session.picture(&to).await, Err(AskError::NotConnected));
        session.session.stop().await;
    }
    assert!(stage.driver.messages(9).is_empty());
}

#[tokio::test]
async fn a_reset_removes_messages_and_keeps_the_device_linked() {
    let stage = Stage::set().await;
    let (mut session, _) = stage.linked().await;
    send(&session, &Jid::person(number(MARIA)), text("Hello")).await.unwrap();
    while session.ack().await.state != AckState::Read {}
    stage.simulator.reset().unwrap();
    assert_eq!(stage.messages("").await, json!({ "data": [] }));
    assert!(session.session.figures().is_logged_in, "the device stays linked");
}
