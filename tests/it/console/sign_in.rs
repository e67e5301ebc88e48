//! Signing in: by password, with a second factor, by links; being locked out, and signing out.

use pombo::accounts::Role;
use pombo::store::changes::{Filter, Who};

use super::browser::{Browser, value_of};
use super::world::{PASSWORD, World};

const ANA: &str = "ana@acme.example";

async fn sign_in(browser: &Browser<'_>, email: &str, password: &str) -> crate::harness::Answer {
    browser.post("/console/sign-in", &[("email", email), ("password", password), ("next", "/console")]).await
}

#[tokio::test]
async fn somebody_who_is_not_signed_in_is_led_to_sign_in_and_back() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    let led = browser.get("/console?page=2").await;
    assert_eq!((led.status, led.header("location")), (303, "/console/sign-in?next=%2Fconsole%3Fpage%3D2"));
    let page = browser.page(led.header("location")).await;
    let (_, form) = page.split_once("<main").unwrap();
    let next = value_of(form, "next").unwrap();
    assert_eq!(next, "/console?page=2");
    let fields = [("email", " ANA@acme.example "), ("password", PASSWORD), ("next", next.as_str())];
    let entered = browser.post("/console/sign-in", &fields).await;
    assert_eq!((entered.status, entered.header("location")), (303, "/console?page=2"));
    let cookie = entered.header("set-cookie");
    assert!(cookie.starts_with("pombo_session=") && cookie.ends_with("; HttpOnly; SameSite=Lax"), "{cookie}");
    assert!(browser.page("/console").await.contains("<h1>Overview</h1>"));
    let again = browser.get("/console/sign-in").await;
    assert_eq!((again.status, again.header("location")), (303, "/console"));
}

#[tokio::test]
async fn a_wrong_password_and_no_account_read_the_same_and_keep_the_input() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    let mut pages = Vec::new();
    for email in [ANA, "nobody@acme.example"] {
        let answer = sign_in(&browser, email, "wrong").await;
        assert_eq!(answer.status, 422, "{}", answer.body);
        assert!(answer.body.contains("E-mail or password is wrong."), "{}", answer.body);
        assert_eq!(value_of(&answer.body, "email").as_deref(), Some(email));
        pages.push(answer.body.replace(email, ""));
    }
    assert_eq!(pages[0], pages[1]);
    let missing = browser.post("/console/sign-in", &[("email", "<b>\"x\"")]).await;
    assert_eq!((missing.status, value_of(&missing.body, "email").as_deref()), (422, Some("<b>\"x\"")));
    assert!(missing.body.contains("id=\"field-password-fault\">Fill this in."), "{}", missing.body);
    assert!(!missing.body.contains("<b>"), "{}", missing.body);
}

#[tokio::test]
async fn guessing_locks_out_and_the_answer_says_for_how_long() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    let mut locked = None;
    for _ in 0..50 {
        let answer = sign_in(&browser, ANA, "wrong").await;
        if answer.status == 429 {
            locked = Some(answer);
            break;
        }
        assert_eq!(answer.status, 422);
    }
    let locked = locked.expect("fifty guesses locked nobody out");
    assert!(locked.body.contains("Too many attempts. Try again in"), "{}", locked.body);
    assert!(locked.header("retry-after").parse::<u64>().unwrap() > 0);
    assert_eq!(sign_in(&browser, ANA, PASSWORD).await.status, 429, "the right password waits too");
}

#[tokio::test]
async fn a_browser_that_signed_in_before_signs_in_while_strangers_guess() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let own = Browser::new(&world.service);
    let entered = sign_in(&own, ANA, PASSWORD).await;
    let device = entered.cookies.iter().find(|cookie| cookie.starts_with("pombo_device=")).unwrap();
    assert!(device.contains("; Max-Age=34560000; HttpOnly; SameSite=Lax"), "{device}");
    assert_eq!(own.post("/console/sign-out", &[]).await.status, 303);
    let stranger = Browser::new(&world.service);
    let database = sea_orm::Database::connect(&world.service.universe.url).await.unwrap();
    for account in 0..40 {
        let account = if account < 10 { ANA.to_owned() } else { format!("{account}@x.example") };
        sign_in(&stranger, &account, "wrong").await;
        // However slow the test is, no wait ends.
        let hold = "UPDATE sign_in_guess SET last_at = last_at + 60000";
        sea_orm::ConnectionTrait::execute_unprepared(&database, hold).await.unwrap();
    }
    database.close().await.unwrap();
    assert_eq!(sign_in(&stranger, ANA, PASSWORD).await.status, 429);
    let again = sign_in(&own, ANA, PASSWORD).await;
    assert_eq!(
        (again.status, again.cookies.len()),
        (303, 1),
        "the device keeps its token: {:?}",
        again.cookies
    );
    assert_eq!(own.get("/console").await.status, 200);
}

#[tokio::test]
async fn a_session_ends_with_signing_out() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let token = owner.cookie("pombo_session").unwrap();
    let out = owner.post("/console/sign-out", &[]).await;
    assert_eq!((out.status, out.header("location")), (303, "/console/sign-in"));
    assert_eq!(owner.cookie("pombo_session"), None);
    let stolen = Browser::with_session(&world.service, &token);
    assert_eq!(stolen.get("/console").await.status, 303, "the token opens nothing any more");
}

