//! One valid payload of each kind, and every way to break it.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn button() -> Value {
    json!({
        "type": "button",
        "body": {"text": "Come?"},
        "action": {"buttons": [
            {"type": "reply", "reply": {"id": "y", "title": "Yes"}},
            {"type": "reply", "reply": {"id": "n", "title": "No"}},
        ]},
    })
}

fn list() -> Value {
    json!({
        "type": "list",
        "body": {"text": "Choose"},
        "action": {"button": "Menu", "sections": [
            {"title": "A", "rows": [{"id": "1", "title": "One", "description": "first"}, {"id": "2", "title": "Two"}]},
            {"title": "B", "rows": [{"id": "3", "title": "Three"}]},
        ]},
    })
}

fn product_list() -> Value {
    json!({
        "type": "product_list",
        "header": {"type": "text", "text": "Ours"},
        "body": {"text": "Buy"},
        "footer": {"text": "now"},
        "action": {"catalog_id": "146", "sections": [{"product_items": [{"product_retailer_id": "SKU1"}]}]},
    })
}

fn product() -> Value {
    json!({"type": "product", "action": {"catalog_id": "367", "product_retailer_id": "SKU1"}})
}

/// The payload with one place changed; the place need not exist yet.
fn with(mut payload: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
    match payload.pointer_mut(parent) {
        Some(Value::Object(entries)) => {
            entries.insert(key.to_owned(), value);
        }
        Some(Value::Array(items)) => match key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
            Some(item) => *item = value,
            None => items.push(value),
        },
        _ => panic!("{pointer} leads nowhere"),
    }
    payload
}

#[test]
fn every_kind_is_accepted_as_the_specification_gives_it() {
    for payload in [button(), list(), product_list(), product()] {
        assert_eq!(parse(payload.clone()), Ok(payload));
    }
}

#[test]
fn media_headers_and_unknown_fields_pass() {
    for header in [
        json!({"type": "text", "text": "Hi"}),
        json!({"type": "image", "image": {"link": "https://example.com/a.jpg"}}),
        json!({"type": "video", "video": {"id": "12"}}),
        json!({"type": "document", "document": {"id": "12", "filename": "a.pdf"}}),
    ] {
        let payload = with(with(button(), "/header", header), "/extra", json!({"a": [1]}));
        assert_eq!(parse(payload.clone()), Ok(payload));
    }
}

#[test]
fn null_and_blank_entries_are_removed() {
    let payload = with(with(button(), "/footer", Value::Null), "/header", json!(" "));
    assert_eq!(parse(payload), Ok(button()));
    let described = with(product(), "/body", json!({"text": "See", "note": ""}));
    assert_eq!(parse(described), Ok(with(product(), "/body", json!({"text": "See"}))));
}

#[test]
fn a_header_or_footer_without_content_counts_as_absent() {
    for edge in [json!({}), json!({"text": " "}), json!({"type": "text", "text": ""})] {
        let payload = with(with(button(), "/footer", edge.clone()), "/header", edge.clone());
        assert_eq!(parse(payload), Ok(button()), "{edge}");
        assert_eq!(parse(with(product(), "/header", edge)), Ok(product()));
    }
}

#[test]
fn the_link_of_a_header_is_encoded_and_a_document_has_a_name() {
    let header = |kind: &str, file: Value| with(button(), "/header", json!({"type": kind, kind: file}));
    let given = header("image", json!({"link": " https://example.com/a b.jpg\n"}));
    assert_eq!(parse(given), Ok(header("image", json!({"link": "https://example.com/a%20b.jpg"}))));
    let link = "https://example.com/invoice.pdf";
    let named = header("document", json!({"link": link, "filename": "invoice.pdf"}));
    assert_eq!(parse(header("document", json!({"link": link}))), Ok(named));
    let own = header("document", json!({"link": link, "filename": "July.pdf"}));
    assert_eq!(parse(own.clone()), Ok(own));
    let page = header("document", json!({"link": "https://example.com/boleto.php"}));
    assert_eq!(parse(page.clone()), Ok(page));
}

#[test]
fn ids_that_are_equal_or_have_blank_edges_are_refused() {
    let equal = "has the same `id` as one before it";
    let blank = "has a blank at the beginning or end of its `id`";
    for (payload, sentence) in [
        (with(button(), "/action/buttons/1/reply/id", json!("y")), equal),
        (with(button(), "/action/buttons/1/reply/id", json!("n ")), blank),
        (with(list(), "/action/sections/1/rows/0/id", json!("1")), equal),
        (with(list(), "/action/sections/0/rows/0/id", json!("\t1")), blank),
    ] {
        let refusal = parse(payload).unwrap_err();
        assert!(refusal.sentence.contains(sentence), "{}", refusal.sentence);
    }
}

