//! Webhook endpoints in pages: added with a secret that is shown only once, tested, changed, disabled and deleted.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::connector::webhook::SigningKey;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::event::Type;
use pombo::domain::secret::Secret;
use pombo::domain::webhook::{Cause, Endpoint, Health, Settings, State};
use pombo::store::webhooks::Write;
use serde_json::json;
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::channels::becomes;
use super::live::{shows, stream};
use super::world::World;
use crate::running::until;
use crate::webhooks::receiver::Receiver;
use crate::webhooks::sealed::add_sealed;

const PLACE: &str = "/console/webhooks";
const NEW: &str = "/console/webhooks/new";
/// An address on which nothing listens.
const NO_RECEIVER: &str = "http://127.0.0.1:1/hook?token=hidden";

/// The form as a browser sends it, with further fields, or with others in the place of the usual ones.
fn form<'a>(url: &'a str, fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = [("url", url), ("max_in_flight", "2"), ("batch", "1")];
    let is_other = |name: &str| fields.iter().any(|(other, _)| *other == name);
    usual.into_iter().filter(|(name, _)| !is_other(name)).chain(fields.iter().copied()).collect()
}

/// The secret that a page shows only once.
fn shown(page: &str) -> Option<String> {
    let mark = "aria-label=\"Secret\"><code>";
    let start = page.find(mark)? + mark.len();
    page[start..].split('<').next().map(str::to_owned)
}

fn key(secret: String) -> SigningKey {
    SigningKey::parse(&Secret::new(secret)).unwrap()
}

/// Adds an endpoint: the address of its page, and its secret.
async fn add(owner: &Browser<'_>, fields: &[(&str, &str)]) -> (String, String) {
    let added = owner.post(NEW, fields).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let place = added.header("location").to_owned();
    let page = owner.page(&place).await;
    (place, shown(&page).expect("the secret"))
}

async fn endpoints(world: &World) -> Vec<Endpoint> {
    world.service.store().of(world.acme.id).webhooks().list().await.unwrap()
}

fn id(place: &str) -> Uuid {
    place.rsplit('/').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_webhook_is_added_with_a_secret_that_is_shown_once_and_a_test_shows_the_answer() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let owner = world.signed_in(Role::Owner).await;
    assert!(owner.page(PLACE).await.contains("There is no webhook yet"));
    let url = receiver.url();
    let (place, secret) =
        add(&owner, &form(&url, &[("type", "message.read"), ("headers", "X-Team: sales")])).await;
    let again = owner.page(&place).await;
    assert!(secret.starts_with("whsec_") && !again.contains(&secret), "{again}");
    assert!(again.contains("Nothing was sent yet"), "{again}");

    let test = format!("{place}/test");
    let tested = owner.submit(&test, &[("type", "message.failed")]).await;
    assert!(tested.contains("Answer of the receiver") && tested.contains("accepted (200)"), "{tested}");
    let got = receiver.got().remove(0);
    assert!(got.is_signed_with(&key(secret)), "{got:?}");
    assert_eq!((&got.json()["type"], got.header("x-team")), (&json!("message.failed"), "sales"));
    assert_eq!(got.header("x-pombo-test"), "true");
    let id = got.header("webhook-id");
    for words in ["Sent as a test: A message failed", "<option value=\"message.failed\" selected>", id] {
        assert!(tested.contains(words), "{words}: {tested}");
    }

    receiver.answer_next([500]);
    let once = value_of(&tested, "once").unwrap();
    let fields = [("type", "send.finished"), ("once", once.as_str())];
    let (first, second) = tokio::join!(owner.post(&test, &fields), owner.post(&test, &fields));
    assert_eq!((first.status, first.header("location")), (303, second.header("location")));
    assert_eq!(receiver.got().len(), 2, "a form that is sent twice sends one test");
    let failed = owner.page(&place).await;
    assert!(
        failed.contains("refused (500)") && failed.contains("Look for the error in its log."),
        "{failed}"
    );

    let listed = owner.page(PLACE).await;
    for words in [url.as_str(), ">working<", "A message was read"] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let log = becomes(&owner, &place, "refused (500)").await;
    let names =
        ["Headers of the request", "webhook-signature", "x-team: <span class=\"soft\">the value is not kept"];
    assert!(names.iter().all(|name| log.contains(name)) && !log.contains("sales"), "{log}");
    assert_eq!(log.matches(">test</span>").count(), 2, "{log}");
    assert!(log.contains("accepted (200)") && !log.contains("Answer of the receiver"), "{log}");
    assert!(!log.contains("name=\"sequence\""), "an example is in no log of events: {log}");
    owner.post("/console/language", &[("language", "es"), ("next", "/console")]).await;
    let log = owner.page(&place).await;
    assert!(log.contains("rechazado (500)") && log.contains("Busque el error en su registro."), "{log}");
}

