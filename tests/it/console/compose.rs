//! A new send, written, checked and sent in a browser.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use serde_json::{Value, json};
use uuid::Uuid;

use super::browser::value_of;
use super::world::World;
use crate::api::past_send::FIRST;

pub(super) const NEW: &str = "/console/sends/new";

pub(super) async fn shop(world: &World) -> String {
    let channel = world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    channel.id.to_string()
}

pub(super) async fn sends(world: &World) -> Value {
    world.service.get("/api/v1/sends", &world.acme.key).await.json()
}

/// The fields, with `more` in the place of those with the same names.
pub(super) fn with<'a>(
    fields: &[(&'a str, &'a str)],
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let is_other = |(name, _): &&(&str, &str)| more.iter().all(|(other, _)| other != name);
    fields.iter().filter(is_other).chain(more).copied().collect()
}

#[tokio::test]
async fn a_send_is_checked_before_it_goes_and_goes_once() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let page = member.page(&format!("{NEW}?type=text")).await;
    assert!(page.contains("<h1>New send</h1>") && page.contains("Check it first"), "{page}");
    let once = value_of(&page, "once").unwrap();
    let numbers = format!("+55 11 90000-0000\n{}, 12", FIRST + 1);
    let fields = [
        ("once", once.as_str()),
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "Olá <b>Ana</b>"),
        ("numbers", numbers.as_str()),
    ];
    let unchecked = member.check(NEW, &with(&fields, &[("action", "send")])).await;
    assert_eq!(unchecked.status, 200, "the send is shown, and not sent: {}", unchecked.body);
    assert!(unchecked.body.contains("The form was changed after the check"), "{}", unchecked.body);
    let checked = member.check(NEW, &with(&fields, &[("action", "check")])).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    for shown in
        ["2 recipients", "1 entry is left out", "This is no whole phone number", "the channel's pace"]
    {
        assert!(checked.body.contains(shown), "{shown}: {}", checked.body);
    }
    assert!(checked.body.contains("Olá &lt;b&gt;Ana&lt;/b&gt;"), "{}", checked.body);
    assert_eq!(sends(&world).await["totalRecords"], 0);

    let digest = value_of(&checked.body, "checked").unwrap();
    let send = with(&fields, &[("action", "send"), ("checked", &digest)]);
    let changed = member.check(NEW, &with(&send, &[("message", "something else")])).await;
    assert_eq!(changed.status, 200, "an unchecked send does not go: {}", changed.body);
    let (first, second) = (member.check(NEW, &send).await, member.check(NEW, &send).await);
    assert_eq!((first.status, second.status), (303, 303), "{}", first.body);
    assert_eq!(first.header("location"), second.header("location"));
    let listed = sends(&world).await;
    assert_eq!((&listed["totalRecords"], &listed["data"][0]["recipients_count"]), (&json!(1), &json!(2)));
    let shown = member.page(first.header("location")).await;
    assert!(shown.contains("Accepted for 2 recipients."), "{shown}");
}

#[tokio::test]
async fn a_form_that_comes_back_with_other_recipients_is_another_send() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let written = [
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "Spring"),
        ("numbers", "+55 11 90000-0000"),
    ];
    let checked = async |once: &str, numbers: &str| {
        let more = [("once", once), ("numbers", numbers), ("action", "check")];
        let page = member.check(NEW, &with(&written, &more)).await.body;
        (value_of(&page, "once").unwrap(), value_of(&page, "checked").unwrap())
    };
    let sent = async |(once, digest): &(String, String), numbers: &str| {
        let more = [("once", once.as_str()), ("checked", digest), ("numbers", numbers), ("action", "send")];
        let answer = member.check(NEW, &with(&written, &more)).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        answer.header("location").to_owned()
    };
    let (test, all) = ("+55 11 90000-0000", "+55 11 90000-0001, +55 11 90000-0002");
    let first = checked(&Uuid::now_v7().to_string(), test).await;
    let test_send = sent(&first, test).await;
    // Back shows the form of the test, with its used id.
    let campaign = checked(&first.0, all).await;
    assert_ne!(sent(&campaign, all).await, test_send);
    assert_eq!(sends(&world).await["totalRecords"], 2);
    // What was sent already is not sent again, and the page says so.
    let place = sent(&campaign, all).await;
    member.page(&place).await;
    let again = sent(&campaign, all).await;
    assert_eq!(again, place);
    assert!(member.page(&again).await.contains("This form was sent before."));
    assert_eq!(sends(&world).await["totalRecords"], 2);
}

