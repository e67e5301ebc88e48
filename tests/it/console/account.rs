//! A person's own account: profile, password, second factor, sessions.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use totp_rs::{Builder, Secret};

use super::browser::{Browser, value_of};
use super::world::{PASSWORD, World};

const ANA: &str = "ana@acme.example";

async fn signed_in(world: &World) -> Browser<'_> {
    let browser = Browser::new(&world.service);
    let fields = [("email", ANA), ("password", PASSWORD)];
    assert_eq!(browser.post("/console/sign-in", &fields).await.status, 303);
    browser
}

#[tokio::test]
async fn name_language_and_zone_are_kept() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let fields = [("name", "عمر & Zoë"), ("language", "pt-BR"), ("time_zone", "America/Sao_Paulo")];
    let page = owner.submit("/console/account/profile", &fields).await;
    assert!(page.contains("Salvo.") && page.contains("title=\"America/Sao_Paulo\""), "{page}");
    assert_eq!(value_of(&page, "name").as_deref(), Some("عمر & Zoë"));
    let wrong = owner.post("/console/account/profile", &[("name", ""), ("time_zone", "Mars/Olympus")]).await;
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains("field-time_zone-fault") && wrong.body.contains("field-name-fault"),
        "{}",
        wrong.body
    );
}

#[tokio::test]
async fn a_new_password_ends_all_other_sessions() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let (here, there) = (signed_in(&world).await, signed_in(&world).await);
    let change = async |current: &str| {
        let fields = [("current", current), ("password", "another horse"), ("again", "another horse")];
        here.post("/console/account/password", &fields).await
    };
    let wrong = change("wrong").await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("This is not your password."), "{}", wrong.body);
    assert_eq!(there.get("/console").await.status, 200);
    let token = here.cookie("pombo_session").unwrap();
    let changed = change(PASSWORD).await;
    assert_eq!(changed.status, 303);
    assert!(
        changed.header("set-cookie").ends_with("; HttpOnly; SameSite=Lax"),
        "{}",
        changed.header("set-cookie")
    );
    assert_ne!(here.cookie("pombo_session").unwrap(), token, "the session has another cookie");
    let stolen = Browser::with_session(&world.service, &token);
    assert_eq!(stolen.get("/console").await.status, 303, "the cookie from before opens nothing");
    assert_eq!((here.get("/console").await.status, there.get("/console").await.status), (200, 303));
}

#[tokio::test]
async fn a_session_is_listed_and_ended_by_its_person_alone() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let (here, there) = (signed_in(&world).await, signed_in(&world).await);
    let page = here.page("/console/account").await;
    assert!(page.contains("This session"), "{page}");
    let end = page.split('"').find(|word| word.ends_with("/end")).unwrap().to_owned();
    let other = world.signed_in(Role::Viewer).await;
    other.post(&end, &[]).await;
    assert_eq!(there.get("/console").await.status, 200, "the session is not the other person's");
    here.submit(&end, &[]).await;
    assert_eq!((here.get("/console").await.status, there.get("/console").await.status), (200, 303));
}

#[tokio::test]
async fn signing_out_everywhere_else_ends_cookies_tokens_and_links() {
    let world = World::new().await;
    let id = world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let (here, there) = (signed_in(&world).await, signed_in(&world).await);
    let page = here.submit("/console/company/token", &[]).await;
    let token = page.split("aria-label=\"Session token\"><code>").nth(1).unwrap().split('<').next().unwrap();
    assert_eq!(world.service.get("/api/v1/contacts", token).await.status, 200);
    let accounts = world.service.accounts();
    let user = accounts.user(id).await.unwrap();
    let link = accounts.sign_in_link(&pombo::store::changes::Who::Pombo, &user).await.unwrap().path();
    let stolen = Browser::with_session(&world.service, &here.cookie("pombo_session").unwrap());
    assert!(here.page("/console/account").await.contains("End all other sessions"));
    let page = here.submit("/console/account/sessions/end", &[]).await;
    assert!(page.contains("Your other sessions have ended."), "{page}");
    assert!(!page.contains("End all other sessions"), "there are none: {page}");
    for ended in [&there, &stolen] {
        assert_eq!(ended.get("/console").await.status, 303);
    }
    assert_eq!(world.service.get("/api/v1/contacts", token).await.status, 401);
    assert_eq!(world.service.get("/api/v1/contacts/tags", token).await.status, 401);
    assert_eq!(Browser::new(&world.service).post(&link, &[]).await.status, 404);
}

