//! A new send of a template with a flow, products, cards or a deadline: the page has their fields, and the provider gets
//! what was filled in.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use serde_json::{Value, json};

use super::browser::{Browser, value_of};
use super::compose::{NEW, sends, with};
use super::world::World;
use crate::api::past_send::FIRST;
use crate::harness::{Answer, Provider};

/// A world with a channel of a provider that shows what it got.
struct Stage {
    world: World,
    provider: Provider,
    channel: String,
}

impl Stage {
    /// With these templates, each given as its name and its components.
    async fn set(templates: Vec<(&str, Value)>) -> Self {
        let (provider, service) = Provider::start(templates).await;
        let world = World::on(service).await;
        let channel = Provider::channel(&world.service, &world.acme).await.to_string();
        Self { world, provider, channel }
    }

    async fn template(&self, name: &str) -> String {
        Provider::template(&self.world.service, &self.world.acme, name).await.to_string()
    }

    /// The page with the fields of a template.
    async fn page(&self, member: &Browser<'_>, name: &str) -> String {
        let template = self.template(name).await;
        member.page(&format!("{NEW}?type=template&template={template}&channel={}", self.channel)).await
    }

    /// The answer to a form with these values and these other fields.
    async fn post(
        &self,
        member: &Browser<'_>,
        name: &str,
        values: &[(&str, &str)],
        more: &[(&str, &str)],
    ) -> Answer {
        let template = self.template(name).await;
        let own = [("channel", self.channel.as_str()), ("type", "template"), ("template", template.as_str())];
        member.check(NEW, &with(&with(&own, values), more)).await
    }

    /// Checks these values, and sends them to a number; the components that the provider got.
    async fn sent(&self, member: &Browser<'_>, name: &str, values: &[(&str, &str)], to: u64) -> Value {
        let number = to.to_string();
        let to_number = ("numbers", number.as_str());
        let checked = self.post(member, name, values, &[to_number, ("action", "check")]).await;
        assert_eq!(checked.status, 200, "{name}: {}", checked.body);
        assert!(checked.body.contains("1 recipient"), "{name}: {}", checked.body);
        let digest = value_of(&checked.body, "checked").unwrap();
        let send = [to_number, ("action", "send"), ("checked", digest.as_str())];
        let sent = self.post(member, name, values, &send).await;
        assert_eq!(sent.status, 303, "what was checked is sent: {name}: {}", sent.body);
        self.provider.message(to).await["template"]["components"].clone()
    }

    /// The page that refuses these values.
    async fn refused(&self, member: &Browser<'_>, name: &str, values: &[(&str, &str)]) -> String {
        let number = FIRST.to_string();
        let more = [("numbers", number.as_str()), ("action", "check")];
        let answer = self.post(member, name, values, &more).await;
        assert_eq!(answer.status, 422, "{name}: {}", answer.body);
        answer.body
    }
}

/// Fails unless the page has all these texts.
fn has_all(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text}: {page}");
    }
}

fn pressed(kind: &str) -> Value {
    json!([
        {"type": "BODY", "text": "Look"},
        {"type": "BUTTONS", "buttons": [{"type": kind, "text": "Open"}]},
    ])
}