#[tokio::test]
async fn settings_that_cannot_work_are_told_beside_their_field_and_nothing_is_added() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let foreign =
        world.service.channel(&world.globex, Kind::BusinessAccount, "theirs", Status::Connected).await;
    let foreign = foreign.id.to_string();
    let foreign = foreign.as_str();
    for (field, value, words) in [
        ("url", " ", "Fill this in."),
        ("url", "example.com/hooks", "This is no complete web address."),
        ("url", "ftp://127.0.0.1/", "The address has to begin with https://."),
        ("url", "https://10.0.0.7/hook", "a network that is not on the public internet"),
        ("url", "http://ana:secret@127.0.0.1/", "a user name or a password"),
        ("url", "http://127.0.0.1/#part", "This address cannot be used. ["),
        ("headers", "Host: x", "These headers cannot be sent. ["),
        ("headers", "X-A: b\r\nno header", "Line 2 is no header."),
        ("batch", "101", "Enter a number from 1 to 100."),
        ("max_in_flight", "9", "Choose one of these."),
        ("channel", foreign, "One of these channels was removed."),
        ("channel", "shop", "Choose one of these."),
    ] {
        let answer = owner.post(NEW, &form(NO_RECEIVER, &[("type", "send.finished"), (field, value)])).await;
        assert_eq!(answer.status, 422, "{field} {value}: {}", answer.body);
        assert!(answer.body.contains(words), "{field} {value}: {}", answer.body);
        assert!(
            answer.body.contains("value=\"send.finished\" checked"),
            "the ticks are kept: {}",
            answer.body
        );
    }
    let nothing = owner.post(NEW, &form(NO_RECEIVER, &[])).await;
    assert!(nothing.status == 422 && nothing.body.contains("Tick at least one event."), "{}", nothing.body);
    assert!(endpoints(&world).await.is_empty());

    let once = value_of(&owner.page(NEW).await, "once").unwrap();
    let fields = form(NO_RECEIVER, &[("type", "send.finished"), ("once", &once)]);
    let (first, second) = (owner.post(NEW, &fields).await, owner.post(NEW, &fields).await);
    assert_eq!((first.status, first.header("location")), (303, second.header("location")));
    assert_eq!(endpoints(&world).await.len(), 1, "a form that is sent twice acts once");
}

#[tokio::test]
async fn only_owners_change_webhooks_and_other_companies_do_not_find_them() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let (place, _) = add(&owner, &form(NO_RECEIVER, &[("type", "send.finished")])).await;
    assert!(owner.page(&place).await.contains("token=hidden"));
    let (viewer, outsider) = (world.signed_in(Role::Viewer).await, world.outsider().await);
    for path in [PLACE, &place] {
        let page = viewer.page(path).await;
        assert!(page.contains("http://127.0.0.1:1/hook?…") && !page.contains("token"), "{path}: {page}");
        assert!(!page.contains(NEW) && !page.contains(&format!("action=\"{place}")), "{path}: {page}");
    }
    let all = outsider.page(PLACE).await;
    assert!(all.contains("There is no webhook yet") && !all.contains(&place), "{all}");
    for path in [place.clone(), format!("{place}/live")] {
        assert_eq!(outsider.get(&path).await.status, 404, "{path}");
    }
    let settings = form(NO_RECEIVER, &[("type", "send.finished")]);
    let changes: [(&str, &[(&str, &str)]); 7] = [
        ("", &settings),
        ("/test", &[("type", "send.finished")]),
        ("/resend", &[("sequence", "1")]),
        ("/secret", &[("overlap", "now")]),
        ("/disable", &[]),
        ("/enable", &[("from", "now")]),
        ("/remove", &[]),
    ];
    let before = endpoints(&world).await;
    for (path, fields) in changes {
        let path = format!("{place}{path}");
        assert_eq!(viewer.post(&path, fields).await.status, 403, "{path}");
        assert_eq!(outsider.post(&path, fields).await.status, 404, "{path}");
    }
    assert_eq!(endpoints(&world).await, before);
}

