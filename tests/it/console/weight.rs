//! The size of pages when there are more records than they show.

use std::collections::BTreeSet;
use std::time::Duration;

use pombo::accounts::{Create, Role};
use pombo::clock::Timestamp;
use pombo::console::{Access, ROUTES};
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::event::log::Sequence;
use pombo::domain::message::State as At;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::suppression::Suppression;
use pombo::domain::template::{ListedTemplate, ParameterFormat};
use pombo::domain::webhook::{FaultKind, SentHeaders};
use pombo::store::changes::Who;
use pombo::store::webhooks::Delivery;
use reqwest::Method;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::browser::Browser;
use super::operator::with_tiers;
use super::world::World;
use crate::api::past_send::{FIRST, Past};
use crate::harness::WABA;

/// The compressed bytes of a page with all files that it refers to.
pub(super) const MOST: usize = 60_000;
/// More records than any page lists, except tags.
const MANY: u64 = 60;
/// The number of tags that the page of a new send offers.
const TAGS: usize = 1_000;

/// The compressed bytes of a page or a file.
pub(super) async fn weight(browser: &Browser<'_>, path: &str) -> usize {
    let asked = browser.request(Method::GET, path).header("accept-encoding", "gzip");
    let answer = asked.send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200, "{path}");
    answer.bytes().await.unwrap().len()
}

/// The files that a page refers to, each once: many icons are in one file.
pub(super) fn assets(page: &str) -> BTreeSet<&str> {
    let words = page.split('"').filter(|word| word.starts_with("/console/assets/"));
    words.map(|word| word.split('#').next().unwrap()).collect()
}

/// Makes all records, and returns the pages of single records.
async fn fill(world: &World) -> Vec<String> {
    let (service, store, company) = (&world.service, world.service.store(), world.acme.id);
    let names: Vec<_> =
        (0..TAGS).map(|nth| (format!("Customers of the {nth}th spring fair, São Paulo"), None)).collect();
    let tags = store.of(company).tags().write(&Who::Pombo, &names, Timestamp::now()).await.unwrap();
    let tags: Vec<Uuid> = tags.into_iter().map(|(id, _)| id).collect();
    let person = |nth: u64| Person {
        first_name: format!("Maria Aparecida {nth}"),
        last_name: "dos Santos Oliveira".to_owned(),
        email: format!("maria.aparecida.{nth}@example.com"),
        phone_number: format!("+{}", FIRST + nth),
        ..Person::default()
    };
    let people: Vec<_> = (0..MANY).map(|nth| (Uuid::now_v7(), person(nth))).collect();
    store.of(company).contacts().add(&people, &tags[..10], Timestamp::now()).await.unwrap();
    for nth in 0..MANY {
        let number = PhoneNumber::from_u64(FIRST + nth).unwrap();
        store.of(company).suppressions().add(&Who::Pombo, number, Suppression::Marketing).await.unwrap();
        let name = format!("Branch number {nth} of the company");
        store.companies().add(&Who::Pombo, &name, "standard").await.unwrap();
        service.add_key(company, &format!("pk_weight_{nth}"), None).await;
        let email = format!("person.{nth}@acme.example");
        let member = Create {
            email: &email,
            name: "Maria Aparecida dos Santos",
            password: None,
            company: Some((company, Role::Member)),
            is_operator: false,
        };
        service.accounts().create(&Who::Pombo, member).await.unwrap();
    }
    let mut channels = Vec::new();
    for nth in 0..MANY / 2 {
        let name = format!("Shop number {nth}");
        channels
            .push(service.channel(&world.acme, Kind::BusinessAccount, &name, Status::Disconnected).await.id);
    }
    let phone = service.channel(&world.acme, Kind::WebSession, "Phone", Status::Disconnected).await.id;
    let template = |nth: u64| {
        ListedTemplate {
        provider_id: nth.to_string(),
        name: format!("spring_sale_{nth}"),
        language: "en".to_owned(),
        category: "MARKETING".into(),
        status: "APPROVED".into(),
        parameter_format: ParameterFormat::Positional,
        components: RawValue::from_string(
            r#"[{"type":"HEADER","format":"TEXT","text":"Spring sale"},{"type":"BODY","text":"Hello {{1}}, all shoes are {{2}} off until Sunday."},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Tell me more"}]}]"#
                .to_owned(),
        )
        .unwrap(),
        rejected_reason: None,
        quality_score: None,
    }
    };
    let listed: Vec<_> = (0..MANY).map(template).collect();
    store.of(company).templates().sync(WABA, &listed).await.unwrap();
    let states: Vec<_> = (0..i64::try_from(MANY).unwrap())
        .map(|nth| if nth % 2 == 0 { (At::Failed, Some(131_000 + nth)) } else { (At::Read, None) })
        .collect();
    let send = Past::text(service, &world.acme, channels[0]).with(&states).await;
    for channel in channels.iter().chain(&channels) {
        Past::text(service, &world.acme, *channel).with(&states[..1]).await;
    }
    let template = service.template_id(&world.acme, "spring_sale_7", "en").await;
    let webhook = webhook(world).await;
    let shop = channels[0];
    vec![
        format!("/console/channels/{shop}"),
        format!("/console/channels/{phone}"),
        format!("/console/contacts/{}", people[0].0),
        format!("/console/contacts/tags/{}", tags[0]),
        format!("/console/sends/{send}"),
        format!("/console/sends/{send}/again"),
        format!("/console/sends/{send}/messages/0"),
        format!("/console/webhooks/{webhook}"),
        format!("/console/sends/new?channel={shop}&type=text"),
        format!("/console/sends/new?channel={shop}&type=template&template={template}"),
    ]
}

