//! The fields of a template in a new send, values of each recipient, and a check that takes long.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::template::{ListedTemplate, ParameterFormat};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::browser::value_of;
use super::compose::{NEW, sends, shop, with};
use super::world::World;
use crate::api::past_send::FIRST;
use crate::harness::{Service, WABA};
use crate::running::until;

/// A template with a text and a button's address to fill in; its id.
async fn hello(world: &World) -> String {
    listed(world, "Hello {{1}}.", "Ana").await
}

/// The same, as the provider lists it with this text and this sample of a value.
async fn listed(world: &World, text: &str, sample: &str) -> String {
    let components = json!([
        {"type": "BODY", "text": text, "example": {"body_text": [[sample]]}},
        {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "See", "url": "https://a.example/{{1}}"}]},
    ]);
    let listed = ListedTemplate {
        provider_id: "2".to_owned(),
        name: "hello".to_owned(),
        language: "en".to_owned(),
        category: "UTILITY".into(),
        status: "APPROVED".into(),
        parameter_format: ParameterFormat::Positional,
        components: RawValue::from_string(components.to_string()).unwrap(),
        rejected_reason: None,
        quality_score: None,
    };
    world.service.store().of(world.acme.id).templates().sync(WABA, &[listed]).await.unwrap();
    world.service.template_id(&world.acme, "hello", "en").await.to_string()
}

#[tokio::test]
async fn a_value_of_each_recipient_is_offered_previewed_checked_and_sent() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (shop, template) = (shop(&world).await, hello(&world).await);
    let store = world.service.store();
    let tag = store.of(world.acme.id).tags().ensure("friends", None).await.unwrap();
    let people = [("Ana Lúcia", FIRST), ("", FIRST + 1)].map(|(first_name, number)| {
        let first_name = first_name.to_owned();
        (Uuid::now_v7(), Person { first_name, phone_number: number.to_string(), ..Person::default() })
    });
    store.of(world.acme.id).contacts().add(&people, &[tag], Timestamp::now()).await.unwrap();
    let tag = tag.to_string();

    let page = member.page(&format!("{NEW}?type=template&template={template}&channel={shop}")).await;
    for shown in ["A value of each recipient", "{{contact.email}}", "{{contact.first_name|…}}"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let once = value_of(&page, "once").unwrap();
    let fields = [
        ("once", once.as_str()),
        ("channel", shop.as_str()),
        ("type", "template"),
        ("template", template.as_str()),
        ("body_1", "{{contact.first_name}}"),
        ("button_0", "u/{{contact.name|you}}"),
        ("action", "check"),
    ];
    let preview = |more: Vec<(&'static str, String)>| {
        let all = fields.iter().map(|(name, value)| (*name, (*value).to_owned())).chain(more);
        let all: Vec<_> = all.collect();
        let member = &member;
        async move {
            let borrowed: Vec<_> = all.iter().map(|(name, value)| (*name, value.as_str())).collect();
            member.post("/console/sends/preview", &borrowed).await.body
        }
    };
    let made_up = preview(vec![]).await;
    assert!(made_up.contains("Hello Ana.") && made_up.contains("example values"), "{made_up}");
    let first = preview(vec![("tag", tag.clone())]).await;
    assert!(first.contains("Hello Ana Lúcia.") && first.contains("a.example/u/Ana%20L%C3%BAcia"), "{first}");
    assert!(first.contains(&format!("+{FIRST}")), "{first}");
    let lacking = preview(vec![("numbers", (FIRST + 1).to_string())]).await;
    assert!(lacking.contains("{{contact.first_name}}") && lacking.contains("a.example/u/you"), "{lacking}");
    let stranger = preview(vec![("numbers", "5511988887777".to_owned())]).await;
    assert!(stranger.contains("who is not a contact"), "{stranger}");

    let wrong = member.check(NEW, &with(&fields, &[("body_1", "{{first_name}}"), ("tag", &tag)])).await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(wrong.body.contains("Two braces begin a value of each recipient"), "{}", wrong.body);
    let checked = member.check(NEW, &with(&fields, &[("tag", &tag)])).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    assert!(checked.body.contains("1 recipient lacks a contact field"), "{}", checked.body);
    let digest = value_of(&checked.body, "checked").unwrap();
    let send = [("action", "send"), ("checked", digest.as_str()), ("tag", tag.as_str())];
    let sent = member.check(NEW, &with(&fields, &send)).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    assert_eq!(sends(&world).await["data"][0]["recipients_count"], 2);
}

