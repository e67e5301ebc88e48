//! Lists that are followed by their cursors, and lists in one answer of lines.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use pombo::domain::channel::{Kind, Status};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::{World, give_tiers};
use crate::harness::{Answer, Company, Service};

async fn send(service: &Service, company: &Company, channel: Uuid) {
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"}).to_string();
    assert_eq!(service.post(&World::send(channel), &company.key, body).await.status, 202);
}

async fn add_contact(service: &Service, company: &Company, number: u64) {
    let body = json!({"contacts": [{"phone_number": number.to_string(), "first_name": "Ana"}]}).to_string();
    assert_eq!(service.post("/api/v1/contacts/batch", &company.key, body).await.status, 200);
}

async fn lines(service: &Service, path: &str, key: &str) -> Vec<Value> {
    let request = service.request(Method::GET, path).bearer_auth(key);
    let answer = Answer::to(request.header("accept", "application/x-ndjson")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"), "{path}");
    answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Reads a list two records at a time; `between` happens after each part.
async fn followed(service: &Service, path: &str, key: &str, mut between: impl AsyncFnMut()) -> Vec<Value> {
    let (mut all, mut cursor, mut page) = (Vec::new(), String::new(), 0);
    let and = if path.contains('?') { '&' } else { '?' };
    loop {
        let answer = service.get(&format!("{path}{and}limit=2{cursor}"), key).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let part = answer.json();
        page += 1;
        assert_eq!(part["currentPage"], page);
        all.extend(part["data"].as_array().unwrap().iter().cloned());
        let Some(next) = part["next_cursor"].as_str() else { return all };
        cursor = format!("&cursor={next}");
        between().await;
    }
}

fn field(records: &[Value], name: &str) -> Vec<Value> {
    records.iter().map(|record| record[name].clone()).collect()
}

#[tokio::test]
async fn a_list_that_is_followed_by_its_cursor_has_each_record_once_while_others_are_added() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    for number in 0..5 {
        send(&service, &acme, channel).await;
        add_contact(&service, &acme, 5_511_900_000_000 + number).await;
    }
    let all =
        async |path: &str| service.get(path, &acme.key).await.json()["data"].as_array().unwrap().clone();

    let sends = field(&all("/api/v1/sends").await, "id");
    let seen =
        followed(&service, "/api/v1/sends", &acme.key, async || send(&service, &acme, channel).await).await;
    assert_eq!((sends.len(), field(&seen, "id")), (5, sends));

    let mut next = 5_511_910_000_000;
    for (path, count) in [("/api/v1/contacts", 5), ("/api/v1/contacts?search=ana", 7)] {
        let contacts = field(&all(path).await, "id");
        let seen = followed(&service, path, &acme.key, async || {
            next += 1;
            add_contact(&service, &acme, next).await;
        })
        .await;
        assert_eq!((contacts.len(), field(&seen, "id")), (count, contacts), "{path}");
    }
    let newest = field(&all("/api/v1/contacts").await, "id");
    let first = service.get("/api/v1/contacts?limit=2", &acme.key).await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    // The contact that comes next is deleted meanwhile.
    let gone = format!("/api/v1/contacts/{}", newest[2].as_str().unwrap());
    let delete = service.request(Method::DELETE, &gone).bearer_auth(&acme.key);
    assert_eq!(Answer::to(delete).await.status, 204);
    let then = service.get(&format!("/api/v1/contacts?limit=2&cursor={cursor}"), &acme.key).await.json();
    assert_eq!(field(then["data"].as_array().unwrap(), "id"), newest[3..5]);
}

#[tokio::test]
async fn messages_of_a_send_and_changes_are_followed_too() {
    let service = Service::start().await;
    give_tiers(&service).await;
    let (acme, operator) = (service.company("acme").await, service.operator("ana", None).await);
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let numbers: Vec<u64> = (0..5).map(|number| 5_511_900_000_000 + number).collect();
    let body = json!({"type": "text", "message": "x", "phone_number": numbers}).to_string();
    let address = service.post(&World::send(channel), &acme.key, body).await.header("location").to_owned();
    let canceled = service.post(&format!("{address}/cancel"), &acme.key, "").await;
    assert_eq!(canceled.status, 200, "{}", canceled.body);
    for path in [format!("{address}/messages"), format!("{address}/messages?state=canceled")] {
        let all = service.get(&path, &acme.key).await.json();
        let seen = followed(&service, &path, &acme.key, async || ()).await;
        assert_eq!(all["totalRecords"], seen.len(), "{path}");
        assert_eq!(seen, *all["data"].as_array().unwrap(), "{path}");
        assert_eq!(lines(&service, &path, &acme.key).await, seen, "{path}");
        let export = path.replace("/messages", "/messages/export");
        assert_eq!(lines(&service, &export, &acme.key).await, seen, "{export}");
        let plain = service.get(&export, &acme.key).await;
        assert_eq!(plain.header("content-type"), "application/x-ndjson");
        let request = service.request(Method::GET, &export).bearer_auth(&acme.key);
        let csv = Answer::to(request.header("accept", "text/csv")).await;
        assert_eq!(csv.body.lines().count(), seen.len() + 1);
    }

    for number in 0..4 {
        let body = json!({"name": format!("company {number}")}).to_string();
        assert_eq!(service.post("/operator/v1/companies", &operator, body).await.status, 201);
    }
    let all = service.get("/operator/v1/changes?limit=100", &operator).await.json();
    let all = all["data"].as_array().unwrap();
    let mut number = 100;
    let seen = followed(&service, "/operator/v1/changes", &operator, async || {
        number += 1;
        let body = json!({"name": format!("company {number}")}).to_string();
        service.post("/operator/v1/companies", &operator, body).await;
    })
    .await;
    assert_eq!((all.len() >= 4, &seen), (true, all));
}

#[tokio::test]
async fn lists_come_as_lines_for_clients_that_ask_for_them() {
    let service = Service::start().await;
    let (acme, operator) = (service.company("acme").await, service.operator("ana", None).await);
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    for number in 0..3 {
        send(&service, &acme, channel).await;
        add_contact(&service, &acme, 5_511_900_000_000 + number).await;
    }
    for (path, key, records) in [
        ("/api/v1/sends", &acme.key, Some(3)),
        ("/api/v1/sends?state=paused", &acme.key, Some(0)),
        ("/api/v1/contacts", &acme.key, Some(3)),
        ("/api/v1/contacts?search=0001", &acme.key, Some(1)),
        ("/operator/v1/changes", &operator, None),
    ] {
        let all = service.get(path, key).await.json()["data"].as_array().unwrap().clone();
        assert!(records.is_none_or(|records| records == all.len()), "{path}");
        assert_eq!(field(&lines(&service, path, key).await, "id"), field(&all, "id"), "{path}");
    }
    let first = service.get("/api/v1/sends?limit=1", &acme.key).await.json();
    let rest = format!("/api/v1/sends?cursor={}", first["next_cursor"].as_str().unwrap());
    assert_eq!(lines(&service, &rest, &acme.key).await.len(), 2);
}

#[tokio::test]
async fn a_text_that_is_no_cursor_of_the_list_is_refused() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    for _ in 0..2 {
        send(&service, &acme, channel).await;
    }
    let first = service.get("/api/v1/sends?limit=1", &acme.key).await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    for path in [
        "/api/v1/sends?cursor=x".to_owned(),
        "/api/v1/sends?cursor=AAAA".to_owned(),
        format!("/api/v1/sends?cursor={cursor}&page=2"),
        format!("/api/v1/contacts?cursor={cursor}"),
    ] {
        let answer = service.get(&path, &acme.key).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_pagination")), "{path}");
    }
    let last = service.get(&format!("/api/v1/sends?limit=1&cursor={cursor}"), &acme.key).await.json();
    assert_eq!((last["data"].as_array().unwrap().len(), last.get("next_cursor")), (1, None));
}