#[tokio::test]
async fn a_webhook_is_changed_disabled_enabled_and_deleted() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let channel =
        world.service.channel(&world.acme, Kind::BusinessAccount, "Bakery <1>", Status::Connected).await.id;
    let headers = [("type", "send.finished"), ("headers", "Authorization: Bearer hidden")];
    let (place, _) = add(&owner, &form(NO_RECEIVER, &headers)).await;
    let shop = channel.to_string();
    let whole = [("type", "send.finished"), ("type", "send.canceled"), ("type", "send.expired")];
    let fields = [&whole[..], &[("channel", shop.as_str()), ("masks", "yes"), ("batch", "50")]].concat();
    let changed = owner.submit(&place, &form("http://127.0.0.1:1/other", &fields)).await;
    for words in [
        "The settings are saved.",
        "Sends that are over<",
        "Only of 1 channel<",
        "Bakery &lt;1&gt;",
        "<code>authorization</code>",
    ] {
        assert!(changed.contains(words), "{words}: {changed}");
    }
    assert!(!changed.contains("Bearer hidden"), "the values of headers are not shown again: {changed}");
    let settings = endpoints(&world).await.remove(0).settings;
    assert_eq!((settings.url.as_str(), settings.channels), ("http://127.0.0.1:1/other", vec![channel]));
    assert_eq!((settings.types.len(), settings.batch, settings.masks_numbers), (3, 50, true));
    let headers = async || {
        world.service.store().of(world.acme.id).webhooks().secrets(id(&place)).await.unwrap().unwrap().headers
    };
    assert!(headers().await.is_some(), "the headers stay");

    let faulty = owner.post(&place, &form("http://127.0.0.1:1/third", &[])).await;
    assert!(faulty.status == 422 && faulty.body.contains("Tick at least one event."), "{}", faulty.body);
    assert_eq!(value_of(&faulty.body, "url").as_deref(), Some("http://127.0.0.1:1/third"));
    let defaults = pombo::domain::webhook::DEFAULT_TYPES.iter().map(|one| ("type", one.as_str()));
    let fields: Vec<_> = defaults.chain([("no_headers", "yes")]).collect();
    owner.submit(&place, &form("http://127.0.0.1:1/other", &fields)).await;
    let settings = endpoints(&world).await.remove(0).settings;
    assert_eq!((settings.types, settings.channels), (Vec::<Type>::new(), Vec::new()), "the defaults");
    assert!(headers().await.is_none());

    let disabled = owner.submit(&format!("{place}/disable"), &[]).await;
    assert!(disabled.contains("disabled by a person") && disabled.contains("/enable\""), "{disabled}");
    assert!(!owner.page("/console").await.contains("gets no more events"), "a person knows of it");
    let enabled = owner.submit(&format!("{place}/enable"), &[("from", "now")]).await;
    assert!(enabled.contains(">working<") && enabled.contains("/disable\""), "{enabled}");
    let removed = owner.submit(&format!("{place}/remove"), &[]).await;
    assert!(removed.contains("The webhook is deleted.") && removed.contains("There is no webhook yet"));
    assert_eq!(owner.get(&place).await.status, 404);
}

#[tokio::test]
async fn a_webhook_that_is_no_longer_wanted_is_told_on_the_overview_and_at_once_on_open_pages() {
    let world = World::new().await;
    let (owner, viewer) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Viewer).await);
    let (place, _) = add(&owner, &form(NO_RECEIVER, &[("type", "send.finished")])).await;
    let mut list = stream(&viewer, &format!("{PLACE}/live")).await;
    let mut page = stream(&viewer, &format!("{place}/live")).await;
    for open in [&mut list, &mut page] {
        shows(open, ">working<").await;
    }
    let now = Timestamp::now();
    let state = State::Disabled { cause: Cause::Gone, since: now };
    let health = Some(Health { failures: 1, failing_since: Some(now), failed_at: Some(now), state });
    let webhooks = world.service.store().webhooks();
    // Deliveries begin soon, and what was found out before is refused then.
    let mut begun = 0;
    until("the deliveries begin", async || {
        begun = webhooks.standing(id(&place)).await.unwrap().unwrap().begun;
        begun > 0
    })
    .await;
    let gone = Write { health, begun, ..Write::default() };
    assert!(webhooks.write(id(&place), &gone).await.unwrap());
    for open in [&mut list, &mut page] {
        shows(open, "disabled by the receiver").await;
    }
    let words = "gets no more events: its receiver answered that it wants none.";
    let overview = becomes(&viewer, "/console", words).await;
    assert!(overview.contains(&format!("href=\"{place}\"")) && !overview.contains("token"), "{overview}");
    assert!(viewer.page(PLACE).await.contains(words));
    assert!(!world.outsider().await.page("/console").await.contains("gets no more events"));
}