#[tokio::test]
async fn a_check_that_takes_longer_than_a_page_waits_is_shown_when_it_is_done() {
    let world = World::on(Service::start_impatient().await).await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let numbers = FIRST.to_string();
    let fields = [
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "hi"),
        ("numbers", numbers.as_str()),
        ("action", "check"),
    ];
    let first = member.check(NEW, &fields).await;
    assert_eq!(first.status, 200, "{}", first.body);
    assert!(
        first.body.contains("still being counted") && first.body.contains("data-again"),
        "{}",
        first.body
    );
    assert!(value_of(&first.body, "checked").is_none(), "nothing can be sent before it is checked");
    let run = value_of(&first.body, "counting").unwrap();
    let mut later = String::new();
    until("the outcome of the check", async || {
        later = member.check(NEW, &with(&fields, &[("counting", &run)])).await.body;
        later.contains("1 recipient")
    })
    .await;
    assert!(value_of(&later, "counting").is_none() && value_of(&later, "checked").is_some(), "{later}");
}

#[tokio::test]
async fn the_input_stays_when_the_channel_the_kind_or_the_template_changes() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (shop, template) = (shop(&world).await, hello(&world).await);
    let other = world.service.channel(&world.acme, Kind::BusinessAccount, "Other", Status::Connected).await;
    let phone = world.service.channel(&world.acme, Kind::WebSession, "Phone", Status::Connected).await;
    let (other, phone, number) = (other.id.to_string(), phone.id.to_string(), FIRST.to_string());
    let choose = async |fields: &[(&str, &str)]| {
        let answer = member.check(NEW, &with(fields, &[("action", "choose")])).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    };
    let page = member.page(&format!("{NEW}?channel={shop}&type=text")).await;
    assert!(page.contains("name=\"action\" value=\"choose\" formnovalidate"), "{page}");
    let fields = [
        ("channel", other.as_str()),
        ("type", "text"),
        ("message", "Olá <b>Ana</b>"),
        ("numbers", number.as_str()),
    ];
    let page = choose(&fields).await;
    let kept = "Olá &lt;b&gt;Ana&lt;/b&gt;</textarea>";
    assert!(page.contains(kept), "{page}");
    assert_eq!(value_of(&page, "channel").as_deref(), Some(other.as_str()), "{page}");
    assert_eq!(value_of(&page, "numbers").as_deref(), Some(number.as_str()), "{page}");
    assert!(!page.contains("class=\"fault\""), "nothing was checked: {page}");

    // A linked phone writes to one number.
    let page = choose(&with(&fields, &[("channel", &phone), ("step", "who")])).await;
    assert_eq!(value_of(&page, "number").as_deref(), Some(number.as_str()), "{page}");
    assert_eq!(value_of(&page, "message").as_deref(), Some("Olá <b>Ana</b>"), "{page}");

    // The values come back, although the fields were missing in between: the menu does not go through a
    // phone.
    let page = choose(&with(&fields, &[("channel", &phone), ("type", "list"), ("menu", "Hours")])).await;
    assert!(!page.contains("<textarea") && value_of(&page, "menu").as_deref() == Some("Hours"), "{page}");
    assert_eq!(value_of(&page, "message").as_deref(), Some("Olá <b>Ana</b>"), "{page}");
    let page = choose(&with(&fields, &[("type", "list"), ("menu", "Hours")])).await;
    assert!(page.contains(kept) && value_of(&page, "menu").as_deref() == Some("Hours"), "{page}");

    // A template is chosen among cards.
    let page = choose(&with(&fields, &[("channel", &shop), ("type", "template")])).await;
    let card = format!("name=\"template\" value=\"{template}\" formnovalidate");
    assert!(page.contains(&card) && page.contains("See") && !page.contains("<textarea"), "{page}");
    let page =
        choose(&with(&fields, &[("channel", &shop), ("type", "template"), ("template", &template)])).await;
    assert!(page.contains("name=\"body_1\"") && !page.contains(&card), "{page}");
    assert_eq!(value_of(&page, "numbers").as_deref(), Some(number.as_str()), "{page}");
}

