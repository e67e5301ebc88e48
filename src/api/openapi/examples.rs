//! Examples of request bodies: at least one for each body, and one for each type of message. A test sends them.
//!
//! Ids, links and numbers are made up: a client puts its own in their place.

mod conversations;
mod operators;
mod sends;
mod webhooks;

use serde_json::{Value, json};

/// The example of one body: the method and the path of its operation, a name, a summary, and the body.
type Example = (&'static str, &'static str, &'static str, &'static str, Value);

const ID: &str = "0190a0c4-7c1b-7f00-8f4e-2a9f54b2c001";
const OTHER_ID: &str = "0190a0c4-7c1b-7f00-8f4e-2a9f54b2c002";
const NUMBER: &str = "+55 11 98888-7777";

/// Adds the examples to their bodies.
pub(super) fn add(document: &mut Value) {
    let all = [
        sends::business(),
        sends::interactive(),
        sends::web(),
        company(),
        conversations::all(),
        webhooks::all(),
        operators::all(),
    ];
    for (method, path, name, summary, value) in all.into_iter().flatten() {
        let Some(content) =
            document.pointer_mut(&format!("/paths/{}/{method}/requestBody/content", path.replace('/', "~1")))
        else {
            continue;
        };
        content["application/json"]["examples"][name] = json!({ "summary": summary, "value": value });
    }
}

