//! Requests to conversations.

use serde_json::{Value, json};

use super::Example;

const SEND: &str = "/api/v1/conversations/{id}/messages";
/// A message of a person.
const MESSAGE: &str = "wamid.HBgNNTUxMTk4ODg4Nzc3NxUCABIYEjVGNDI1QTc0RjEzMDMzNDkyQQA=";

pub(super) fn all() -> Vec<Example> {
    let send = |name, summary, body| ("post", SEND, name, summary, body);
    let act = |path, name, summary, body: Value| ("post", path, name, summary, body);
    vec![
        send(
            "text",
            "An answer to one of the person's messages",
            json!({ "type": "text", "message": "It is on its way.", "reply_to": MESSAGE }),
        ),
        send(
            "image",
            "A picture",
            json!({ "type": "image", "link": "https://files.example.com/cake.jpg", "caption": "This one?" }),
        ),
        send(
            "reaction",
            "An emoji below a message",
            json!({ "type": "reaction", "reaction": { "message_id": MESSAGE, "emoji": "👍" } }),
        ),
        send(
            "location",
            "A place",
            json!({
                "type": "location",
                "location": { "latitude": -23.5613, "longitude": -46.6565, "name": "Our shop" },
            }),
        ),
        send(
            "template",
            "A template, while the window is closed",
            json!({
                "type": "template", "template_id": 7,
                "components": [{ "type": "body", "parameters": [
                    { "type": "text", "text": "Ana" }, { "type": "text", "text": "A-1" },
                ] }],
            }),
        ),
        send(
            "instead",
            "A text, or a template while the window is closed",
            json!({
                "type": "text", "message": "It is on its way.",
                "template_instead": { "template_id": 7, "components": [{ "type": "body", "parameters": [
                    { "type": "text", "text": "Ana" }, { "type": "text", "text": "A-1" },
                ] }] },
            }),
        ),
        act(
            "/api/v1/conversations/{id}/read",
            "shown",
            "What was shown so far, and the person sees it",
            json!({ "up_to": "2026-11-30T09:00:00.123Z" }),
        ),
        act("/api/v1/conversations/{id}/typing", "begin", "Somebody types", json!({ "typing": true })),
        act("/api/v1/conversations/{id}/assign", "user", "To a user", json!({ "user": "ana@example.com" })),
        act("/api/v1/conversations/{id}/notes", "note", "A note", json!({ "text": "Wants the blue one." })),
        (
            "patch",
            "/api/v1/conversations/{id}/notes/{note}",
            "text",
            "Another text",
            json!({ "text": "Wants the red one." }),
        ),
        (
            "put",
            "/api/v1/chat/{id}/window-rule",
            "enforce",
            "Closed windows are refused here",
            json!({ "rule": "enforce" }),
        ),
    ]
}