#[tokio::test]
async fn buttons_of_flows_and_catalogues_are_sent_with_their_values_or_alone_and_lists_with_their_products() {
    let templates = [("flow", "FLOW"), ("catalog", "CATALOG"), ("products", "MPM")];
    let templates = templates.map(|(name, kind)| (name, pressed(kind)));
    let stage = Stage::set(templates.into()).await;
    let member = stage.world.signed_in(Role::Member).await;
    let sections = json!([{"title": "Cakes", "product_items": [
        {"product_retailer_id": "cake-1"}, {"product_retailer_id": "cake-2"},
    ]}]);
    let list = json!({"thumbnail_product_retailer_id": "cake-1", "sections": sections});
    for ((name, labels, values, sub_type, action), to) in [
        ("flow", vec!["Button 1: token of the flow (optional)"], vec![], "flow", None),
        ("flow", vec![], vec![("button_0", "table-7")], "flow", Some(json!({"flow_token": "table-7"}))),
        (
            "catalog",
            vec!["Button 1: id of the product whose picture is shown (optional)"],
            vec![],
            "catalog",
            None,
        ),
        (
            "catalog",
            vec![],
            vec![("button_0", "cake-1")],
            "catalog",
            Some(json!({"thumbnail_product_retailer_id": "cake-1"})),
        ),
        (
            "products",
            vec![
                "Button 1: title of the product list",
                "Button 1: ids of the products",
                "name=\"button_0_title\"",
            ],
            vec![("button_0_title", "Cakes"), ("button_0", "cake-1\r\n cake-2 \r\n\r\n")],
            "mpm",
            Some(list),
        ),
    ]
    .into_iter()
    .zip(FIRST..)
    {
        let page = stage.page(&member, name).await;
        has_all(&page, &labels);
        has_all(&page, &["name=\"button_0\""]);
        let mut button = json!({"type": "button", "sub_type": sub_type, "index": "0"});
        if let Some(action) = action {
            button["parameters"] = json!([{"type": "action", "action": action}]);
        }
        assert_eq!(stage.sent(&member, name, &values, to).await, json!([button]));
    }
    let number = sends(&stage.world).await["totalRecords"].clone();
    let lacking = stage.refused(&member, "products", &[("button_0_title", "Cakes"), ("button_0", " ")]).await;
    assert!(lacking.contains("The values do not fit the template"), "{lacking}");
    assert_eq!(sends(&stage.world).await["totalRecords"], number);
}

#[tokio::test]
async fn each_card_of_a_carousel_has_fields_of_its_own() {
    let buttons = json!([
        {"type": "QUICK_REPLY", "text": "More"},
        {"type": "URL", "text": "Buy", "url": "https://shop.example/{{1}}"},
    ]);
    let card = json!({"components": [
        {"type": "HEADER", "format": "IMAGE"},
        {"type": "BODY", "text": "{{1}} today"},
        {"type": "BUTTONS", "buttons": buttons},
    ]});
    let carousel =
        json!([{"type": "BODY", "text": "New for {{1}}"}, {"type": "CAROUSEL", "cards": [card, card]}]);
    let stage = Stage::set(vec![("wines", carousel)]).await;
    let member = stage.world.signed_in(Role::Member).await;
    let page = stage.page(&member, "wines").await;
    has_all(
        &page,
        &[
            "Card 1",
            "Card 2",
            "Address of the header",
            "Text 1 – shown where {{1}} stands",
            "Button 2: end of its address",
        ],
    );
    has_all(&page, &["name=\"body_1\"", "name=\"card_0_header_link\"", "name=\"card_1_body_1\""]);
    has_all(&page, &["name=\"card_0_button_0\"", "name=\"card_1_button_1\""]);
    let values = [
        ("body_1", "spring"),
        ("card_0_header_link", "https://192.0.2.1/0.jpg"),
        ("card_0_body_1", "Merlot"),
        ("card_0_button_0", "more of it"),
        ("card_0_button_1", "merlot"),
        ("card_1_header_link", "https://192.0.2.1/1.jpg"),
        ("card_1_body_1", "Riesling"),
        ("card_1_button_1", "riesling"),
    ];
    for lacking in ["body_1", "card_0_header_link", "card_1_body_1", "card_1_button_1"] {
        let refused = stage.refused(&member, "wines", &with(&values, &[(lacking, "")])).await;
        assert!(refused.contains("The values do not fit the template"), "{lacking}: {refused}");
    }
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let header =
        |link: &str| json!({"type": "header", "parameters": [{"type": "image", "image": {"link": link}}]});
    let reply = json!([{"type": "payload", "payload": "more of it"}]);
    let first = json!([
        header("https://192.0.2.1/0.jpg"),
        {"type": "body", "parameters": text("Merlot")},
        {"type": "button", "sub_type": "quick_reply", "index": "0", "parameters": reply},
        {"type": "button", "sub_type": "url", "index": "1", "parameters": text("merlot")},
    ]);
    let second = json!([
        header("https://192.0.2.1/1.jpg"),
        {"type": "body", "parameters": text("Riesling")},
        {"type": "button", "sub_type": "url", "index": "1", "parameters": text("riesling")},
    ]);
    let cards = json!([{"card_index": 0, "components": first}, {"card_index": 1, "components": second}]);
    let sent = stage.sent(&member, "wines", &values, FIRST).await;
    let body = json!({"type": "body", "parameters": text("spring")});
    assert_eq!(sent, json!([body, {"type": "carousel", "cards": cards}]));
}

