//! The lists of channels and templates.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Connection, Kind, Number, Reason, ReasonCode, Status};
use serde_json::{Value, json};

use crate::harness::{Answer, Service};

fn names(answer: &Answer) -> Vec<String> {
    let name = |record: &Value| record["name"].as_str().unwrap().to_owned();
    answer.json()["data"].as_array().unwrap().iter().map(name).collect()
}

fn counts(answer: &Answer) -> [u64; 3] {
    let json = answer.json();
    ["currentPage", "totalPages", "totalRecords"].map(|name| json[name].as_u64().unwrap())
}

#[tokio::test]
async fn a_channel_is_shown_with_why_it_is_disconnected_and_without_secrets() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let reason = Reason {
        code: ReasonCode::CredentialsRefused.into(),
        sentence: "the provider refused the access token".to_owned(),
        provider_code: Some(190),
    };
    let since = Timestamp::from_millis(1_700_000_000_007);
    let connection = Connection { status: Status::Disconnected, reason: Some(reason), since };
    let store = service.store();
    store.channels().set_connection(channel.id, &channel.connection, &connection).await.unwrap().unwrap();
    assert!(store.channels().set_number(channel.id, rated("GREEN")).await.unwrap());
    let changed = store.channels().find(channel.id).await.unwrap().unwrap();

    let answer = service.get("/api/v1/chat", &acme.key).await;
    assert_eq!(
        answer.json(),
        json!({
            "data": [{
                "id": channel.id,
                "kind": "business_account",
                "name": "Shop",
                "phone_number": "+55 (11) 98888-7777",
                "status": "disconnected",
                "status_reason": {
                    "code": "credentials_refused",
                    "sentence": "the provider refused the access token",
                    "provider_code": 190,
                },
                "status_since": "2023-11-14T22:13:20.007Z",
                "tier": "standard",
                "quality_rating": "GREEN",
                "created_at": channel.created_at.to_string(),
                "updated_at": changed.updated_at.to_string(),
            }],
            "currentPage": 1,
            "totalPages": 1,
            "totalRecords": 1,
        })
    );
}

#[tokio::test]
async fn each_list_has_one_kind_of_one_company_newest_first() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    for name in ["a", "b", "c"] {
        service.channel(&acme, Kind::BusinessAccount, name, Status::Connected).await;
    }
    service.channel(&acme, Kind::WebSession, "phone", Status::Pairing).await;
    service.channel(&globex, Kind::BusinessAccount, "theirs", Status::Connected).await;

    let first = service.get("/api/v1/chat?limit=2", &acme.key).await;
    assert_eq!((names(&first), counts(&first)), (vec!["c".to_owned(), "b".to_owned()], [1, 2, 3]));
    let second = service.get("/api/v1/chat?limit=2&page=2", &acme.key).await;
    assert_eq!((names(&second), counts(&second)), (vec!["a".to_owned()], [2, 2, 3]));
    let past = service.get("/api/v1/chat?limit=2&page=3", &acme.key).await;
    assert_eq!((names(&past), counts(&past)), (vec![], [3, 2, 3]));
    let web = service.get("/api/v1/web-chat", &acme.key).await;
    assert_eq!((names(&web), counts(&web)), (vec!["phone".to_owned()], [1, 1, 1]));
    assert_eq!(web.json()["data"][0]["status"], "pairing");
    assert_eq!(web.json()["data"][0]["status_reason"], Value::Null);
}

#[tokio::test]
async fn channels_are_found_by_name_and_by_number_however_written() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    service.channel(&acme, Kind::BusinessAccount, "Loja São João 50%", Status::Connected).await;
    for (search, found) in [
        ("sao%20joao", 1),
        ("S%C3%83O", 1),
        ("++loja++", 1),
        ("50%25", 1),
        ("5_%25", 0),
        ("_", 0),
        ("%2B55%20(11)", 1),
        ("551198888", 1),
        ("55-11-98888.7777", 1),
        ("44", 0),
        ("", 1),
    ] {
        let answer = service.get(&format!("/api/v1/chat?search={search}"), &acme.key).await;
        assert_eq!(counts(&answer)[2], found, "{search}: {}", answer.body);
    }
}

#[tokio::test]
async fn only_approved_templates_of_the_channel_s_account_are_listed() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await;
    service.templates(&globex, &[("theirs", "en", "APPROVED")]).await;
    service
        .templates(
            &acme,
            &[
                ("order_shipped", "en", "APPROVED"),
                ("order_shipped", "pt_BR", "APPROVED"),
                ("order_late", "en", "PAUSED"),
                ("ordeal", "en", "REJECTED"),
            ],
        )
        .await;
    let list = async |query: &str| {
        service.get(&format!("/api/v1/chat/{}/templates{query}", channel.id), &acme.key).await
    };

    let all = list("").await;
    assert_eq!(counts(&all), [1, 1, 2]);
    let record = &all.json()["data"][1];
    let mut fields: Vec<_> = record.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "archived",
            "category",
            "components",
            "created_at",
            "id",
            "language",
            "name",
            "parameter_format",
            "quality_score",
            "rejected_reason",
            "status",
            "updated_at"
        ]
    );
    assert_eq!(record["id"], service.template_id(&acme, "order_shipped", "en").await);
    assert_eq!(record["components"][0]["text"], "Hello {{1}}, order {{2}} left.");
    for (query, found) in [
        ("?language=pt_br", 1),
        ("?language=pt", 0),
        ("?category=utility", 2),
        ("?category=MARKETING", 0),
        ("?search=SHIPPED", 2),
        ("?search=order_s", 2),
        ("?search=order%25", 0),
        ("?search=shipped&language=en&category=UTILITY", 1),
        ("?limit=1&page=2", 2),
    ] {
        let answer = list(query).await;
        assert_eq!(counts(&answer)[2], found, "{query}");
    }
}

/// What the provider says of a number's quality.
fn rated(rating: &str) -> Number {
    Number { quality_rating: Some(rating.to_owned()), ..Number::default() }
}