#[tokio::test]
async fn a_second_factor_is_set_up_asked_for_and_replaced_by_a_recovery_code() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = signed_in(&world).await;
    for wrong in [&[][..], &[("current", "wrong")]] {
        let refused = browser.post("/console/account/totp", wrong).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(
            refused.body.contains("id=\"begin-current-fault\"") && !refused.body.contains("QR code for"),
            "{}",
            refused.body
        );
    }
    let page = browser.submit("/console/account/totp", &[("current", PASSWORD)]).await;
    assert!(page.contains("<svg") && page.contains("QR code for the authenticator app"), "{page}");
    let secret = page.split("aria-label=\"Secret\"").nth(1).unwrap().split('>').nth(2).unwrap();
    let secret = secret.split('<').next().unwrap().to_owned();
    let code = code_of(&secret);
    let wrong = browser.post("/console/account/totp/confirm", &[("code", "000000x")]).await;
    assert_eq!(wrong.status, 422);
    let (other, before) = (signed_in(&world).await, browser.cookie("pombo_session").unwrap());
    let page = browser.submit("/console/account/totp/confirm", &[("code", &code)]).await;
    for ended in [&other, &Browser::with_session(&world.service, &before)] {
        assert_eq!(ended.get("/console").await.status, 303, "sessions without the second factor end");
    }
    let codes = page.split("aria-label=\"Recovery codes\"><code>").nth(1).unwrap();
    let codes = codes.split('<').next().unwrap().to_owned();
    let mut codes = codes.split('\n');
    let [recovery, next, last] = [codes.next().unwrap(), codes.next().unwrap(), codes.next().unwrap()];
    assert!(!browser.page("/console/account").await.contains(recovery), "recovery codes are shown once");

    let visitor = Browser::new(&world.service);
    let fields = [("email", ANA), ("password", PASSWORD), ("next", "/console/account")];
    let asked = visitor.post("/console/sign-in", &fields).await;
    assert_eq!(asked.status, 200);
    let ticket = value_of(&asked.body, "ticket").unwrap();
    assert!(asked.body.contains("<label for=\"field-code\">Code</label>"), "{}", asked.body);
    let with = async |code: &str| {
        let fields = [("ticket", ticket.as_str()), ("code", code), ("next", "/console/account")];
        visitor.post("/console/sign-in", &fields).await
    };
    assert_eq!(with(&code).await.status, 422, "a code is good once");
    assert_eq!(browser.get("/console/account").await.status, 200, "this one goes on");
    let entered = with(recovery).await;
    assert_eq!((entered.status, entered.header("location")), (303, "/console/account"));
    let page = visitor.page("/console/account").await;
    assert!(page.contains("Recovery codes left: 9"), "{page}");
    let alone = visitor.post("/console/account/totp/remove", &[("current", PASSWORD)]).await;
    assert_eq!(alone.status, 422);
    assert!(alone.body.contains("id=\"remove-proof-fault\""), "{}", alone.body);
    let used = [("current", PASSWORD), ("proof", recovery)];
    for path in ["/console/account/totp", "/console/account/totp/remove"] {
        let refused = visitor.post(path, &used).await;
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("The password or the code is wrong"), "{}", refused.body);
    }
    let replaced = visitor.submit("/console/account/totp", &[("current", PASSWORD), ("proof", next)]).await;
    assert!(replaced.contains("<svg") && !replaced.contains(&secret), "another secret: {replaced}");
    let removed =
        visitor.submit("/console/account/totp/remove", &[("current", PASSWORD), ("proof", last)]).await;
    assert!(removed.contains("The second factor is removed."), "{removed}");
}

#[tokio::test]
async fn a_viewer_who_changes_too_much_at_once_has_to_wait_and_what_changes_nothing_is_not_recorded() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let page = pombo::domain::page::PageRequest { page: 1, limit: 1 };
    let of_people = [pombo::store::changes::What::User];
    let filter = pombo::store::changes::Filter { what: &of_people, ..Default::default() };
    let recorded = async || world.service.store().changes().page(filter, page).await.unwrap().total;
    let before = recorded().await;
    let rename = async |name: &str| viewer.post("/console/account/profile", &[("name", name)]).await;
    let mut changed = 0_u64;
    let held = loop {
        let answer = rename(if changed % 4 < 2 { "Ana" } else { "Zoë" }).await;
        if answer.status != 303 {
            break answer;
        }
        changed += 1;
        assert!(changed < 2_000, "nothing stops it");
    };
    assert_eq!(held.status, 429, "{}", held.body);
    assert!(held.header("retry-after").parse::<u64>().unwrap() > 0);
    assert!(changed >= 100, "{changed}");
    // Every second request repeats the one before.
    assert_eq!(recorded().await - before, changed.div_ceil(2));
    assert_eq!(viewer.get("/console").await.status, 200, "reading goes on");
    let other = world.signed_in(Role::Member).await;
    assert_eq!(other.post("/console/account/profile", &[("name", "Bea")]).await.status, 303);
    assert_eq!(viewer.post("/console/sign-out", &[]).await.status, 303, "everybody can sign out");
}

/// The code that an authenticator shows now.
fn code_of(secret: &str) -> String {
    let secret = Secret::try_from_base32(secret).unwrap();
    let now = u64::try_from(Timestamp::now().millis() / 1_000).unwrap();
    Builder::new().with_secret(secret).build().unwrap().generate(now).to_string()
}
