//! The lists of contacts and tags, and sends to the contacts of tags.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::store::ContactDraft;
use serde_json::{Value, json};

use crate::harness::{Company, Service};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_007);

async fn add(service: &Service, company: &Company, first_name: &str, phone_number: &str, tags: &[&str]) {
    let person = Person {
        first_name: first_name.to_owned(),
        last_name: "Silva".to_owned(),
        email: format!("{first_name}@a.example"),
        phone_number: phone_number.to_owned(),
        ..Person::default()
    };
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    service.store().of(company.id).contacts().upsert(&[ContactDraft { person, tags }], NOW).await.unwrap();
}

/// Replaces what differs from run to run.
fn without_ids(mut json: Value) -> Value {
    for record in json["data"].as_array_mut().unwrap() {
        record["id"] = json!("ID");
        for tag in record.get_mut("tags").and_then(Value::as_array_mut).into_iter().flatten() {
            tag["id"] = json!("ID");
        }
    }
    json
}

#[tokio::test]
async fn a_contact_has_the_fields_of_the_specification() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    service.store().of(acme.id).tags().ensure("vip", Some("#22aa66")).await.unwrap();
    add(&service, &acme, "Ana", "+55 (11) 98888-7777", &["vip"]).await;
    add(&service, &globex, "Bob", "+55 (11) 98888-7777", &["vip"]).await;
    let answer = service.get("/api/v1/contacts?search=55119", &acme.key).await;
    assert_eq!(
        without_ids(answer.json()),
        json!({
            "data": [{
                "id": "ID",
                "first_name": "Ana",
                "last_name": "Silva",
                "email": "Ana@a.example",
                "phone_number": "+55 (11) 98888-7777",
                "phone_number_lid": null,
                "profile_picture": "",
                "created_at": "2023-11-14T22:13:20.007Z",
                "updated_at": "2023-11-14T22:13:20.007Z",
                "tags": [{"id": "ID", "name": "vip", "color": "#22aa66"}],
            }],
            "currentPage": 1,
            "totalPages": 1,
            "totalRecords": 1,
        })
    );
}

#[tokio::test]
async fn a_tag_says_how_many_contacts_have_it() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    add(&service, &acme, "Ana", "5511988880001", &["vip"]).await;
    add(&service, &acme, "Bia", "5511988880002", &["vip", "new"]).await;
    let answer = service.get("/api/v1/contacts/tags?search=VI", &acme.key).await;
    let mut json = without_ids(answer.json());
    let created_at = json["data"][0]["created_at"].take();
    assert!(created_at.as_str().unwrap().ends_with('Z'), "{created_at}");
    let color = json["data"][0]["color"].take();
    assert!(color.as_str().unwrap().starts_with('#'), "{color}");
    assert_eq!(
        json,
        json!({
            "data": [{
                "id": "ID",
                "name": "vip",
                "color": null,
                "created_at": null,
                "_count": {"contact_tag": 2},
            }],
            "currentPage": 1,
            "totalPages": 1,
            "totalRecords": 1,
        })
    );
}

#[tokio::test]
async fn contacts_come_in_pages_of_ten_unless_asked_otherwise() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    for number in 0..12 {
        add(&service, &acme, &format!("c{number}"), &format!("55119888800{number:02}"), &[]).await;
    }
    for (query, shown, envelope) in [
        ("", 10, [1, 2, 12]),
        ("?page=2", 2, [2, 2, 12]),
        ("?limit=5&page=3", 2, [3, 3, 12]),
        ("?page=9", 0, [9, 2, 12]),
    ] {
        let json = service.get(&format!("/api/v1/contacts{query}"), &acme.key).await.json();
        assert_eq!(json["data"].as_array().unwrap().len(), shown, "{query}");
        let told = ["currentPage", "totalPages", "totalRecords"].map(|name| json[name].as_u64().unwrap());
        assert_eq!(told, envelope, "{query}");
    }
}