#[tokio::test]
async fn cards_of_products_are_filled_in_with_their_ids() {
    let card = json!({"components": [
        {"type": "HEADER", "format": "PRODUCT"},
        {"type": "BUTTONS", "buttons": [{"type": "SPM", "text": "View"}]},
    ]});
    let carousel = json!([{"type": "BODY", "text": "New"}, {"type": "CAROUSEL", "cards": [card, card]}]);
    let stage = Stage::set(vec![("cakes", carousel)]).await;
    let member = stage.world.signed_in(Role::Member).await;
    let page = stage.page(&member, "cakes").await;
    has_all(&page, &["Card 2", "Product", "Catalogue"]);
    has_all(&page, &["name=\"card_0_header_product\"", "name=\"card_1_header_catalog\""]);
    let values = [
        ("card_0_header_product", "cake-1"),
        ("card_0_header_catalog", "367"),
        ("card_1_header_product", "cake-2"),
        ("card_1_header_catalog", "367"),
    ];
    let card = |index: u8, product: &str| {
        let product = json!({"product_retailer_id": product, "catalog_id": "367"});
        let header = json!({"type": "header", "parameters": [{"type": "product", "product": product}]});
        json!({"card_index": index, "components": [header]})
    };
    let cards = [card(0, "cake-1"), card(1, "cake-2")];
    let sent = stage.sent(&member, "cakes", &values, FIRST).await;
    assert_eq!(sent, json!([{"type": "carousel", "cards": cards}]));
}

#[tokio::test]
async fn an_offer_is_sent_with_the_end_that_was_filled_in() {
    let offer = json!([
        {"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"text": "Soon over", "has_expiration": true}},
        {"type": "BODY", "text": "Half price"},
        {"type": "BUTTONS", "buttons": [{"type": "COPY_CODE", "example": "HALF"}]},
    ]);
    let stage = Stage::set(vec![("offer", offer)]).await;
    let owner = stage.world.signed_in(Role::Owner).await;
    owner.submit("/console/account/profile", &[("name", "Olga"), ("time_zone", "America/Sao_Paulo")]).await;
    let page = stage.page(&owner, "offer").await;
    has_all(&page, &["The offer ends", "name=\"deadline\"", "Button 1: coupon code", "name=\"button_0\""]);
    let values = [("deadline", "2090-01-31T12:00"), ("button_0", "SAVE10")];
    for wrong in ["", "soon"] {
        let refused = stage.refused(&owner, "offer", &with(&values, &[("deadline", wrong)])).await;
        assert!(refused.contains("This is not a date and time."), "{refused}");
    }
    let sent = stage.sent(&owner, "offer", &values, FIRST).await;
    let end = Timestamp::parse("2090-01-31T15:00:00Z").unwrap().millis();
    let end = json!({"type": "limited_time_offer", "limited_time_offer": {"expiration_time_ms": end}});
    let code = json!([{"type": "coupon_code", "coupon_code": "SAVE10"}]);
    assert_eq!(
        sent,
        json!([
            {"type": "button", "sub_type": "copy_code", "index": "0", "parameters": code},
            {"type": "limited_time_offer", "parameters": [end]},
        ])
    );
}