#[tokio::test]
async fn faults_are_shown_beside_their_fields_and_the_input_stays() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let fields =
        [("channel", shop.as_str()), ("type", "text"), ("message", "hi \"you\""), ("action", "check")];
    let long = "x".repeat(4_097);
    for (more, fault) in [
        (vec![], "Choose a tag, a segment, a number or a person."),
        (vec![("numbers", "12")], "There are no recipients"),
        (vec![("numbers", "5511988887777"), ("message", " ")], "Write a message."),
        (vec![("numbers", "5511988887777"), ("message", long.as_str())], "This is too long."),
        (vec![("numbers", "5511988887777"), ("send_at", "soon")], "This is not a date and time."),
        (vec![("numbers", "5511988887777"), ("expires_at", "2020-01-01T00:00")], "leave no time to send in"),
        (
            vec![("numbers", "5511988887777"), ("type", "image"), ("link", "ftp://x")],
            "Give the public address",
        ),
        (vec![("numbers", "5511988887777"), ("type", "buttons")], "Something is too long or missing"),
        (vec![("numbers", "5511988887777"), ("type", "template")], "Choose a template."),
        (
            vec![("numbers", "5511988887777"), ("channel", "nothing"), ("type", "fax"), ("send_at", "x")],
            "not a date",
        ),
    ] {
        let answer = member.check(NEW, &with(&fields, &more)).await;
        assert_eq!(answer.status, 422, "{more:?}: {}", answer.body);
        assert!(answer.body.contains(fault), "{more:?}: {}", answer.body);
        assert!(!answer.body.contains("name=\"checked\""), "{more:?}: {}", answer.body);
    }
    let kept = member.check(NEW, &fields).await;
    assert!(
        kept.body.contains("hi &quot;you&quot;") || kept.body.contains("hi \"you\"</textarea>"),
        "{}",
        kept.body
    );
    assert_eq!(sends(&world).await["totalRecords"], 0);
}

#[tokio::test]
async fn products_menus_and_buttons_are_written_with_all_their_parts() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let fields = [("channel", shop.as_str()), ("numbers", "5511988887777"), ("action", "check")];
    for (more, shown) in [
        (
            vec![("type", "product"), ("catalog", "367025965434465"), ("product", "cake-1")],
            vec!["cake-1", "Product"],
        ),
        (
            vec![
                ("type", "products"),
                ("header", "Our <cakes>"),
                ("message", "Choose"),
                ("catalog", "367025965434465"),
                ("products", "With fruit:\ncake-1\n cake-2\nPlain:\ncake-3"),
                ("footer", "Until Sunday"),
            ],
            vec!["Our &lt;cakes&gt;", "With fruit", "cake-2", "Plain", "Until Sunday"],
        ),
        (
            vec![
                ("type", "buttons"),
                ("message", "Come?"),
                ("buttons", "Yes\nNo"),
                ("header_type", "image"),
                ("header", "https://192.0.2.1/x.png"),
                ("footer", "Bye"),
            ],
            vec!["https://192.0.2.1/x.png", "Yes", "Bye"],
        ),
        (
            vec![
                ("type", "list"),
                ("message", "Which?"),
                ("menu", "Wines"),
                ("rows", "Red:\nMerlot | 19,90\nWhite:\nRiesling"),
                ("header", "Today"),
            ],
            vec!["Red", "Merlot", "19,90", "Riesling", "Today"],
        ),
    ] {
        let fields = with(&fields, &more);
        let checked = member.check(NEW, &fields).await;
        assert_eq!(checked.status, 200, "{more:?}: {}", checked.body);
        let preview =
            checked.body.split("id=\"preview\"").nth(1).unwrap().split("</section>").next().unwrap();
        for part in shown {
            assert!(preview.contains(part), "{part}: {preview}");
        }
        let digest = value_of(&checked.body, "checked").unwrap();
        let sent = member.check(NEW, &with(&fields, &[("action", "send"), ("checked", &digest)])).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
        assert_eq!(sends(&world).await["data"][0]["type"], "interactive");
    }
    for (more, fault) in [
        (vec![("type", "product"), ("catalog", "1")], "product_retailer_id"),
        (vec![("type", "products"), ("message", "x"), ("catalog", "1"), ("products", "a")], "header"),
        (
            vec![
                ("type", "products"),
                ("message", "x"),
                ("header", "y"),
                ("catalog", "1"),
                ("products", "a\nB:\nc"),
            ],
            "title",
        ),
    ] {
        let answer = member.check(NEW, &with(&fields, &more)).await;
        assert_eq!(answer.status, 422, "{more:?}: {}", answer.body);
        assert!(
            answer.body.contains("Something is too long or missing") && answer.body.contains(fault),
            "{more:?}: {}",
            answer.body
        );
    }
}

