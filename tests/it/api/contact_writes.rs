//! Contacts and tags that programs write.

use pombo::api::Options;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Company, Service};
use crate::running::until;

async fn batch(service: &Service, company: &Company, contacts: Value) -> Value {
    let body = json!({ "contacts": contacts }).to_string();
    let answer = service.post("/api/v1/contacts/batch", &company.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

async fn ask(service: &Service, company: &Company, method: Method, path: &str, body: &Value) -> Answer {
    let request = service.request(method, path).bearer_auth(&company.key).body(body.to_string());
    Answer::to(request).await
}

async fn total(service: &Service, company: &Company, search: &str) -> u64 {
    let path = format!("/api/v1/contacts?search={search}");
    service.get(&path, &company.key).await.json()["totalRecords"].as_u64().unwrap()
}

async fn tag_id(service: &Service, company: &Company, name: &str) -> String {
    let path = format!("/api/v1/contacts/tags?search={name}");
    let tags = service.get(&path, &company.key).await.json();
    tags["data"][0]["id"].as_str().unwrap_or_else(|| panic!("no tag {name}")).to_owned()
}

#[tokio::test]
async fn a_batch_reports_the_result_of_each_entry() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let entries = json!([
        {"first_name": " Ana ", "phone_number": "+55 (11) 98888-0001", "tags": ["vip", "vip"]},
        {"phone_number": 5_511_988_880_002_u64, "email": "b@a.example"},
        {"first_name": "Nobody"},
        {"email": "c@a.example", "phone_number": "12"},
        {"email": "d@a.example", "tags": ["x".repeat(101)]},
        {"first_name": "x".repeat(201), "email": "d@a.example"},
        {"first_name": "nul\u{0}", "email": "d@a.example"},
        {"email": "d@a.example", "tags": ["a;b"]},
        {"phone_number": "+55 (11) 98888-0001", "last_name": "Silva"},
        {"phone_number": "+55 (11) 98888-0001", "first_name": "Ana", "profile_picture": null},
    ]);
    let written = batch(&service, &acme, entries.clone()).await;
    let results: Vec<_> = written["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["result"].as_str().unwrap())
        .collect();
    let rejected = "rejected";
    assert_eq!(
        results,
        [
            "created",
            "created",
            rejected,
            "created",
            rejected,
            rejected,
            rejected,
            rejected,
            "updated",
            "unchanged"
        ]
    );
    assert_eq!(
        (&written["created"], &written["updated"], &written["unchanged"], &written["rejected"]),
        (&json!(3), &json!(1), &json!(1), &json!(5))
    );
    let results = written["results"].as_array().unwrap();
    assert_eq!(results[0]["id"], results[8]["id"]);
    for (index, word) in
        [(2, "neither"), (4, "longer than 100"), (5, "first_name"), (6, "NUL"), (7, "semicolon")]
    {
        let error = results[index]["error"].as_str().unwrap();
        assert!(error.contains(word) && results[index]["id"].is_null(), "{error}");
    }
    assert_eq!(total(&service, &acme, "silva").await, 1);
    let again = batch(&service, &acme, entries).await;
    assert_eq!((&again["unchanged"], &again["rejected"]), (&json!(5), &json!(5)), "{again}");
}

#[tokio::test]
async fn a_picture_whose_address_would_run_a_program_is_refused_everywhere() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let hostile = "javascript:alert(document.cookie)";
    let entries = json!([
        {"email": "a@a.example", "profile_picture": hostile},
        {"email": "b@a.example", "profile_picture": "data:text/html,<script>alert(1)</script>"},
        {"email": "c@a.example", "profile_picture": "https://example.com/c.png"},
    ]);
    let written = batch(&service, &acme, entries).await;
    assert_eq!((&written["created"], &written["rejected"]), (&json!(1), &json!(2)), "{written}");
    let error = written["results"][0]["error"].as_str().unwrap();
    assert!(error.contains("profile_picture"), "{error}");
    let id = written["results"][2]["id"].as_str().unwrap();
    let place = format!("/api/v1/contacts/{id}");
    let changed = ask(&service, &acme, Method::PATCH, &place, &json!({"profile_picture": hostile})).await;
    assert_eq!((changed.status, changed.code().as_deref()), (400, Some("invalid_field")), "{}", changed.body);
    let file = format!("email,profile_picture\nd@a.example,{hostile}\n");
    let import = service.post("/api/v1/contacts/imports?start=true", &acme.key, file).await.json();
    let import = format!("/api/v1/contacts/imports/{}", import["id"].as_str().unwrap());
    until("the import over", async || service.get(&import, &acme.key).await.json()["state"] == "finished")
        .await;
    let rejected = service.get(&format!("{import}/rejected"), &acme.key).await;
    assert!(rejected.body.contains("picture_address"), "{}", rejected.body);
    assert!(service.get("/api/v1/contacts", &acme.key).await.body.matches("javascript:").next().is_none());
    assert_eq!(total(&service, &acme, "").await, 1);
}

#[tokio::test]
async fn a_batch_takes_ten_thousand_and_no_more() {
    let service = Service::start_with(Options::default()).await;
    let acme = service.company("acme").await;
    let entries =
        |count: u64| (0..count).map(|i| json!({"phone_number": 5_511_900_000_000 + i})).collect::<Value>();
    let written = batch(&service, &acme, entries(10_000)).await;
    assert_eq!(written["created"], 10_000);
    assert_eq!(total(&service, &acme, "").await, 10_000);
    let body = json!({"contacts": entries(10_001)}).to_string();
    let refused = service.post("/api/v1/contacts/batch", &acme.key, body).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("too_many_contacts")));
    let refused = service.post("/api/v1/contacts/batch", &acme.key, r#"{"contacts": []}"#).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")));
}

