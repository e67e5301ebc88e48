//! Templates in the console: how they are shown, found and fetched.

use std::collections::BTreeSet;

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};

use super::browser::Browser;
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
        "created and edited in Meta’s WhatsApp Manager",
        "not fetched by this service since it started",
        "What the states mean",
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
async fn a_new_send_with_a_paused_template_says_that_it_is_paused_and_where_to_look() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await.id;
    world.service.templates(&world.acme, &[("sale", "en", "PAUSED"), ("welcome", "en", "APPROVED")]).await;
    let sale = world.service.template_id(&world.acme, "sale", "en").await;
    let session = member.cookie("pombo_session").unwrap();
    for (language, sentence, state, choose) in [
        ("en", "this template cannot be sent now. Its state:", "paused", "Choose a template."),
        ("pt-BR", "este modelo não pode ser enviado agora. O estado dele:", "pausado", "Escolha um modelo."),
        ("es", "esta plantilla no se puede enviar ahora. Su estado:", "en pausa", "Elija una plantilla."),
    ] {
        let browser = Browser::with_session(&world.service, &session).reading(language);
        let query = format!("type=template&channel={shop}&template={sale}");
        let page = browser.page(&format!("/console/sends/new?{query}")).await;
        let (_, notice) = page.split_once(sentence).unwrap_or_else(|| panic!("{language}: {page}"));
        assert!(notice.contains(state), "{language}: {page}");
        assert!(notice.contains("href=\"/console/templates?search=sale\""), "{language}: {page}");
        assert!(!page.contains(choose) && !page.contains("role=\"alert\""), "{language}: {page}");
    }
    // The template was paused after the form was opened.
    let (shop, sale) = (shop.to_string(), sale.to_string());
    let (shop, sale) = (shop.as_str(), sale.as_str());
    let fields = [("channel", shop), ("type", "template"), ("template", sale), ("action", "check")];
    let refused = member.post("/console/sends/new", &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let (above, below) = refused.body.split_once("cannot be sent now").expect("the sentence");
    assert!(above.contains("see below"), "{}", refused.body);
    assert!(below.contains("Choose another template."), "{}", refused.body);
}

#[tokio::test]
async fn sync_fetches_the_provider_s_templates() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let created = owner.post("/console/channels/new", &business(&[])).await;
    becomes(&owner, created.header("location"), "Ready: messages go out.").await;
    owner.submit("/console/templates/sync", &[]).await;
    let page = becomes(&owner, "/console/templates", "last fetched").await;
    assert!(page.contains("<article class=\"panel\""), "{page}");
}
