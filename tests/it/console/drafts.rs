//! Drafts of new sends: saved, kept by themselves, also after the end of a session, and removed when they are sent; and tests
//! that a person sends to their own number.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::json;
use url::form_urlencoded;
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::compose::{NEW, sends, shop, with};
use super::world::World;
use crate::api::past_send::FIRST;

const DRAFTS: &str = "/console/sends/drafts";
const HOUR: Duration = Duration::from_secs(3_600);
const OWN: &str = "+55 11 97777-6666";

/// The address of the form with the first draft of the list.
async fn first_draft(browser: &Browser<'_>) -> String {
    let list = browser.page(DRAFTS).await;
    let address = list.split("href=\"").find(|rest| rest.starts_with("/console/sends/new?draft="));
    address.unwrap_or_else(|| panic!("{list}")).split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_draft_is_saved_for_the_company_opened_and_removed_when_it_is_sent_or_deleted() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let colleague = world.member_of(world.acme.id, Role::Owner, "bea@acme.example").await;
    let (shop, number) = (shop(&world).await, FIRST.to_string());
    let fields = [
        ("channel", shop.as_str()),
        ("type", "text"),
        ("name", "Spring <1>"),
        ("message", "Olá\n\"you\""),
        ("numbers", number.as_str()),
    ];
    let saved = member.submit(NEW, &with(&fields, &[("action", "save")])).await;
    for shown in ["The draft is saved.", "Spring &lt;1&gt;", "Shop", "Text", "member@acme.example"] {
        assert!(saved.contains(shown), "{shown}: {saved}");
    }
    assert!(member.page("/console/sends").await.contains(&format!("href=\"{DRAFTS}\"")));
    // A colleague goes on with it: it is the same draft.
    let place = first_draft(&colleague).await;
    let opened = colleague.page(&place).await;
    let carried = ["message", "name"].map(|name| value_of(&opened, name).unwrap());
    assert_eq!(carried, ["Olá\n\"you\"", "Spring <1>"], "{opened}");
    let id = value_of(&opened, "draft").unwrap();
    assert!(place.ends_with(&id), "{place}");
    let more = [("draft", id.as_str()), ("message", "Changed")];
    let checked = colleague.check(NEW, &with(&with(&fields, &more), &[("action", "check")])).await;
    let digest = value_of(&checked.body, "checked").unwrap();
    assert_eq!(value_of(&checked.body, "draft"), Some(id.clone()), "{}", checked.body);
    assert_eq!(value_of(&member.page(&place).await, "message").as_deref(), Some("Changed"));
    assert!(member.page(DRAFTS).await.contains("bea@acme.example"));

    let (outsider, viewer) = (world.outsider().await, world.signed_in(Role::Viewer).await);
    let delete = format!("{DRAFTS}/{id}/delete");
    assert_eq!(outsider.get(&place).await.status, 404);
    assert_eq!(outsider.post(&delete, &[]).await.status, 404);
    assert_eq!((viewer.get(DRAFTS).await.status, viewer.post(&delete, &[]).await.status), (403, 403));

    let send = [("action", "send"), ("checked", digest.as_str())];
    let sent = colleague.post(NEW, &with(&with(&fields, &more), &send)).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    assert_eq!(sends(&world).await["totalRecords"], 1);
    assert_eq!(member.get(&place).await.status, 404, "a draft that was sent is gone");
    assert!(member.page(DRAFTS).await.contains("There are no drafts."));

    member.submit(NEW, &with(&fields, &[("action", "save")])).await;
    let place = first_draft(&member).await;
    let delete = format!("{DRAFTS}/{}/delete", place.rsplit('=').next().unwrap());
    assert!(colleague.submit(&delete, &[]).await.contains("The draft is deleted."));
    assert_eq!((member.post(&delete, &[]).await.status, member.get(&place).await.status), (404, 404));
}

#[tokio::test]
async fn drafts_are_bounded_in_length_and_number_and_what_is_kept_by_itself_is_the_person_s_own() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let colleague = world.member_of(world.acme.id, Role::Member, "bea@acme.example").await;
    let (shop, number) = (shop(&world).await, FIRST.to_string());
    let fields = [("channel", shop.as_str()), ("type", "text"), ("numbers", number.as_str())];
    for message in 0..9 {
        let message = format!("Checked {message}");
        let more = [("message", message.as_str()), ("name", message.as_str()), ("action", "check")];
        assert_eq!(member.check(NEW, &with(&fields, &more)).await.status, 200);
    }
    let own = member.page(DRAFTS).await;
    assert!(own.contains("Checked 8") && own.contains("kept for you alone"), "{own}");
    assert!(!own.contains("Checked 0"), "the oldest makes room: {own}");
    let place = first_draft(&member).await;
    assert!(colleague.page(DRAFTS).await.contains("There are no drafts."));
    assert_eq!(colleague.get(&place).await.status, 404);

    let long = "7".repeat(300_000);
    let refused = member.post(NEW, &with(&fields, &[("numbers", &long), ("action", "save")])).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("too long to be kept as a draft"), "{}", refused.body);
    for message in 0..51 {
        let message = message.to_string();
        let saved = member.post(NEW, &with(&fields, &[("message", &message), ("action", "save")])).await;
        assert_eq!(saved.status, if message == "50" { 422 } else { 303 }, "{message}: {}", saved.body);
    }
    let another = colleague.post(NEW, &with(&fields, &[("message", "hi"), ("action", "save")])).await;
    assert_eq!(another.status, 303, "{}", another.body);
}

