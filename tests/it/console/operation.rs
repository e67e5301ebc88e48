//! The operators' pages of one company and of the people, and the links that owners make.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};

use super::browser::{Browser, value_of};
use super::operator::with_tiers;
use super::world::{PASSWORD, World};

/// The link that a page shows only once, as a path.
fn link(page: &str) -> String {
    let place = page.find("/console/link/").unwrap_or_else(|| panic!("no link: {page}"));
    page[place..].split(['"', '<']).next().unwrap().to_owned()
}

#[tokio::test]
async fn a_new_company_has_its_next_steps_and_is_renamed_disabled_and_enabled() {
    let world = World::new().await;
    with_tiers(&world).await;
    let operator = world.operator().await;
    assert!(operator.page("/console/operator").await.contains("value=\"standard\" selected"));
    let fields = [("name", "initech"), ("tier", "standard")];
    let added = operator.post("/console/operator", &fields).await;
    let place = added.header("location").to_owned();
    let page = operator.page(&place).await;
    for shown in ["<h1>initech</h1>", "Invite an owner", "Connect a number", "0 channels, 0 connected"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let invited =
        operator.submit(&format!("{place}/invite"), &[("email", "o@x.example"), ("role", "owner")]).await;
    let owner = Browser::new(&world.service);
    let own = [("name", "Olga"), ("password", PASSWORD), ("again", PASSWORD)];
    assert!(owner.submit(&link(&invited), &own).await.contains("initech"));
    let wrong = operator.post(&place, &[("name", "acme"), ("tier", "standard")]).await;
    assert_eq!((wrong.status, value_of(&wrong.body, "name").as_deref()), (422, Some("acme")));
    assert_eq!(operator.post(&place, &[("name", "x"), ("tier", "none")]).await.status, 422);
    let renamed = operator.submit(&place, &[("name", "Initrode"), ("tier", "high")]).await;
    assert!(
        renamed.contains("<h1>Initrode</h1>") && renamed.contains("/console/operator/tiers/high"),
        "{renamed}"
    );
    assert!(renamed.contains("Olga") && renamed.contains("one owner among them"), "{renamed}");
    // Disabled: its people have to leave, and see why.
    let disabled = operator.submit(&format!("{place}/disable"), &[]).await;
    assert!(disabled.contains("This company is disabled"), "{disabled}");
    let led = owner.get("/console").await;
    assert_eq!((led.status, led.header("location")), (303, "/console/companies?next=%2Fconsole"));
    let companies = owner.page(led.header("location")).await;
    assert!(
        companies.contains("Ask the people who run the service.") && !companies.contains("Choose Initrode")
    );
    let id = place.rsplit('/').next().unwrap();
    assert_eq!(owner.post("/console/companies", &[("company", id)]).await.status, 404);
    assert_eq!(operator.post("/console/companies", &[("company", id)]).await.status, 404, "nor an operator");
    let enabled = operator.submit(&format!("{place}/enable"), &[]).await;
    assert!(enabled.contains("The company is enabled again."), "{enabled}");
    assert_eq!(owner.get("/console").await.status, 200, "the session goes on");
    assert_eq!(world.signed_in(Role::Owner).await.get(&place).await.status, 403);
    let nobody = format!("/console/operator/companies/{}", uuid::Uuid::nil());
    assert_eq!(operator.get(&nobody).await.status, 404);
}

#[tokio::test]
async fn operators_find_people_make_links_for_them_and_keep_them_out() {
    let world = World::new().await;
    let operator = world.operator().await;
    let ben = world.person("ben@acme.example", Some((world.acme.id, Role::Viewer)), false).await;
    world.person("carl@globex.example", Some((world.globex.id, Role::Owner)), false).await;
    let found = operator.page("/console/operator/users?search=ben").await;
    assert!(found.contains("ben@acme.example") && !found.contains("carl@"), "{found}");
    let place = format!("/console/operator/users/{ben}");
    assert!(found.contains(&place) && found.contains(">acme</bdi>"), "{found}");
    let page = operator.submit(&format!("{place}/sign-in"), &[]).await;
    let address = link(&page);
    assert!(!operator.page(&place).await.contains(&address), "the link is shown once");
    let there = Browser::new(&world.service);
    assert!(there.submit(&address, &[]).await.contains("acme"), "it signs in");
    assert_eq!(there.get(&address).await.status, 404, "once");
    let listed = operator.page("/console/operator/users?search=ben").await;
    assert!(listed.contains("<time datetime="), "the sign-in is noted: {listed}");
    let password = operator.submit(&format!("{place}/password"), &[]).await;
    let chosen = [("password", "another horse"), ("again", "another horse")];
    assert_eq!(there.post(&link(&password), &chosen).await.status, 303);
    let disabled = operator.submit(&format!("{place}/disable"), &[]).await;
    assert!(disabled.contains("This person cannot sign in."), "{disabled}");
    assert_eq!(there.get("/console").await.status, 303);
    operator.submit(&format!("{place}/enable"), &[]).await;
    let fields = [("email", "ben@acme.example"), ("password", "another horse")];
    assert_eq!(there.post("/console/sign-in", &fields).await.status, 303);
    // Nobody locks themselves out.
    let own = world.service.accounts().user_by_email("operator@pombo.example").await.unwrap().id;
    let own = format!("/console/operator/users/{own}");
    assert!(!operator.page(&own).await.contains("/disable\""));
    assert_eq!(operator.post(&format!("{own}/disable"), &[]).await.status, 403);
}

#[tokio::test]
async fn owners_help_members_who_lost_their_password_and_make_links_of_invitations_again() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let ben = world.person("ben@acme.example", Some((world.acme.id, Role::Viewer)), false).await;
    let page = owner.submit(&format!("/console/company/members/{ben}/link"), &[]).await;
    assert!(page.contains("aria-label=\"Link for a new password\"") && page.contains("data-copy="), "{page}");
    let there = Browser::new(&world.service);
    let chosen = [("password", "another horse"), ("again", "another horse")];
    assert!(there.submit(&link(&page), &chosen).await.contains("acme"), "it signs in, too");
    assert_eq!(there.get(&link(&page)).await.status, 404, "once");
    // A person of two companies: the link would open the other one.
    let dora = world.person("dora@acme.example", Some((world.acme.id, Role::Member)), false).await;
    let both = world.member_of(world.globex.id, Role::Owner, "eva@globex.example").await;
    let invited = [("email", "dora@acme.example"), ("role", "viewer")];
    let address = link(&both.submit("/console/company/invitations", &invited).await);
    let joining = [("name", "Dora"), ("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(Browser::new(&world.service).post(&address, &joining).await.status, 303);
    let refused = owner.submit(&format!("/console/company/members/{dora}/link"), &[]).await;
    assert!(refused.contains("Only an operator of this service"), "{refused}");
    assert!(!refused.contains("/console/link/"), "{refused}");
    let stranger = world.person("carl@globex.example", Some((world.globex.id, Role::Owner)), false).await;
    assert_eq!(owner.post(&format!("/console/company/members/{stranger}/link"), &[]).await.status, 404);
    // An invitation whose link was lost.
    let invited = [("email", "new@acme.example"), ("role", "member")];
    let first = link(&owner.submit("/console/company/invitations", &invited).await);
    let open = world.service.accounts().invitations(Some(world.acme.id)).await.unwrap();
    let again = format!("/console/company/invitations/{}/again", open[0].id);
    let second = link(&owner.submit(&again, &[]).await);
    assert_eq!(there.get(&first).await.status, 404, "the earlier link ends");
    assert_eq!(there.get(&second).await.status, 200);
    assert_eq!(owner.post(&again, &[]).await.status, 404, "there is another invitation now");
}

#[tokio::test]
async fn a_new_account_begins_with_the_time_zone_of_its_browser() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    for (email, zone, kept) in [
        ("bogota@acme.example", "America/Bogota", Some("America/Bogota")),
        ("mars@acme.example", "Mars/Olympus", None),
    ] {
        let invited = [("email", email), ("role", "viewer")];
        let address = link(&owner.submit("/console/company/invitations", &invited).await);
        let there = Browser::new(&world.service);
        let fields = [("name", "B"), ("password", PASSWORD), ("again", PASSWORD)];
        let form = there.form(&address, &fields).header("origin", there.origin());
        let accepted = there.ask(form.header("cookie", format!("pombo_zone={zone}"))).await;
        assert_eq!(accepted.status, 303, "{}", accepted.body);
        let user = world.service.accounts().user_by_email(email).await.unwrap();
        assert_eq!(user.time_zone.as_deref(), kept, "{email}");
    }
    // A zone is found by its city, and a wrong one is told at the field.
    let fields = [("name", "Olga"), ("time_zone", "são paulo (UTC−3)")];
    let page = owner.submit("/console/account/profile", &fields).await;
    assert!(page.contains("<option value=\"Bogotá (UTC−5)\">"), "{page}");
    assert!(value_of(&page, "time_zone").is_some_and(|zone| zone.starts_with("São Paulo (UTC")), "{page}");
    let wrong = owner.post("/console/account/profile", &[("name", "Olga"), ("time_zone", "Olympus")]).await;
    assert!(wrong.status == 422 && wrong.body.contains("There is no city or time zone"), "{}", wrong.body);
}

#[tokio::test]
async fn a_channel_s_tier_is_applied_only_as_it_was_shown() {
    let world = World::new().await;
    with_tiers(&world).await;
    let channel =
        world.service.channel(&world.globex, Kind::BusinessAccount, "till", Status::Connected).await;
    let operator = world.operator().await;
    let place = format!("/console/operator/channels/{}", channel.id);
    let tier = async || world.service.store().channels().find(channel.id).await.unwrap().unwrap().tier;
    let fields = |options: &'static str, step: &'static str| {
        [("tier", "high"), ("options", options), ("until", ""), ("step", step)]
    };
    let checked = operator.post(&place, &fields("", "check")).await;
    assert_eq!(checked.status, 200, "{}", checked.body);
    for shown in [">Apply</button>", "standard", "high", "No bulk send runs under this tier now."] {
        assert!(checked.body.contains(shown), "{shown}: {}", checked.body);
    }
    assert_eq!(tier().await, "standard", "nothing is applied yet");
    let seen = value_of(&checked.body, "seen").unwrap();
    let other = [&fields("burst=2", "apply")[..], &[("seen", seen.as_str())]].concat();
    assert_eq!(operator.post(&place, &other).await.status, 200, "other options have to be shown first");
    let same = [&fields("", "apply")[..], &[("seen", seen.as_str())]].concat();
    assert_eq!(operator.post(&place, &same).await.status, 303);
    assert_eq!(tier().await, "high");
    assert_eq!(operator.post(&place, &same).await.status, 200, "the channel has changed since");
}
