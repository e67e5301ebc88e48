//! Stickers, locations, cards of people and reactions: the answers, and what arrives.

use image::ImageFormat;
use reqwest::Method;
use serde_json::{Value, json};

use super::samples;
use super::world::{World, check, messages, text};
use super::{GROUP, JOAO, MARIA};
use crate::harness::Answer;
use crate::media::host::Host;

/// This content for Maria.
fn to_maria(kind: &str, content: &Value) -> Value {
    json!({"phone_number": MARIA, "recipient_type": "number", "type": kind, kind: content})
}

fn card(name: &str) -> Value {
    json!({"name": {"formatted_name": name, "first_name": name}, "phones": [{"phone": "+190", "wa_id": "190"}]})
}

fn vcard(name: &str) -> String {
    format!("BEGIN:VCARD\nVERSION:3.0\nN:;{name};;;\nFN:{name}\nTEL;waid=190:+190\nEND:VCARD")
}

async fn dry_run(world: &World, body: &Value) -> Answer {
    let path = format!("{}?dry_run=true", messages(&world.own));
    let request = world.service.request(Method::POST, &path).bearer_auth(&world.own.company.key);
    Answer::to(request.body(body.to_string())).await
}

#[tokio::test]
async fn a_location_arrives_with_its_name_and_its_address() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let place =
        json!({"latitude": "-23.5613", "longitude": -46.6565, "name": "Padaria Sol", "address": "Rua 7"});
    let (sent, message) = world.arrives(&to_maria("location", &place)).await;
    let content = json!({"locationMessage": {
        "degreesLatitude": -23.5613, "degreesLongitude": -46.6565, "name": "Padaria Sol", "address": "Rua 7",
    }});
    check(&sent, &format!("{MARIA}@s.whatsapp.net"), &content);
    let arrived = message.content.location_message.as_option().unwrap();
    assert_eq!((arrived.degrees_latitude, arrived.degrees_longitude), (Some(-23.5613), Some(-46.6565)));
    assert_eq!((arrived.name.as_deref(), arrived.address.as_deref()), (Some("Padaria Sol"), Some("Rua 7")));
    world.reaches(&sent.send, "sent").await;
}

#[tokio::test]
async fn one_card_arrives_alone_and_several_arrive_together() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    world.whatsapp.group(GROUP, &[&maria]);
    let (sent, message) = world.arrives(&to_maria("contacts", &json!([card("Ana")]))).await;
    let content = json!({"contactMessage": {"displayName": "Ana", "vcard": vcard("Ana")}});
    check(&sent, &format!("{MARIA}@s.whatsapp.net"), &content);
    let arrived = message.content.contact_message.as_option().unwrap();
    assert_eq!(
        (arrived.display_name.as_deref(), arrived.vcard.as_deref()),
        (Some("Ana"), Some(vcard("Ana").as_str()))
    );

    let mut body = to_maria("contacts", &json!([card("Ana"), card("Rui")]));
    body["phone_number"] = json!(GROUP);
    body["recipient_type"] = json!("group");
    let (sent, message) = world.arrives(&body).await;
    let both = ["Ana", "Rui"].map(|name| json!({"displayName": name, "vcard": vcard(name)}));
    let content = json!({"contactsArrayMessage": {"displayName": "2 contacts", "contacts": both}});
    check(&sent, &format!("{GROUP}@g.us"), &content);
    let arrived = message.content.contacts_array_message.as_option().unwrap();
    let names: Vec<_> = arrived.contacts.iter().map(|card| card.display_name.as_deref().unwrap()).collect();
    assert_eq!(names, ["Ana", "Rui"]);
}

#[tokio::test]
async fn a_sticker_arrives_as_one() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let sticker = samples::square(512, ImageFormat::WebP);
    let host = Host::body("", &sticker).await;
    let body = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": "sticker", "link": host.link("/hat.webp"),
        "caption": "not for stickers",
    });
    let (sent, message) = world.arrives(&body).await;
    assert_eq!(sent.body["ignored"], json!(["caption"]));
    let answer = &sent.result()["message"]["stickerMessage"];
    assert_eq!((&answer["mimetype"], &answer["isAnimated"]), (&json!("image/webp"), &json!(false)));
    assert_eq!(answer["fileLength"], sticker.len().to_string());
    assert_eq!(answer.get("caption"), None);
    let opened = world.whatsapp.file_of(&message);
    assert_eq!((opened.bytes, opened.mimetype.as_str()), (sticker, "image/webp"));
    assert_eq!(message.content.sticker_message.as_option().unwrap().is_animated, Some(false));
}