#[tokio::test]
async fn a_send_that_is_posted_after_twelve_idle_hours_is_found_again_after_signing_in() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let fields =
        [("channel", shop.as_str()), ("type", "text"), ("message", "Half a thought"), ("action", "check")];
    assert_eq!(member.get(NEW).await.status, 200);
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    let ago = |span: Duration| Timestamp::now().minus(span).millis();
    let idle = format!("UPDATE user_session SET last_used_at = {}", ago(13 * HOUR));
    database.execute_unprepared(&idle).await.unwrap();
    let page = member.get("/console/contacts").await;
    assert_eq!(page.header("location"), "/console/sign-in?ended=idle&next=%2Fconsole%2Fcontacts");
    // Others who sign in meanwhile do not make the service forget.
    world.member_of(world.acme.id, Role::Member, "bea@acme.example").await;
    let posted = member.post(NEW, &fields).await;
    assert_eq!(posted.status, 303, "{}", posted.body);
    let place = posted.header("location").to_owned();
    assert!(place.starts_with("/console/sign-in?ended=idle&kept=yes&next="), "{place}");
    let reason = member.page(&place).await;
    assert!(reason.contains("after 12 hours without activity"), "{reason}");
    assert!(reason.contains("What you typed is kept"), "{reason}");
    let (_, query) = place.split_once('?').unwrap();
    let next = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "next").unwrap().1;
    let again = world.again("member@acme.example").await;
    let found = again.page(&next).await;
    assert_eq!(value_of(&found, "message").as_deref(), Some("Half a thought"), "{found}");
    assert_eq!(sends(&world).await["totalRecords"], 0);

    let old = format!("UPDATE user_session SET created_at = {}", ago(721 * HOUR));
    database.execute_unprepared(&old).await.unwrap();
    let page = again.get("/console").await;
    assert!(again.page(page.header("location")).await.contains("30 days after you signed in"));
    // The token of a session that somebody ended keeps nothing.
    database.execute_unprepared("DELETE FROM user_session").await.unwrap();
    let refused = again.post(NEW, &fields).await;
    assert_eq!(refused.status, 401, "{}", refused.body);
    assert_eq!(value_of(&refused.body, "message").as_deref(), Some("Half a thought"));
    // So is an answer to a person.
    let place = format!("/console/inbox/{}/answer", Uuid::now_v7());
    let refused = again.post(&place, &[("message", "It is on its way")]).await;
    assert_eq!(
        (refused.status, value_of(&refused.body, "message").as_deref()),
        (401, Some("It is on its way"))
    );
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_test_goes_once_to_the_person_s_own_number_and_leaves_the_send_as_it_is() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let numbers = format!("{FIRST}\n{}", FIRST + 1);
    let page = member.page(&format!("{NEW}?type=text&channel={shop}")).await;
    let once = value_of(&page, "once").unwrap();
    let fields = [
        ("once", once.as_str()),
        ("channel", shop.as_str()),
        ("type", "text"),
        ("name", "Spring"),
        ("message", "Olá"),
        ("numbers", numbers.as_str()),
        ("send_at", "2020-01-01T00:00"),
        ("action", "test"),
    ];
    for number in ["", "11 97777-6666", "n/a"] {
        let asked = member.post(NEW, &with(&fields, &[("own_number", number)])).await;
        assert_eq!(asked.status, 422, "{number}: {}", asked.body);
        assert!(asked.body.contains("Give your number with + and the country code."), "{}", asked.body);
    }
    let nothing = with(&fields, &[("own_number", OWN), ("message", " ")]);
    let empty = member.post(NEW, &nothing).await;
    assert_eq!(empty.status, 422, "{}", empty.body);
    assert!(empty.body.contains("Write a message."), "{}", empty.body);
    assert_eq!(sends(&world).await["totalRecords"], 0);

    // The number is kept, and the button sends once however often it is pressed.
    let first = member.post(NEW, &fields).await;
    assert_eq!(first.status, 303, "{}", first.body);
    let second = member.post(NEW, &fields).await;
    let test = |place: &str| place.split("&test=").nth(1).unwrap().to_owned();
    assert_eq!(test(first.header("location")), test(second.header("location")));
    let repeated = member.page(second.header("location")).await;
    assert!(repeated.contains("Nothing was sent now") && repeated.contains("<time datetime="), "{repeated}");
    let shown = member.page(first.header("location")).await;
    let link = format!("href=\"/console/sends/{}/messages/0\"", test(first.header("location")));
    assert!(shown.contains("The test is accepted") && shown.contains(&link), "{shown}");
    assert!(!shown.contains("Nothing was sent now"), "{shown}");
    assert!(shown.contains(&numbers), "the form stays: {shown}");
    assert_eq!(value_of(&shown, "message").as_deref(), Some("Olá"), "{shown}");
    let listed = sends(&world).await;
    let record = &listed["data"][0];
    assert_eq!((&listed["totalRecords"], &record["recipients_count"]), (&json!(1), &json!(1)));
    assert_eq!((&record["name"], &record["state"]), (&json!("Test of Spring"), &json!("active")));
    let found = world.service.get("/api/v1/messages?recipient=%2B5511977776666", &world.acme.key).await;
    assert_eq!(found.json()["totalRecords"], 1, "{}", found.body);
    // Other content is another test.
    let other = member.post(NEW, &with(&fields, &[("message", "Olé")])).await;
    assert_ne!(test(other.header("location")), test(first.header("location")));
    assert_eq!(sends(&world).await["totalRecords"], 2);
}

