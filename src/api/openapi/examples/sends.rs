//! Messages: one of each type, and of each interactive kind.

use serde_json::{Value, json};

use super::{Example, ID, NUMBER};

const BUSINESS: &str = "/api/v1/chat/{id}/messages";
const WEB: &str = "/api/v1/web-chat/{id}/messages";

/// Sends through a business account.
pub(super) fn business() -> Vec<Example> {
    let send = |name, summary, body| ("post", BUSINESS, name, summary, body);
    vec![
        send(
            "text",
            "A text to one number",
            json!({ "type": "text", "phone_number": NUMBER, "message": "Your order is on its way." }),
        ),
        send(
            "text_to_tags",
            "A text to everybody with a tag, and to two numbers",
            json!({
                "type": "text", "contact_tag_id": [ID], "phone_number": [NUMBER, "+55 11 97777-6666"],
                "message": "Spring is here: https://example.com/spring", "preview_url": true,
            }),
        ),
        send(
            "image",
            "A picture",
            json!({
                "type": "image", "phone_number": NUMBER, "link": "https://files.example.com/cake.jpg",
                "caption": "Fresh today",
            }),
        ),
        send(
            "video",
            "A film",
            json!({
                "type": "video", "phone_number": NUMBER, "link": "https://files.example.com/shop.mp4",
                "caption": "Our new shop",
            }),
        ),
        send(
            "audio",
            "A voice message",
            json!({
                "type": "audio", "phone_number": NUMBER, "link": "https://files.example.com/hello.ogg",
                "voice": true,
            }),
        ),
        send(
            "document",
            "A document",
            json!({
                "type": "document", "phone_number": NUMBER, "link": "https://files.example.com/7.pdf",
                "filename": "invoice.pdf", "caption": "Your invoice",
            }),
        ),
        send(
            "sticker",
            "A sticker",
            json!({ "type": "sticker", "phone_number": NUMBER, "link": "https://files.example.com/cake.webp" }),
        ),
        send(
            "location",
            "A place on the map",
            json!({
                "type": "location", "phone_number": NUMBER,
                "location": {
                    "latitude": -23.5613, "longitude": -46.6565, "name": "Padaria Sol", "address": "Rua das Flores 7",
                },
            }),
        ),
        send(
            "contacts",
            "The card of a person",
            json!({
                "type": "contacts", "phone_number": NUMBER,
                "contacts": [{
                    "name": { "formatted_name": "Ana Souza", "first_name": "Ana" },
                    "phones": [{ "phone": "+55 11 97777-6666", "type": "WORK" }],
                }],
            }),
        ),
        send(
            "reaction",
            "An emoji below a message",
            json!({
                "type": "reaction", "phone_number": NUMBER,
                "reaction": {
                    "message_id": "wamid.HBgNNTUxMTkwMDAwMDAwMBUCABEYEjE2NDgzREM2MjA1RDcyQjEzQgA=", "emoji": "\u{1F44D}",
                },
            }),
        ),
        send(
            "template",
            "A template with its values",
            json!({
                "type": "template", "phone_number": NUMBER, "template_id": 7,
                "components": [{
                    "type": "body",
                    "parameters": [{ "type": "text", "text": "Ana" }, { "type": "text", "text": "A-1042" }],
                }],
            }),
        ),
        send(
            "template_with_contact_fields",
            "A template with each recipient's own name",
            json!({
                "type": "template", "phone_number": [NUMBER], "template_id": 7, "contact_fields": true,
                "components": [{
                    "type": "body",
                    "parameters": [
                        { "type": "text", "text": "{{contact.first_name|friend}}" },
                        { "type": "text", "text": "A-1042" },
                    ],
                }],
            }),
        ),
        send(
            "template_with_values",
            "A template with values of each recipient",
            json!({
                "type": "template", "template_id": 7, "values": { "shop": "Acme" },
                "components": [{
                    "type": "body",
                    "parameters": [
                        { "type": "text", "text": "{{value.name|friend}}" },
                        { "type": "text", "text": "{{value.order|yours}} of {{value.shop}}" },
                    ],
                }],
                "recipients": [
                    { "phone_number": NUMBER, "values": { "name": "Ana", "order": "A-1042" }, "reference": "crm-77" },
                    { "phone_number": "+55 11 97777-6666", "values": { "order": "A-1043" } },
                ],
            }),
        ),
    ]
}

