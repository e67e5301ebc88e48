//! What a person typed is kept: by the page of a check, and after the end of a session. Time zones of people who chose
//! none.

use pombo::accounts::{Origin, Role};
use reqwest::Method;
use serde_json::json;

use super::browser::{Browser, value_of};
use super::compose::{NEW, sends, shop, with};
use super::imports::{body, upload};
use super::operator::with_tiers;
use super::world::World;
use crate::api::past_send::FIRST;

async fn end_session(world: &World, email: &str) {
    let accounts = world.service.accounts();
    let user = accounts.user_by_email(email).await.unwrap();
    let origin = Origin::new([127, 0, 0, 1].into(), "test");
    for session in accounts.sessions(&user).await.unwrap() {
        accounts.end_session(&user, session.id, &origin).await.unwrap();
    }
}

#[tokio::test]
async fn a_check_has_an_address_that_back_and_a_reload_show_again() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let number = FIRST.to_string();
    let fields =
        [("channel", shop.as_str()), ("type", "text"), ("message", "Spring"), ("numbers", number.as_str())];
    let checked = member.post(NEW, &with(&fields, &[("action", "check")])).await;
    assert_eq!(checked.status, 303, "{}", checked.body);
    let place = checked.header("location").to_owned();
    let (first, again) = (member.page(&place).await, member.page(&place).await);
    assert!(first.contains("1 recipient"), "{first}");
    assert_eq!(value_of(&first, "message").as_deref(), Some("Spring"), "{first}");
    let (once, digest) = (value_of(&first, "once").unwrap(), value_of(&first, "checked").unwrap());
    assert_eq!(value_of(&again, "once").as_deref(), Some(once.as_str()), "it is the same form");
    let send = with(&fields, &[("action", "send"), ("checked", &digest), ("once", &once)]);
    let sent = member.post(NEW, &send).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    // Back, and the same button again: the message went already.
    let back = member.page(&place).await;
    assert!(back.contains("1 recipient"), "{back}");
    let twice = member.post(NEW, &send).await;
    assert_eq!(twice.header("location"), sent.header("location"));
    assert_eq!(sends(&world).await["totalRecords"], 1);
    // Nobody else reads it.
    let other = world.member_of(world.acme.id, Role::Member, "other@acme.example").await;
    let page = other.page(&place).await;
    assert!(page.contains("no longer kept") && !page.contains("Spring"), "{page}");
}

#[tokio::test]
async fn a_start_in_the_past_and_braces_in_a_text_are_told_before() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let number = FIRST.to_string();
    let fields = [
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "Dear {{first_name}}"),
        ("numbers", number.as_str()),
        ("action", "check"),
    ];
    let past = [("message", "Dear customer"), ("send_at", "2020-01-01T09:00")];
    let past = member.post(NEW, &with(&fields, &past)).await;
    assert_eq!(past.status, 422, "{}", past.body);
    assert!(past.body.contains("This time has passed."), "{}", past.body);
    let braces = member.check(NEW, &fields).await;
    assert_eq!(braces.status, 422, "nobody is to read braces: {}", braces.body);
    assert!(braces.body.contains("Nothing stands in the place of these double braces"), "{}", braces.body);
    let buttons = [("type", "buttons"), ("message", "Dear {{contact.first_name}}"), ("buttons", "Yes")];
    let buttons = member.check(NEW, &with(&fields, &buttons)).await;
    assert!(buttons.body.contains("Nothing stands in the place of these double braces"), "{}", buttons.body);
    let filled = [("message", "Dear {{contact.first_name|friend}}")];
    let filled = member.check(NEW, &with(&fields, &filled)).await;
    assert!(filled.body.contains("1 recipient"), "{}", filled.body);
}

#[tokio::test]
async fn a_form_that_is_sent_after_its_session_ended_keeps_what_was_typed_and_says_why() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let fields = [("first_name", "Ana <b>"), ("phone_number", "+5511988880001"), ("tags", "vip")];
    end_session(&world, "member@acme.example").await;
    let refused = member.post("/console/contacts/new", &fields).await;
    assert_eq!(refused.status, 401, "{}", refused.body);
    assert!(refused.body.contains("Your session has ended"), "{}", refused.body);
    for (name, value) in fields {
        assert_eq!(value_of(&refused.body, name).as_deref(), Some(value), "{}", refused.body);
    }
    assert!(refused.body.contains("action=\"/console/contacts/new\""), "{}", refused.body);
    // The person signs in beside it, and sends the page's form.
    let signed_in = world.member_of(world.acme.id, Role::Member, "ana@acme.example").await;
    let sent = signed_in.post("/console/contacts/new", &fields).await;
    assert_eq!(sent.status, 303, "{}", sent.body);

    let page = member.get("/console/contacts").await;
    assert_eq!(page.status, 303);
    let reason = member.page(page.header("location")).await;
    assert!(reason.contains("Your session has ended. Sign in to continue."), "{reason}");
    // Secrets are not written into a page, and a stranger's form is not kept.
    let password =
        member.post("/console/account/password", &[("current", "secret"), ("password", "x")]).await;
    assert_eq!(password.status, 303, "{}", password.body);
    let stranger = Browser::new(&world.service);
    let answer = stranger.post("/console/contacts/new", &fields).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/console/sign-in?next=%2Fconsole"));
    let page = stranger.page("/console/sign-in").await;
    assert!(!page.contains("session has ended"), "{page}");
}