#[tokio::test]
async fn a_secret_is_replaced_once_and_the_former_one_is_used_for_a_day_or_no_longer() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let owner = world.signed_in(Role::Owner).await;
    let url = receiver.url();
    let (place, first) = add(&owner, &form(&url, &[("type", "message.read")])).await;
    let (replace, test) = (format!("{place}/secret"), format!("{place}/test"));
    let once = value_of(&owner.page(&place).await, "once").unwrap();
    let fields = [("overlap", "day"), ("once", once.as_str())];
    for _ in 0..2 {
        assert_eq!(owner.post(&replace, &fields).await.header("location"), place);
    }
    let page = owner.page(&place).await;
    assert!(page.contains("The former one is used, too, until "), "{page}");
    let second = shown(&page).unwrap();
    owner.submit(&test, &[("type", "message.read")]).await;
    assert!(receiver.got()[0].is_signed_with_all(&[key(second), key(first)]));
    let third = shown(&owner.submit(&replace, &[("overlap", "now")]).await).unwrap();
    owner.submit(&test, &[("type", "message.read")]).await;
    assert!(receiver.got()[1].is_signed_with(&key(third)));
}

#[tokio::test]
async fn an_event_of_the_log_is_sent_again() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let owner = world.signed_in(Role::Owner).await;
    let url = receiver.url();
    let (place, _) = add(&owner, &form(&url, &[("type", "send.canceled")])).await;
    let shop = world.service.channel(&world.acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let later = Timestamp::now().plus(Duration::from_secs(3_600)).to_string();
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777", "send_at": later});
    let sent =
        world.service.post(&format!("/api/v1/chat/{shop}/messages"), &world.acme.key, body.to_string()).await;
    let send = sent.json()["send_id"].as_str().unwrap().to_owned();
    world.service.post(&format!("/api/v1/sends/{send}/cancel"), &world.acme.key, "").await;

    let page = becomes(&owner, &place, "name=\"sequence\"").await;
    assert!(page.contains("A send was canceled") && page.contains("Send again"), "{page}");
    let sequence = page.split("name=\"sequence\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let resend = format!("{place}/resend");
    let resent = owner.submit(&resend, &[("sequence", sequence)]).await;
    assert!(resent.contains("Answer of the receiver") && resent.contains("accepted (200)"), "{resent}");
    let events = receiver.events();
    assert_eq!((events.len(), &events[0]), (2, &events[1]));
    assert_eq!(events[0]["sequence"].to_string(), sequence);
    let nothing = owner.submit(&resend, &[("sequence", "1")]).await;
    assert!(nothing.contains("This event is no longer kept"), "{nothing}");
    assert_eq!(owner.post(&resend, &[("sequence", "x")]).await.status, 400);
}

#[tokio::test]
async fn an_event_without_a_form_in_metas_webhooks_is_not_tested() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let owner = world.signed_in(Role::Owner).await;
    let url = receiver.url();
    let (place, _) = add(&owner, &form(&url, &[("form", "strict"), ("type", "message.failed")])).await;
    let tested = owner.submit(&format!("{place}/test"), &[("type", "quota.low")]).await;
    assert!(tested.contains("in its form, so nothing was sent"), "{tested}");
    assert!(receiver.got().is_empty(), "{:?}", receiver.got());
}

#[tokio::test]
async fn a_webhook_whose_sealing_key_is_lost_says_what_to_do_in_the_list_and_on_its_page() {
    let world = World::new().await;
    let (owner, viewer) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Viewer).await);
    let settings = Settings::new(NO_RECEIVER);
    let id = add_sealed(world.service.store(), world.acme.id, settings, true).await;
    let place = format!("{PLACE}/{id}");
    for person in [&owner, &viewer] {
        let listed = person.page(PLACE).await;
        for words in ["waits for a sealing key", "ask an operator to set the sealing key back"] {
            assert!(listed.contains(words), "{words}: {listed}");
        }
        let page = person.page(&place).await;
        for words in ["waits for a sealing key", "Nothing is lost meanwhile", "The secret cannot be opened"] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
    let tested = owner.submit(&format!("{place}/test"), &[("type", "message.read")]).await;
    assert!(tested.contains("Nothing is sent, because the service lacks the key"), "{tested}");

    let replaced = owner.submit(&format!("{place}/secret"), &[("overlap", "now")]).await;
    assert!(shown(&replaced).is_some() && !replaced.contains("The secret cannot be opened"), "{replaced}");
    assert!(replaced.contains("The headers cannot be opened"), "{replaced}");
    let removed = form(NO_RECEIVER, &[("type", "send.finished"), ("no_headers", "yes")]);
    let whole = owner.submit(&place, &removed).await;
    assert!(whole.contains(">working<") && !whole.contains("cannot be opened"), "{whole}");
    assert!(!owner.page(PLACE).await.contains("sealing key"));
}