#[tokio::test]
async fn every_part_of_a_template_is_filled_in() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let components = r#"[
        {"type":"HEADER","format":"IMAGE"},
        {"type":"BODY","text":"Hello {{first_name}}, order {{order}} left."},
        {"type":"FOOTER","text":"Bye"},
        {"type":"BUTTONS","buttons":[
            {"type":"URL","text":"Track","url":"https://a.example/{{1}}"},
            {"type":"QUICK_REPLY","text":"Stop"}
        ]}
    ]"#;
    let listed = ListedTemplate {
        provider_id: "1".to_owned(),
        name: "left".to_owned(),
        language: "en".to_owned(),
        category: "UTILITY".into(),
        status: "APPROVED".into(),
        parameter_format: ParameterFormat::Named,
        components: RawValue::from_string(components.to_owned()).unwrap(),
        rejected_reason: None,
        quality_score: None,
    };
    world.service.store().of(world.acme.id).templates().sync(WABA, &[listed]).await.unwrap();
    let id = world.service.template_id(&world.acme, "left", "en").await.to_string();
    let page = member.page(&format!("{NEW}?type=template&template={id}&channel={shop}")).await;
    for label in [
        "Address of the header&#39;s file",
        "Text first_name – shown where {{first_name}} stands",
        "Text order – shown where {{order}} stands",
        "Button 1: end of its address",
        "Button 2: the value that comes back when it is pressed",
    ] {
        let plain = label.replace("&#39;", "'");
        assert!(page.contains(label) || page.contains(&plain), "{label}: {page}");
    }
    let fields = [
        ("channel", shop.as_str()),
        ("type", "template"),
        ("template", id.as_str()),
        ("header_link", "https://192.0.2.1/x.png"),
        ("body_first_name", "Ana"),
        ("body_order", "7"),
        ("button_0", "abc"),
        ("numbers", "5511988887777"),
        ("action", "check"),
    ];
    let lacking = member.check(NEW, &with(&fields, &[("body_order", "")])).await;
    assert_eq!(lacking.status, 422, "{}", lacking.body);
    assert!(lacking.body.contains("The values do not fit the template"), "{}", lacking.body);
    let checked = member.check(NEW, &fields).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    assert!(
        checked.body.contains("Hello Ana, order 7 left.") && checked.body.contains("1 recipient"),
        "{}",
        checked.body
    );
    let digest = value_of(&checked.body, "checked").unwrap();
    let sent = member.check(NEW, &with(&fields, &[("action", "send"), ("checked", &digest)])).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    assert_eq!(sends(&world).await["data"][0]["template"]["name"], "left");
}

#[tokio::test]
async fn a_template_with_other_words_is_checked_again_before_it_goes() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (shop, template, number) = (shop(&world).await, hello(&world).await, FIRST.to_string());
    let fields = [
        ("channel", shop.as_str()),
        ("type", "template"),
        ("template", template.as_str()),
        ("body_1", "Ana"),
        ("button_0", "u"),
        ("numbers", number.as_str()),
    ];
    let checked = member.check(NEW, &with(&fields, &[("action", "check")])).await.body;
    let proof = value_of(&checked, "checked").unwrap();
    let onward = with(&fields, &[("action", "when"), ("checked", &proof)]);
    let last = member.post(NEW, &onward).await.header("location").to_owned();
    assert!(member.page(&last).await.contains(">Send</button>"), "{last}");
    // A sample is not what anybody gets.
    listed(&world, "Hello {{1}}.", "Eva").await;
    assert!(member.page(&last).await.contains(">Send</button>"), "{last}");

    listed(&world, "Goodbye {{1}}.", "Eva").await;
    let send = with(&fields, &[("action", "send"), ("checked", &proof)]);
    let shown = member.page(&last).await;
    for page in [&shown, &member.check(NEW, &send).await.body] {
        assert!(
            page.contains("The template was changed after the check") && page.contains("Goodbye"),
            "{page}"
        );
        assert!(!page.contains(">Send</button>"), "{page}");
    }
    assert_eq!(sends(&world).await["totalRecords"], 0);
    let proof = value_of(&shown, "checked").unwrap();
    let sent = member.check(NEW, &with(&send, &[("checked", &proof)])).await;
    assert!(sent.status == 303 && sends(&world).await["totalRecords"] == 1, "{}", sent.body);
}