#[tokio::test]
async fn over_https_the_cookie_is_bound_to_the_host() {
    let service = crate::harness::Service::start_reached_at("https://pombo.example").await;
    let world = World::on(service).await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    let form = browser.form("/console/sign-in", &[("email", ANA), ("password", PASSWORD)]);
    let entered = browser.ask(form.header("origin", "https://pombo.example")).await;
    let cookie = entered.header("set-cookie");
    assert!(cookie.starts_with("__Host-pombo_session=") && cookie.ends_with("; Secure"), "{cookie}");
    assert_eq!(browser.get("/console").await.status, 200);
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_is_counted_and_recorded_by_its_own_address() {
    let world = World::on(crate::harness::Service::start_behind("127.0.0.0/8").await).await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    let from = async |forwarded: &str, email: &str, password: &str| {
        let form = browser.form("/console/sign-in", &[("email", email), ("password", password)]);
        let form = form.header("origin", browser.origin()).header("x-forwarded-for", forwarded);
        browser.ask(form.header("x-forwarded-proto", "https")).await
    };
    // An address that the attacker writes into the header stands left of the proxy's entry, and is ignored.
    let mut locked = false;
    for guess in 0..60 {
        let (spoofed, email) =
            (format!("203.0.113.{guess}, 2001:db8:0:{guess:x}::1"), format!("{guess}@x.example"));
        locked = from(&spoofed, &email, "wrong").await.status == 429;
        if locked {
            break;
        }
    }
    assert!(locked, "the addresses of one /56 are one network");
    let entered = from("2001:db8:1::1", ANA, PASSWORD).await;
    assert_eq!(entered.status, 303, "another client does not wait: {}", entered.body);
    let cookie = entered.header("set-cookie");
    assert!(cookie.starts_with("__Host-pombo_session=") && cookie.ends_with("; Secure"), "{cookie}");
    let page = pombo::domain::page::PageRequest { page: 1, limit: 100 };
    let changes = world.service.store().changes().page(Filter::default(), page).await.unwrap().records;
    let addresses: Vec<_> = changes.iter().filter_map(|change| change.address.as_deref()).collect();
    assert_eq!(addresses[0], "2001:db8:1::1", "{addresses:?}");
    assert!(addresses.contains(&"2001:db8::/56"), "guesses are one entry: {addresses:?}");
    assert!(
        !addresses.iter().any(|address| address.starts_with("203.") || *address == "127.0.0.1"),
        "{addresses:?}"
    );
}

#[tokio::test]
async fn without_a_trusted_proxy_the_headers_say_nothing() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    let form = browser.form("/console/sign-in", &[("email", ANA), ("password", PASSWORD)]);
    let form = form.header("origin", browser.origin()).header("x-forwarded-for", "203.0.113.5");
    let form = form.header("forwarded", "for=203.0.113.5;proto=https").header("x-forwarded-proto", "https");
    let entered = browser.ask(form).await;
    assert_eq!(entered.status, 303, "{}", entered.body);
    assert!(entered.header("set-cookie").starts_with("pombo_session="), "{}", entered.header("set-cookie"));
    let page = pombo::domain::page::PageRequest { page: 1, limit: 1 };
    let changes = world.service.store().changes().page(Filter::default(), page).await.unwrap().records;
    assert_eq!(changes[0].address.as_deref(), Some("127.0.0.1"));
}

#[tokio::test]
async fn every_attempt_is_in_the_record_with_its_address() {
    let world = World::new().await;
    world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let browser = Browser::new(&world.service);
    sign_in(&browser, ANA, "wrong").await;
    sign_in(&browser, ANA, PASSWORD).await;
    let page = pombo::domain::page::PageRequest { page: 1, limit: 10 };
    let changes = world.service.store().changes().page(Filter::default(), page).await.unwrap().records;
    let who: Vec<_> = changes.iter().take(2).map(|change| change.who.as_str()).collect();
    assert_eq!(
        who[0],
        Who::User { email: ANA.into(), address: [127, 0, 0, 1].into() }.to_string(),
        "{changes:?}"
    );
}

#[tokio::test]
async fn links_sign_in_and_reset_once_and_only_when_a_button_is_pressed() {
    let world = World::new().await;
    let id = world.person(ANA, Some((world.acme.id, Role::Owner)), false).await;
    let accounts = world.service.accounts();
    let user = accounts.user(id).await.unwrap();
    let browser = Browser::new(&world.service);
    let link = accounts.sign_in_link(&Who::Pombo, &user).await.unwrap().path();
    let page = browser.page(&link).await;
    assert!(
        page.contains("data-submit") && page.contains(ANA),
        "with script it needs no further click: {page}"
    );
    assert_eq!(browser.cookie("pombo_session"), None, "looking ahead signs nobody in");
    assert!(browser.submit(&link, &[]).await.contains("<h1>Overview</h1>"));
    assert_eq!(Browser::new(&world.service).post(&link, &[]).await.status, 404);
    let link = accounts.reset(&Who::Pombo, &user).await.unwrap().path();
    let fields = [("password", "a new password"), ("again", "a new password")];
    let elsewhere = Browser::new(&world.service);
    assert!(elsewhere.submit(&link, &fields).await.contains("<h1>Overview</h1>"));
    assert_eq!(browser.get("/console").await.status, 303, "a reset ends the other sessions");
    assert_eq!(sign_in(&Browser::new(&world.service), ANA, PASSWORD).await.status, 422);
    assert_eq!(sign_in(&Browser::new(&world.service), ANA, "a new password").await.status, 303);
    assert_eq!(elsewhere.get("/console/link/nothing").await.status, 404);
}
