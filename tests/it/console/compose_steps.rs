//! The steps of a new send: what is typed stays on the way there and back, the people are counted before there is a message,
//! and a wrong link is told at the check.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::store::changes::Who;
use uuid::Uuid;

use super::browser::value_of;
use super::compose::{NEW, sends, shop, with};
use super::world::World;
use crate::api::past_send::FIRST;
use crate::harness::Service;
use crate::media::host::Host;

#[tokio::test]
async fn each_step_keeps_what_was_typed_on_the_others() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    shop(&world).await;
    let number = FIRST.to_string();
    let first = member.page(NEW).await;
    assert!(
        first.contains("aria-current=\"step\">Who</li>") && first.contains("Nobody is chosen yet."),
        "{first}"
    );
    let nobody = member.post(NEW, &[("step", "who"), ("action", "what")]).await;
    assert_eq!(nobody.status, 422, "{}", nobody.body);
    assert!(nobody.body.contains("Choose a tag, a segment, a number or a person."), "{}", nobody.body);

    let to_what = member.post(NEW, &[("step", "who"), ("numbers", &number), ("action", "what")]).await;
    assert_eq!(to_what.status, 303, "{}", to_what.body);
    let place = to_what.header("location").to_owned();
    let what = member.page(&place).await;
    assert!(what.contains("aria-current=\"step\">What</li>"), "{what}");
    assert_eq!(value_of(&what, "numbers"), Some(number.clone()));
    let id = value_of(&what, "kept").unwrap();
    let written = [
        ("step", "what"),
        ("kept", id.as_str()),
        ("type", "text"),
        ("message", "Olá <b>"),
        ("numbers", &number),
    ];
    let back = member.check(NEW, &with(&written, &[("action", "who")])).await.body;
    assert!(back.contains(&format!("{number}</textarea>")), "{back}");
    assert_eq!(value_of(&back, "message").as_deref(), Some("Olá <b>"), "{back}");
    // The browser's own Back leads to the address of the step, which has what was typed there.
    let again = member.page(&place).await;
    assert!(again.contains("Olá &lt;b&gt;</textarea>"), "{again}");

    let checked = member.check(NEW, &with(&written, &[("action", "check")])).await.body;
    for shown in [
        "aria-current=\"step\">Check</li>",
        "1 recipient",
        "only people who wrote to you in the last 24 hours",
    ] {
        assert!(checked.contains(shown), "{shown}: {checked}");
    }
    assert!(!checked.contains(">Send</button>"), "the check is not the last step: {checked}");
    let [digest, run] = ["checked", "run"].map(|name| value_of(&checked, name).unwrap());
    let proof = [("checked", digest.as_str()), ("run", run.as_str())];
    let when = member.check(NEW, &[&with(&written, &[("action", "when")])[..], &proof].concat()).await.body;
    assert!(when.contains(">Send</button>") && when.contains("datetime-local"), "{when}");
    let mut actions = when.split("name=\"action\" value=\"").skip(1);
    assert!(actions.next().unwrap().starts_with("send\""), "the key Enter goes on: {when}");
    // The time is chosen after the check, which holds.
    let last = [&written[..], &proof, &[("start", "later"), ("action", "send")]].concat();
    for (at, fault) in [("2020-01-01T09:00", "This time has passed."), ("", "This is not a date and time.")] {
        let refused = member.post(NEW, &with(&last, &[("send_at", at)])).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.contains(fault) && refused.body.contains(">Send</button>"), "{}", refused.body);
    }
    let sent = member.post(NEW, &with(&last, &[("send_at", "2020-01-01T09:00"), ("start", "now")])).await;
    assert_eq!(sent.status, 303, "a start at once needs no time: {}", sent.body);
    assert_eq!(sends(&world).await["totalRecords"], 1);
}

