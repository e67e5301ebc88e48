//! Channels and templates as people see them: added, connected again, paired step by step.

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Channel, Connection, Kind, Reason, ReasonCode, Status};
use pombo::domain::page::PageRequest;
use pombo::store::changes::{Filter, What};
use serde_json::{Value, json};
use simulator::Simulator;
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::world::World;
use crate::harness::Service;
use crate::running::{NUMBER, TOKEN, WABA, until};

/// An account of the simulated provider that no channel has, and its number.
const OTHER_ACCOUNT: &str = "102290129340399";
const OTHER_NUMBER: &str = "106540352242923";
/// An app secret, and another one.
pub(super) const SECRET: &str = "0123456789abcdef0123456789abcdef";
const NEW_SECRET: &str = "fedcba9876543210fedcba9876543210";
/// The checkbox that accepts the risk of a web session.
pub(super) const RISK: (&str, &str) = ("risk", "accepted");

/// A world with a simulated provider, whose phone can be linked.
pub(super) struct Stage {
    pub(super) world: World,
    simulator: Simulator,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let account = simulator::Account {
            waba_id: WABA.to_owned(),
            tokens: vec![TOKEN.to_owned()],
            numbers: vec![simulator::Number::new(NUMBER, "+1 555 078 3881")],
            templates: simulator::default_templates(),
        };
        let other = simulator::Account {
            waba_id: OTHER_ACCOUNT.to_owned(),
            tokens: vec![TOKEN.to_owned()],
            numbers: vec![simulator::Number::new(OTHER_NUMBER, "+1 555 078 3882")],
            templates: Vec::new(),
        };
        let seed = simulator::Seed { accounts: vec![account, other] };
        let simulator = simulator::start(simulator::Options::default(), seed).await.unwrap();
        let (driver, base_url) = (simulator.web_sessions(), simulator.base_url());
        let service = Service::start_configured(driver, |config| config.cloud_api.base_url = base_url).await;
        Self { world: World::on(service).await, simulator }
    }

    /// The phone's answer to a request.
    async fn phone(&self, path: &str, body: &Value) -> Value {
        let url = self.provider(&format!("phone/{path}"));
        let answer = reqwest::Client::new().post(url).json(body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    /// An address of the simulated provider.
    pub(super) fn provider(&self, path: &str) -> String {
        format!("{}/{path}", self.simulator.base_url())
    }

    /// The provider tells the channel's address what happens from now on.
    pub(super) fn tells(&self, channel: Uuid) {
        let hook = format!("{}/hooks/meta/{channel}", self.world.service.url());
        self.simulator.aim_receipts(Some(simulator::ReceiptOptions::to(hook, SECRET))).unwrap();
    }

    pub(super) async fn channels(&self) -> Vec<Channel> {
        let page = PageRequest { page: 1, limit: 10 };
        self.world.service.store().of(self.world.acme.id).channels().page(page, None).await.unwrap().records
    }

    pub(super) async fn what_changed(&self, channel: Uuid) -> Vec<What> {
        let (page, subject) = (PageRequest { page: 1, limit: 10 }, channel.to_string());
        let filter = Filter { subject: Some(&subject), ..Filter::default() };
        let changes = self.world.service.store().changes().page(filter, page).await.unwrap().records;
        changes.into_iter().map(|change| change.what).collect()
    }

    pub(super) async fn web_session(&self) -> Uuid {
        self.world.service.channel(&self.world.acme, Kind::WebSession, "shop phone", Status::Pairing).await.id
    }
}

/// The fields of a business account, with these changed.
pub(super) fn business<'a>(changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = [
        ("kind", "business_account"),
        ("name", "Bakery <line>"),
        ("phone_number_id", NUMBER),
        ("waba_id", WABA),
        ("token", TOKEN),
        ("app_secret", SECRET),
    ];
    let changed_name = |name: &str| changed.iter().find(|(known, _)| *known == name);
    usual.iter().map(|field| *changed_name(field.0).unwrap_or(field)).collect()
}

/// Waits until the page has these words; the page.
pub(super) async fn becomes(browser: &Browser<'_>, path: &str, words: &str) -> String {
    let mut page = String::new();
    until(words, async || {
        page = browser.page(path).await;
        page.contains(words)
    })
    .await;
    page
}

/// The value of an attribute in the page, as a browser reads it.
fn attribute(page: &str, name: &str) -> Option<String> {
    let value = page.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?;
    Some(value.replace("&quot;", "\"").replace("&amp;", "&"))
}

