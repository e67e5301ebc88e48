//! Connecting a number: what the provider's check says, the risk of a web session, and another name for a channel.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::store::changes::What;
use reqwest::Method;
use serde_json::json;

use super::browser::Browser;
use super::channels::{RISK, SECRET, Stage, becomes, business};
use super::world::{PASSWORD, World};
use crate::harness::Service;
use crate::running::{TOKEN, WABA};

#[tokio::test]
async fn a_check_says_field_by_field_what_works_and_when_the_token_ends() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let refused = owner.post("/console/channels/new", &business(&[("token", "EAAG-other")])).await;
    assert!(refused.body.contains("The access token works: <strong>no</strong>"), "{}", refused.body);
    assert!(refused.body.contains("may use this number: <strong>not checked</strong>"), "{}", refused.body);
    let added = owner.post("/console/channels/new", &business(&[])).await;
    let place = added.header("location").to_owned();
    let page = owner.page(&place).await;
    assert!(page.contains("The access token has no end.") && !page.contains("<strong>no"), "{page}");
    assert!(page.contains("sends its webhooks to your app: <strong>yes</strong>"), "{page}");
    assert!(!owner.page(&place).await.contains("has no end"), "the result is shown once");

    let client = reqwest::Client::new();
    let switch = async |switch: serde_json::Value| {
        let answer = client.post(stage.provider("_sim/script")).json(&switch).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    };
    let end = Timestamp::now().millis() / 1_000 + 7_200;
    switch(json!({"token": {"value": TOKEN, "valid": true, "expires_at": end}})).await;
    let apps = stage.provider(&format!("v26.0/{WABA}/subscribed_apps"));
    let ended = client.request(Method::DELETE, apps).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(ended.status(), 200);
    let page = owner.submit(&format!("{place}/check"), &[]).await;
    for words in ["The access token ends", "in 2 hours", "no expiry", "No app gets the webhooks"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    becomes(&owner, "/console", "The access token of Bakery &lt;line&gt; ends soon").await;
    let page = owner.submit(&format!("{place}/check"), &[("subscribe", "yes")]).await;
    assert!(page.contains("sends its webhooks to your app: <strong>yes</strong>"), "{page}");
    switch(json!({"token": {"value": TOKEN, "valid": false}})).await;
    let page = owner.submit(&format!("{place}/check"), &[]).await;
    assert!(page.contains("The access token works: <strong>no</strong>"), "{page}");
    assert!(page.contains("The provider refuses this token") && !page.contains(TOKEN), "{page}");
    assert!(!page.contains(SECRET), "{page}");
}

#[tokio::test]
async fn the_callback_url_is_whole_or_the_page_says_what_is_missing() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let added = owner.post("/console/channels/new", &business(&[])).await;
    let page = owner.page(added.header("location")).await;
    assert!(page.contains("server.public_url") && page.contains("/hooks/meta/"), "{page}");

    let origin = "https://pombo.example";
    let world = World::on(Service::start_reached_at(origin).await).await;
    world.person("ana@acme.example", Some((world.acme.id, Role::Owner)), false).await;
    let owner = Browser::new(&world.service);
    let form = owner.form("/console/sign-in", &[("email", "ana@acme.example"), ("password", PASSWORD)]);
    owner.ask(form.header("origin", origin)).await;
    let shop = world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await.id;
    let page = owner.page(&format!("/console/channels/{shop}")).await;
    assert!(page.contains(&format!("data-copy=\"{origin}/hooks/meta/{shop}\"")), "{page}");
    assert!(!page.contains("server.public_url"), "{page}");
}