#[test]
fn a_broken_rule_is_named_by_its_path() {
    let long = |chars: usize| Value::from("ç".repeat(chars));
    let reply = |id: &str, title: Value| json!({"type": "reply", "reply": {"id": id, "title": title}});
    let rows = |count: usize| Value::from(vec![json!({"id": "i", "title": "t"}); count]);
    let products = |count: usize| Value::from(vec![json!({"product_retailer_id": "p"}); count]);
    for (payload, beginning) in [
        (json!({}), "`interactive.type` is missing: give one of button, list"),
        (json!({"type": "flow"}), "`interactive.type` must be one of button, list"),
        (json!({"type": 1}), "`interactive.type` must be one of button, list"),
        (json!({"type": "button"}), "`interactive.body` is missing"),
        (with(button(), "/body", json!("Come?")), "`interactive.body` must be an object"),
        (with(button(), "/body/text", Value::Null), "`interactive.body.text` is missing"),
        (with(button(), "/body/text", long(1025)), "`interactive.body.text` is longer than 1024 characters"),
        (with(button(), "/footer", json!({"text": long(61)})), "`interactive.footer.text` is longer than 60"),
        (
            with(button(), "/header", json!({"type": "gif"})),
            "`interactive.header` must have one of the types",
        ),
        (with(button(), "/header", json!({"type": "image"})), "`interactive.header.image` is missing"),
        (
            with(button(), "/header", json!({"type": "image", "image": {}})),
            "`interactive.header.image` must have either",
        ),
        (
            with(button(), "/header", json!({"type": "image", "image": {"link": "a.jpg"}})),
            "`interactive.header.image.link` must begin with http",
        ),
        (
            with(button(), "/header", json!({"type": "text", "text": long(61)})),
            "`interactive.header.text` is longer",
        ),
        (with(button(), "/action", json!([])), "`interactive.action` is missing"),
        (with(button(), "/action/buttons", json!([])), "`interactive.action.buttons` is missing"),
        (with(button(), "/action/buttons", json!({})), "`interactive.action.buttons` must be an array"),
        (
            with(button(), "/action/buttons", json!([1, 2, 3, 4])),
            "`interactive.action.buttons` has 4 items; at most 3 are allowed",
        ),
        (
            with(button(), "/action/buttons/1/type", json!("url")),
            "`interactive.action.buttons[1]` must have the type",
        ),
        (
            with(button(), "/action/buttons/1", json!(null)),
            "`interactive.action.buttons[1]` must be an object",
        ),
        (
            with(button(), "/action/buttons/1", reply("n", long(21))),
            "`interactive.action.buttons[1].reply.title` is longer than 20 characters",
        ),
        (
            with(button(), "/action/buttons/1", reply("n", json!("Yes"))),
            "`interactive.action.buttons[1].reply` has the same title",
        ),
        (
            with(button(), "/action/buttons/0", reply(&"i".repeat(257), json!("Yes"))),
            "`interactive.action.buttons[0].reply.id` is longer than 256",
        ),
        (
            with(list(), "/header", json!({"type": "image", "image": {"id": "1"}})),
            "`interactive.header` must have the type `text`",
        ),
        (with(list(), "/body/text", long(4097)), "`interactive.body.text` is longer than 4096"),
        (with(list(), "/action/button", Value::Null), "`interactive.action.button` is missing"),
        (with(list(), "/action/button", long(21)), "`interactive.action.button` is longer than 20"),
        (
            with(list(), "/action/sections/0/title", Value::Null),
            "`interactive.action.sections[0].title` is missing",
        ),
        (
            with(list(), "/action/sections/0/title", long(25)),
            "`interactive.action.sections[0].title` is longer than 24",
        ),
        (
            with(list(), "/action/sections/1/rows", json!([])),
            "`interactive.action.sections[1].rows` is missing",
        ),
        (
            with(list(), "/action/sections/1/rows", rows(11)),
            "`interactive.action.sections[1].rows` has 11 items",
        ),
        (
            with(list(), "/action/sections/1/rows", rows(9)),
            "`interactive.action.sections[1]` brings the rows of all sections to 11; at most 10",
        ),
        (
            with(list(), "/action/sections/1/rows/0/id", long(201)),
            "`interactive.action.sections[1].rows[0].id` is longer",
        ),
        (
            with(list(), "/action/sections/1/rows/0/title", json!(3)),
            "`interactive.action.sections[1].rows[0].title` must be",
        ),
        (
            with(list(), "/action/sections/0/rows/0/description", long(73)),
            "`interactive.action.sections[0].rows[0].description` is longer than 72",
        ),
        (
            with(list(), "/action/sections", Value::from(vec![json!({}); 11])),
            "`interactive.action.sections` has 11 items",
        ),
        (with(product_list(), "/header", Value::Null), "`interactive.header` is missing"),
        (
            with(product_list(), "/action/catalog_id", json!(146)),
            "`interactive.action.catalog_id` must be a string",
        ),
        (
            with(product_list(), "/action/sections/0/product_items", products(31)),
            "`interactive.action.sections[0].product_items` has 31 items; at most 30",
        ),
        (
            with(product_list(), "/action/sections/0/product_items/0", json!({})),
            "`interactive.action.sections[0].product_items[0].product_retailer_id` is missing",
        ),
        (
            with(product(), "/header", json!({"type": "text", "text": "Hi"})),
            "`interactive.header` must be left out",
        ),
        (with(product(), "/body", json!({})), "`interactive.body.text` is missing"),
        (
            with(product(), "/action/product_retailer_id", Value::Null),
            "`interactive.action.product_retailer_id` is missing",
        ),
    ] {
        let refusal = parse(payload).err();
        assert!(
            refusal.as_ref().is_some_and(|it| {
                it.code == Code::InvalidInteractive && it.sentence.starts_with(beginning)
            }),
            "{beginning}: {refusal:?}"
        );
    }
}

