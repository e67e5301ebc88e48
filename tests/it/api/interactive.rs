//! Interactive messages: what is refused before anything is queued, and what the provider gets.

use serde_json::{Value, json};

use super::past_send::FIRST;
use super::shop::Shop;

fn buttons() -> Value {
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
        "body": {"text": "Which?"},
        "action": {"button": "Wines", "sections": [
            {"title": "Red", "rows": [{"id": "1", "title": "Merlot"}, {"id": "2", "title": "Malbec"}]},
            {"title": "White", "rows": [{"id": "3", "title": "Riesling"}]},
        ]},
    })
}

fn products() -> Value {
    json!({
        "type": "product_list",
        "header": {"type": "text", "text": "Cakes"},
        "body": {"text": "Choose"},
        "action": {"catalog_id": "367", "sections": [{"product_items": [{"product_retailer_id": "cake-1"}]}]},
    })
}

fn product() -> Value {
    json!({"type": "product", "action": {"catalog_id": "367", "product_retailer_id": "cake-1"}})
}

/// The payload with another value at a key of one of its objects.
fn with(mut payload: Value, parent: &str, key: &str, value: Value) -> Value {
    payload.pointer_mut(parent).unwrap()[key] = value;
    payload
}

/// The payload with this header.
fn below(header: Value, payload: Value) -> Value {
    with(payload, "", "header", header)
}

fn content(payload: &Value) -> Value {
    json!({"type": "interactive", "interactive": payload})
}

#[tokio::test]
async fn ids_that_are_equal_or_have_blank_edges_are_refused() {
    let shop = Shop::open(vec![]).await;
    let (reply, row) = ("/action/buttons/1/reply", "/action/sections/1/rows/0");
    let first_row = "/action/sections/0/rows/0";
    for (payload, sentence) in [
        (
            with(buttons(), reply, "id", json!("y")),
            "`interactive.action.buttons[1].reply` has the same `id` as one before it: ids must differ",
        ),
        (
            with(buttons(), reply, "id", json!("n ")),
            "`interactive.action.buttons[1].reply` has a blank at the beginning or end of its `id`",
        ),
        (
            with(list(), row, "id", json!("1")),
            "`interactive.action.sections[1].rows[0]` has the same `id` as one before it: ids must differ",
        ),
        (
            with(list(), first_row, "id", json!("\t1")),
            "`interactive.action.sections[0].rows[0]` has a blank at the beginning or end of its `id`",
        ),
    ] {
        assert_eq!(shop.refused(&content(&payload), "invalid_interactive").await, sentence);
    }
    assert_eq!(shop.sends().await, 0, "nothing was queued");
}

#[tokio::test]
async fn a_header_that_a_message_cannot_have_is_refused() {
    let shop = Shop::open(vec![]).await;
    let file = |kind: &str, file: Value| json!({"type": kind, kind: file});
    let link = json!({"link": "https://files.example/cake.jpg"});
    let text = json!({"type": "text", "text": "Today"});
    for (payload, sentence) in [
        (
            below(file("gif", link.clone()), buttons()),
            "`interactive.header` must have one of the types text, image, video, document",
        ),
        (below(json!({"type": "image"}), buttons()), "`interactive.header.image` is missing"),
        (
            below(file("image", json!({"id": "7", "link": "https://files.example/cake.jpg"})), buttons()),
            "`interactive.header.image` must have either a `link` or the `id` of an uploaded file",
        ),
        (
            below(file("image", json!({"link": "files.example/cake.jpg"})), buttons()),
            "`interactive.header.image.link` must begin with http:// or https://",
        ),
        (
            below(file("image", link.clone()), list()),
            "`interactive.header` must have the type `text` in this kind of message",
        ),
        (
            below(file("video", link), products()),
            "`interactive.header` must have the type `text` in this kind of message",
        ),
        (below(Value::Null, products()), "`interactive.header` is missing"),
        (below(text, product()), "`interactive.header` must be left out"),
    ] {
        let told = shop.refused(&content(&payload), "invalid_interactive").await;
        assert!(told.starts_with(sentence), "{told}");
    }
    assert_eq!(shop.sends().await, 0, "nothing was queued");
}

#[tokio::test]
async fn the_link_of_a_header_is_sent_like_the_link_of_a_plain_message() {
    let shop = Shop::open(vec![]).await;
    let mut numbers = FIRST..;
    for (kind, link, sent) in [
        (
            "image",
            " https://files.example/red cake.jpg",
            json!({"link": "https://files.example/red%20cake.jpg"}),
        ),
        (
            "video",
            "https://files.example/maçã.mp4",
            json!({"link": "https://files.example/ma%C3%A7%C3%A3.mp4"}),
        ),
        (
            "document",
            "https://files.example/boleto de julho.pdf",
            json!({"link": "https://files.example/boleto%20de%20julho.pdf", "filename": "boleto de julho.pdf"}),
        ),
        (
            "document",
            "https://files.example/boleto.php?of=July",
            json!({"link": "https://files.example/boleto.php?of=July"}),
        ),
    ] {
        let header = json!({"type": kind, kind: {"link": link}});
        let message = shop.sent(&content(&below(header, buttons())), numbers.next().unwrap()).await;
        assert_eq!(message["interactive"]["header"], json!({"type": kind, kind: sent}), "{link}");
        let plain = shop.sent(&json!({"type": kind, "link": link}), numbers.next().unwrap()).await;
        assert_eq!(plain[kind], sent, "{link}");
    }
    let own = json!({"link": "https://files.example/boleto.pdf", "filename": "July.pdf"});
    let header = json!({"type": "document", "document": own});
    let message = shop.sent(&content(&below(header, buttons())), numbers.next().unwrap()).await;
    assert_eq!(message["interactive"]["header"]["document"], own);
}

#[tokio::test]
async fn a_header_or_a_footer_without_content_is_left_out() {
    let shop = Shop::open(vec![]).await;
    let header = json!({"type": "text", "text": " "});
    let footer = json!({"text": ""});
    for (payload, to) in [buttons(), list(), product()].into_iter().zip(FIRST..) {
        let given = with(below(header.clone(), payload.clone()), "", "footer", footer.clone());
        let message = shop.sent(&content(&given), to).await;
        assert_eq!(message["interactive"], payload);
    }
}