#[tokio::test]
async fn a_business_account_is_checked_at_the_provider_before_it_is_saved() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let path = "/console/channels/new";
    assert!(owner.page(path).await.contains("Add channel"));
    for (changed, words) in [
        (("token", "EAAG-other"), "The provider refuses this token"),
        (("phone_number_id", "999999999999999"), "The provider does not know this number"),
        (("phone_number_id", "5511988887777"), "This has 13 digits"),
        (("phone_number_id", WABA), "This is the phone number ID again"),
        (("waba_id", "999999999999999"), "The provider does not know this business account"),
        (("waba_id", OTHER_ACCOUNT), "This number is not one of this business account"),
        (("waba_id", "9/9"), "digits only"),
        (("token", "two words"), "A token or secret has no spaces"),
        (("token", ""), "Fill this in."),
        (("token", SECRET), "This is the app secret."),
        (("app_secret", TOKEN), "This is the access token."),
        (("name", " "), "Fill this in."),
        (("kind", "fax"), "Choose one of these."),
    ] {
        let answer = owner.post(path, &business(&[changed])).await;
        assert_eq!(answer.status, 422, "{changed:?}: {}", answer.body);
        assert!(answer.body.contains(words), "{changed:?}: {}", answer.body);
        for secret in [TOKEN, "EAAG-other", "two words", SECRET] {
            assert!(!answer.body.contains(secret), "{changed:?}: a secret came out");
        }
        if changed.0 != "name" {
            assert!(answer.body.contains("Bakery &lt;line&gt;"), "the words are kept: {}", answer.body);
        }
    }
    assert!(stage.channels().await.is_empty());

    let once = value_of(&owner.page(path).await, "once").unwrap();
    let mut fields = business(&[]);
    fields.push(("once", &once));
    let first = owner.post(path, &fields).await;
    assert_eq!(first.status, 303, "{}", first.body);
    let again = owner.post(path, &fields).await;
    assert_eq!(again.header("location"), first.header("location"), "a form that is sent twice acts once");
    let [channel] = &stage.channels().await[..] else { panic!("there is one channel") };
    assert_eq!(channel.phone_number.as_deref(), Some("+1 555 078 3881"));
    let page = owner.page(first.header("location")).await;
    for words in ["was added", "Bakery &lt;line&gt;", "/hooks/meta/", "Verify token", "Reconnect"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains(TOKEN) && !page.contains(SECRET));
    let taken = owner.post(path, &business(&[])).await;
    assert!(taken.status == 422 && taken.body.contains("Another channel has this number"), "{}", taken.body);
}

#[tokio::test]
async fn an_unreachable_provider_is_reported_and_nothing_is_saved() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let answer = owner.post("/console/channels/new", &business(&[])).await;
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("nothing was saved"), "{}", answer.body);
    let shown = owner.page("/console/channels").await;
    assert!(shown.contains("There is no channel yet"), "{shown}");
}

#[tokio::test]
async fn a_business_account_is_connected_again_with_a_new_token_that_nobody_sees() {
    let stage = Stage::set().await;
    let owner = stage.world.signed_in(Role::Owner).await;
    let created = owner.post("/console/channels/new", &business(&[])).await;
    let place = created.header("location").to_owned();
    let id = stage.channels().await[0].id;
    let refused = owner.post(&format!("{place}/reconnect"), &[("token", "with space")]).await;
    assert!(refused.status == 422 && !refused.body.contains("with space"), "{}", refused.body);
    let page = owner.submit(&format!("{place}/reconnect"), &[("token", "EAAG-newer")]).await;
    assert!(page.contains("The channel is connecting"), "{page}");
    assert!(!page.contains("EAAG-newer"), "{page}");
    assert!(stage.what_changed(id).await.contains(&What::ChannelToken));
    assert!(becomes(&owner, &place, "The provider refuses the access token").await.contains("disconnected"));
    owner.submit(&format!("{place}/reconnect"), &[("token", TOKEN)]).await;
    becomes(&owner, &place, "Ready: messages go out.").await;

    let missing = owner.post(&format!("{place}/app-secret"), &[("app_secret", "")]).await;
    assert_eq!(missing.status, 422);
    let page = owner.submit(&format!("{place}/app-secret"), &[("app_secret", NEW_SECRET)]).await;
    assert!(page.contains("The app secret is saved") && !page.contains(NEW_SECRET), "{page}");
    assert!(
        page.contains("<span title=\"channel.app_secret\">App secret of a channel</span>"),
        "the history shows it: {page}"
    );
    let no_phone = owner.post(&format!("{place}/pair"), &[]).await;
    assert_eq!(no_phone.status, 404, "the channel is no web session");
}