#[test]
fn the_first_fault_is_the_one_that_is_named() {
    let told = |payload: Value| parse(payload).unwrap_err().sentence;
    let reply = |id: &str, title: &str| json!({"type": "reply", "reply": {"id": id, "title": title}});
    let twice = json!([reply("y", "Yes"), reply("y", "No"), reply("z", &"x".repeat(21))]);
    let sentence = told(with(button(), "/action/buttons", twice));
    assert!(sentence.starts_with("`interactive.action.buttons[1].reply` has the same `id`"), "{sentence}");
    let untitled = with(list(), "/action/sections/0/title", Value::Null);
    let sentence = told(with(untitled, "/action/sections/1/rows/0/title", json!(7)));
    assert!(sentence.starts_with("`interactive.action.sections[0].title` is missing"), "{sentence}");
    let twice = with(list(), "/action/sections/0/rows/1/id", json!("1"));
    let sentence = told(with(twice, "/action/sections/1/rows", json!([])));
    assert!(sentence.starts_with("`interactive.action.sections[0].rows[1]` has the same `id`"), "{sentence}");
}

#[test]
fn a_link_is_an_address_and_a_question_for_the_place_has_its_name() {
    let link = |url: &str, name: &str| {
        json!({
            "type": "cta_url", "body": {"text": "It left"},
            "action": {"name": name, "parameters": {"display_text": "Track it", "url": url}},
        })
    };
    assert!(parse(link("https://example.com/7", "cta_url")).is_ok());
    let told = |payload: Value| parse(payload).unwrap_err().sentence;
    let sentence = told(link("example.com", "cta_url"));
    assert!(
        sentence.starts_with("`interactive.action.parameters` has a `url` that does not begin"),
        "{sentence}"
    );
    let sentence = told(link("https://example.com", "open"));
    assert_eq!(sentence, "`interactive.action` must have the name `cta_url`");
    let place = json!({"type": "location_request_message", "body": {"text": "Where?"}, "action": {"name": "send_location"}});
    assert!(parse(place.clone()).is_ok());
    assert!(parse(with(place, "/action", json!({}))).is_err());
}

#[test]
fn limits_count_characters_and_are_inclusive() {
    let payload = with(button(), "/action/buttons/0/reply/title", Value::from("ç".repeat(20)));
    assert!(parse(payload).is_ok());
    let rows: Vec<_> = (10..18).map(|id| json!({"id": id.to_string(), "title": "t"})).collect();
    let rows = Value::from(rows);
    assert!(parse(with(list(), "/action/sections/1/rows", rows)).is_ok());
    assert!(parse(with(list(), "/body/text", Value::from("é".repeat(4096)))).is_ok());
}

proptest! {
    #[test]
    fn no_damage_to_a_payload_panics(kind in 0_usize..4, place in 0_usize..24, value in damage()) {
        let payload = [button, list, product_list, product][kind]();
        let places = pointers(&payload, String::new());
        let damaged = with(payload, &places[place % places.len()], value);
        if let Ok(kept) = parse(damaged) {
            prop_assert_eq!(parse(kept.clone()), Ok(kept));
        }
    }
}

fn damage() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!([[], {}, null])),
        Just(json!({"type": null, "": {}})),
        any::<f32>().prop_map(Value::from),
        ".{0,80}".prop_map(Value::from),
    ]
}

fn pointers(value: &Value, path: String) -> Vec<String> {
    let below: Vec<String> = match value {
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, inner)| pointers(inner, format!("{path}/{key}"))).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, inner)| pointers(inner, format!("{path}/{index}")))
            .collect(),
        _ => Vec::new(),
    };
    if path.is_empty() { below } else { std::iter::once(path).chain(below).collect() }
}