#[tokio::test]
async fn a_file_that_is_no_sticker_is_refused() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    for (file, code, sentence) in [
        (
            samples::picture(ImageFormat::Png),
            "media_unavailable",
            "cannot be sent as a sticker: give a WebP file",
        ),
        (samples::square(96, ImageFormat::WebP), "media_unavailable", "is 96 by 96 pixels large"),
        (vec![b'x'; 600 * 1024], "media_too_large", "larger than 500 KiB"),
    ] {
        let host = Host::body("", &file).await;
        let body = json!({
            "phone_number": MARIA, "recipient_type": "number", "type": "sticker", "link": host.link("/"),
        });
        let answer = world.post(&body).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{}", answer.body);
        assert!(answer.body.contains(sentence), "{}", answer.body);
    }
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (0, 0));
}

#[tokio::test]
async fn a_reaction_is_put_below_a_message_and_is_removed_again() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let (ours, _) = world.arrives(&text(MARIA, "Ready")).await;
    let jid = format!("{MARIA}@s.whatsapp.net");
    for (reaction, is_own) in [
        (json!({"message_id": ours.id, "emoji": "👍"}), true),
        (json!({"message_id": ours.id, "emoji": ""}), true),
        (json!({"message_id": "3A5C", "emoji": "❤️", "from_me": false}), false),
    ] {
        let (sent, message) = world.arrives(&to_maria("reaction", &reaction)).await;
        let key = json!({"remoteJid": jid, "fromMe": is_own, "id": reaction["message_id"]});
        check(&sent, &jid, &json!({"reactionMessage": {"key": key, "text": reaction["emoji"]}}));
        let arrived = message.content.reaction_message.as_option().unwrap();
        let key = arrived.key.as_option().unwrap();
        assert_eq!(arrived.text.as_deref(), reaction["emoji"].as_str());
        assert_eq!((key.remote_jid.as_deref(), key.from_me), (Some(jid.as_str()), Some(is_own)));
        assert_eq!(key.id.as_deref(), reaction["message_id"].as_str());
        world.reaches(&sent.send, "sent").await;
    }
}

#[tokio::test]
async fn a_reaction_in_a_group_names_the_person_who_wrote_the_message() {
    let world = World::linked().await;
    let (maria, joao) = (world.whatsapp.contact(MARIA), world.whatsapp.contact(JOAO));
    world.whatsapp.group(GROUP, &[&maria, &joao]);
    let reaction = |participant: Value| {
        json!({
            "phone_number": GROUP, "recipient_type": "group", "type": "reaction",
            "reaction": {"message_id": "3A5C", "emoji": "👍", "from_me": false, "participant": participant},
        })
    };
    let refused = world.post(&reaction(Value::Null)).await;
    assert_eq!(
        (refused.status, refused.code().as_deref()),
        (400, Some("invalid_reaction")),
        "{}",
        refused.body
    );
    let (sent, message) = world.arrives(&reaction(json!("+55 21 97777-6666"))).await;
    let author = format!("{JOAO}@s.whatsapp.net");
    assert_eq!(sent.result()["message"]["reactionMessage"]["key"]["participant"], author);
    let key =
        message.content.reaction_message.as_option().and_then(|arrived| arrived.key.as_option()).unwrap();
    assert_eq!(key.participant.as_deref(), Some(author.as_str()));
}

#[tokio::test]
async fn what_no_message_can_be_is_refused_and_a_dry_run_sends_nothing() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    for (kind, content, code) in [
        ("location", json!({"latitude": 1}), "invalid_location"),
        ("location", Value::Null, "missing_location"),
        ("contacts", json!([{"name": {"formatted_name": "Ana"}}]), "invalid_contacts"),
        ("contacts", json!([]), "missing_contacts"),
        ("reaction", json!({"message_id": "wamid.HBg=", "emoji": "👍"}), "invalid_reaction"),
        ("reaction", Value::Null, "missing_reaction"),
    ] {
        for answer in
            [world.post(&to_maria(kind, &content)).await, dry_run(&world, &to_maria(kind, &content)).await]
        {
            assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{}", answer.body);
        }
    }
    for (kind, content) in [
        ("location", json!({"latitude": 1, "longitude": 2})),
        ("contacts", json!([card("Ana")])),
        ("reaction", json!({"message_id": "3A5C", "emoji": "👍"})),
    ] {
        let tried = dry_run(&world, &to_maria(kind, &content)).await;
        assert_eq!((tried.status, tried.json()["file"].clone()), (200, Value::Null), "{}", tried.body);
    }
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (0, 0));
}