#[tokio::test]
async fn a_contact_is_shown_changed_and_deleted() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let markup = "<b>José</b> \u{202e}🕊";
    let written = batch(
        &service,
        &acme,
        json!([{"first_name": markup, "phone_number": "5511988880001", "tags": ["a", "b"]}]),
    )
    .await;
    let path = format!("/api/v1/contacts/{}", written["results"][0]["id"].as_str().unwrap());
    let shown = service.get(&path, &acme.key).await.json();
    assert_eq!((&shown["first_name"], &shown["tags"][1]["name"]), (&json!(markup), &json!("b")));

    let change = json!({
        "first_name": "", "last_name": "Souza", "phone_number": "+55 11 98888-0009", "phone_number_lid": "1@lid",
        "tags": ["b", "c"], "email": null,
    });
    let changed = ask(&service, &acme, Method::PATCH, &path, &change).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let changed = changed.json();
    assert_eq!((&changed["first_name"], &changed["last_name"]), (&json!(""), &json!("Souza")));
    assert_eq!((&changed["phone_number_lid"], &changed["tags"][1]["name"]), (&json!("1@lid"), &json!("c")));
    assert_eq!(service.get(&path, &acme.key).await.json(), changed);
    for (search, contacts) in [("souza", 1), ("jos", 0), ("0009", 1), ("0001", 0), ("c", 1)] {
        assert_eq!(total(&service, &acme, search).await, contacts, "{search}");
    }
    // Another company's records are not found.
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let answer = ask(&service, &globex, method.clone(), &path, &json!({"first_name": "x"})).await;
        assert_eq!((answer.status, answer.code().as_deref()), (404, Some("contact_not_found")), "{method}");
    }
    assert_eq!(ask(&service, &acme, Method::DELETE, &path, &json!({})).await.status, 204);
    assert_eq!(service.get(&path, &acme.key).await.status, 404);
    assert_eq!(total(&service, &acme, "").await, 0);
    let tags = service.get("/api/v1/contacts/tags?search=c", &acme.key).await.json();
    assert_eq!(tags["data"][0]["_count"]["contact_tag"], 0);
}

#[tokio::test]
async fn doubles_are_merged() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let written = batch(
        &service,
        &acme,
        json!([
            {"first_name": "Ana", "phone_number": "5511988880001"},
            {"email": "ana@a.example", "last_name": "Lima", "tags": ["a"]},
        ]),
    )
    .await;
    let ids: Vec<_> =
        written["results"].as_array().unwrap().iter().map(|entry| entry["id"].clone()).collect();
    let path = format!("/api/v1/contacts/{}/merge", ids[0].as_str().unwrap());
    let stranger = ask(&service, &globex, Method::POST, &path, &json!({"contact_ids": [ids[1]]})).await;
    assert_eq!(stranger.status, 404);
    let merged = ask(&service, &acme, Method::POST, &path, &json!({"contact_ids": [ids[1]]})).await;
    assert_eq!(merged.status, 200, "{}", merged.body);
    assert_eq!(
        (&merged.json()["email"], &merged.json()["first_name"]),
        (&json!("ana@a.example"), &json!("Ana"))
    );
    assert_eq!(total(&service, &acme, "").await, 1);
}