#[tokio::test]
async fn mappings_and_settings_are_kept_when_a_session_ends_and_secrets_are_not() {
    let world = World::new().await;
    with_tiers(&world).await;
    let (owner, operator) = (world.signed_in(Role::Owner).await, world.operator().await);
    let file = b"Nome;Ramal\nAna;+55 11 988880001\n";
    let import = upload(&owner, body("", "a.csv", file)).await.header("location").to_owned();
    let tier = "/console/operator/tiers/standard";
    let seen = value_of(&operator.page(tier).await, "seen").unwrap();
    let kept: [(_, &str, &[(&str, &str)]); 6] = [
        (
            true,
            import.as_str(),
            &[("column-0", "name"), ("column-1", "phone_number"), ("encoding", "UTF-8"), ("tags", "feira")],
        ),
        (true, "/console/suppressions/words", &[("stops", "marketing"), ("stop_words", "Chega\r\nJá deu")]),
        (true, "/console/company/country", &[("country", "BR")]),
        (true, "/console/account/profile", &[("name", "Olga <b>"), ("time_zone", "America/Sao_Paulo")]),
        (false, "/console/operator", &[("name", "initech"), ("tier", "standard")]),
        (
            false,
            tier,
            &[
                ("messages_per_second", "40"),
                ("messages_per_second_span", "s"),
                ("step", "apply"),
                ("seen", seen.as_str()),
            ],
        ),
    ];
    for email in ["owner@acme.example", "operator@pombo.example"] {
        end_session(&world, email).await;
    }
    let (owner_again, operator_again) =
        (world.again("owner@acme.example").await, world.again("operator@pombo.example").await);
    for (is_owner, path, fields) in kept {
        let (before, after) = if is_owner { (&owner, &owner_again) } else { (&operator, &operator_again) };
        let refused = before.post(path, fields).await;
        assert_eq!(refused.status, 401, "{path}: {}", refused.body);
        assert!(refused.body.contains(&format!("action=\"{path}\"")), "{path}: {}", refused.body);
        for (name, value) in fields {
            assert_eq!(value_of(&refused.body, name).as_deref(), Some(*value), "{path}: {}", refused.body);
        }
        let sent = after.post(path, fields).await;
        assert_eq!(sent.status, 303, "{path}: {}", sent.body);
    }
    let words = world.service.store().of(world.acme.id).suppressions().words().await.unwrap();
    assert_eq!(words.stop_words, ["Chega", "Já deu"]);
    assert!(owner_again.page(&import).await.contains("<option value=\"name\" selected>"));
    let channel = format!("/console/channels/{}", world.acme.id);
    let pairing = owner.post(&format!("{channel}/pair"), &[("phone_number", "+5511988880001")]).await;
    assert_eq!(value_of(&pairing.body, "phone_number").as_deref(), Some("+5511988880001"));
    for (path, secret) in [
        ("/console/channels/new".to_owned(), "token"),
        (format!("{channel}/reconnect"), "token"),
        (format!("{channel}/app-secret"), "app_secret"),
        (format!("{channel}/passkey"), "assertion"),
        ("/console/account/totp/confirm".to_owned(), "code"),
    ] {
        let answer = owner.post(&path, &[(secret, "a-secret")]).await;
        assert_eq!(answer.status, 303, "{path}: {}", answer.body);
        assert!(!answer.body.contains("a-secret"), "{path}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_new_person_has_the_zone_of_the_browser_or_of_the_company() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let zone_in = async |browser: &Browser<'_>, cookie: &str| {
        let session = format!("pombo_session={}", browser.cookie("pombo_session").unwrap());
        let number = FIRST.to_string();
        let fields = [("type", "text"), ("message", "hi"), ("numbers", number.as_str()), ("action", "check")];
        let checked = browser.post(NEW, &fields).await;
        let last = checked.header("location").replace("step=check", "step=when");
        let request = world.service.request(Method::GET, &last);
        let page =
            crate::harness::Answer::to(request.header("cookie", format!("{session}; {cookie}"))).await.body;
        let (_, rest) = page.split_once("Times are in this zone: ").unwrap_or_else(|| panic!("{page}"));
        rest.split('<').next().unwrap().trim().to_owned()
    };
    shop(&world).await;
    let member = world.signed_in(Role::Member).await;
    assert_eq!(zone_in(&member, "").await, "UTC");
    assert_eq!(zone_in(&member, "pombo_zone=America/Bogota").await, "America/Bogota");
    assert_eq!(zone_in(&member, "pombo_zone=Mars/Olympus").await, "UTC");
    // Without script the browser says nothing: most people of the company are somewhere.
    owner.submit("/console/account/profile", &[("name", "Olga"), ("time_zone", "America/Sao_Paulo")]).await;
    assert_eq!(zone_in(&member, "").await, "America/Sao_Paulo");
    assert_eq!(zone_in(&member, "pombo_zone=America/Bogota").await, "America/Bogota");
    assert_eq!(zone_in(&owner, "pombo_zone=America/Bogota").await, "America/Sao_Paulo", "a choice counts");
    let account = member.page("/console/account").await;
    assert!(account.contains("(now São Paulo (UTC−3))"), "{account}");
}

#[tokio::test]
async fn a_tag_is_chosen_among_thousands_and_stays_chosen() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (shop, store) = (shop(&world).await, world.service.store());
    let oldest = store.of(world.acme.id).tags().ensure("Zürich", None).await.unwrap().to_string();
    let names: Vec<_> = (0..1_000).map(|i| json!({"name": format!("t{i}")})).collect();
    let written = world
        .service
        .post("/api/v1/contacts/tags/batch", &world.acme.key, json!({"tags": names}).to_string())
        .await;
    assert_eq!(written.status, 200, "{}", written.body);
    let start = member.page(&format!("{NEW}?channel={shop}")).await;
    assert!(start.contains("There are 1,001 tags."), "{start}");
    assert!(!start.contains(&oldest), "{start}");
    let fields = [("channel", shop.as_str()), ("type", "text"), ("message", "hi")];
    let find = [("action", "find_tag"), ("find_tag", "zurich")];
    let found = member.check(NEW, &with(&fields, &find)).await;
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(found.body.contains(&format!("name=\"tag\" value=\"{oldest}\">")), "{}", found.body);
    assert!(!found.body.contains("<bdi>t7</bdi>"), "only what the search finds: {}", found.body);
    let other = [("action", "find_tag"), ("find_tag", "t77"), ("tag", oldest.as_str())];
    let kept = member.check(NEW, &with(&fields, &other)).await;
    assert!(kept.body.contains(&format!("name=\"tag\" value=\"{oldest}\" checked")), "{}", kept.body);
    assert!(kept.body.contains("<bdi>t777</bdi>"), "{}", kept.body);
    // A link from the page of the tag chooses it, too.
    let linked = member.page(&format!("{NEW}?channel={shop}&tag={oldest}")).await;
    assert!(linked.contains(&format!("name=\"tag\" value=\"{oldest}\" checked")), "{linked}");
}

