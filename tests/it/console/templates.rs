//! Templates in the console: how they are shown, found and fetched.

use std::collections::BTreeSet;

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};

use super::browser::{Browser, value_of};
use super::channels::{Stage, becomes, business};
use super::world::World;
use crate::running::WABA;

#[tokio::test]
async fn templates_are_shown_as_a_phone_shows_them_with_their_state_and_why() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shown = member.page("/console/templates").await;
    assert!(shown.contains("Templates belong to channels"), "{shown}");
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
        "Change it on its page",
        "paused",
        "Sync",
        "Meta reviews those of business accounts",
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

/// The fields of a template, with these changed.
fn fields<'a>(account: &'a str, changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("account", account),
        ("name", "order_ready"),
        ("language", "en"),
        ("category", "UTILITY"),
        ("header_kind", "text"),
        ("header", "Order {{1}}"),
        ("header_example", "A-1"),
        ("body", "Hi {{1}}, come to {{2}}."),
        ("examples", "Ana\nthe desk"),
        ("footer", "Bye"),
        ("button_kind_0", "QUICK_REPLY"),
        ("button_text_0", "Thanks"),
    ];
    for (name, value) in changed {
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some(field) => field.1 = value,
            None => fields.push((name, value)),
        }
    }
    fields
}

#[tokio::test]
async fn a_template_is_written_with_a_preview_reviewed_changed_archived_and_deleted() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let created = owner.post("/console/channels/new", &business(&[])).await;
    becomes(&owner, created.header("location"), "Ready: messages go out.").await;
    // Meta says what it decides. Listings, which show it too, are a minute apart.
    let [channel] = &stage.channels().await[..] else { panic!("there is one channel") };
    stage.tells(channel.id);
    let member = stage.world.signed_in(Role::Member).await;
    let new = member.page("/console/templates/new?from=order_ready").await;
    assert!(new.contains("your order {{2}} is ready") && new.contains("our shop"), "{new}");
    let shown = member.post("/console/templates/preview", &fields(WABA, &[])).await;
    for words in ["id=\"preview\"", "Bye", "Thanks"] {
        assert!(shown.body.contains(words), "{words}: {}", shown.body);
    }
    for (changed, sentence) in [
        (("name", "Order Ready"), "small letters without accents"),
        (("body", "{{1}} is ready"), "Number the gaps"),
        (("examples", "Ana"), "exactly one example for each gap"),
        (("footer", "{{1}}"), "60 characters without gaps"),
        (("button_text_0", "far too many words for one button"), "at most 25 characters"),
        (("header", " "), "Write at most 60 characters"),
        (("header_kind", "image"), "Choose a file of the library"),
    ] {
        let refused = member.post("/console/templates/new", &fields(WABA, &[changed])).await;
        assert_eq!(refused.status, 422, "{changed:?}");
        assert!(refused.body.contains(sentence), "{changed:?}: {}", refused.body);
    }
    let page = member.submit("/console/templates/new", &fields(WABA, &[])).await;
    for words in ["Meta has the template and reviews it", "in review", "It cannot be changed in this state"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let again = member.post("/console/templates/new", &fields(WABA, &[])).await;
    assert_eq!(again.status, 422);
    assert!(again.body.contains("Meta did not take it. It says:"), "{}", again.body);

    let id = stage.world.service.template_id(&stage.world.acme, "order_ready", "en").await;
    let place = format!("/console/templates/{id}");
    let judged =
        serde_json::json!({ "waba_id": WABA, "name": "order_ready", "language": "en", "status": "APPROVED" });
    let script = reqwest::Client::new().post(stage.provider("_sim/script"));
    let script = script.json(&serde_json::json!({ "template": judged })).send().await.unwrap();
    assert_eq!(script.status(), 200);
    let page = becomes(&member, &place, "Meta reviews it again, and it cannot be sent meanwhile").await;
    let once = value_of(&page, "once").unwrap();
    let changed = fields(WABA, &[("footer", "See you"), ("once", &once)]);
    let page = member.submit(&place, &changed).await;
    assert!(page.contains("Meta reviews it again.") && page.contains("See you"), "{page}");
    assert_eq!(member.post(&place, &changed).await.status, 303, "sent twice, it is one change");

    let page = member.submit(&format!("{place}/archive"), &[("archived", "yes")]).await;
    assert!(page.contains("The template is archived.") && page.contains("Offer again"), "{page}");
    let viewer = stage.world.signed_in(Role::Viewer).await;
    let seen = viewer.page(&place).await;
    assert!(seen.contains("archived") && !seen.contains("Offer again"), "{seen}");
    assert_eq!(viewer.post(&format!("{place}/delete"), &[]).await.status, 403);
    let page = member.submit(&format!("{place}/delete"), &[]).await;
    assert!(page.contains("The template is deleted."), "{page}");
    assert_eq!(member.get(&place).await.status, 404);
}

#[tokio::test]
async fn templates_of_linked_phones_can_be_sent_at_once_and_archived_ones_are_not_offered() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    world.service.channel(&world.acme, Kind::WebSession, "Phone", Status::Connected).await;
    let page = member.submit("/console/templates/new", &fields("web", &[("examples", "")])).await;
    assert!(page.contains("The template can be sent.") && page.contains("Linked phones"), "{page}");
    let taken = member.post("/console/templates/new", &fields("web", &[])).await;
    assert!(taken.status == 422 && taken.body.contains("Choose another name"), "{}", taken.body);
    let shop = world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await.id;
    world.service.templates(&world.acme, &[("welcome", "en", "APPROVED"), ("sale", "en", "APPROVED")]).await;
    let sale = world.service.template_id(&world.acme, "sale", "en").await;
    let compose = format!("/console/sends/new?type=template&channel={shop}");
    assert!(member.page(&compose).await.contains("aria-label=\"sale\""));
    member.submit(&format!("/console/templates/{sale}/archive"), &[("archived", "yes")]).await;
    let offered = member.page(&compose).await;
    assert!(
        offered.contains("aria-label=\"welcome\"") && !offered.contains("aria-label=\"sale\""),
        "{offered}"
    );
    let outsider = world.outsider().await;
    assert_eq!(outsider.get(&format!("/console/templates/{sale}")).await.status, 404);
}
