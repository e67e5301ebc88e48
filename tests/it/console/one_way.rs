//! Every form of the console is read in the one way, like the bodies of the API; and what forms may hold.

use pombo::accounts::Role;
use pombo::api::Options;
use pombo::console::{Access, ROUTES};
use pombo::surface::body::Budget;

use super::browser::Browser;
use super::world::World;
use crate::harness::Service;
use crate::harness::unsent::{LENGTH, Unsent};
use crate::running::until_soon;

const FORM: &str = "application/x-www-form-urlencoded";
const SIGN_IN: &str = "/console/sign-in";

/// The routes that may answer without their form. All others have to read it in the one way.
const WITHOUT_FORM: [&str; 30] = [
    "/console/sign-out",
    "/console/account/alerts/test",
    "/console/channels/{id}/unlink",
    "/console/account/sessions/{id}/end",
    "/console/keys/{id}/revoke",
    "/console/programs/{id}/remove",
    "/console/webhooks/{id}/replay/end",
    "/console/webhooks/{id}/disable",
    "/console/webhooks/{id}/remove",
    "/console/company/token",
    "/console/company/invitations/{id}/withdraw",
    "/console/company/invitations/{id}/again",
    "/console/company/look/reset",
    "/console/company/members/{id}/link",
    "/console/company/members/{id}/remove",
    "/console/sends/{id}/pause",
    "/console/sends/{id}/resume",
    "/console/sends/{id}/cancel",
    "/console/sends/{id}/edit",
    "/console/sends/drafts/{id}/delete",
    "/console/contacts/tags/{id}/delete",
    "/console/contacts/{id}/delete",
    "/console/media/{id}/delete",
    "/console/operator/companies/{id}/disable",
    "/console/operator/companies/{id}/enable",
    "/console/operator/users/{id}/sign-in",
    "/console/operator/users/{id}/password",
    "/console/operator/users/{id}/disable",
    "/console/operator/users/{id}/enable",
    "/console/operator/tiers/{name}/delete",
];

/// A console whose memory for bodies a test can see.
async fn console(most: usize) -> (World, Budget) {
    let bodies = Budget::new(most);
    let options = Options { bodies: bodies.clone(), client_rate: 1, ..Options::default() };
    (World::on(Service::start_with(options).await).await, bodies)
}

/// The head fields of a form.
fn head(browser: &Browser<'_>, kind: &str) -> String {
    let session = browser.cookie("pombo_session").unwrap_or_default();
    format!("Sec-Fetch-Site: same-origin\r\nCookie: pombo_session={session}\r\nContent-Type: {kind}\r\n")
}

/// A form of this length that does not arrive.
fn slow(world: &World, browser: &Browser<'_>, path: &str, length: usize) -> Unsent {
    Unsent::begin(&world.service, "POST", path, &head(browser, FORM), length)
}

#[tokio::test]
async fn every_body_of_the_console_is_read_in_the_one_way() {
    let (world, bodies) = console(64 * 1024 * 1024).await;
    let (nobody, owner) = (Browser::new(&world.service), world.signed_in(Role::Owner).await);
    // More routes than one person may change something at once.
    let other = world.member_of(world.acme.id, Role::Owner, "other@acme.example").await;
    let operator = world.operator().await;
    for route in ROUTES.iter().filter(|route| route.method != "GET") {
        // It has no form, and gives the session another cookie, which the following connections would lack.
        if route.path == "/console/account/sessions/end" {
            continue;
        }
        let browser = match route.access {
            Access::Public => &nobody,
            Access::Operator => &operator,
            _ if route.path < "/console/inbox" => &other,
            _ => &owner,
        };
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let path = route.path.replace("{id}", id).replace("{name}", "standard").replace("{token}", id);
        let kind = match route.path {
            "/console/contacts/import"
            | "/console/media"
            | "/console/sends/new/list"
            | "/console/inbox/{id}/file"
            | "/console/company/look"
            | "/console/operator/prices/check" => "multipart/form-data; boundary=x",
            _ => FORM,
        };
        let unsent = Unsent::begin(&world.service, route.method, &path, &head(browser, kind), LENGTH);
        if let Some(status) = unsent.settled(&bodies).await {
            let is_known = WITHOUT_FORM.contains(&route.path);
            assert!(status > 0 && is_known, "{route:?} does not read its form in the one way: {status}");
        }
    }
}

