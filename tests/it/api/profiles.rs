//! The profile of a number, which programs read and change through the API.

use pombo::domain::page::PageRequest;
use pombo::store::changes::{Filter, What};
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::running::Running;

stores!(a_profile_is_passed_to_the_provider_and_its_changes_are_recorded,);

async fn a_profile_is_passed_to_the_provider_and_its_changes_are_recorded(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let place = format!("/api/v1/chat/{}/profile", running.channel);
    let shown = running.ask(Method::GET, &place, &Value::Null).await;
    assert_eq!(shown.status, 200, "{}", shown.body);
    let empty = json!({
        "about": null, "address": null, "description": null, "email": null, "vertical": "UNDEFINED", "websites": [],
        "picture_url": null,
    });
    assert_eq!(shown.json(), empty);
    let change =
        json!({ "about": "Open till nine", "websites": ["https://shop.example"], "vertical": "RETAIL" });
    let changed = running.ask(Method::PATCH, &place, &change).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let changed = changed.json();
    for (name, value) in change.as_object().unwrap() {
        assert_eq!(&changed[name], value, "{changed}");
    }
    for (wrong, param) in [
        (json!({ "about": "x".repeat(140) }), json!("about")),
        (json!({ "websites": ["a", "b", "c"] }), json!("websites")),
        (json!({ "email": 7 }), json!("email")),
        (json!({ "picture": "https://shop.example/cake.png" }), json!("picture")),
        (json!({}), Value::Null),
    ] {
        let refused = running.ask(Method::PATCH, &place, &wrong).await;
        assert_eq!(refused.code().as_deref(), Some("invalid_field"), "{wrong}: {}", refused.body);
        assert_eq!(refused.json().get("param").cloned().unwrap_or_default(), param, "{wrong}");
    }
    let subject = running.channel.to_string();
    let filter = Filter { what: &[What::Channel], subject: Some(&subject), ..Filter::default() };
    let page = PageRequest { page: 1, limit: 10 };
    let recorded = running.store.changes().page(filter, page).await.unwrap().records;
    assert_eq!(recorded[0].who, "key:test");
    assert!(recorded[0].after.to_string().contains("about"), "{recorded:?}");
    running.end().await;
}