#[tokio::test]
async fn numbers_and_tags_are_merged_and_other_companies_tags_reach_nobody() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await;
    add(&service, &acme, "Ana", "5511988880001", &["vip"]).await;
    add(&service, &acme, "Bia", "5511988880002", &["vip"]).await;
    add(&service, &acme, "Cid", "unknown", &["vip"]).await;
    add(&service, &globex, "Dan", "5511988880004", &["theirs"]).await;
    let vip = service.store().of(acme.id).tags().ensure("vip", None).await.unwrap();
    let theirs = service.store().of(globex.id).tags().ensure("theirs", None).await.unwrap();
    let send = async |audience: Value| {
        let mut body = json!({"type": "text", "message": "x"});
        body.as_object_mut().unwrap().extend(audience.as_object().unwrap().clone());
        let path = format!("/api/v1/chat/{}/messages", channel.id);
        service.post(&path, &acme.key, body.to_string()).await
    };
    let merged = send(
        json!({"contact_tag_id": [vip, theirs], "phone_number": ["+55 11 98888-0001", "5511988880003"]}),
    );
    let merged = merged.await;
    assert_eq!((merged.status, &merged.json()["recipients_count"]), (202, &json!(3)), "{}", merged.body);
    assert_eq!(merged.json()["message"], "Messages queued for sending");
    let nobody = send(json!({"contact_tag_id": theirs})).await;
    assert_eq!((nobody.status, nobody.code().as_deref()), (400, Some("no_valid_recipients")));
}

#[tokio::test]
async fn contacts_are_listed_by_the_tags_that_they_have_and_lack() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    add(&service, &acme, "Ana", "5511988880001", &["vip"]).await;
    add(&service, &acme, "Bia", "5511988880002", &["vip", "news"]).await;
    add(&service, &acme, "Caio", "5511988880003", &["news"]).await;
    add(&service, &acme, "Vip", "5511988880004", &[]).await;
    add(&service, &globex, "Dan", "5511988880005", &["vip"]).await;
    let vip = service.store().of(acme.id).tags().ensure("vip", None).await.unwrap();
    let news = service.store().of(acme.id).tags().ensure("news", None).await.unwrap();
    let foreign = service.store().of(globex.id).tags().ensure("vip", None).await.unwrap();
    for (query, names) in [
        (format!("contact_tag_id={vip}"), vec!["Bia", "Ana"]),
        (format!("contact_tag_id={vip},{news}"), vec!["Bia"]),
        (format!("contact_tag_id={vip}&without_contact_tag_id={news}"), vec!["Ana"]),
        (format!("without_contact_tag_id={vip},{news}"), vec!["Vip"]),
        (format!("contact_tag_id={vip}&search=bia"), vec!["Bia"]),
        (format!("without_contact_tag_id={news}&search=vip"), vec!["Vip", "Ana"]),
    ] {
        let page = service.get(&format!("/api/v1/contacts?{query}"), &acme.key).await.json();
        let found = page["data"].as_array().unwrap_or_else(|| panic!("{query}: {page}")).iter();
        let found: Vec<_> = found.map(|contact| contact["first_name"].as_str().unwrap()).collect();
        assert_eq!(
            (found.as_slice(), &page["totalRecords"]),
            (names.as_slice(), &json!(names.len())),
            "{query}"
        );
    }
    let first = format!("/api/v1/contacts?contact_tag_id={vip}&limit=1");
    let page = service.get(&first, &acme.key).await.json();
    let next = format!(
        "/api/v1/contacts?contact_tag_id={vip}&limit=1&cursor={}",
        page["next_cursor"].as_str().unwrap()
    );
    assert_eq!(service.get(&next, &acme.key).await.json()["data"][0]["first_name"], "Ana");
    for wrong in ["x".to_owned(), format!("{vip},"), foreign.to_string()] {
        for name in ["contact_tag_id", "without_contact_tag_id"] {
            let refused = service.get(&format!("/api/v1/contacts?{name}={wrong}"), &acme.key).await;
            assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")), "{wrong}");
            assert_eq!(refused.json()["param"], json!(name), "{}", refused.body);
        }
    }
}
