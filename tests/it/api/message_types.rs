//! Stickers, locations, cards of people and reactions through a business account.

use pombo::domain::request::{business_types, web_types};
use serde_json::{Value, json};

use super::past_send::FIRST;
use super::shop::Shop;
use crate::running::until;

fn location() -> Value {
    json!({
        "type": "location",
        "location": {"latitude": "-23.56134999", "longitude": -46.6, "name": "Padaria Sol", "address": "Rua 7"},
    })
}

fn contacts() -> Value {
    json!({
        "type": "contacts",
        "contacts": [{
            "name": {"formatted_name": "Ana Souza", "first_name": "Ana", "last_name": " "},
            "phones": [{"phone": "+55 11 98888-7777", "type": "CELL", "wa_id": "5511988887777"}],
            "emails": [],
        }],
    })
}

fn sticker() -> Value {
    json!({"type": "sticker", "link": " https://files.example/party hat.webp"})
}

fn reaction(message_id: &str, emoji: &str) -> Value {
    json!({"type": "reaction", "reaction": {"message_id": message_id, "emoji": emoji}})
}

#[tokio::test]
async fn a_location_cards_and_a_sticker_arrive_at_everyone_in_the_form_of_the_provider() {
    let shop = Shop::open(vec![]).await;
    let place = json!({"latitude": -23.56135, "longitude": -46.6, "name": "Padaria Sol", "address": "Rua 7"});
    let card = json!({
        "name": {"formatted_name": "Ana Souza", "first_name": "Ana"},
        "phones": [{"phone": "+55 11 98888-7777", "type": "CELL", "wa_id": "5511988887777"}],
    });
    let mut first = FIRST;
    for (content, expected) in [
        (location(), place),
        (contacts(), json!([card])),
        (sticker(), json!({"link": "https://files.example/party%20hat.webp"})),
    ] {
        let answer = shop.send(&content, &[first, first + 1]).await;
        assert_eq!(
            (answer.status, answer.json()["recipients_count"].clone()),
            (202, json!(2)),
            "{}",
            answer.body
        );
        assert_eq!(answer.json().get("ignored"), None, "{}", answer.body);
        let kind = content["type"].as_str().unwrap();
        for to in [first, first + 1] {
            let message = shop.provider.message(to).await;
            assert_eq!((&message["type"], &message[kind]), (&content["type"], &expected), "{message}");
        }
        let path = format!("/api/v1/sends/{}", answer.json()["send_id"].as_str().unwrap());
        assert_eq!(shop.service.get(&path, &shop.acme.key).await.json()["type"], content["type"]);
        first += 2;
    }
}

#[tokio::test]
async fn a_reaction_is_put_below_a_message_of_a_send_and_is_removed_again() {
    let shop = Shop::open(vec![]).await;
    let text = shop.send(&json!({"type": "text", "message": "Ready"}), &[FIRST]).await.json();
    let path = format!("/api/v1/sends/{}/messages", text["send_id"].as_str().unwrap());
    let mut id = String::new();
    until("the provider's id", async || {
        let message = shop.service.get(&path, &shop.acme.key).await.json()["data"][0].clone();
        id = message["provider_message_id"].as_str().unwrap_or_default().to_owned();
        !id.is_empty()
    })
    .await;
    for emoji in ["👍", ""] {
        let answer = shop.send(&reaction(&id, emoji), &[FIRST]).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        let path = format!("/api/v1/sends/{}", answer.json()["send_id"].as_str().unwrap());
        until("a reaction that is sent", async || {
            let send = shop.service.get(&path, &shop.acme.key).await.json();
            assert_eq!(send["counts"]["failed"], 0, "{send}");
            send["counts"]["sent"] == 1
        })
        .await;
        let sent = shop.provider.bodies(FIRST).pop().unwrap();
        assert_eq!(sent["reaction"], json!({"message_id": id, "emoji": emoji}));
    }
}

#[tokio::test]
async fn a_reaction_to_several_people_is_refused() {
    let shop = Shop::open(vec![]).await;
    let answer = shop.send(&reaction("wamid.x", "👍"), &[FIRST, FIRST + 1]).await;
    assert_eq!(
        (answer.status, answer.code().as_deref()),
        (400, Some("too_many_recipients")),
        "{}",
        answer.body
    );
    assert!(answer.body.contains("give one `phone_number` and no `contact_tag_id`"), "{}", answer.body);
    assert_eq!(shop.sends().await, 0, "nothing was queued");
}