#[tokio::test]
async fn a_phone_is_paired_step_by_step_with_what_it_shows_and_what_to_do() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let place = format!("/console/channels/{}", stage.web_session().await);
    let page = member.page(&place).await;
    assert!(page.contains("Nothing yet.") && page.contains("On the phone"), "{page}");
    assert!(page.contains(PAIR) && !page.contains(">Unlink<"), "there is nothing to unlink: {page}");

    member.submit(&format!("{place}/pair"), &[RISK]).await;
    let page = becomes(&member, &place, "data-payload=").await;
    assert!(page.contains("Point the camera at this code") && page.contains("<svg"), "{page}");
    let viewer = stage.world.signed_in(Role::Viewer).await;
    let seen = viewer.page(&place).await;
    assert!(!seen.contains("data-payload") && !seen.contains(PAIR), "{seen}");

    let code = attribute(&page, "data-payload").unwrap();
    stage.phone("scan", &json!({"code": code, "passkey": true})).await;
    let page = becomes(&member, &place, "the account is protected by a passkey").await;
    assert!(!page.contains("data-payload"), "{page}");
    let challenge: Value = serde_json::from_str(&copied(&page)).unwrap();
    assert!(!viewer.page(&place).await.contains(challenge["challenge"].as_str().unwrap()));

    for (assertion, words) in [
        ("not JSON", "This is not an assertion"),
        (r#"{"type":"password"}"#, "`type` is not `public-key`"),
        ("", "Fill this in."),
    ] {
        let refused = member.post(&format!("{place}/passkey"), &[("assertion", assertion)]).await;
        assert!(refused.status == 422 && refused.body.contains(words), "{assertion}: {}", refused.body);
    }
    let mut other = challenge.clone();
    other["challenge"] = json!("YWJj");
    let other = stage.phone("passkey", &json!({"challenge": other})).await.to_string();
    let refused = member.post(&format!("{place}/passkey"), &[("assertion", &other)]).await;
    assert!(refused.status == 422 && refused.body.contains("signs another challenge"), "{}", refused.body);

    let signed = stage.phone("passkey", &json!({"challenge": challenge})).await;
    let signed = signed["assertion"].to_string();
    member.submit(&format!("{place}/passkey"), &[("assertion", &signed)]).await;
    let page = becomes(&member, &place, "It shows a code of eight characters").await;
    assert!(page.contains("The codes are the same"), "{page}");
    let late = member.post(&format!("{place}/passkey"), &[("assertion", &signed)]).await;
    assert_eq!(late.status, 303, "the page shows which step it is now");
    member.submit(&format!("{place}/passkey"), &[("confirmed", "yes")]).await;
    let page = becomes(&member, &place, "It lists the device under").await;
    assert!(page.contains("+999 700 000 001"), "{page}");
    let page = becomes(&member, &place, "Ready: messages go out.").await;
    assert!(!page.contains(PAIR) && page.contains(">Unlink<"), "one phone is enough: {page}");

    let owner = stage.world.signed_in(Role::Owner).await;
    let refused = owner.post(&format!("{place}/remove"), &[]).await;
    assert!(refused.status == 422 && refused.body.contains("a phone is linked to it"), "{}", refused.body);
    let page = member.submit(&format!("{place}/unlink"), &[]).await;
    assert!(page.contains("No phone is linked any more"), "{page}");
    let page = owner.submit(&format!("{place}/remove"), &[]).await;
    assert!(page.contains("The channel shop phone was removed."), "{page}");
    assert_eq!(owner.get(&place).await.status, 404);
}

/// The button that links a phone.
const PAIR: &str = "<button type=\"submit\">Pair</button>";

/// The challenge that a copy button holds.
fn copied(page: &str) -> String {
    let values = page.split(" data-copy=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let value = values.into_iter().find(|value| value.starts_with('{')).expect("a challenge to copy");
    value.replace("&quot;", "\"").replace("&amp;", "&")
}

#[tokio::test]
async fn a_pairing_code_is_shown_for_a_number_and_a_wrong_number_is_reported() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let place = format!("/console/channels/{}", stage.web_session().await);
    let refused = member.post(&format!("{place}/pair"), &[("phone_number", "0800 1234")]).await;
    assert!(
        refused.status == 422 && refused.body.contains("not a number with its country code"),
        "{}",
        refused.body
    );
    assert!(refused.body.contains("0800 1234"), "the words are kept");
    member.submit(&format!("{place}/pair"), &[RISK, ("phone_number", "+999 700 000 004")]).await;
    let page = becomes(&member, &place, "Type this code on the phone").await;
    let code = page.split("aria-label=\"Code\" role=\"text\">").nth(1).unwrap().split('<').next().unwrap();
    stage.phone("scan", &json!({"code": code})).await;
    becomes(&member, &place, "+999 700 000 004").await;
}