/// A cursor of contacts as it was before it had an id.
fn without_id(cursor: &str) -> String {
    let written = BASE64_URL_SAFE_NO_PAD.decode(cursor).unwrap();
    let mut written: Value = serde_json::from_slice(&written).unwrap();
    written[2].as_object_mut().unwrap().remove("id").unwrap();
    BASE64_URL_SAFE_NO_PAD.encode(written.to_string())
}

#[tokio::test]
async fn a_cursor_without_an_id_goes_on_in_lists_without_a_tag_only() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    for number in 0..3 {
        add_contact(&service, &acme, 5_511_900_000_000 + number).await;
    }
    let tag = service.store().of(acme.id).tags().ensure("vip", None).await.unwrap();
    for (query, status) in [
        (String::new(), 200),
        ("&search=ana".to_owned(), 200),
        (format!("&without_contact_tag_id={tag}"), 200),
        (format!("&contact_tag_id={tag}"), 400),
        (format!("&contact_tag_id={tag}&search=ana"), 400),
    ] {
        let first = service.get("/api/v1/contacts?limit=1", &acme.key).await.json();
        let cursor = without_id(first["next_cursor"].as_str().unwrap());
        let answer = service.get(&format!("/api/v1/contacts?cursor={cursor}{query}"), &acme.key).await;
        assert_eq!(answer.status, status, "{query}: {}", answer.body);
        if status == 200 {
            assert_eq!(answer.json()["data"].as_array().unwrap().len(), 2, "{query}");
        } else {
            assert_eq!(answer.code().as_deref(), Some("invalid_pagination"), "{query}");
        }
    }
}

#[tokio::test]
async fn lines_of_contacts_by_tags_and_a_search_are_the_whole_list() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    // More than are read at once.
    let people: Vec<_> = (0..1_100_u64)
        .map(|nth| {
            let tags = if nth % 10 == 3 { json!(["vip", "late"]) } else { json!(["vip"]) };
            json!({"phone_number": (5_511_900_000_000 + nth).to_string(), "first_name": "Ana", "tags": tags})
        })
        .collect();
    let body = json!({"contacts": people}).to_string();
    assert_eq!(service.post("/api/v1/contacts/batch", &acme.key, body).await.status, 200);
    let vip = service.store().of(acme.id).tags().ensure("vip", None).await.unwrap();
    let late = service.store().of(acme.id).tags().ensure("late", None).await.unwrap();
    for (query, count) in [
        (format!("contact_tag_id={vip}"), 1_100),
        (format!("contact_tag_id={vip},{late}"), 110),
        (format!("without_contact_tag_id={late}"), 990),
        (format!("contact_tag_id={vip}&search=ana"), 1_100),
        (format!("contact_tag_id={vip}&without_contact_tag_id={late}&search=ana"), 990),
    ] {
        let path = format!("/api/v1/contacts?{query}");
        let all = lines(&service, &path, &acme.key).await;
        assert_eq!(all.len(), count, "{query}");
        let first = service.get(&format!("{path}&limit=5"), &acme.key).await.json();
        assert_eq!(first["totalRecords"], count, "{query}");
        assert_eq!(field(&all[..5], "id"), field(first["data"].as_array().unwrap(), "id"), "{query}");
        let rest = format!("{path}&cursor={}", first["next_cursor"].as_str().unwrap());
        assert_eq!(field(&lines(&service, &rest, &acme.key).await, "id"), field(&all[5..], "id"), "{query}");
    }
}
