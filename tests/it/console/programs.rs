//! Programs written for Meta that an owner connects: both sides are set up, or nothing is left.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::page::PageRequest;
use pombo::domain::scope::{Scope, Scopes};
use pombo::domain::webhook::{Endpoint, Shape, WebhookProfile};
use pombo::engine::programs::ConnectedProgram;
use pombo::store::changes::{Filter, What};
use serde_json::{Value, json};
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::chatwoot::{ACCOUNT, ADMIN, ADMIN_OF_TWO, AGENT, Chatwoot};
use super::world::World;
use crate::graph::Program;
use crate::harness::{Service, WABA};
use crate::webhooks::receiver::Receiver;

const PLACE: &str = "/console/programs";
const CHATWOOT: &str = "/console/programs/chatwoot";
const TYPEBOT: &str = "/console/programs/typebot";
/// The number of the channel, as Chatwoot writes it.
const NUMBER: &str = "+5511988887777";
/// An address on which nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";

/// A world whose service answers programs, with a channel of this kind.
async fn open(kind: Kind) -> (World, Uuid) {
    let world = World::on(Service::start_changed(|config| config.graph.enabled = true).await).await;
    let channel = world.service.channel(&world.acme, kind, "Shop", Status::Connected).await.id;
    (world, channel)
}

async fn endpoints(world: &World) -> Vec<Endpoint> {
    world.service.store().of(world.acme.id).webhooks().list().await.unwrap()
}

async fn programs(world: &World) -> Vec<ConnectedProgram> {
    world.service.store().of(world.acme.id).programs().all().await.unwrap()
}

/// The state after each recorded change of a program, the newest first.
async fn recorded(world: &World) -> Vec<Value> {
    let (what, first) = ([What::Program], PageRequest { page: 1, limit: 10 });
    let filter = Filter { what: &what, ..Filter::default() };
    let changes = world.service.store().changes().page(filter, first).await.unwrap();
    changes.records.into_iter().map(|change| change.after).collect()
}

/// The names of the valid keys that open the door alone.
async fn keys(world: &World) -> Vec<String> {
    let keys = world.service.store().of(world.acme.id).keys().all().await.unwrap();
    let door: Scopes = [Scope::Graph].into_iter().collect();
    let open = keys.into_iter().filter(|key| key.revoked_at.is_none() && key.scopes == door);
    open.map(|key| key.name).collect()
}

/// Whether a step passed, by its words.
fn step(page: &str, words: &str, passed: &str) -> bool {
    page.contains(&format!("{words}: <strong>{passed}</strong>"))
}

/// The value in a block to copy, by its name.
fn copied(page: &str, name: &str) -> Option<String> {
    let start = format!("aria-label=\"{name}\"><code>");
    let rest = &page[page.find(&start)? + start.len()..];
    rest.split('<').next().map(str::to_owned)
}

async fn connect(owner: &Browser<'_>, fields: &[(&str, &str)]) -> String {
    let answer = owner.post(CHATWOOT, fields).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    answer.header("location").to_owned()
}