#[tokio::test]
async fn a_test_of_a_checked_send_leads_back_to_its_check_and_a_draft_keeps_the_whole_audience() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    member.submit("/console/account/number", &[("phone_number", OWN)]).await;
    shop(&world).await;
    let store = world.service.store().of(world.acme.id);
    let (tag, staff) =
        (store.tags().ensure("vip", None).await.unwrap(), store.tags().ensure("staff", None).await.unwrap());
    let person = Person { phone_number: FIRST.to_string(), ..Person::default() };
    store.contacts().add(&[(Uuid::now_v7(), person)], &[tag], Timestamp::now()).await.unwrap();
    let body = json!({"name": "Ours", "filter": {"contact_tag_id": [tag]}}).to_string();
    let saved = world.service.post("/api/v1/contacts/segments", &world.acme.key, body).await;
    assert_eq!(saved.status, 201, "{}", saved.body);
    let (segment, staff) = (saved.json()["id"].as_str().unwrap().to_owned(), staff.to_string());
    let fields =
        [("type", "text"), ("message", "hi"), ("segment", segment.as_str()), ("without", staff.as_str())];
    let checked = member.check(NEW, &with(&fields, &[("step", "what"), ("action", "check")])).await.body;
    assert!(checked.contains("A test goes to +55 11 97777 6666"), "{checked}");
    let steering = ["once", "kept", "draft", "run", "checked"];
    let steering = steering.map(|name| (name, value_of(&checked, name).unwrap()));
    let steering = steering.each_ref().map(|(name, value)| (*name, value.as_str()));
    let at_check = [&fields[..], &steering, &[("step", "check")]].concat();
    let tested = member.post(NEW, &with(&at_check, &[("action", "test")])).await;
    assert!(tested.header("location").contains("step=check"), "{}", tested.body);
    let shown = member.page(tested.header("location")).await;
    assert!(shown.contains("The test is accepted") && shown.contains("1 recipient"), "{shown}");
    assert_eq!(value_of(&shown, "checked"), value_of(&checked, "checked"), "the check holds: {shown}");
    let record = sends(&world).await["data"][0].clone();
    assert_eq!((&record["recipients_count"], &record["segment_ids"]), (&json!(1), &json!([])), "{record}");
    let found = world.service.get("/api/v1/messages?recipient=%2B5511977776666", &world.acme.key).await;
    assert_eq!(found.json()["totalRecords"], 1, "the test goes to the person alone: {}", found.body);

    let list = member.submit(NEW, &with(&at_check, &[("action", "save")])).await;
    assert!(list.contains("The draft is saved.") && !list.contains("kept for you alone"), "{list}");
    let opened = member.page(&first_draft(&member).await).await;
    for (name, value) in [("segment", &segment), ("without", &staff)] {
        assert!(opened.contains(&format!("name=\"{name}\" value=\"{value}\" checked")), "{opened}");
    }
}

#[tokio::test]
async fn a_person_keeps_changes_and_removes_their_number() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let (account, place) = ("/console/account", "/console/account/number");
    let saved = owner.submit(place, &[("phone_number", OWN)]).await;
    assert!(saved.contains("Your number is saved."), "{saved}");
    assert_eq!(value_of(&saved, "phone_number").as_deref(), Some("+55 11 97777 6666"));
    // Without a plus sign, the person says which number is meant.
    let unsure = owner.post(place, &[("phone_number", "5511988887777")]).await;
    assert!(unsure.status == 422 && unsure.body.contains("name=\"phone_number_as\""), "{}", unsure.body);
    let meant = [("phone_number", "5511988887777"), ("phone_number_as", "5511988887777")];
    let chosen = owner.submit(place, &meant).await;
    assert_eq!(value_of(&chosen, "phone_number").as_deref(), Some("+55 11 98888 7777"));
    let wrong = owner.post(place, &[("phone_number", "n/a")]).await;
    assert!(wrong.status == 422 && wrong.body.contains("This is not a phone number."), "{}", wrong.body);
    let removed = owner.submit(place, &[("phone_number", " ")]).await;
    assert!(removed.contains("Your number is removed."), "{removed}");
    assert_eq!(value_of(&owner.page(account).await, "phone_number").as_deref(), Some(""));
}
