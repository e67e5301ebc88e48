//! The page about events lists every type and every field that the code has.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pombo::domain::channel::Status;
use pombo::domain::event::{
    ChannelData, ContactData, ConversationData, ErrorData, Event, InboundData, KeyData, LostData,
    MessageData, NoticeData, QuotaData, ReasonData, SendData, TemplateData, Type, WebhookDisabledData,
    WebhookRecoveredData, is_told,
};
use pombo::domain::inbound::InboundBody;
use pombo::domain::message::State;
use serde_json::Value;
use utoipa::PartialSchema;

const BEGIN: &str = "<!-- From the types of crates/domain/src/event/data.rs; a test compares them. -->\n";
const END: &str = "<!-- The end of what comes from there. -->";

/// The type of a field's value, in a word or two.
fn kind(field: &Value) -> String {
    if let Some(choices) = field["oneOf"].as_array() {
        let words: Vec<_> = choices.iter().map(kind).collect();
        let nullable = words.iter().any(|word| word == "null");
        let others: Vec<_> = words.into_iter().filter(|word| word != "null").collect();
        return others.join(" or ") + if nullable { " or null" } else { "" };
    }
    if field.get("$ref").is_some() {
        return "object".to_owned();
    }
    let words: Vec<_> = match &field["type"] {
        Value::Array(words) => words.iter().map(|word| word.as_str().unwrap().to_owned()).collect(),
        word => vec![word.as_str().unwrap_or_else(|| panic!("a field without a type: {field}")).to_owned()],
    };
    let format = match field["format"].as_str() {
        Some("uuid") => " (UUID)",
        Some("date-time") => " (RFC 3339)",
        _ => "",
    };
    let words: Vec<_> =
        words.into_iter().map(|word| if word == "null" { word } else { word + format }).collect();
    words.join(" or ")
}

/// A type's description and a row for each field.
fn table<T: PartialSchema>(title: &str) -> String {
    let schema = serde_json::to_value(T::schema()).unwrap();
    let one_line = |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ");
    let mut page = format!(
        "{title}\n\n{}\n\n| field | holds | meaning |\n|---|---|---|\n",
        one_line(&schema["description"])
    );
    for (name, field) in schema["properties"].as_object().unwrap() {
        // The description of an object that may be null is with the object.
        let described = field["oneOf"]
            .as_array()
            .and_then(|choices| choices.iter().rfind(|choice| choice["description"].is_string()));
        let meaning = one_line(&described.unwrap_or(field)["description"]);
        assert!(!meaning.is_empty(), "{name} is not explained");
        let _ = writeln!(page, "| `{name}` | {} | {meaning} |", kind(field));
    }
    page
}

fn types() -> String {
    let words = |prefix: &str, words: &mut dyn Iterator<Item = &'static str>| {
        words.map(|word| format!("`{prefix}.{word}`")).collect::<Vec<_>>().join(", ")
    };
    let messages = State::ALL.into_iter().filter(|state| is_told(*state)).map(State::as_str);
    let templates = ["approved", "rejected", "paused", "disabled", "category_changed", "quality_changed"];
    let inbound = ["received", "reaction", "edited", "deleted", "echo"];
    let conversations = ["opened", "closed", "reopened", "assigned"];
    let rows = [
        ("a message", words("message", &mut messages.into_iter())),
        ("a send", words("send", &mut ["finished", "canceled", "expired"].into_iter())),
        ("a channel", words("channel", &mut Status::ALL.iter().map(|status| status.as_str()))),
        ("a message from a person", words("message", &mut inbound.into_iter())),
        ("a conversation", words("conversation", &mut conversations.into_iter())),
        ("a person who opts out", words("contact", &mut ["opted_out", "opted_in"].into_iter())),
        ("a template", words("template", &mut templates.into_iter())),
        ("what the provider said", "`provider.notice`".to_owned()),
        ("a quota of a channel", words("quota", &mut ["low", "used_up"].into_iter())),
        ("an API key", "`key.expiring`".to_owned()),
        ("a webhook endpoint", words("webhook", &mut ["disabled", "recovered"].into_iter())),
        ("events that were dropped", "`outbox.lost`".to_owned()),
    ];
    let mut page = "## Types\n\n| about | types |\n|---|---|\n".to_owned();
    for (about, types) in rows {
        let _ = writeln!(page, "| {about} | {types} |");
    }
    for known in Type::ALL {
        assert!(page.contains(&format!("`{known}`")), "{known} is missing");
    }
    page
}

#[test]
fn the_page_lists_every_type_and_every_field() {
    let parts = [
        types(),
        table::<Event>("## Every event"),
        table::<MessageData>("## A message"),
        table::<ErrorData>("### The `error` of a message"),
        table::<SendData>("## A send"),
        table::<ChannelData>("## A channel"),
        table::<ReasonData>("### The `reason` of a channel"),
        table::<InboundData>("## A message from a person"),
        table::<InboundBody>("### The `message` of a message from a person"),
        table::<ConversationData>("## A conversation"),
        table::<ContactData>("## A person who opts out"),
        table::<TemplateData>("## A template"),
        table::<NoticeData>("## What the provider said"),
        table::<QuotaData>("## A quota of a channel"),
        table::<KeyData>("## An API key that expires"),
        table::<WebhookDisabledData>("## A webhook endpoint that is disabled"),
        table::<WebhookRecoveredData>("## A webhook endpoint that recovered"),
        table::<LostData>("## Events that were dropped"),
    ];
    let expected = parts.join("\n");
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/events.md")).unwrap();
    let listed =
        page.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(part, _)| part.trim());
    assert!(
        listed == Some(expected.trim()),
        "docs/events.md is out of date; between the comments it should say:\n\n{expected}"
    );
}
