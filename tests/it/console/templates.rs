//! Templates in the console: how they are shown, found and fetched.

use std::collections::BTreeSet;

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};

use super::channels::{Stage, becomes, business};
use super::world::World;

#[tokio::test]
async fn templates_are_shown_as_a_phone_shows_them_with_their_state_and_why() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shown = member.page("/console/templates").await;
    assert!(shown.contains("Templates belong to business accounts"), "{shown}");
    world.service.channel(&world.acme, Kind::BusinessAccount, "bakery", Status::Connected).await;
    let templates = [("welcome", "en", "APPROVED"), ("offer", "pt_BR", "REJECTED"), ("sale", "en", "PAUSED")];
    world.service.templates(&world.acme, &templates).await;
    world.service.templates(&world.globex, &[("secret_of_globex", "en", "APPROVED")]).await;
    let page = member.page("/console/templates").await;
    for words in [
        "class=\"phone\"",
        "Hello ",
        "welcome",
        "approved",
        "rejected",
        "Change it in its console",
        "paused",
        "Sync",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("secret_of_globex"), "{page}");
    let names = |page: &str| {
        let articles = page.split("<article class=\"panel\" aria-label=\"").skip(1);
        articles.filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&page).len(), 3);
    for (query, found) in [
        ("status=REJECTED", vec!["offer"]),
        ("search=WEL", vec!["welcome"]),
        ("account=1", vec![]),
        ("search=%25", vec![]),
        ("page=99999999999999999999", vec![]),
    ] {
        let page = member.page(&format!("/console/templates?{query}")).await;
        assert_eq!(names(&page), found.into_iter().map(str::to_owned).collect(), "{query}");
    }
    let page = member.submit("/console/templates/sync", &[]).await;
    assert!(page.contains("The service is asking the provider"), "{page}");
}

#[tokio::test]
async fn sync_fetches_the_provider_s_templates() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let created = owner.post("/console/channels/new", &business(&[])).await;
    becomes(&owner, created.header("location"), "It sends.").await;
    owner.submit("/console/templates/sync", &[]).await;
    becomes(&owner, "/console/templates", "<article class=\"panel\"").await;
}