#[tokio::test]
async fn tags_are_created_changed_and_deleted() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let post = async |tags: Value| {
        let body = json!({ "tags": tags }).to_string();
        service.post("/api/v1/contacts/tags/batch", &acme.key, body).await.json()
    };
    let written = post(json!([{"name": "vip", "color": "#22AA66"}, {"name": "new"}, {"name": " "}, {"name": "x", "color": "red"}])).await;
    assert_eq!((&written["created"], &written["rejected"]), (&json!(2), &json!(2)), "{written}");
    let again = post(json!([{"name": "vip", "color": "#112233"}, {"name": "new"}])).await;
    assert_eq!((&again["updated"], &again["unchanged"]), (&json!(1), &json!(1)), "{again}");
    let path = format!("/api/v1/contacts/tags/{}", tag_id(&service, &acme, "vip").await);
    for method in [Method::PATCH, Method::DELETE] {
        let answer = ask(&service, &globex, method, &path, &json!({"name": "mine"})).await;
        assert_eq!((answer.status, answer.code().as_deref()), (404, Some("tag_not_found")));
    }
    let changed = ask(&service, &acme, Method::PATCH, &path, &json!({"name": "VIP 2"})).await.json();
    assert_eq!((&changed["name"], &changed["color"]), (&json!("VIP 2"), &json!("#112233")));
    assert_eq!(ask(&service, &acme, Method::DELETE, &path, &json!({})).await.status, 204);
    let listed = service.get("/api/v1/contacts/tags", &acme.key).await.json();
    assert_eq!((&listed["totalRecords"], &listed["data"][0]["name"]), (&json!(1), &json!("new")));
    // The two lists of the specification answer nothing but GET.
    for list in ["/api/v1/contacts", "/api/v1/contacts/tags"] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = ask(&service, &acme, method, list, &json!({})).await;
            assert_eq!((answer.status, answer.header("allow")), (405, "GET, HEAD, OPTIONS"), "{list}");
        }
    }
}

#[tokio::test]
async fn contacts_are_tagged_by_id_by_number_and_by_what_a_search_finds() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let people: Value = (0..300_u64)
        .map(|i| json!({"first_name": if i < 200 { "Ana" } else { "Bob" }, "phone_number": 5_511_900_000_000 + i}))
        .collect();
    let written = batch(&service, &acme, people).await;
    let first = written["results"][0]["id"].clone();
    batch(&service, &globex, json!([{"phone_number": 5_511_900_000_000_u64, "tags": ["theirs"]}])).await;
    let tags = json!({"tags": [{"name": "t"}]}).to_string();
    service.post("/api/v1/contacts/tags/batch", &acme.key, tags).await;
    let path = format!("/api/v1/contacts/tags/{}/members", tag_id(&service, &acme, "t").await);
    let change = async |body: Value| {
        let answer = service.post(&path, &acme.key, body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let json = answer.json();
        (json["added"].as_u64().unwrap(), json["removed"].as_u64().unwrap(), json["unknown"].clone())
    };
    let nobody = uuid::Uuid::now_v7().to_string();
    let named = json!({"contact_ids": [first, nobody], "phone_numbers": ["+55 11 90000-0000", 5_511_900_000_001_u64, "4930901820"]});
    let (added, removed, unknown) = change(json!({ "add": named })).await;
    assert_eq!((added, removed), (2, 0), "the first is named twice");
    assert_eq!(unknown, json!([nobody, "+4930901820"]));
    assert_eq!(change(json!({"add": {"search": "ana"}})).await.0, 198);
    assert_eq!(change(json!({"add": {"search": "ana"}})).await.0, 0, "the same again changes nothing");
    let both = json!({"add": {"all": true}, "remove": {"search": "bob"}});
    assert_eq!((change(both.clone()).await.0, change(both).await.1), (100, 100));
    let listed = service.get("/api/v1/contacts/tags", &acme.key).await.json();
    assert_eq!(listed["data"][0]["_count"]["contact_tag"], 200);
    assert_eq!(change(json!({"remove": {"all": true}})).await.1, 200);
    for body in [
        json!({}),
        json!({"add": {}}),
        json!({"add": {"all": true, "search": "a"}}),
        json!({"add": {"all": false}}),
        json!({"add": {"phone_numbers": ["12"]}}),
        json!({"add": {"contact_ids": ["x"]}}),
        json!({"add": {"search": "x".repeat(201)}}),
    ] {
        let answer = service.post(&path, &acme.key, body.to_string()).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{body}");
    }
    let theirs = service.post(&path, &globex.key, json!({"add": {"all": true}}).to_string()).await;
    assert_eq!((theirs.status, theirs.code().as_deref()), (404, Some("tag_not_found")));
}