#[tokio::test]
async fn the_page_of_a_channel_follows_it_live() {
    let stage = Stage::set().await;
    let member = stage.world.signed_in(Role::Member).await;
    let id = stage.web_session().await;
    let page = member.page(&format!("/console/channels/{id}")).await;
    let live = format!("/console/channels/{id}/live");
    assert!(page.contains(&format!("data-live=\"{live}\"")), "{page}");
    let mut stream = member.request(reqwest::Method::GET, &live).send().await.unwrap();
    assert_eq!(
        (stream.status().as_u16(), &stream.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    let mut told = String::new();
    let mut wait_for = async |words: &str| {
        while !told.contains(words) {
            let piece = stream.chunk().await.unwrap().expect("the stream goes on");
            told.push_str(std::str::from_utf8(&piece).unwrap());
        }
    };
    let parts = ["channel-head", "channel-pace", "channel-pairing", "channel-pairing-actions"];
    for part in parts.map(|part| format!("id=\"{part}\"")) {
        wait_for(&part).await;
    }
    member.submit(&format!("/console/channels/{id}/pair"), &[RISK]).await;
    wait_for("data-payload=").await;
}

#[tokio::test]
async fn the_list_says_how_each_channel_is_why_and_what_holds_its_pace() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let channel =
        world.service.channel(&world.acme, Kind::BusinessAccount, "b<a>kery", Status::Connected).await;
    world.service.channel(&world.acme, Kind::WebSession, "phone", Status::Pairing).await;
    world.service.channel(&world.acme, Kind::BusinessAccount, "all well", Status::Connected).await;
    let foreign =
        world.service.channel(&world.globex, Kind::WebSession, "globex phone", Status::Pairing).await;
    let reason = Reason {
        code: ReasonCode::CredentialsRefused.into(),
        sentence: "the provider refused the channel: <expired>".to_owned(),
        provider_code: Some(190),
    };
    let to = Connection { status: Status::Disconnected, reason: Some(reason), since: Timestamp::now() };
    world.service.store().channels().set_connection(channel.id, &channel.connection, &to).await.unwrap();
    let page = viewer.page("/console/channels").await;
    for words in [
        "<h1>Channels</h1>",
        "b&lt;a&gt;kery",
        "disconnected",
        "The provider refuses the access token",
        "&lt;expired&gt;",
        "#code-190",
        "<bdi>standard</bdi>",
        "+55 11 98888 7777",
        "not paired",
        "class=\"spark\"",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let place = |name: &str| page.find(&format!("<bdi>{name}</bdi>")).unwrap();
    assert!(["b&lt;a&gt;kery", "phone", "all well"].map(place).is_sorted(), "trouble comes first: {page}");
    assert!(!page.contains("globex phone"), "{page}");
    let found = viewer.page("/console/channels?search=PHONE").await;
    assert!(found.contains("phone") && !found.contains("kery"), "{found}");
    for path in
        [format!("/console/channels/{}", foreign.id), format!("/console/channels/{}/live", foreign.id)]
    {
        assert_eq!(viewer.get(&path).await.status, 404, "{path}");
    }
    assert_eq!(viewer.get("/console/channels/x").await.status, 404);
    let owner = world.signed_in(Role::Owner).await;
    for action in ["reconnect", "app-secret", "check", "rename", "pair", "unlink", "passkey"] {
        let answer =
            owner.post(&format!("/console/channels/{}/{action}", foreign.id), &[("token", "x")]).await;
        assert_eq!(answer.status, 404, "{action}");
    }
}

#[tokio::test]
async fn channels_and_templates_speak_three_languages() {
    let stage = Stage::set().await;
    let id = stage.web_session().await;
    let member = stage.world.signed_in(Role::Member).await;
    for (language, words) in [
        ("pt-BR", ["<h1>Canais</h1>", "sem pareamento", "Vincular", "<h1>Modelos</h1>", "Plano <bdi>"]),
        ("es", ["<h1>Canales</h1>", "sin vincular", "Vincular", "<h1>Plantillas</h1>", "Plan <bdi>"]),
        ("en", ["<h1>Channels</h1>", "not paired", "Pair", "<h1>Templates</h1>", "Tier <bdi>"]),
    ] {
        member.submit("/console/language", &[("language", language), ("next", "/console")]).await;
        let mut pages = member.page("/console/channels").await;
        pages += &member.page(&format!("/console/channels/{id}")).await;
        pages += &member.page("/console/templates").await;
        for words in words {
            assert!(pages.contains(words), "{language}: {words}");
        }
    }
}
