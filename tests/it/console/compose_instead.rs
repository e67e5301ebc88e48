//! A new send with a template for people whose window is closed.

use pombo::accounts::Role;
use pombo::domain::inbound::WindowRule;
use pombo::store::changes::Who;
use serde_json::json;

use super::browser::value_of;
use super::compose::{NEW, sends, with};
use super::inbox::Desk;

/// Who wrote a minute ago, and who never did.
const ANA: &str = "5511900000007";
const BEA: &str = "5511900000008";

#[tokio::test]
async fn people_whose_window_is_closed_get_the_template_of_the_form() {
    let desk = Desk::new().await;
    let conversations = desk.world.service.engine().conversations(desk.world.acme.id);
    conversations.set_window_rule(&Who::Pombo, desk.shop, WindowRule::Enforce).await.unwrap();
    desk.world.service.templates(&desk.world.acme, &[("greeting", "en", "APPROVED")]).await;
    let template = desk.world.service.template_id(&desk.world.acme, "greeting", "en").await.to_string();
    desk.writes(ANA, "wamid.1", "is it ready?", 60).await;
    let (member, shop) = (desk.world.signed_in(Role::Member).await, desk.shop.to_string());
    let page = member.page(&format!("{NEW}?type=text&step=what&channel={shop}")).await;
    assert!(page.contains("name=\"instead\"") && page.contains("greeting (en)"), "{page}");
    let once = value_of(&page, "once").unwrap();
    let numbers = format!("+{ANA}, +{BEA}");
    let fields = [
        ("once", once.as_str()),
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "It is ready."),
        ("numbers", numbers.as_str()),
        ("instead", template.as_str()),
        ("body_1", "{{contact.first_name|friend}}"),
        ("body_2", "seven"),
    ];
    let chosen = member.check(NEW, &with(&fields, &[("action", "choose"), ("step", "what")])).await;
    assert!(
        chosen.body.contains("name=\"body_2\"") && chosen.body.contains("Hello friend"),
        "{}",
        chosen.body
    );
    let empty = member.check(NEW, &with(&fields, &[("action", "check"), ("body_2", "")])).await;
    assert_eq!(empty.status, 422, "{}", empty.body);
    let checked = member.check(NEW, &with(&fields, &[("action", "check")])).await;
    for shown in ["2 recipients", "1 of them did not write in the last 24 hours and gets the template."] {
        assert!(checked.body.contains(shown), "{shown}: {}", checked.body);
    }
    assert!(!checked.body.contains("reaches only people who wrote"), "{}", checked.body);
    let digest = value_of(&checked.body, "checked").unwrap();
    let sent = member.check(NEW, &with(&fields, &[("action", "send"), ("checked", &digest)])).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let listed = sends(&desk.world).await;
    assert_eq!(listed["totalRecords"], 2, "{listed}");

    let page = member.page(sent.header("location")).await;
    assert!(page.contains("People who did not write in the last 24 hours get a template:"), "{page}");
    let all = listed["data"].as_array().unwrap();
    let other = all.iter().find(|send| send["type"] == "template").unwrap();
    let place = format!("/console/sends/{}", other["id"].as_str().unwrap());
    assert!(page.contains(&format!("href=\"{place}\"")), "{page}");
    let page = member.page(&place).await;
    let back = format!("href=\"{}\"", sent.header("location"));
    assert!(page.contains("In place of this send") && page.contains(&back), "{page}");

    // A copy of the message has the template and all people again.
    let main = sent.header("location").rsplit('/').next().unwrap();
    let copy = member.page(&format!("{NEW}?copy={main}")).await;
    let named = |name: &str| value_of(&copy, name);
    assert_eq!(
        (named("instead"), named("body_2")),
        (Some(template.clone()), Some("seven".to_owned())),
        "{copy}"
    );
    assert!(copy.contains(&format!("+{ANA}")) && copy.contains(&format!("+{BEA}")), "{copy}");
}

#[tokio::test]
async fn a_template_that_cannot_be_sent_any_more_is_told_beside_its_field() {
    let desk = Desk::new().await;
    desk.world.service.templates(&desk.world.acme, &[("greeting", "en", "PAUSED")]).await;
    let template = desk.world.service.template_id(&desk.world.acme, "greeting", "en").await.to_string();
    let (member, shop) = (desk.world.signed_in(Role::Member).await, desk.shop.to_string());
    let numbers = format!("+{ANA}");
    let fields = [
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "It is ready."),
        ("numbers", numbers.as_str()),
        ("instead", template.as_str()),
        ("action", "check"),
    ];
    let refused = member.check(NEW, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body.contains("The template does not exist any more, or is not approved."),
        "{}",
        refused.body
    );
    assert_eq!(sends(&desk.world).await["totalRecords"], json!(0));
}
