//! Exports over the API are in the record of changes as those of the console are: once each, with who took what.

use pombo::accounts::{Create, Origin, Role, SignIn, SignedIn};
use pombo::domain::message::State as At;
use pombo::domain::page::PageRequest;
use pombo::store::changes::{Change, Filter, What, Who};
use reqwest::Method;
use serde_json::{Value, json};

use super::past_send::Past;
use super::world::World;
use crate::harness::Answer;

const LINES: &str = "application/x-ndjson";
const JSON: &str = "application/json";
const KEY: &str = "key:pombo_acme";
const EMAIL: &str = "ana@example.com";
const PASSWORD: &str = "correct horse battery";

/// The status of an answer in this form.
async fn ask(world: &World, method: Method, path: &str, accept: &str, key: &str) -> u16 {
    let request = world.service.request(method, path).bearer_auth(key).header("accept", accept);
    Answer::to(request).await.status
}

/// The exports of the first company, the earlier ones first.
async fn recorded(world: &World) -> Vec<Change> {
    let subject = world.acme.id.to_string();
    let filter = Filter { what: &[What::Export], subject: Some(&subject), ..Filter::default() };
    let page = PageRequest { page: 1, limit: 99 };
    let mut recorded = world.service.store().changes().page(filter, page).await.unwrap().records;
    recorded.reverse();
    recorded
}

/// Adds two contacts; the id of the first.
async fn people(world: &World) -> String {
    let person = |number: u64, name: &str| json!({ "phone_number": number.to_string(), "first_name": name });
    let people = json!({ "contacts": [person(5_511_900_000_001, "Ana"), person(5_511_900_000_002, "Bea")] });
    let written =
        world.service.post("/api/v1/contacts/batch", &world.acme.key, people.to_string()).await.json();
    written["results"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn exports_with_a_key_are_recorded_once_each_with_what_was_taken() {
    let world = World::new().await;
    let contact = people(&world).await;
    let messages = [(At::Read, None), (At::Failed, Some(131_026))];
    let send = Past::text(&world.service, &world.acme, world.connected).with(&messages).await;
    let mut expected = Vec::new();
    for (path, accept, taken) in [
        ("/api/v1/contacts".to_owned(), LINES, json!({ "contacts": 2 })),
        ("/api/v1/contacts?search=bea".to_owned(), LINES, json!({ "contacts": 1 })),
        (format!("/api/v1/sends/{send}/messages"), LINES, json!({ "send": send })),
        (format!("/api/v1/sends/{send}/messages"), "text/csv", json!({ "send": send })),
        (format!("/api/v1/sends/{send}/messages/export"), "*/*", json!({ "send": send })),
        (
            format!("/api/v1/contacts/{contact}/conversations"),
            LINES,
            json!({ "conversations_with": contact }),
        ),
    ] {
        assert_eq!(ask(&world, Method::GET, &path, accept, &world.acme.key).await, 200, "{path} {accept}");
        expected.push(taken);
        let recorded = recorded(&world).await;
        let recorded: Vec<&Value> = recorded.iter().map(|change| &change.after).collect();
        assert_eq!(recorded, expected.iter().collect::<Vec<_>>(), "{path} {accept}");
    }
    for change in recorded(&world).await {
        assert_eq!((change.who.as_str(), change.address, change.before), (KEY, None, None));
    }
}

#[tokio::test]
async fn pages_heads_and_refusals_are_no_exports() {
    let world = World::new().await;
    let contact = people(&world).await;
    let send = Past::text(&world.service, &world.acme, world.connected).with(&[(At::Read, None)]).await;
    let (list, of_send) = ("/api/v1/contacts", format!("/api/v1/sends/{send}/messages"));
    let talks = format!("/api/v1/contacts/{contact}/conversations");
    for path in [list, &of_send, &talks] {
        assert_eq!(ask(&world, Method::GET, path, JSON, &world.acme.key).await, 200, "{path}");
    }
    let export = format!("{of_send}/export");
    for path in [list, &of_send, &export, &talks] {
        assert_eq!(ask(&world, Method::HEAD, path, LINES, &world.acme.key).await, 200, "{path}");
        assert_eq!(ask(&world, Method::GET, path, LINES, "pombo_nobody").await, 401, "{path}");
    }
    for (path, status) in [
        ("/api/v1/contacts?field=x".to_owned(), 400),
        (format!("{of_send}?state=gone"), 400),
        (format!("/api/v1/sends/{}/messages/export", world.foreign_send), 404),
        (format!("/api/v1/contacts/{}/conversations", world.foreign_contact), 404),
    ] {
        assert_eq!(ask(&world, Method::GET, &path, LINES, &world.acme.key).await, status, "{path}");
    }
    assert!(recorded(&world).await.is_empty());
}

/// The token of a session is a person's, so the record names the person.
#[tokio::test]
async fn an_export_with_a_session_s_token_names_the_person() {
    let world = World::new().await;
    people(&world).await;
    let (accounts, origin) = (world.service.accounts(), Origin::new("192.0.2.7".parse().unwrap(), "Firefox"));
    let company = Some((world.acme.id, Role::Viewer));
    let create = Create { email: EMAIL, name: "Ana", password: Some(PASSWORD), company, is_operator: false };
    accounts.create(&Who::Pombo, create).await.unwrap();
    let attempt = SignIn { email: EMAIL, password: PASSWORD, code: None, origin: &origin };
    let SignedIn::Session(session) = accounts.sign_in(attempt).await.unwrap() else { panic!("no session") };
    let token = accounts.new_api_token(&session.session, &origin).await.unwrap();
    assert_eq!(ask(&world, Method::GET, "/api/v1/contacts", LINES, token.expose()).await, 200);
    let recorded = recorded(&world).await;
    let [export] = &recorded[..] else { panic!("{recorded:?}") };
    assert_eq!((export.who.as_str(), &export.after), ("user:ana@example.com", &json!({ "contacts": 2 })));
    assert_eq!(export.address.as_deref(), Some("127.0.0.1"));
}