#[tokio::test]
async fn chatwoot_is_connected_on_both_sides_checked_and_disconnected() {
    let (world, channel) = open(Kind::BusinessAccount).await;
    let owner = world.signed_in(Role::Owner).await;
    let base = world.service.url().to_owned();
    let chatwoot = Chatwoot::start(&base);
    assert!(owner.page(PLACE).await.contains("No program is connected."));
    let form = owner.page(CHATWOOT).await;
    let line = copied(&form, "Line in the environment").unwrap();
    assert_eq!(line, format!("WHATSAPP_CLOUD_BASE_URL={base}"));

    let (id, once) = (channel.to_string(), value_of(&form, "once").unwrap());
    let address = format!("{}/app/accounts/{ACCOUNT}/dashboard", chatwoot.url);
    let fields =
        [("channel", id.as_str()), ("address", address.as_str()), ("token", ADMIN), ("once", once.as_str())];
    let place = connect(&owner, &fields).await;
    let page = owner.page(&place).await;
    assert!(page.contains("Chatwoot is connected."), "{page}");
    assert_eq!(page.matches("<strong>yes</strong>").count(), 6, "{page}");
    assert_eq!(connect(&owner, &fields).await, place, "a form that is sent twice acts once");

    let inbox = chatwoot.inbox();
    assert_eq!((&inbox["name"], &inbox["channel"]["phone_number"]), (&json!("Shop"), &json!(NUMBER)));
    let config = &inbox["channel"]["provider_config"];
    assert_eq!(config["source"], "manual_setup_v2");
    assert_eq!(config["business_account_id"], WABA);
    for secret in ["api_key", "app_secret", "webhook_verify_token"] {
        assert!(!page.contains(config[secret].as_str().unwrap()), "{secret}: {page}");
    }
    let [endpoint] = &endpoints(&world).await[..] else { panic!("one webhook") };
    let settings = &endpoint.settings;
    assert_eq!((settings.shape, settings.profile), (Shape::Graph, WebhookProfile::Chatwoot));
    assert_eq!(settings.channels, [channel]);
    assert_eq!(settings.url, format!("{}/webhooks/whatsapp/{NUMBER}", chatwoot.url));
    assert_eq!(keys(&world).await, ["Chatwoot: Shop"]);
    assert!(owner.page(PLACE).await.contains(&chatwoot.url));

    let check = format!("{place}/check");
    let checked = owner.submit(&check, &[]).await;
    for words in
        ["The key works", "The program asks Pombo with its key", "The program takes what the webhook"]
    {
        assert!(checked.contains(words), "{words}: {checked}");
    }
    assert!(!checked.contains("<strong>no</strong>"), "{checked}");
    let got = chatwoot.played.lock().got.clone();
    assert_eq!(got[0]["entry"][0]["changes"][0]["value"]["statuses"][0]["status"], "delivered");
    chatwoot.played.lock().wants_reconnecting = true;
    let checked = owner.submit(&check, &[("token", ADMIN)]).await;
    assert!(step(&checked, "There is an inbox for the channel", "no"), "{checked}");
    assert!(checked.contains("drops messages until then"), "{checked}");
    chatwoot.played.lock().inboxes.clear();
    let checked = owner.submit(&check, &[("token", ADMIN)]).await;
    assert!(checked.contains("The inbox was deleted in Chatwoot"), "{checked}");
    assert!(step(&checked, "The program takes what the webhook brings", "no"), "{checked}");

    let outsider = world.outsider().await;
    assert_eq!(outsider.get(&place).await.status, 404);
    assert_eq!(outsider.post(&format!("{place}/remove"), &[]).await.status, 404);
    let program = Program::new(&base, config["api_key"].as_str().unwrap());
    assert_eq!(program.get(&format!("/{WABA}/phone_numbers")).await.0, 200);
    let removed = owner.submit(&format!("{place}/remove"), &[]).await;
    assert!(removed.contains("Chatwoot is disconnected."), "{removed}");
    assert_eq!(program.get(&format!("/{WABA}/phone_numbers")).await.0, 401);
    assert!(programs(&world).await.is_empty() && endpoints(&world).await.is_empty());
    let added = json!({
        "company_id": world.acme.id, "kind": "Chatwoot", "channel_id": channel, "address": chatwoot.url,
    });
    assert_eq!(recorded(&world).await, [json!("removed"), added]);
    let operator = world.operator().await.page("/console/operator/changes?what=program").await;
    assert!(operator.contains("Program written for Meta") && operator.contains(&chatwoot.url), "{operator}");
}

#[tokio::test]
async fn what_goes_wrong_with_chatwoot_is_said_at_its_step_and_nothing_is_left() {
    let (world, channel) = open(Kind::BusinessAccount).await;
    let owner = world.signed_in(Role::Owner).await;
    let chatwoot = Chatwoot::start(world.service.url());
    let id = channel.to_string();
    let (id, url) = (id.as_str(), chatwoot.url.as_str());
    let foreign =
        world.service.channel(&world.globex, Kind::BusinessAccount, "theirs", Status::Connected).await;
    let foreign = foreign.id.to_string();
    let foreign = foreign.as_str();
    let answers = "The program answers at its address";
    for (channel, address, token, words, failed) in [
        (id, NOBODY, ADMIN, "refuses connections", answers),
        (id, "http://10.0.0.7", ADMIN, "not on the public internet", answers),
        (id, world.service.url(), ADMIN, "it is not Chatwoot", answers),
        (id, url, "token-of-nobody", "does not know this access token", "It knows the token"),
        (
            id,
            url,
            AGENT,
            "not that of an administrator",
            "The token is that of an administrator of the account",
        ),
        (
            id,
            url,
            ADMIN_OF_TWO,
            "3 (Shop), 4 (Depot)",
            "The token is that of an administrator of the account",
        ),
        (foreign, url, ADMIN, "Choose one of these.", ""),
        (id, "", ADMIN, "Fill this in.", ""),
    ] {
        let fields = [("channel", channel), ("address", address), ("token", token)];
        let answer = owner.post(CHATWOOT, &fields).await;
        assert_eq!(answer.status, 422, "{words}: {}", answer.body);
        assert!(answer.body.contains(words), "{words}: {}", answer.body);
        assert!(failed.is_empty() || step(&answer.body, failed, "no"), "{words}: {}", answer.body);
        assert!(!answer.body.contains(token), "{words}: {}", answer.body);
    }
    let fields = [("channel", id), ("address", url), ("token", ADMIN)];
    let refused = async |words: &str, failed: &str| {
        let answer = owner.post(CHATWOOT, &fields).await;
        assert_eq!(answer.status, 422, "{words}: {}", answer.body);
        assert!(answer.body.contains(words), "{words}: {}", answer.body);
        assert!(step(&answer.body, failed, "no"), "{words}: {}", answer.body);
        assert!(chatwoot.played.lock().inboxes.is_empty(), "{words}");
        assert!(keys(&world).await.is_empty(), "{words}: its key is revoked");
        assert!(programs(&world).await.is_empty() && endpoints(&world).await.is_empty(), "{words}");
    };
    let base = chatwoot.played.lock().base.take();
    let line = format!("Set WHATSAPP_CLOUD_BASE_URL={} in its environment", world.service.url());
    refused(&line, "The program asks Pombo with its key").await;
    chatwoot.played.lock().base = base;
    chatwoot.played.lock().is_taken = true;
    refused("[Phone number has already been taken]", "There is an inbox for the channel").await;
    chatwoot.played.lock().is_taken = false;
    chatwoot.played.lock().is_deaf = true;
    refused("The webhook was not added.", "The program takes what the webhook brings").await;
    chatwoot.played.lock().is_deaf = false;
    let account = ACCOUNT.to_string();
    let fields = [("channel", id), ("address", url), ("token", ADMIN_OF_TWO), ("account", account.as_str())];
    connect(&owner, &fields).await;
    assert_eq!(programs(&world).await[0].inbox.unwrap().0, ACCOUNT);
}

