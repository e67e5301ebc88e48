//! A new send, and a retry, with a template for people whose window is closed.

use pombo::accounts::Role;
use pombo::domain::inbound::WindowRule;
use pombo::domain::message::State as At;
use pombo::store::changes::Who;
use serde_json::json;

use super::browser::value_of;
use super::compose::{NEW, sends, with};
use super::inbox::Desk;
use crate::api::past_send::{FIRST, Past};

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

#[tokio::test]
async fn a_retry_gives_the_template_of_its_form_to_people_whose_window_has_closed() {
    let desk = Desk::new().await;
    let conversations = desk.world.service.engine().conversations(desk.world.acme.id);
    conversations.set_window_rule(&Who::Pombo, desk.shop, WindowRule::Enforce).await.unwrap();
    desk.world.service.templates(&desk.world.acme, &[("greeting", "en", "APPROVED")]).await;
    let template = desk.world.service.template_id(&desk.world.acme, "greeting", "en").await.to_string();
    desk.writes(&FIRST.to_string(), "wamid.1", "still there?", 60).await;
    let failed = [(At::Failed, Some(131_047)); 2];
    let sent = Past::text(&desk.world.service, &desk.world.acme, desk.shop).with(&failed).await;
    let member = desk.world.signed_in(Role::Member).await;
    let place = format!("/console/sends/{sent}/again");
    let plain = member.page(&place).await;
    assert!(plain.contains("1 recipient<") && plain.contains("greeting (en)"), "{plain}");
    assert!(!plain.contains("name=\"body_2\"") && plain.contains(">Send</button>"), "{plain}");

    let query = format!("{place}?state=failed&instead={template}");
    let chosen = member.page(&format!("{query}&action=choose")).await;
    assert!(chosen.contains("name=\"body_2\"") && !chosen.contains("The values do not fit"), "{chosen}");
    let empty = member.page(&query).await;
    assert!(empty.contains("The values do not fit the template"), "{empty}");
    for page in [&chosen, &empty] {
        assert!(!page.contains(">Send</button>"), "{page}");
    }
    let values = "body_1=%7B%7Bcontact.first_name%7Cfriend%7D%7D&body_2=seven";
    let checked = member.page(&format!("{query}&{values}")).await;
    for shown in ["2 recipients", "1 of them did not write in the last 24 hours and gets the template."] {
        assert!(checked.contains(shown), "{shown}: {checked}");
    }

    let once = value_of(&checked, "once").unwrap();
    let fields = [
        ("once", once.as_str()),
        ("state", "failed"),
        ("instead", template.as_str()),
        ("body_1", "{{contact.first_name|friend}}"),
        ("body_2", "seven"),
    ];
    let hidden = |name: &str, value: &str| format!("type=\"hidden\" name=\"{name}\" value=\"{value}\"");
    for (name, value) in &fields[1..] {
        assert!(checked.contains(&hidden(name, value)), "{name}: {checked}");
    }
    let wrong = member.check(&place, &with(&fields, &[("body_2", "")])).await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    let (first, second) = (member.post(&place, &fields).await, member.post(&place, &fields).await);
    assert_eq!((first.status, second.status), (303, 303), "{}", first.body);
    assert_eq!(first.header("location"), second.header("location"));
    let page = member.page(first.header("location")).await;
    assert!(page.contains("A new send to 2 recipients was accepted"), "{page}");
    assert!(page.contains("People who did not write in the last 24 hours get a template:"), "{page}");
    assert_eq!(sends(&desk.world).await["totalRecords"], 3);
}

#[tokio::test]
async fn a_retry_of_a_template_offers_no_other_one() {
    let desk = Desk::new().await;
    desk.world.service.templates(&desk.world.acme, &[("greeting", "en", "APPROVED")]).await;
    let template = desk.world.service.template_id(&desk.world.acme, "greeting", "en").await;
    let content = r#"{"type":"template","name":"greeting","language":"en","components":[]}"#.to_owned();
    let past = Past::text(&desk.world.service, &desk.world.acme, desk.shop);
    let past = Past { content, template: Some(template), ..past };
    let sent = past.with(&[(At::Failed, Some(131_026))]).await;
    let member = desk.world.signed_in(Role::Member).await;
    let page = member.page(&format!("/console/sends/{sent}/again")).await;
    assert!(!page.contains("name=\"instead\"") && page.contains("name=\"state\""), "{page}");
}