#[tokio::test]
async fn the_people_are_counted_without_those_who_are_left_out_or_opted_out() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (shop, store) = (shop(&world).await, world.service.store().of(world.acme.id));
    let all = store.tags().ensure("all", None).await.unwrap();
    let staff = store.tags().ensure("staff", None).await.unwrap();
    for (nth, tags) in (0..).zip([vec![all], vec![all], vec![all], vec![all, staff]]) {
        let person = Person { phone_number: (FIRST + nth).to_string(), ..Person::default() };
        store.contacts().add(&[(Uuid::now_v7(), person)], &tags, Timestamp::now()).await.unwrap();
    }
    let (engine, number) = (world.service.engine(), PhoneNumber::from_u64(FIRST).unwrap());
    let records = engine.company(world.acme.id).await.unwrap();
    engine.contacts().suppress(&Who::Pombo, &records, number, Suppression::Everything).await.unwrap();
    drop(records);
    let (all, staff) = (all.to_string(), staff.to_string());
    let fields = [("channel", shop.as_str()), ("tag", all.as_str()), ("without", staff.as_str())];
    let counted = member.post("/console/sends/reach", &fields).await;
    assert_eq!(counted.status, 200, "{}", counted.body);
    for words in ["<strong>2 people</strong>", "1 person opted out and gets nothing.", "1 entry is left out"]
    {
        assert!(counted.body.contains(words), "{words}: {}", counted.body);
    }
    let page = member.check(NEW, &with(&fields, &[("step", "who"), ("action", "count")])).await.body;
    assert!(page.contains("<strong>2 people</strong>"), "{page}");
    assert!(page.contains(&format!("name=\"without\" value=\"{staff}\" checked")), "{page}");

    let written = with(&fields, &[("type", "text"), ("message", "hi"), ("action", "check")]);
    let checked = member.check(NEW, &written).await.body;
    assert!(checked.contains("2 recipients") && checked.contains("1 person opted out"), "{checked}");
    let digest = value_of(&checked, "checked").unwrap();
    let sent = member.submit(NEW, &with(&written, &[("action", "send"), ("checked", &digest)])).await;
    assert!(sent.contains("Without:") && sent.contains("<bdi>staff</bdi>"), "{sent}");
    // Another company's tag leaves nobody out by mistake: it is refused.
    let foreign =
        world.service.store().of(world.globex.id).tags().ensure("x", None).await.unwrap().to_string();
    let refused = member.check(NEW, &with(&written, &[("without", &foreign)])).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("does not exist any more"), "{}", refused.body);
}

#[tokio::test]
async fn a_wrong_link_is_told_at_the_check_and_a_foreign_picture_is_not_shown() {
    let service =
        Service::start_changed(|config| config.media.allow = vec!["127.0.0.0/8".parse().unwrap()]).await;
    let world = World::on(service).await;
    let member = world.signed_in(Role::Member).await;
    let channel = world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let (channel, number) = (channel.id.to_string(), FIRST.to_string());
    let (page, paper) = (Host::body("", b"<html>").await, Host::body("", b"%PDF-1.7\n").await);
    let (page, paper) = (page.link("/x.png"), paper.link("/menu.pdf"));
    let fields = [
        ("channel", channel.as_str()),
        ("type", "image"),
        ("link", page.as_str()),
        ("numbers", number.as_str()),
        ("action", "check"),
    ];
    let wrong = member.check(NEW, &fields).await;
    assert_eq!(wrong.status, 200, "the provider may reach what this service does not: {}", wrong.body);
    for words in ["There is no such file at this address", "but will probably fail", "127.0.0.1"] {
        assert!(wrong.body.contains(words), "{words}: {}", wrong.body);
    }
    assert!(!wrong.body.contains("<img class=\"picture\""), "{}", wrong.body);
    let inner = member.check(NEW, &with(&fields, &[("link", "http://10.1.2.3/x.png")])).await;
    assert!(inner.body.contains("is not on the public internet"), "{}", inner.body);
    let right = member.check(NEW, &with(&fields, &[("type", "document"), ("link", &paper)])).await;
    assert!(
        right.body.contains("application/pdf") && !right.body.contains("probably fail"),
        "{}",
        right.body
    );
}