#[tokio::test]
async fn what_the_provider_would_refuse_is_refused_before_anything_is_queued() {
    let shop = Shop::open(vec![]).await;
    let place = |place: Value| json!({"type": "location", "location": place});
    let card = |card: Value| json!({"type": "contacts", "contacts": [card]});
    for (content, code, sentence) in [
        (
            json!({"type": "location"}),
            "missing_location",
            "`location` is missing: give latitude and longitude",
        ),
        (
            place(json!({"latitude": 1})),
            "invalid_location",
            "`location.longitude` is missing: give degrees from -180 to 180",
        ),
        (
            place(json!({"latitude": 90.5, "longitude": 0})),
            "invalid_location",
            "`location.latitude` must be a number of degrees from -90 to 90",
        ),
        (
            json!({"type": "contacts", "contacts": []}),
            "missing_contacts",
            "`contacts` is missing: give the cards of one or more people",
        ),
        (card(json!({})), "invalid_contacts", "`contacts[0].name` is missing: give an object"),
        (json!({"type": "reaction"}), "missing_reaction", "`reaction` is missing: give message_id and emoji"),
        (
            json!({"type": "reaction", "reaction": {"message_id": "wamid.x"}}),
            "invalid_reaction",
            "`reaction.emoji` is missing: give one emoji, or an empty text to remove the reaction",
        ),
        (
            json!({"type": "sticker"}),
            "missing_link",
            "`link` is missing: give the public address of the file",
        ),
    ] {
        assert_eq!(shop.refused(&content, code).await, sentence);
    }
    assert_eq!(shop.sends().await, 0, "nothing was queued");
}

#[tokio::test]
async fn a_dry_run_checks_these_types_like_any_other() {
    let shop = Shop::open(vec![]).await;
    for content in [location(), contacts(), sticker(), reaction("wamid.x", "👍")] {
        let tried = shop.tried(&content, FIRST).await;
        assert_eq!(
            (tried.status, tried.json()["recipients_count"].clone()),
            (200, json!(1)),
            "{}",
            tried.body
        );
    }
    let mut misspelled = location();
    misspelled["location"]["lat"] = json!(1);
    assert_eq!(shop.tried(&misspelled, FIRST).await.json()["ignored"], json!(["location.lat"]));
    assert_eq!(shop.sends().await, 0);
}

#[test]
fn every_type_is_on_the_page_about_its_channels() {
    let page =
        |name: &str| std::fs::read_to_string(format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let sending = page("sending.md");
    for word in business_types() {
        assert!(sending.contains(&format!("`{word}`")), "{word}");
    }
    let web = page("web-sessions.md");
    let list = web.split("- **Types**: ").nth(1).and_then(|rest| rest.split('.').next()).unwrap();
    let named: Vec<_> =
        list.split([',', ' ', '\n']).filter(|word| !word.is_empty() && *word != "and").collect();
    assert_eq!(named, web_types().collect::<Vec<_>>());
}

#[test]
fn the_reference_has_the_fields_and_the_limits_of_each_type() {
    let document = pombo::api::document();
    let schemas = &document["components"]["schemas"];
    for (send, field) in [("BusinessSend", "location"), ("WebSend", "contacts"), ("WebSend", "reaction")] {
        assert!(schemas[send]["properties"].get(field).is_some(), "{send}.{field}");
    }
    for (schema, most) in [("Latitude", 90.0), ("Longitude", 180.0)] {
        let number = &schemas[schema]["oneOf"][0];
        assert_eq!(
            (number["minimum"].as_f64(), number["maximum"].as_f64()),
            (Some(-most), Some(most)),
            "{schema}"
        );
    }
    assert_eq!(schemas["Location"]["properties"]["name"]["maxLength"], 1000);
    assert_eq!(schemas["Location"]["required"], json!(["latitude", "longitude"]));
    assert_eq!(schemas["CardName"]["required"], json!(["formatted_name"]));
    assert_eq!(schemas["Reaction"]["required"], json!(["message_id", "emoji"]));
    assert_eq!(schemas["CardPhone"]["properties"]["type"]["maxLength"], 32);
    assert_eq!(schemas["WebSend"]["properties"]["contacts"]["maxItems"], 257);
}
