//! Meta's library of templates in the console: searched, previewed, filled in, and copied into the account.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use serde_json::json;

use super::channels::{Stage, business};
use super::world::World;
use crate::running::WABA;

const LIBRARY: &str = "/console/templates/library";
/// A template that asks for an address and a number.
const OVERDUE: &str = "/console/templates/library/payment_overdue_1";

/// The fields of a copy, with these changed.
fn fields<'a>(changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = [
        ("account", WABA),
        ("language", "en_US"),
        ("name", "please_pay"),
        ("address_0", "https://shop.example/pay/{{1}}"),
        ("example_0", "https://shop.example/pay/7"),
        ("phone_1", "+55 11 98888-7777"),
    ];
    let changed = |name: &str| changed.iter().find(|(known, _)| *known == name);
    usual.iter().map(|field| *changed(field.0).unwrap_or(field)).collect()
}

#[tokio::test]
async fn a_template_of_meta_s_library_is_found_previewed_filled_in_and_copied() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    assert!(owner.page(LIBRARY).await.contains("The library is for business accounts"));
    assert_eq!(owner.post("/console/channels/new", &business(&[])).await.status, 303);
    let member = stage.world.signed_in(Role::Member).await;
    for leading in ["/console/templates", "/console/templates/new"] {
        assert!(member.page(leading).await.contains(&format!("href=\"{LIBRARY}\"")), "{leading}");
    }
    let all = member.page(LIBRARY).await;
    for words in
        ["payment_overdue_1", "delivery_update_1", "A payment is overdue", "Orders", "identity verification"]
    {
        assert!(all.contains(words), "{words}: {all}");
    }
    for (query, found, other) in [
        ("search=venceram", "Pagamento em atraso", "delivery_update_1"),
        ("usecase=DELIVERY_UPDATE&language=es", "Seguirlo", "Track it"),
        ("industry=FINANCIAL_SERVICES&account=1", "payment_overdue_1", "delivery_update_1"),
        ("search=nothing+at+all", "No template matches.", "<article"),
    ] {
        let page = member.page(&format!("{LIBRARY}?{query}")).await;
        assert!(page.contains(found) && !page.contains(other), "{query}: {page}");
    }
    let one = member.page(OVERDUE).await;
    for words in [
        "class=\"phone\"",
        "Address behind “Pay now”",
        "Number that “Call us” calls",
        "Also in:",
        "language=pt_BR",
        "value=\"en_US\"",
    ] {
        assert!(one.contains(words), "{words}: {one}");
    }
    let other = member.page(&format!("{OVERDUE}?language=pt_BR")).await;
    assert!(other.contains("Address behind “Pagar agora”"), "{other}");
    for (changed, sentence) in [
        (("name", "Please Pay"), "small letters without accents"),
        (("address_0", "shop.example"), "begins with https://"),
        (("address_0", "https://shop.example/{{1}}/pay"), "at its end"),
        (("example_0", ""), "Give the whole address of one such page"),
        (("phone_1", "98888-7777"), "with + and country code"),
        (("phone_1", ""), "Fill this in."),
    ] {
        let refused = member.post(OVERDUE, &fields(&[changed])).await;
        assert_eq!(refused.status, 422, "{changed:?}");
        assert!(refused.body.contains(sentence), "{changed:?}: {}", refused.body);
    }
    let page = member.submit(OVERDUE, &fields(&[])).await;
    for words in ["The template can be sent.", "please_pay", "approved", "Pay now", "Paid already?"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let again = member.post(OVERDUE, &fields(&[])).await;
    assert_eq!(again.status, 422);
    assert!(again.body.contains("Meta did not take it. It says:"), "{}", again.body);
    assert_eq!(member.get(&format!("{LIBRARY}/nothing")).await.status, 404);

    let viewer = stage.world.signed_in(Role::Viewer).await;
    assert_eq!(viewer.get(LIBRARY).await.status, 403);
    let outsider = stage.world.outsider().await;
    assert_eq!(outsider.get(OVERDUE).await.status, 404, "the account is another company's");
    let away = reqwest::Client::new().post(stage.provider("_sim/script")).json(&json!({ "outage": true }));
    assert_eq!(away.send().await.unwrap().status(), 200);
    let page = member.page(LIBRARY).await;
    assert!(page.contains("Meta does not show its library"), "{page}");
}

#[tokio::test]
async fn a_code_is_copied_with_what_stands_below_it() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    assert_eq!(owner.post("/console/channels/new", &business(&[])).await.status, 303);
    let place = format!("{LIBRARY}/verify_code_1");
    let shown = owner.page(&place).await;
    assert!(shown.contains("“Copy code” copies the code") && shown.contains("Below the code"), "{shown}");
    let mut fields = vec![
        ("account", WABA),
        ("language", "en_US"),
        ("name", "sign_in"),
        ("safety", "yes"),
        ("minutes", "1000"),
    ];
    let refused = owner.post(&place, &fields).await;
    assert!(refused.status == 422 && refused.body.contains("from 1 to 90"), "{}", refused.body);
    fields[4].1 = "5";
    let page = owner.submit(&place, &fields).await;
    for words in ["The template can be sent.", "do not share this code", "expires in 5 minutes"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[tokio::test]
async fn linked_phones_have_no_library() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    world.service.channel(&world.acme, Kind::WebSession, "Phone", Status::Connected).await;
    assert!(member.page(LIBRARY).await.contains("Linked phones have texts of their own"));
    for leading in ["/console/templates", "/console/templates/new"] {
        assert!(!member.page(leading).await.contains(LIBRARY), "{leading}");
    }
    assert_eq!(member.get(&format!("{OVERDUE}?account=web")).await.status, 404);
    assert_eq!(member.post(OVERDUE, &[("account", "web"), ("name", "mine")]).await.status, 404);
}
