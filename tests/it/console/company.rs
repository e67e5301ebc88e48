//! The company's page: members, roles, invitations and the links behind them; and the choice among companies.

use pombo::accounts::Role;

use super::browser::{Browser, value_of};
use super::world::{PASSWORD, World};

/// The link that a page shows only once, as a path.
fn link(page: &str) -> String {
    let place = page.find("/console/link/").unwrap();
    page[place..].split(['"', '<']).next().unwrap().to_owned()
}

#[tokio::test]
async fn a_person_joins_by_an_invitation_that_is_valid_once() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let wrong = owner.post("/console/company/invitations", &[("email", "no mail"), ("role", "boss")]).await;
    assert_eq!((wrong.status, value_of(&wrong.body, "email").as_deref()), (422, Some("no mail")));
    let form = [("email", "Ben@acme.example"), ("role", "member")];
    let page = owner.submit("/console/company/invitations", &form).await;
    let link = link(&page);
    assert!(!owner.page("/console/company").await.contains(&link), "the link is shown once");
    let ben = Browser::new(&world.service).reading("pt-BR");
    for _ in 0..2 {
        assert!(ben.page(&link).await.contains("ben@acme.example"), "looking does not use it");
    }
    let short = ben.post(&link, &[("name", "Ben"), ("password", "short"), ("again", "short")]).await;
    assert_eq!(short.status, 422);
    let differs = ben.post(&link, &[("name", "Ben"), ("password", PASSWORD), ("again", "another one")]).await;
    assert_eq!((differs.status, value_of(&differs.body, "name").as_deref()), (422, Some("Ben")));
    let entered = ben.submit(&link, &[("name", "Ben"), ("password", PASSWORD), ("again", PASSWORD)]).await;
    assert!(entered.contains("<h1>Visão geral</h1>") && entered.contains("acme"), "{entered}");
    let gone = Browser::new(&world.service).get(&link).await;
    assert_eq!(gone.status, 404);
    assert!(gone.body.contains("This link is not valid any more"), "{}", gone.body);
}

#[tokio::test]
async fn owners_change_roles_and_remove_members_but_not_the_last_owner() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let ben = world.person("ben@acme.example", Some((world.acme.id, Role::Viewer)), false).await;
    let stranger = world.person("carl@globex.example", Some((world.globex.id, Role::Owner)), false).await;
    let page = owner.submit(&format!("/console/company/members/{ben}/role"), &[("role", "member")]).await;
    assert!(page.contains("The role is changed."), "{page}");
    let accounts = world.service.accounts();
    let members = accounts.members(world.acme.id).await.unwrap();
    assert!(members.iter().any(|member| member.user_id == ben && member.role == Role::Member));
    for path in ["role", "remove"] {
        let path = format!("/console/company/members/{stranger}/{path}");
        assert_eq!(owner.post(&path, &[("role", "viewer")]).await.status, 404, "{path}");
    }
    let own = members.iter().find(|member| member.role == Role::Owner).unwrap().user_id;
    let kept = owner.submit(&format!("/console/company/members/{own}/role"), &[("role", "viewer")]).await;
    assert!(kept.contains("A company keeps at least one owner"), "{kept}");
    owner.submit(&format!("/console/company/members/{ben}/remove"), &[]).await;
    assert_eq!(accounts.members(world.acme.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_of_two_hundred_companies_is_found_and_chosen() {
    let world = World::new().await;
    let operator = world.operator().await;
    let mut ids = Vec::new();
    for number in 0..200 {
        ids.push(world.service.company(&format!("shop {number:03} São José")).await.id);
    }
    let led = operator.get("/console/keys").await;
    assert_eq!(led.header("location"), "/console/companies?next=%2Fconsole%2Fkeys");
    let page = operator.page(led.header("location")).await;
    assert!(page.contains("Page 1 of 5 (202 entries)"), "{page}");
    let found = operator.page("/console/companies?search=137+sao&next=%2Fconsole%2Fkeys").await;
    assert!(found.contains("shop 137 São José") && !found.contains("shop 138"), "{found}");
    let id = ids[137].to_string();
    let form = [("company", id.as_str()), ("next", "/console/keys")];
    let keys = operator.submit("/console/companies", &form).await;
    assert!(keys.contains("<h1>API keys</h1>") && keys.contains("shop 137"), "{keys}");
    let owner = world.signed_in(Role::Owner).await;
    assert_eq!(owner.post("/console/companies", &form).await.status, 404, "the company is not theirs");
    assert!(!owner.page("/console/companies").await.contains("shop"), "nor shown to them");
}

#[tokio::test]
async fn the_session_s_token_reads_contacts_and_nothing_else() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let page = viewer.submit("/console/company/token", &[]).await;
    let token = page.split("aria-label=\"Session token\"><code>").nth(1).unwrap().split('<').next().unwrap();
    assert!(token.starts_with("pombos_"), "{token}");
    assert_eq!(world.service.get("/api/v1/contacts", token).await.status, 200);
    assert_eq!(world.service.get("/api/v1/sends", token).await.status, 401);
    assert!(!viewer.page("/console/company").await.contains(token), "the token is shown once");
    viewer.post("/console/sign-out", &[]).await;
    assert_eq!(
        world.service.get("/api/v1/contacts", token).await.status,
        401,
        "the token ends with the session"
    );
}