/// A webhook endpoint with many deliveries that failed with long answers; its id.
async fn webhook(world: &World) -> Uuid {
    let new = json!({"url": "http://127.0.0.1:1/hook", "types": ["message.read"]}).to_string();
    let added = world.service.post("/api/v1/webhooks", &world.acme.key, new).await;
    let endpoint_id = added.json()["id"].as_str().unwrap().parse().unwrap();
    let delivery = |nth: u64| Delivery {
        id: Uuid::now_v7(),
        endpoint_id,
        at: Timestamp::now(),
        event_id: format!("{}.failed", Uuid::now_v7()),
        r#type: "message.failed".to_owned(),
        sequence: Some(Sequence::from_i64(458_754)),
        events: 1,
        attempt: 1,
        status: Some(500),
        took: Duration::from_millis(120 + nth),
        answer: Some((0..60).map(|_| Uuid::now_v7().to_string()).collect()),
        fault: Some("the receiver answered with status 500: look for the error in its log".to_owned()),
        fault_kind: Some(FaultKind::Status),
        sent: SentHeaders {
            id: None,
            signature: format!("v1,{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple()),
            own: vec!["authorization".to_owned()],
        },
    };
    let deliveries: Vec<_> = (0..MANY).map(delivery).collect();
    world.service.store().webhooks().log(&deliveries).await.unwrap();
    endpoint_id
}

#[tokio::test]
async fn no_page_weighs_more_than_sixty_kilobytes_with_its_files() {
    let world = World::new().await;
    with_tiers(&world).await;
    let own = fill(&world).await;
    let (owner, operator) = (world.signed_in(Role::Owner).await, world.operator().await);
    let visitor = Browser::new(&world.service);
    let page = owner.page("/console").await;
    let mut files = 0;
    for file in assets(&page) {
        files += weight(&owner, file).await;
    }
    let fixed = ROUTES
        .iter()
        .filter(|route| route.method == "GET" && !route.path.contains('{') && !route.path.ends_with("/live"))
        // A file, not a page.
        .filter(|route| !route.path.ends_with("/export") && !route.path.ends_with("/file"))
        .map(|route| (route.path, route.access));
    let operators = ["/console/operator/tiers/standard"].map(|path| (path, Access::Operator));
    let own = own.iter().map(|path| (path.as_str(), Access::Owner));
    let mut heavy = Vec::new();
    for (path, access) in fixed.chain(operators).chain(own) {
        let browser = match access {
            Access::Operator => &operator,
            Access::Public => &visitor,
            _ => &owner,
        };
        let bytes = files + weight(browser, path).await;
        if bytes > MOST {
            heavy.push((path, bytes));
        }
    }
    assert!(heavy.is_empty(), "with files of {files} bytes: {heavy:?}");
}
