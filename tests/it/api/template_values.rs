//! The values of templates with flows, products, cards, deadlines and documents: refused before anything is queued, or
//! sent in the provider's form.

use serde_json::{Value, json};

use super::past_send::FIRST;
use super::shop::Shop;

const ANA: u64 = 5_511_988_880_001;
const BIA: u64 = 5_511_988_880_002;
/// A number without a contact.
const STRANGER: u64 = 5_511_988_880_003;
const FIELD: &str = "{{contact.first_name|you}}";

/// A kind of template.
struct Case {
    name: &'static str,
    /// The provider's description.
    components: Value,
    /// The values that it takes, as the provider gets them.
    values: Value,
    /// The refusal of a send without values.
    missing: &'static str,
}

fn cases() -> [Case; 6] {
    let pressed = |kind: &str| {
        json!([
            {"type": "BODY", "text": "Look"},
            {"type": "BUTTONS", "buttons": [{"type": kind, "text": "Open"}]},
        ])
    };
    let products = json!([{"title": "Cakes", "product_items": [{"product_retailer_id": "cake-1"}]}]);
    let list = json!({"thumbnail_product_retailer_id": "cake-1", "sections": products});
    let end = json!({"type": "limited_time_offer", "limited_time_offer": {"expiration_time_ms": 3_789_000_000_000_u64}});
    [
        Case {
            name: "flow",
            components: pressed("FLOW"),
            values: button("flow", &action(&json!({"flow_token": "table-7"}))),
            missing: "the button 0 is missing: the template needs a button of sub_type `flow`, with or without parameters",
        },
        Case {
            name: "catalog",
            components: pressed("CATALOG"),
            values: button("catalog", &action(&json!({"thumbnail_product_retailer_id": "cake-1"}))),
            missing: "the button 0 is missing: the template needs a button of sub_type `catalog`, with or without parameters",
        },
        Case {
            name: "products",
            components: pressed("MPM"),
            values: button("mpm", &action(&list)),
            missing: "the button 0 is missing: the template needs a button of sub_type `mpm` with one action parameter",
        },
        Case {
            name: "coupon",
            components: pressed("COPY_CODE"),
            values: button("copy_code", &json!([{"type": "coupon_code", "coupon_code": "SAVE10"}])),
            missing: "the button 0 is missing: the template needs a button of sub_type `copy_code` with one coupon_code parameter",
        },
        Case {
            name: "offer",
            components: json!([
                {"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"text": "Soon over", "has_expiration": true}},
                {"type": "BODY", "text": "Half price"},
            ]),
            values: json!([{"type": "limited_time_offer", "parameters": [end]}]),
            missing: "the limited-time offer is missing: give one limited_time_offer parameter with its `expiration_time_ms`",
        },
        Case {
            name: "carousel",
            components: carousel(),
            values: cards(&[card(0, "Merlot"), card(1, "Riesling")]),
            missing: "the header of card 0 expects one image parameter, but 0 are given",
        },
    ]
}

/// The templates of the cases.
fn templates(cases: &[Case]) -> Vec<(&str, Value)> {
    cases.iter().map(|case| (case.name, case.components.clone())).collect()
}

/// A template with two cards.
fn carousel() -> Value {
    let buttons = json!([
        {"type": "QUICK_REPLY", "text": "More"},
        {"type": "URL", "text": "Buy", "url": "https://shop.example/{{1}}"},
    ]);
    let card = json!({"components": [
        {"type": "HEADER", "format": "IMAGE"},
        {"type": "BODY", "text": "{{1}} today"},
        {"type": "BUTTONS", "buttons": buttons},
    ]});
    json!([{"type": "BODY", "text": "New wines"}, {"type": "CAROUSEL", "cards": [card, card]}])
}

fn button(sub_type: &str, parameters: &Value) -> Value {
    json!([{"type": "button", "sub_type": sub_type, "index": "0", "parameters": parameters}])
}

fn action(action: &Value) -> Value {
    json!([{"type": "action", "action": action}])
}

/// The values of a card, with this text in its body and at the end of its address.
fn card(index: u8, text: &str) -> Value {
    json!({"card_index": index, "components": [
        {"type": "header", "parameters": [{"type": "image", "image": {"link": "https://files.example/wine.jpg"}}]},
        {"type": "body", "parameters": [{"type": "text", "text": text}]},
        {"type": "button", "sub_type": "url", "index": "1", "parameters": [{"type": "text", "text": text}]},
    ]})
}

fn cards(cards: &[Value]) -> Value {
    json!([{"type": "carousel", "cards": cards}])
}

#[tokio::test]
async fn a_template_goes_with_the_parts_that_it_has_and_with_no_others() {
    let cases = cases();
    let shop = Shop::open(templates(&cases)).await;
    for Case { name, missing, .. } in &cases {
        let none = shop.template(name, &json!([])).await;
        let sentence = shop.refused(&none, "invalid_components").await;
        assert_eq!(sentence, format!("`components`: {missing}"));
        for other in cases.iter().filter(|other| other.name != *name) {
            let content = shop.template(name, &other.values).await;
            shop.refused(&content, "invalid_components").await;
        }
    }
    assert_eq!(shop.sends().await, 0, "nothing was queued");
    for (Case { name, values, .. }, to) in cases.iter().zip(FIRST..) {
        let message = shop.sent(&shop.template(name, values).await, to).await;
        assert_eq!(&message["template"]["components"], values, "{name}");
    }
}

#[tokio::test]
async fn values_that_do_not_fit_are_refused_by_the_part_that_is_wrong() {
    let cases = cases();
    let shop = Shop::open(templates(&cases)).await;
    let (merlot, riesling) = (card(0, "Merlot"), card(1, "Riesling"));
    let text = json!([{"type": "text", "text": "x"}]);
    let twice = json!([{"type": "action", "action": {}}, {"type": "action", "action": {}}]);
    for (name, values, sentence) in [
        ("flow", button("flow", &twice), "the button 0 expects one action parameter, but 2 are given"),
        (
            "catalog",
            button("catalog", &text),
            "the button 0 expects one action parameter, but one of type `text` is given",
        ),
        ("products", button("mpm", &json!([])), "the button 0 expects one action parameter, but 0 are given"),
        ("coupon", button("copy_code", &json!([])), "the button 0 is missing"),
        (
            "offer",
            json!([{"type": "limited_time_offer", "parameters": []}]),
            "the limited-time offer is missing",
        ),
        (
            "carousel",
            cards(std::slice::from_ref(&merlot)),
            "the header of card 1 expects one image parameter, but 0 are given",
        ),
        ("carousel", cards(&[merlot.clone(), card(0, "Rosé")]), "the card 0 is given twice"),
        (
            "carousel",
            cards(&[merlot, riesling, card(2, "Rosé")]),
            "the card 2 is given, but the template has 2 cards, counted from 0",
        ),
    ] {
        let content = shop.template(name, &values).await;
        let told = shop.refused(&content, "invalid_components").await;
        assert!(told.starts_with(&format!("`components`: {sentence}")), "{told}");
    }
    assert_eq!(shop.sends().await, 0, "nothing was queued");
}

#[tokio::test]
async fn a_button_that_is_only_named_is_sent_without_parameters() {
    let cases = cases();
    let shop = Shop::open(templates(&cases)).await;
    let kinds = ["flow", "catalog"];
    let ways = kinds.iter().flat_map(|kind| {
        let bare = json!([{"type": "button", "sub_type": kind, "index": "0"}]);
        [bare.clone(), button(kind, &json!([])), button(kind, &Value::Null)]
            .map(|given| (kind, given, bare.clone()))
    });
    for ((name, given, bare), to) in ways.zip(FIRST..) {
        let message = shop.sent(&shop.template(name, &given).await, to).await;
        assert_eq!(message["template"]["components"], bare, "{given}");
    }
}

#[tokio::test]
async fn a_contact_field_in_a_card_is_filled_in_for_each_recipient() {
    let shop = Shop::open(vec![("carousel", carousel())]).await;
    let people = [("Ana Lúcia", ANA), ("Bia", BIA)];
    let people = people.map(|(name, number)| json!({"first_name": name, "phone_number": number.to_string()}));
    let people = json!({"contacts": people}).to_string();
    let written = shop.service.post("/api/v1/contacts/batch", &shop.acme.key, people).await;
    assert_eq!(written.status, 200, "{}", written.body);
    let mut content = shop.template("carousel", &cards(&[card(0, FIELD), card(1, "Riesling")])).await;
    content["contact_fields"] = json!(true);
    let answer = shop.send(&content, &[ANA, BIA, STRANGER]).await;
    assert_eq!((answer.status, &answer.json()["recipients_count"]), (202, &json!(3)), "{}", answer.body);
    for (to, text, end) in
        [(ANA, "Ana Lúcia", "Ana%20L%C3%BAcia"), (BIA, "Bia", "Bia"), (STRANGER, "you", "you")]
    {
        let message = shop.provider.message(to).await;
        let sent = &message["template"]["components"][0]["cards"];
        let values = [1, 2].map(|part: usize| &sent[0]["components"][part]["parameters"][0]["text"]);
        assert_eq!(values, [text, end], "{sent}");
        assert_eq!(sent[1], card(1, "Riesling"));
    }
}

#[tokio::test]
async fn a_contact_field_that_a_card_cannot_fill_in_is_refused() {
    const FIRST_CARD: &str = "/0/cards/0/components";
    let shop = Shop::open(vec![("carousel", carousel())]).await;
    let reply = json!([{"type": "payload", "payload": FIELD}]);
    let misplaced = "cannot have contact fields";
    for (place, value, sentence) in [
        ("0/parameters/0/image/link", json!(format!("https://files.example/{FIELD}.jpg")), misplaced),
        (
            "0/parameters/0",
            json!({"type": "image", "image": {"id": "7", "filename": format!("{FIELD}.jpg")}}),
            misplaced,
        ),
        ("2", button("quick_reply", &reply)[0].clone(), misplaced),
        ("1/parameters/0/text", json!("{{contact.nickname}}"), "is no contact field"),
        ("1/parameters/0/text", json!("For {{1}}"), "is no contact field"),
    ] {
        let mut values = cards(&[card(0, "Merlot"), card(1, "Riesling")]);
        *values.pointer_mut(&format!("{FIRST_CARD}/{place}")).unwrap() = value;
        let mut content = shop.template("carousel", &values).await;
        content["contact_fields"] = json!(true);
        let told = shop.refused(&content, "invalid_components").await;
        assert!(told.contains(sentence), "{place}: {told}");
    }
    assert_eq!(shop.sends().await, 0, "nothing was queued");
}

#[tokio::test]
async fn a_document_above_a_template_has_the_name_that_was_given_or_the_one_in_its_link() {
    const LINK: &str = "https://files.example/july/boleto.pdf";
    const PAGE: &str = "https://files.example/boleto.php?id=7";
    let header = json!([{"type": "HEADER", "format": "DOCUMENT"}, {"type": "BODY", "text": "Your bill"}]);
    let shop = Shop::open(vec![("bill", header)]).await;
    let named = json!({"link": LINK, "filename": "boleto.pdf"});
    for ((parameter, document), to) in [
        (
            json!({"type": "document", "link": LINK, "filename": "July.pdf"}),
            json!({"link": LINK, "filename": "July.pdf"}),
        ),
        (json!({"type": "document", "link": LINK}), named.clone()),
        (json!({"type": "document", "document": {"link": LINK}}), named),
        (
            json!({"type": "document", "link": "https://files.example/boleto de julho.pdf"}),
            json!({"link": "https://files.example/boleto%20de%20julho.pdf", "filename": "boleto de julho.pdf"}),
        ),
        (json!({"type": "document", "link": PAGE}), json!({"link": PAGE})),
        (json!({"type": "document", "id": "123"}), json!({"id": "123"})),
    ]
    .into_iter()
    .zip(FIRST..)
    {
        let values = json!([{"type": "header", "parameters": [parameter]}]);
        let message = shop.sent(&shop.template("bill", &values).await, to).await;
        let sent = json!([{"type": "header", "parameters": [{"type": "document", "document": document}]}]);
        assert_eq!(message["template"]["components"], sent, "{values}");
    }
}
