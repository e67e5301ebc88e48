//! Templates with cards and with a deadline.

use serde_json::{Value, json};

use super::{outcome, template, texts};

#[test]
fn a_carousel_takes_the_values_of_each_card() {
    let card = json!({"components": [
        {"type": "HEADER", "format": "IMAGE"},
        {"type": "BODY", "text": "Only {{1}}"},
        {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY"}, {"type": "URL", "url": "https://h/{{1}}"}]},
    ]});
    let template =
        template(json!([{"type": "BODY", "text": "New"}, {"type": "CAROUSEL", "cards": [card, card]}]));
    let values = |index: Value| {
        json!({"card_index": index, "components": [
            {"type": "header", "parameters": [{"type": "image", "link": "https://h/a.jpg"}]},
            {"type": "body", "parameters": texts(&["€ 5"])},
            {"type": "button", "sub_type": "url", "index": "1", "parameters": texts(&["a"])},
        ]})
    };
    let given = |cards: Value| json!([{"type": "carousel", "cards": cards}]);
    assert_eq!(outcome(&template, &given(json!([values(json!(0)), values(json!("1"))]))), "ok");
    let missing = "`components`: the header of card 1 expects one image parameter, but 0 are given";
    assert_eq!(outcome(&template, &given(json!([values(json!(0))]))), missing);
    let none = "`components`: the header of card 0 expects one image parameter, but 0 are given";
    assert_eq!(outcome(&template, &json!([])), none);
    assert_eq!(
        outcome(&template, &given(json!([values(json!(0)), values(json!(0))]))),
        "`components`: the card 0 is given twice"
    );
    assert_eq!(
        outcome(&template, &given(json!([values(json!(0)), values(json!(1)), values(json!(2))]))),
        "`components`: the card 2 is given, but the template has 2 cards, counted from 0"
    );
    let nested = json!([{"card_index": 0, "components": [{"type": "carousel"}]}]);
    assert!(outcome(&template, &given(nested)).contains("is a carousel in a card"));
}

#[test]
fn an_offer_takes_its_deadline_if_it_ends() {
    let offer = |ends: bool| {
        let offer = json!({"text": "Soon over", "has_expiration": ends});
        template(json!([{"type": "LIMITED_TIME_OFFER", "limited_time_offer": offer}]))
    };
    let given = json!([{"type": "limited_time_offer", "parameters": [
        {"type": "limited_time_offer", "limited_time_offer": {"expiration_time_ms": 1_900_000_000_000_u64}},
    ]}]);
    assert_eq!(outcome(&offer(true), &given), "ok");
    assert!(outcome(&offer(true), &json!([])).contains("the limited-time offer is missing"));
    assert_eq!(outcome(&offer(false), &json!([])), "ok");
    let none = template(json!([{"type": "BODY", "text": "Hello"}]));
    assert!(outcome(&none, &given).contains("which the template does not have"));
}
