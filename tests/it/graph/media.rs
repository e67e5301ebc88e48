//! Files at the door: uploaded as programs do it, described, read with the key, and deleted.

use image::ImageFormat;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::scope::{Scope, Scopes};
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::vault::api_key;
use reqwest::Method;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{FormField, Program, read, refused, with_parts};
use crate::api::media::picture;
use crate::harness::Service;

#[tokio::test]
async fn a_file_is_uploaded_described_read_and_deleted_by_its_company_alone() {
    let service = Service::start_changed(|config| config.graph.enabled = true).await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let session = service.channel(&acme, Kind::WebSession, "Counter", Status::Connected).await;
    let program = Program::new(service.url(), &acme.key);
    let (_, accounts) = program.get("/me/whatsapp_business_accounts").await;
    let account = accounts["data"][0]["id"].as_str().unwrap();
    let (_, numbers) = program.get(&format!("/{account}/phone_numbers")).await;
    let number = numbers["data"][0]["id"].as_str().unwrap();
    let png = picture(40, ImageFormat::Png);
    let path = format!("/{number}/media");

    // Some programs give no type, some no file name, and some say the product in the address.
    let (product, kind) = (("messaging_product", None, &b"whatsapp"[..]), ("type", None, &b"image/png"[..]));
    let (named, unnamed) = (("file", Some("a.png"), &png[..]), ("file", None, &png[..]));
    let key = ("access_token", None, acme.key.as_bytes());
    let (status, uploaded) =
        read(with_parts(program.request(Method::POST, &path), &[product, kind, named])).await;
    assert_eq!(status, 200, "{uploaded}");
    let id = uploaded["id"].as_str().unwrap();
    assert!(id.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
    let query = format!("{path}?messaging_product=whatsapp");
    let again = read(with_parts(program.request(Method::POST, &query), &[unnamed])).await;
    assert_eq!(again, (200, uploaded.clone()));
    // The key may be in the form, before the file.
    let client = reqwest::Client::new();
    let address = format!("{}/v23.0{path}", service.url());
    let again = read(with_parts(client.post(&address), &[key, unnamed])).await;
    assert_eq!(again, (200, uploaded.clone()));
    let bytes = vec![7; 300 * 1024];
    let large = read(with_parts(client.post(&address), &[key, ("file", None, &bytes[..])])).await;
    assert_ne!(large.0, 413, "a key in a form allows files as large as any other: {}", large.1);
    let late = read(with_parts(client.post(&address), &[unnamed, key])).await;
    assert_eq!(refused(&late), (401, 190, None));
    let nothing = read(with_parts(program.request(Method::POST, &path), &[kind])).await;
    assert_eq!(refused(&nothing), (400, 131_008, None));
    // What is around the file has a bound, also when each text has a lawful length.
    let text = vec![b'a'; 16 * 1024];
    let names: Vec<_> = (0..16).map(|place| format!("text{place}")).collect();
    let texts: Vec<FormField<'_>> = names.iter().map(|name| (name.as_str(), None, &text[..])).collect();
    let much = read(with_parts(program.request(Method::POST, &path), &texts)).await;
    assert_eq!(refused(&much), (413, 100, None));

    let (status, told) = program.get(&format!("/{id}/?phone_number_id={number}")).await;
    assert_eq!(
        (status, &told["mime_type"], &told["file_size"]),
        (200, &json!("image/png"), &json!(png.len()))
    );
    assert_eq!(told["sha256"], hex::encode(Sha256::digest(&png)));
    let url = told["url"].as_str().unwrap();
    assert!(url.starts_with(service.url()), "{url}");
    let read_back = client.get(url).bearer_auth(&acme.key).send().await.unwrap();
    assert_eq!(read_back.headers()["content-type"], "image/png");
    assert_eq!(read_back.bytes().await.unwrap().to_vec(), png);

    let other = Program::new(service.url(), &globex.key);
    for method in [Method::GET, Method::DELETE] {
        let answer = other.ask(method, &format!("/{id}"), &json!(null)).await;
        assert_eq!(refused(&answer), (404, 100, Some(33)), "a lost file is no lost key");
    }
    let deleted = program.ask(Method::DELETE, &format!("/{id}"), &json!(null)).await;
    assert_eq!(deleted, (200, json!({ "success": true })));
    assert_eq!(refused(&program.get(&format!("/{id}")).await), (404, 100, Some(33)));
    assert_eq!(session.company_id, acme.id);
}

#[tokio::test]
async fn a_key_for_some_channels_deletes_only_files_that_came_with_it() {
    let service = Service::start_changed(|config| config.graph.enabled = true).await;
    let acme = service.company("acme").await;
    let shop = service.channel(&acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let (hash, scopes) = (api_key::hash("pombo_one"), Scopes::from_iter([Scope::Graph]));
    let new = NewKey { name: "one", prefix: "pombo_", hash, expires_at: None, scopes };
    service.store().of(acme.id).keys().add_for(&Who::Pombo, new, Some(&[shop.id])).await.unwrap();
    let (company, bound) = (Program::new(service.url(), &acme.key), Program::new(service.url(), "pombo_one"));
    let path = format!("/{}/media", shop.phone_number_id.unwrap());
    let upload = async |program: &Program, bytes: &[u8]| {
        let request = program.request(Method::POST, &path);
        let (status, kept) = read(with_parts(request, &[("file", Some("a.png"), bytes)])).await;
        assert_eq!(status, 200, "{kept}");
        format!("/{}", kept["id"].as_str().unwrap())
    };
    let [before, own] = [40, 41].map(|size| picture(size, ImageFormat::Png));
    let theirs = upload(&company, &before).await;
    assert_eq!(upload(&bound, &before).await, theirs, "the same content is one file");
    assert_eq!(refused(&bound.ask(Method::DELETE, &theirs, &json!(null)).await), (403, 10, None));
    assert_eq!(company.get(&theirs).await.0, 200);
    let own = upload(&bound, &own).await;
    assert_eq!(bound.ask(Method::DELETE, &own, &json!(null)).await, (200, json!({ "success": true })));
    assert_eq!(company.get(&own).await.0, 404);
}
