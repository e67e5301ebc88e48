//! Templates, samples and profiles through the door: passed to the provider and here at once.

use std::path::Path;

use image::ImageFormat;
use pombo::domain::page::PageRequest;
use pombo::domain::template::Status;
use pombo::engine::records::templates::Listed;
use pombo::store::changes::{Filter, What};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Program, read, refused};
use crate::api::media::picture;
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA};

stores!(a_template_is_created_changed_and_deleted_at_the_provider, a_profile_is_read_and_written);

async fn start(universe: &Universe, files: &Path) -> (Running, Program) {
    let running = Running::start(universe, |config| {
        config.graph.enabled = true;
        config.data.dir = files.to_owned();
    })
    .await;
    let program = Program::new(running.address(), &running.key);
    (running, program)
}

/// The company's templates of this name that are here.
async fn here(running: &Running, name: &str) -> Vec<(String, Status)> {
    let filter = Listed { search: Some(name), ..Listed::default() };
    let page = PageRequest { page: 1, limit: 10 };
    let found = running.store.of(running.company).templates().page(page, filter).await.unwrap().records;
    found.into_iter().map(|template| (template.language, template.status)).collect()
}

/// The handle of a file that was uploaded in a session.
async fn uploaded(program: &Program, bytes: Vec<u8>) -> String {
    let (_, app) = program.get("/app").await;
    let path =
        format!("/{}/uploads?file_length={}&file_type=image/png", app["id"].as_str().unwrap(), bytes.len());
    let (status, session) = program.post(&path, &Value::Null).await;
    assert_eq!(status, 200, "{session}");
    let place = format!("/{}", session["id"].as_str().unwrap());
    assert_eq!(program.get(&place).await.1["file_offset"], 0);
    let short = program.request(Method::POST, &place).header("file_offset", "0").body("short");
    assert_eq!(refused(&read(short).await), (400, 100, None));
    let whole = program.request(Method::POST, &place).header("file_offset", "0").body(bytes);
    let (status, told) = read(whole).await;
    assert_eq!(status, 200, "{told}");
    told["h"].as_str().unwrap().to_owned()
}

async fn a_template_is_created_changed_and_deleted_at_the_provider(universe: &Universe) {
    let files = tempfile::tempdir().unwrap();
    let (running, program) = start(universe, files.path()).await;
    let handle = uploaded(&program, picture(40, ImageFormat::Png)).await;
    let list = format!("/{WABA}/message_templates");
    let body = |text: &str| json!({ "type": "BODY", "text": text, "example": { "body_text": [["Ana"]] } });
    let header = json!({ "type": "HEADER", "format": "IMAGE", "example": { "header_handle": [handle] } });
    let parts = json!([header, body("Hi {{1}}, come in.")]);
    let new = json!({ "name": "fresh", "language": "en-US", "category": "utility", "components": parts });
    let (status, created) = program.post(&list, &new).await;
    assert_eq!(status, 200, "{created}");
    assert_eq!((&created["status"], &created["category"]), (&json!("PENDING"), &json!("UTILITY")));
    // It is here before anybody asks for a list, and the provider got a handle of its own.
    assert_eq!(here(&running, "fresh").await, [("en_US".to_owned(), Status::Pending)]);
    let place = format!("/{}", created["id"].as_str().unwrap());
    let (_, shown) = program.get(&place).await;
    let sample = shown["components"][0]["example"]["header_handle"][0].as_str().unwrap();
    assert!(sample.starts_with("4::") && sample != handle, "{shown}");

    assert_eq!(refused(&program.post(&list, &new).await).1, 100, "the provider has it");
    let wrong = json!({ "name": "Fresh", "language": "en", "category": "UTILITY", "components": parts });
    assert_eq!(refused(&program.post(&list, &wrong).await), (400, 100, None));
    let changed = json!({ "components": [body("Hello {{1}}, come in.")] });
    assert_eq!(refused(&program.post(&place, &changed).await).1, 100, "it is being reviewed");
    let judged = json!({ "waba_id": WABA, "name": "fresh", "language": "en_US", "status": "APPROVED" });
    running.simulator.script(&json!({ "template": judged })).unwrap();
    assert_eq!(program.post(&place, &changed).await, (200, json!({ "success": true })));
    let (_, shown) = program.get(&place).await;
    assert_eq!(shown["components"][0]["text"], "Hello {{1}}, come in.");

    let gone = program.ask(Method::DELETE, &format!("{list}?name=fresh"), &Value::Null).await;
    assert_eq!(gone, (200, json!({ "success": true })));
    assert_eq!(here(&running, "fresh").await, [("en_US".to_owned(), Status::Deleted)]);
    assert_eq!(refused(&program.get(&place).await), (400, 100, Some(33)));
    let filter = Filter { what: &[What::Templates], ..Filter::default() };
    let page = PageRequest { page: 1, limit: 10 };
    let changes = running.store.changes().page(filter, page).await.unwrap().records;
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert!(changes.iter().all(|change| change.who == "key:test"), "{changes:?}");
    running.end().await;
}

async fn a_profile_is_read_and_written(universe: &Universe) {
    let files = tempfile::tempdir().unwrap();
    let (running, program) = start(universe, files.path()).await;
    let path = format!("/{NUMBER}/whatsapp_business_profile");
    let new = json!({ "about": "Open till nine", "websites": ["https://shop.example"] });
    assert_eq!(program.post(&path, &new).await, (200, json!({ "success": true })));
    let (status, shown) = program.get(&format!("{path}?fields=about,websites")).await;
    assert_eq!((status, &shown["data"][0]["about"]), (200, &json!("Open till nine")), "{shown}");
    assert_eq!(shown["data"][0]["websites"], json!(["https://shop.example"]));
    let filter = Filter { what: &[What::Channel], ..Filter::default() };
    let changes = running.store.changes().page(filter, PageRequest { page: 1, limit: 10 }).await.unwrap();
    let told = json!({ "profile": ["about", "websites"] });
    assert!(
        changes.records.iter().any(|change| change.who == "key:test" && change.after == told),
        "{changes:?}"
    );
    let handle = uploaded(&program, picture(40, ImageFormat::Png)).await;
    assert_eq!(program.post(&path, &json!({ "profile_picture_handle": handle })).await.0, 200);
    assert!(program.get(&path).await.1["data"][0]["profile_picture_url"].is_string());
    for wrong in [json!({}), json!({ "about": "x".repeat(140) }), json!({ "websites": ["a", "b", "c"] })] {
        assert_ne!(program.post(&path, &wrong).await.0, 200, "{wrong}");
    }
    running.end().await;
}