/// The kinds of interactive messages.
pub(super) fn interactive() -> Vec<Example> {
    let send = |name, summary, interactive: Value| {
        let body = json!({ "type": "interactive", "phone_number": NUMBER, "interactive": interactive });
        ("post", BUSINESS, name, summary, body)
    };
    vec![
        send(
            "interactive_button",
            "Up to three buttons",
            json!({
                "type": "button",
                "body": { "text": "Will you come on Friday?" },
                "action": { "buttons": [
                    { "type": "reply", "reply": { "id": "yes", "title": "Yes" } },
                    { "type": "reply", "reply": { "id": "no", "title": "No" } },
                ] },
            }),
        ),
        send(
            "interactive_list",
            "A list to choose from",
            json!({
                "type": "list",
                "header": { "type": "text", "text": "Flavours" },
                "body": { "text": "Which one do you like?" },
                "action": { "button": "Choose", "sections": [
                    { "title": "Fruit", "rows": [{ "id": "1", "title": "Lemon", "description": "Without milk" }] },
                ] },
            }),
        ),
        send(
            "interactive_product",
            "A product of the catalog",
            json!({
                "type": "product",
                "body": { "text": "Today's cake" },
                "action": { "catalog_id": "367025965434465", "product_retailer_id": "cake-1" },
            }),
        ),
        send(
            "interactive_product_list",
            "Several products of the catalog",
            json!({
                "type": "product_list",
                "header": { "type": "text", "text": "Cakes" },
                "body": { "text": "Fresh today" },
                "action": {
                    "catalog_id": "367025965434465",
                    "sections": [{ "title": "Fruit", "product_items": [{ "product_retailer_id": "cake-1" }] }],
                },
            }),
        ),
    ]
}

/// Sends through a web session.
pub(super) fn web() -> Vec<Example> {
    let send = |kind: &'static str, summary, fields: Value| {
        let mut body = json!({ "type": kind, "recipient_type": "number", "phone_number": "5511988887777" });
        if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
            body.extend(fields);
        }
        ("post", WEB, kind, summary, body)
    };
    let group = json!({
        "type": "text", "recipient_type": "group", "phone_number": "120363043211234567",
        "message": "Good morning",
    });
    vec![
        send("text", "A text", json!({ "message": "Your order is on its way." })),
        ("post", WEB, "text_to_group", "A text to a group", group),
        send(
            "image",
            "A picture",
            json!({ "link": "https://files.example.com/cake.jpg", "caption": "Fresh today" }),
        ),
        send(
            "video",
            "A film",
            json!({ "link": "https://files.example.com/shop.mp4", "caption": "Our new shop" }),
        ),
        send(
            "audio",
            "A voice message",
            json!({ "link": "https://files.example.com/hello.ogg", "voice": true }),
        ),
        send(
            "document",
            "A document",
            json!({ "link": "https://files.example.com/7.pdf", "filename": "invoice.pdf" }),
        ),
        send("sticker", "A sticker", json!({ "link": "https://files.example.com/cake.webp" })),
        send(
            "location",
            "A place on the map",
            json!({ "location": { "latitude": -23.5613, "longitude": -46.6565, "name": "Padaria Sol" } }),
        ),
        send(
            "contacts",
            "The card of a person",
            json!({ "contacts": [{ "name": { "formatted_name": "Ana Souza", "first_name": "Ana" } }] }),
        ),
        send(
            "reaction",
            "An emoji below a message of ours",
            json!({ "reaction": { "message_id": "3EB001A21C8446A299C02E", "emoji": "\u{1F44D}" } }),
        ),
    ]
}