#[tokio::test]
async fn tags_and_people_who_are_found_are_part_of_the_audience() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (shop, store) = (shop(&world).await, world.service.store());
    let tag = store.of(world.acme.id).tags().ensure("vip", None).await.unwrap();
    let person = |name: &str, number: u64| {
        let person =
            Person { first_name: name.to_owned(), phone_number: number.to_string(), ..Person::default() };
        (Uuid::now_v7(), person)
    };
    let tagged = [person("Ana", FIRST), person("Bia", FIRST + 1)];
    store.of(world.acme.id).contacts().add(&tagged, &[tag], Timestamp::now()).await.unwrap();
    store
        .of(world.acme.id)
        .contacts()
        .add(&[person("Caio", FIRST + 2)], &[], Timestamp::now())
        .await
        .unwrap();
    let tag = tag.to_string();
    let (ana, caio) = (FIRST.to_string(), (FIRST + 2).to_string());
    let fields = [("channel", shop.as_str()), ("type", "text"), ("message", "hi"), ("tag", tag.as_str())];
    let found = member.check(NEW, &with(&fields, &[("action", "find"), ("find", "caio")])).await;
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(
        found.body.contains(&format!("value=\"{caio}\"")) && found.body.contains("Caio"),
        "{}",
        found.body
    );
    assert!(found.body.contains("<bdi>vip</bdi></span> <span class=\"soft\">(2)</span>"), "{}", found.body);
    assert_eq!(value_of(&found.body, "message").as_deref(), Some("hi"), "{}", found.body);
    let picked = [("action", "check"), ("person", caio.as_str()), ("person", ana.as_str())];
    let checked = member.check(NEW, &with(&fields, &picked)).await;
    assert!(checked.body.contains("3 recipients"), "each person once: {}", checked.body);
}

#[tokio::test]
async fn the_preview_alone_is_made_for_the_page_that_is_filled_in() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let fields =
        [("channel", shop.as_str()), ("type", "buttons"), ("message", "<hi>"), ("buttons", "Yes\nNo")];
    let answer = member.post("/console/sends/preview", &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.starts_with("<section") && answer.body.contains("&lt;hi&gt;"), "{}", answer.body);
    assert!(answer.body.contains("Yes") && !answer.body.contains("<html"), "{}", answer.body);
}

#[tokio::test]
async fn without_a_channel_the_page_says_what_to_do_first() {
    let world = World::new().await;
    let page = world.signed_in(Role::Member).await.page(NEW).await;
    assert!(page.contains("href=\"/console/channels/new\"") && !page.contains("<textarea"), "{page}");
}

#[tokio::test]
async fn the_first_step_names_missing_choices_and_keeps_the_tag() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    world.service.channel(&world.acme, Kind::BusinessAccount, "Other", Status::Connected).await;
    let tag = world.service.store().of(world.acme.id).tags().ensure("spring", None).await.unwrap();
    let person = Person { phone_number: FIRST.to_string(), ..Person::default() };
    let store = world.service.store();
    store
        .of(world.acme.id)
        .contacts()
        .add(&[(Uuid::now_v7(), person)], &[tag], Timestamp::now())
        .await
        .unwrap();
    let at_tag = member.page(&format!("/console/contacts/tags/{tag}")).await;
    assert!(at_tag.contains(&format!("href=\"{NEW}?tag={tag}\"")), "{at_tag}");

    let first = member.page(&format!("{NEW}?tag={tag}")).await;
    assert!(!first.contains("Choose a channel."), "nothing was sent yet: {first}");
    assert_eq!(value_of(&first, "tag"), Some(tag.to_string()));
    let without = member.page(&format!("{NEW}?channel=&type=text&tag={tag}")).await;
    assert!(without.contains("Choose a channel."), "{without}");
    let without = member.page(&format!("{NEW}?channel={shop}&type=template&template=")).await;
    assert!(without.contains("Choose a template."), "{without}");
    let second = member.page(&format!("{NEW}?channel={shop}&type=text&tag={tag}")).await;
    assert_eq!(value_of(&second, "tag"), Some(tag.to_string()), "the tag is carried: {second}");
    let who = member.page(&format!("{NEW}?channel={shop}&tag={tag}")).await;
    assert!(who.contains(&format!("name=\"tag\" value=\"{tag}\" checked")), "{who}");
}

#[tokio::test]
async fn the_preview_of_a_form_of_any_size_is_small() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let (marks, lines, long) = ("*a _b ".repeat(30_000), "*a\n".repeat(40_000), "x".repeat(150_000));
    for (kind, name, value, shown) in [
        ("text", "message", &marks, "*a _b *a _b"),
        ("text", "message", &lines, "<p dir=\"auto\">*a</p>"),
        ("buttons", "buttons", &long, "xxx"),
        ("buttons", "footer", &long, "xxx"),
        ("list", "rows", &lines, "*a"),
        ("image", "link", &long, "xxx"),
        ("image", "caption", &marks, "*a _b *a _b"),
    ] {
        let fields = [("channel", shop.as_str()), ("type", kind), ("message", "hi"), (name, value)];
        let answer = member.post("/console/sends/preview", &fields).await;
        assert_eq!(answer.status, 200, "{kind}");
        assert!(answer.body.contains(shown), "{kind}: {}", answer.body);
        assert!(answer.body.len() < 32 * 1024, "{kind} {name}: {} bytes", answer.body.len());
        assert!(answer.body.contains('…') || name == "rows", "{kind} {name}: the rest is not hinted at");
    }
}