/// The other requests of a company.
fn company() -> Vec<Example> {
    let contact = json!({
        "first_name": "Ana", "last_name": "Souza", "email": "ana@example.com", "phone_number": NUMBER,
        "tags": ["vip"],
    });
    let template = json!({
        "name": "order_ready", "language": "en", "category": "UTILITY",
        "components": [
            {
                "type": "BODY", "text": "Hi {{1}}, your order {{2}} is ready.",
                "example": { "body_text": [["Ana", "A-1"]] },
            },
            { "type": "BUTTONS", "buttons": [{ "type": "QUICK_REPLY", "text": "Thanks" }] },
        ],
    });
    vec![
        (
            "post",
            "/api/v1/web-chat/{id}/pairing",
            "code",
            "A code to type into the phone",
            json!({
                "phone_number": "5511988887777",
            }),
        ),
        (
            "post",
            "/api/v1/web-chat/{id}/pairing/passkey",
            "assertion",
            "The signed challenge",
            json!({
                "assertion": {
                    "id": "AQIDBA", "rawId": "AQIDBA", "type": "public-key",
                    "response": { "clientDataJSON": "e30", "authenticatorData": "AQID", "signature": "AQID" },
                },
            }),
        ),
        (
            "post",
            "/api/v1/web-chat/{id}/pairing/passkey",
            "confirmation",
            "The codes are the same",
            json!({
                "confirmed": true,
            }),
        ),
        (
            "post",
            "/api/v1/web-chat/{id}/profile-picture",
            "number",
            "A person's number",
            json!({
                "phone_number": "5511988887777",
            }),
        ),
        (
            "patch",
            "/api/v1/sends/{id}",
            "later",
            "A later start",
            json!({ "send_at": "2027-01-31T09:00:00-03:00" }),
        ),
        (
            "post",
            "/api/v1/sends/{id}/retry",
            "failed",
            "What failed for one reason",
            json!({
                "state": "failed", "error_code": 131_026,
            }),
        ),
        (
            "post",
            "/api/v1/contacts/batch",
            "contact",
            "A contact with a tag",
            json!({ "contacts": [contact] }),
        ),
        ("patch", "/api/v1/contacts/{id}", "name", "Another name", json!({ "first_name": "Ana Maria" })),
        (
            "post",
            "/api/v1/contacts/{id}/merge",
            "two",
            "Two records of one person",
            json!({
                "contact_ids": [OTHER_ID],
            }),
        ),
        ("post", "/api/v1/chat/{id}/templates", "utility", "A text with two variables", template.clone()),
        (
            "patch",
            "/api/v1/chat/{id}/templates/{template}",
            "archived",
            "No longer offered",
            json!({ "archived": true }),
        ),
        (
            "patch",
            "/api/v1/chat/{id}/profile",
            "hours",
            "Another line and a website",
            json!({ "about": "Open till nine", "websites": ["https://shop.example.com"] }),
        ),
        ("post", "/api/v1/web-chat/{id}/templates", "text", "A text with two variables", template),
        (
            "patch",
            "/api/v1/web-chat/{id}/templates/{template}",
            "text",
            "Another text",
            json!({ "components": [{ "type": "BODY", "text": "Hi {{1}}, your order {{2}} is here." }] }),
        ),
        (
            "post",
            "/api/v1/quick-replies",
            "hours",
            "A text with a contact field",
            json!({ "word": "hours", "text": "Hi {{contact.first_name|friend}}, we are open from 9 to 18." }),
        ),
        ("patch", "/api/v1/quick-replies/{id}", "text", "Another text", json!({ "text": "We are open." })),
        (
            "put",
            "/api/v1/automatic-answers",
            "texts",
            "Two texts, and opening hours",
            json!({
                "stop_text": "You get no more messages from us. Write START to get them again.",
                "away_text": "Thank you for writing. We answer tomorrow from 9 on.",
                "time_zone": "America/Sao_Paulo",
                "opening_hours": { "monday": "09:00-12:30, 14:00-18:00", "tuesday": "09:00-18:00" },
            }),
        ),
        (
            "post",
            "/api/v1/contacts/tags/batch",
            "tag",
            "A tag with its colour",
            json!({
                "tags": [{ "name": "vip", "color": "#22aa66" }],
            }),
        ),
        ("patch", "/api/v1/contacts/tags/{id}", "name", "Another name", json!({ "name": "regulars" })),
        (
            "post",
            "/api/v1/contacts/tags/{id}/members",
            "numbers",
            "Tag two numbers",
            json!({
                "add": { "phone_numbers": [NUMBER, "+55 11 97777-6666"] },
            }),
        ),
        (
            "post",
            "/api/v1/contacts/tags/{id}/members",
            "found",
            "Untag what a search finds",
            json!({
                "remove": { "search": "souza" },
            }),
        ),
        (
            "post",
            "/api/v1/contacts/segments",
            "search",
            "What a search finds",
            json!({
                "name": "The Souzas", "filter": { "search": "souza" },
            }),
        ),
        (
            "patch",
            "/api/v1/contacts/segments/{id}",
            "name",
            "Another name",
            json!({ "name": "Family Souza" }),
        ),
        (
            "post",
            "/api/v1/contacts/{id}/notes",
            "note",
            "When to call",
            json!({ "text": "Prefers to be called in the afternoon." }),
        ),
        (
            "post",
            "/api/v1/contacts/fields",
            "date",
            "A date",
            json!({
                "name": "Birth date", "type": "date",
            }),
        ),
        ("patch", "/api/v1/contacts/fields/{id}", "name", "Another name", json!({ "name": "Birthday" })),
        ("post", "/api/v1/contacts/imports/{id}", "start", "Start the import", json!({ "action": "start" })),
        (
            "post",
            "/api/v1/contacts/imports/{id}",
            "columns",
            "Choose the fields of columns",
            json!({
                "columns": [{ "column": "phone", "field": "phone_number" }], "country": "BR",
            }),
        ),
        (
            "post",
            "/api/v1/suppressions",
            "marketing",
            "No more marketing",
            json!({
                "phone_number": NUMBER, "left_out_of": "marketing",
            }),
        ),
        (
            "post",
            "/api/v1/suppressions",
            "everything",
            "No more messages",
            json!({
                "phone_number": NUMBER, "left_out_of": "everything",
            }),
        ),
        (
            "post",
            "/api/v1/numbers/check",
            "numbers",
            "Numbers as people in Brazil write them",
            json!({
                "phone_number": ["(11) 98888-7777", "+1 415 555 0132"], "country": "BR",
            }),
        ),
        (
            "post",
            "/api/v1/numbers/check",
            "on_whatsapp",
            "Whether a number is on WhatsApp",
            json!({
                "phone_number": NUMBER, "channel_id": ID,
            }),
        ),
        (
            "post",
            "/hooks/meta/{id}",
            "empty",
            "A webhook without changes",
            json!({
                "object": "whatsapp_business_account", "entry": [{ "id": "102290129340398" }],
            }),
        ),
    ]
}