#[tokio::test]
async fn a_tag_s_chip_acts_on_the_contacts_with_that_tag_alone() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let body = json!({"contacts": [
        {"first_name": "Vip Silva", "phone_number": "5511988880001"},
        {"first_name": "Ana", "phone_number": "5511988880002", "tags": ["vip"]},
        {"first_name": "Bia", "phone_number": "5511988880003", "tags": ["vip", "vip gold"]},
        {"first_name": "Caio", "phone_number": "5511988880004", "tags": ["vip gold"]},
    ]});
    world.service.post("/api/v1/contacts/batch", &world.acme.key, body.to_string()).await;
    let tags = world.service.get("/api/v1/contacts/tags", &world.acme.key).await.json();
    let vip = tags["data"].as_array().unwrap().iter().find(|tag| tag["name"] == "vip").unwrap();
    let vip = vip["id"].as_str().unwrap();
    let all = member.page("/console/contacts").await;
    assert!(all.contains(&format!("href=\"/console/contacts?tag={vip}\"")), "{all}");
    let place = format!("/console/contacts?tag={vip}");
    let page = member.page(&place).await;
    assert!(page.contains("2 contacts<") && page.contains("All 2 contacts with this tag"), "{page}");
    assert!(page.contains(">Ana<") && page.contains(">Bia<"), "{page}");
    assert!(!page.contains("Vip Silva") && !page.contains(">Caio<"), "{page}");
    let narrowed = member.page(&format!("{place}&search=bia")).await;
    assert!(narrowed.contains("1 contact<"), "{narrowed}");
    let csv = member.page(&format!("/console/contacts/export?tag={vip}")).await;
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let fields = [("scope", "all"), ("of_tag", vip), ("action", "delete")];
    let question = member.post("/console/contacts/change", &fields).await;
    assert!(question.body.contains("2 contacts will be deleted."), "{}", question.body);
    assert_eq!(value_of(&question.body, "of_tag").as_deref(), Some(vip));
    let done = member.submit("/console/contacts/change", &with(&fields, &[("sure", "yes")])).await;
    assert!(done.contains("2 contacts were deleted."), "{done}");
    let left = world.service.get("/api/v1/contacts", &world.acme.key).await.json();
    assert_eq!(left["totalRecords"], 2, "{left}");
    // A tag that is not there never means everybody.
    let nobody = uuid::Uuid::now_v7().to_string();
    for of_tag in [nobody.as_str(), "x"] {
        let fields = [("scope", "all"), ("of_tag", of_tag), ("action", "delete"), ("sure", "yes")];
        assert_eq!(member.post("/console/contacts/change", &fields).await.status, 404, "{of_tag}");
        assert_eq!(member.get(&format!("/console/contacts?tag={of_tag}")).await.status, 404, "{of_tag}");
    }
}