#[tokio::test]
async fn a_form_of_many_fields_is_refused_before_its_values_are_made() {
    let (world, bodies) = console(64 * 1024 * 1024).await;
    let owner = world.signed_in(Role::Owner).await;
    let nobody = Browser::new(&world.service);
    for (browser, path, fields) in [
        (&owner, "/console/sends/new", 1_000_000),
        (&owner, "/console/contacts/change", 1_001),
        (&nobody, SIGN_IN, 5_000),
    ] {
        let form = browser.form(path, &[]).header("origin", browser.origin()).body("a&".repeat(fields));
        let refused = browser.ask(form).await;
        assert_eq!(refused.status, 413, "{path}");
        assert!(refused.body.contains("<h1>That is too many fields</h1>"), "{}", refused.body);
    }
    // As many as any page has.
    let ids: Vec<_> = (0..900).map(|_| ("contact", "01890a5d-ac96-774b-bcce-b302099a8057")).collect();
    let changed = owner.post("/console/contacts/change", &[&ids[..], &[("action", "delete")]].concat()).await;
    assert_ne!(changed.status, 413, "{}", changed.body);
    until_soon("the memory given back", async || bodies.held() == 0).await;
}

#[tokio::test]
async fn slow_forms_of_a_person_leave_room_for_colleagues_other_companies_and_programs() {
    const LARGE: usize = 2_000_000;
    let (world, bodies) = console(64 * 1024 * 1024).await;
    let member = world.signed_in(Role::Member).await;
    let (owner, outsider) = (world.signed_in(Role::Owner).await, world.outsider().await);
    let compose = "/console/sends/preview";
    // As many as there is room for, of a third of the memory.
    let slow: Vec<_> = (0..32).map(|_| slow(&world, &member, compose, LARGE)).collect();
    until_soon("the member's share used up", async || bodies.held() / LARGE == 11).await;
    let refused = member.post(compose, &[("text", &"x".repeat(1_000_000))]).await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    for browser in [&owner, &outsider] {
        let shown = browser.post(compose, &[("text", &"x".repeat(100_000))]).await;
        assert_ne!(shown.status, 503, "{}", shown.body);
    }
    let contacts = r#"{"contacts":[{"email":"a@b.example"}]}"#;
    let written = world.service.post("/api/v1/contacts/batch", &world.acme.key, contacts).await;
    assert_eq!(written.status, 200, "{}", written.body);
    let nobody = Browser::new(&world.service);
    assert_eq!(nobody.post(SIGN_IN, &[("email", "a@b.example"), ("password", "x")]).await.status, 422);
    drop(slow);
    until_soon("the memory given back", async || bodies.held() == 0).await;
    assert_ne!(member.post(compose, &[("text", &"x".repeat(1_000_000))]).await.status, 503);
}

#[tokio::test]
async fn slow_sign_ins_make_room_for_others_of_the_same_network() {
    const LARGE: usize = 16_000;
    let (world, bodies) = console(1024).await;
    let nobody = Browser::new(&world.service);
    // The network's part of the memory for visitors, and twice as much again.
    let slow: Vec<_> = (0..48).map(|_| slow(&world, &nobody, SIGN_IN, LARGE)).collect();
    until_soon("the network's part used up", async || bodies.held() / LARGE == 16).await;
    for _ in 0..3 {
        let entered = nobody.post(SIGN_IN, &[("email", "a@b.example"), ("password", "x")]).await;
        assert_eq!(entered.status, 422, "{}", entered.body);
    }
    drop(slow);
    until_soon("the memory given back", async || bodies.held() == 0).await;
}