#[tokio::test]
async fn a_phone_is_linked_only_after_a_person_accepted_the_risk_which_is_recorded_once() {
    let stage = Stage::set().await;
    let (owner, member) =
        (stage.world.signed_in(Role::Owner).await, stage.world.signed_in(Role::Member).await);
    let id = stage.web_session().await;
    let place = format!("/console/channels/{id}");
    assert!(member.page(&place).await.contains("WhatsApp can ban the number"));
    let refused = member.post(&format!("{place}/pair"), &[]).await;
    assert!(refused.status == 422 && refused.body.contains("Accept the risk first"), "{}", refused.body);
    let accepted = async |id| {
        let changed = stage.what_changed(id).await;
        changed.into_iter().filter(|what| *what == What::ChannelRisk).count()
    };
    assert_eq!(accepted(id).await, 0);
    for fields in [&[RISK][..], &[]] {
        let page = member.submit(&format!("{place}/pair"), fields).await;
        assert!(!page.contains("WhatsApp can ban the number"), "it is asked once: {page}");
    }
    assert_eq!(accepted(id).await, 1);

    let new = [("kind", "web_session"), ("name", "second phone")];
    let refused = owner.post("/console/channels/new", &new).await;
    assert!(refused.status == 422 && refused.body.contains("Accept the risk first"), "{}", refused.body);
    let page = owner.submit("/console/channels/new", &[&new[..], &[RISK]].concat()).await;
    assert!(page.contains("The channel second phone was added."), "{page}");
    assert!(!page.contains("WhatsApp can ban the number"), "it was accepted already: {page}");
    let channels = stage.channels().await;
    let second = channels.iter().find(|channel| channel.name == "second phone").unwrap();
    assert_eq!(accepted(second.id).await, 1);
    let page = owner.page(&format!("/console/channels/{}", second.id)).await;
    assert!(page.contains("Risks of a web session"), "the history says so: {page}");
}

#[tokio::test]
async fn an_owner_gives_a_channel_another_name() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let id = stage.web_session().await;
    let place = format!("/console/channels/{id}");
    for wrong in ["", "two\tcolumns"] {
        let refused = owner.post(&format!("{place}/rename"), &[("name", wrong)]).await;
        assert_eq!(refused.status, 422, "{wrong:?}: {}", refused.body);
    }
    let page = owner.submit(&format!("{place}/rename"), &[("name", "Till <2>")]).await;
    assert!(page.contains("The channel is called Till &lt;2&gt; now."), "{page}");
    assert!(page.contains("<h1>Till &lt;2&gt;</h1>"), "{page}");
    assert!(stage.what_changed(id).await.contains(&What::Channel));
    let member = stage.world.signed_in(Role::Member).await;
    assert!(!member.page(&place).await.contains(">Rename<"));
}

#[tokio::test]
async fn the_profile_of_a_number_is_read_and_changed_at_the_provider() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let added = owner.post("/console/channels/new", &business(&[])).await;
    let channel = added.header("location").to_owned();
    let place = format!("{channel}/profile");
    assert!(owner.page(&channel).await.contains(&format!("href=\"{place}\"")));
    assert!(owner.page(&place).await.contains("<option value=\"\" selected>Not chosen</option>"));
    let fields = [
        ("about", "Open till <nine>"),
        ("email", "shop@example.com"),
        ("vertical", "RETAIL"),
        ("website_1", "https://shop.example"),
    ];
    let saved = owner.submit(&place, &fields).await;
    assert!(saved.contains("The profile is saved."), "{saved}");
    let trade = "<option value=\"RETAIL\" selected>Shop</option>";
    for words in ["Open till &lt;nine&gt;", "shop@example.com", trade, "https://shop.example"] {
        assert!(saved.contains(words), "{words}: {saved}");
    }
    let long = "x".repeat(140);
    let refused = owner.post(&place, &[("about", long.as_str()), ("vertical", "RETAIL")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains(&long), "what was typed is kept: {}", refused.body);
    let viewer = stage.world.signed_in(Role::Viewer).await;
    let seen = viewer.page(&place).await;
    assert!(seen.contains("Open till &lt;nine&gt;") && !seen.contains("name=\"about\""), "{seen}");
    assert_eq!(stage.world.outsider().await.get(&place).await.status, 404);
}