#[tokio::test]
async fn typebot_gets_a_key_that_is_shown_once_and_its_receiver_is_verified_once() {
    let (world, channel) = open(Kind::WebSession).await;
    let (owner, typebot) = (world.signed_in(Role::Owner).await, Receiver::start().await);
    let made = owner.post(TYPEBOT, &[("channel", &channel.to_string())]).await;
    let place = made.header("location").to_owned();
    let page = owner.page(&place).await;
    let (key, number) = (copied(&page, "Key").unwrap(), copied(&page, "Phone number ID").unwrap());
    let line = format!("WHATSAPP_CLOUD_API_URL={}", world.service.url());
    assert!(page.contains(&line) && page.contains("no webhook yet"), "{page}");
    assert!(!owner.page(&place).await.contains(&key), "the key is shown once");
    let checked = owner.submit(&format!("{place}/check"), &[]).await;
    assert!(step(&checked, "The program asks Pombo with its key", "no"), "{checked}");
    assert!(checked.contains(&format!("Set {line} in its environment")), "{checked}");
    let program = Program::new(world.service.url(), &key);
    assert_eq!(program.get(&format!("/{number}?fields=display_phone_number")).await.0, 200);

    typebot.expect_token("fresh");
    let webhook = format!("{place}/webhook");
    let url = typebot.url();
    let wrong = owner.post(&webhook, &[("url", &url), ("verify_token", "stale")]).await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(wrong.body.contains("The webhook was not added."), "{}", wrong.body);
    assert!(endpoints(&world).await.is_empty());
    let once = value_of(&wrong.body, "once").unwrap();
    let fields = [("url", url.as_str()), ("verify_token", "fresh"), ("once", once.as_str())];
    let done = owner.submit(&webhook, &fields).await;
    assert!(done.contains("Typebot is connected."), "{done}");
    assert_eq!(owner.post(&webhook, &fields).await.status, 303);
    assert_eq!(typebot.asked().len(), 2, "one question for each token");
    let [endpoint] = &endpoints(&world).await[..] else { panic!("one webhook") };
    assert_eq!(endpoint.settings.profile, WebhookProfile::Strict);
    assert_eq!(endpoint.settings.channels, [channel]);
    let checked = owner.submit(&format!("{place}/check"), &[]).await;
    assert!(!checked.contains("<strong>no</strong>"), "{checked}");
    assert_eq!(typebot.got().len(), 1);

    owner.post(&format!("/console/webhooks/{}/disable", endpoint.id), &[]).await;
    let checked = owner.submit(&format!("{place}/check"), &[]).await;
    assert!(checked.contains("The webhook is disabled"), "{checked}");
    owner.submit(&format!("{place}/remove"), &[]).await;
    assert_eq!(program.get(&format!("/{number}")).await.0, 401);
    let recorded = recorded(&world).await;
    let (added, moved) = (&recorded[recorded.len() - 1], &recorded[recorded.len() - 2]);
    assert_eq!((&recorded[0], &added["address"]), (&json!("removed"), &json!("")));
    assert_ne!(moved["address"], "", "{recorded:?}");
    assert!(programs(&world).await.is_empty() && endpoints(&world).await.is_empty());
}

#[tokio::test]
async fn a_service_that_does_not_answer_programs_says_what_its_operator_has_to_set() {
    let world = World::new().await;
    world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let owner = world.signed_in(Role::Owner).await;
    for place in [PLACE, CHATWOOT, TYPEBOT] {
        let page = owner.page(place).await;
        assert!(page.contains("[graph]\nenabled = true") && !page.contains("name=\"channel\""), "{page}");
    }
    let channels = world.service.store().of(world.acme.id).channels();
    let page = pombo::domain::page::PageRequest { page: 1, limit: 1 };
    let id = channels.page(page, None).await.unwrap().records[0].id.to_string();
    assert_eq!(owner.post(TYPEBOT, &[("channel", &id)]).await.status, 422);
    assert!(programs(&world).await.is_empty());
}
