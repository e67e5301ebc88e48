//! Programs' changes of contacts, tags and imports are in the record of changes, once for each request.

use pombo::domain::page::PageRequest;
use pombo::store::changes::{Change, Filter};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{Answer, Company, Service};
use crate::running::until;

async fn ask(service: &Service, company: &Company, method: Method, path: &str, body: &Value) -> Answer {
    let request = service.request(method, path).bearer_auth(&company.key).body(body.to_string());
    let answer = Answer::to(request).await;
    assert!(answer.status < 300, "{path}: {}", answer.body);
    answer
}

/// The recorded changes of the company's contacts, oldest first.
async fn recorded(service: &Service, company: Uuid) -> Vec<Change> {
    let subject = company.to_string();
    let filter = Filter { subject: Some(&subject), ..Filter::default() };
    let page = PageRequest { page: 1, limit: 100 };
    let mut changes = service.store().changes().page(filter, page).await.unwrap().records;
    changes.retain(|change| ["contacts", "tags", "import"].contains(&change.what.as_str()));
    changes.reverse();
    changes
}

fn told(changes: &[Change]) -> Vec<(&str, Option<&Value>, &Value)> {
    changes.iter().map(|change| (change.what.as_str(), change.before.as_ref(), &change.after)).collect()
}

#[tokio::test]
async fn a_request_that_changes_contacts_is_recorded_once_with_how_many_and_nothing_of_them() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let people: Vec<_> =
        (0..1_500).map(|n| json!({"phone_number": format!("55119{n:08}"), "first_name": "Secret"})).collect();
    let batch = "/api/v1/contacts/batch";
    ask(&service, &acme, Method::POST, batch, &json!({ "contacts": people })).await;
    ask(&service, &acme, Method::POST, batch, &json!({ "contacts": people })).await;
    let both = json!([{"phone_number": "5511900000000", "last_name": "Other"}, {"email": "new@a.example"}]);
    let written = ask(&service, &acme, Method::POST, batch, &json!({ "contacts": both })).await.json();
    let ids = [0, 1].map(|index| written["results"][index]["id"].as_str().unwrap().to_owned());
    let one = format!("/api/v1/contacts/{}", ids[0]);
    ask(&service, &acme, Method::PATCH, &one, &json!({"first_name": "Ana"})).await;
    ask(&service, &acme, Method::PATCH, &one, &json!({"first_name": "Ana"})).await;
    ask(&service, &acme, Method::POST, &format!("{one}/merge"), &json!({"contact_ids": [ids[1]]})).await;
    ask(&service, &acme, Method::DELETE, &one, &Value::Null).await;
    let changes = recorded(&service, acme.id).await;
    let expected = [
        json!({"created": 1_500}),
        json!({"created": 1, "updated": 1}),
        json!({"contact": ids[0], "updated": 1}),
        json!({"contact": ids[0], "merged": 1}),
        json!({"deleted": 1}),
    ];
    let expected: Vec<_> = expected.iter().map(|after| ("contacts", None, after)).collect();
    assert_eq!(told(&changes), expected, "a request that changes nothing is not recorded");
    let key = format!("key:{}", acme.key);
    assert!(changes.iter().all(|change| change.who == key && change.address.is_none()), "{changes:?}");
    assert!(!format!("{changes:?}").contains("Secret"), "no data of the people is recorded");
    assert!(recorded(&service, globex.id).await.is_empty());
}

#[tokio::test]
async fn a_request_that_changes_tags_or_their_contacts_is_recorded_with_the_tag() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let tags = json!({"tags": [{"name": "vip", "color": "#112233"}]});
    let made = ask(&service, &acme, Method::POST, "/api/v1/contacts/tags/batch", &tags).await.json();
    ask(&service, &acme, Method::POST, "/api/v1/contacts/tags/batch", &tags).await;
    let two = json!({"tags": [{"name": "a"}, {"name": "b"}, {"name": "vip", "color": "#332211"}]});
    ask(&service, &acme, Method::POST, "/api/v1/contacts/tags/batch", &two).await;
    let id = made["results"][0]["id"].as_str().unwrap();
    let tag = format!("/api/v1/contacts/tags/{id}");
    ask(&service, &acme, Method::PATCH, &tag, &json!({"name": "best"})).await;
    ask(&service, &acme, Method::PATCH, &tag, &json!({"name": "best"})).await;
    let people: Vec<_> = (0..1_200).map(|n| json!({"phone_number": format!("55119{n:08}")})).collect();
    ask(&service, &acme, Method::POST, "/api/v1/contacts/batch", &json!({ "contacts": people })).await;
    let members = format!("{tag}/members");
    for _ in 0..2 {
        ask(&service, &acme, Method::POST, &members, &json!({"add": {"all": true}})).await;
    }
    ask(&service, &acme, Method::POST, &members, &json!({"remove": {"phone_numbers": ["5511900000007"]}}))
        .await;
    ask(&service, &acme, Method::DELETE, &tag, &Value::Null).await;
    let changes = recorded(&service, acme.id).await;
    let shown = |name: &str| json!({"id": id, "name": name, "color": "#332211"});
    let (vip, best) = (shown("vip"), shown("best"));
    let last = json!({"id": id, "name": "best", "contacts": 1_199});
    let expected = [
        ("tags", None, &json!({"created": "vip"})),
        ("tags", None, &json!({"created": 2, "recolored": 1})),
        ("tags", Some(&vip), &best),
        ("contacts", None, &json!({"created": 1_200})),
        ("contacts", None, &json!({"tag": id, "tagged": 1_200})),
        ("contacts", None, &json!({"tag": id, "untagged": 1})),
        ("tags", Some(&last), &json!("deleted")),
    ];
    assert_eq!(told(&changes), expected);
}

#[tokio::test]
async fn an_import_is_recorded_when_it_is_started_and_when_it_is_stopped() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let imports = "/api/v1/contacts/imports?file_name=people.csv";
    let upload = async |more: &str| {
        let body = "phone\n5511988880001\n".to_owned();
        service.post(&format!("{imports}{more}"), &acme.key, body).await.json()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (started, canceled) = (upload("&start=true").await, upload("").await);
    let steer = format!("/api/v1/contacts/imports/{canceled}");
    for _ in 0..2 {
        ask(&service, &acme, Method::POST, &steer, &json!({"action": "cancel"})).await;
    }
    until("the import over", async || {
        let shown = service.get(&format!("/api/v1/contacts/imports/{started}"), &acme.key).await.json();
        shown["state"] == "finished"
    })
    .await;
    let changes = recorded(&service, acme.id).await;
    let expected = [
        ("import", None, &json!({"id": started, "file": "people.csv", "state": "started"})),
        ("import", None, &json!({"id": canceled, "file": "people.csv", "state": "canceled"})),
    ];
    assert_eq!(told(&changes), expected);
}
