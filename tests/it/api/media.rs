//! The library of media over HTTP: uploading, refusals, signed addresses, and sends with its files.

use std::io::Cursor;

use image::{ImageFormat, RgbImage};
use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::domain::channel::{Kind, Status};
use pombo::vault::Vault;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::FIRST;
use super::shop::Shop;
use super::world::World;
use crate::harness::{Answer, Company, Service};
use crate::scripted_driver::ScriptedDriver;

const MEDIA: &str = "/api/v1/media";

/// A picture.
pub(crate) fn picture(side: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(side, side, image::Rgb([200, 30, 30])).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

async fn upload(service: &Service, company: &Company, query: &str, file: impl Into<reqwest::Body>) -> Value {
    let answer = service.post(&format!("{MEDIA}{query}"), &company.key, file).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()
}

/// Reads a path of the service without a key; with this range.
async fn read(service: &Service, path: &str, range: Option<&str>) -> Response {
    let request = service.request(Method::GET, path);
    let request = range.into_iter().fold(request, |request, range| request.header("range", range));
    request.send().await.unwrap()
}

/// The path and query of an address.
fn path_of(address: &str) -> String {
    let url = url::Url::parse(address).unwrap();
    format!("{}?{}", url.path(), url.query().unwrap())
}

#[tokio::test]
async fn a_file_is_kept_as_what_it_is_listed_and_deleted_by_its_company_alone() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let png = picture(40, ImageFormat::Png);
    let file = upload(&service, &acme, "?name=../logo%20%E2%80%AEgpj.png", png.clone()).await;
    let told = ["kind", "mime_type", "name", "size", "uploaded_by", "used_at"].map(|name| file[name].clone());
    let length = json!(png.len());
    assert_eq!(
        told,
        [
            json!("image"),
            json!("image/png"),
            json!("logo gpj.png"),
            length,
            json!("key:pombo_acme"),
            Value::Null
        ]
    );
    let id = file["id"].as_str().unwrap();
    assert_eq!(file["link"], format!("media:{id}"));
    let again = upload(&service, &acme, "?name=other.png", png.clone()).await;
    assert_eq!((&again["id"], &again["name"]), (&file["id"], &file["name"]), "the content is known");
    let theirs = upload(&service, &globex, "", png).await;
    assert_ne!(theirs["id"], file["id"]);
    upload(&service, &acme, "", "%PDF-1.7\n").await;
    let listed = async |query: &str| {
        let list = service.get(&format!("{MEDIA}{query}"), &acme.key).await.json();
        let records = list["data"].as_array().unwrap().clone();
        records.iter().map(|record| record["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, ["document.pdf", "logo gpj.png"]);
    assert_eq!(listed("?kind=image").await, ["logo gpj.png"]);
    assert_eq!(listed("?kind=document").await.len(), 2, "any file is a document");
    let path = format!("{MEDIA}/{id}");
    assert_eq!(service.get(&path, &acme.key).await.json(), again);
    let delete = async |company: &Company| {
        let request = service.request(Method::DELETE, &path).bearer_auth(&company.key);
        let answer = Answer::to(request).await;
        (answer.status, answer.code())
    };
    let gone = || (404, Some("media_not_found".to_owned()));
    assert_eq!(service.get(&path, &globex.key).await.code().as_deref(), Some("media_not_found"));
    assert_eq!(delete(&globex).await, gone());
    assert_eq!(delete(&acme).await, (204, None));
    assert_eq!(delete(&acme).await, gone());
    assert_eq!(listed("?kind=image").await, [""; 0]);
    let changes = service.operator("ana", None).await;
    let changes = service.get("/operator/v1/changes?what=media", &changes).await.json();
    let states = changes["data"].as_array().unwrap().iter().map(|change| change["after"]["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["removed", "uploaded", "uploaded", "uploaded"]);
}

#[tokio::test]
async fn a_file_that_whatsapp_does_not_take_is_refused_and_leaves_nothing() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let png = picture(40, ImageFormat::Png);
    let large = [png.as_slice(), &vec![0; 5 << 20]].concat();
    let cut = png[..20].to_vec();
    for (query, file, status, code) in [
        ("", Vec::new(), 400, "media_unavailable"),
        ("", large.clone(), 400, "media_too_large"),
        ("", cut, 400, "media_unavailable"),
        ("", picture(40, ImageFormat::WebP), 400, "media_unavailable"),
        ("?kind=video", png, 400, "media_unavailable"),
        ("?kind=film", vec![0], 400, "invalid_field"),
    ] {
        let answer = service.post(&format!("{MEDIA}{query}"), &acme.key, file).await;
        assert_eq!((answer.status, answer.code().as_deref()), (status, Some(code)), "{}", answer.body);
    }
    assert_eq!(service.get(MEDIA, &acme.key).await.json()["totalRecords"], 0);
    let arriving = service.directory().join("media/arriving");
    assert_eq!(std::fs::read_dir(arriving).unwrap().count(), 0, "nothing is left of them");
    assert_eq!(upload(&service, &acme, "?kind=document", large).await["kind"], "document");
}

#[tokio::test]
async fn a_company_keeps_no_more_files_than_it_may() {
    let few = |config: &mut Config| config.media.company_max_files = 1;
    let service = Service::start_configured(ScriptedDriver::default(), few).await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let first = upload(&service, &acme, "", "one").await;
    let full = service.post(MEDIA, &acme.key, "two").await;
    assert_eq!((full.status, full.code().as_deref()), (409, Some("media_library_full")), "{}", full.body);
    upload(&service, &globex, "", "two").await;
    let path = format!("{MEDIA}/{}", first["id"].as_str().unwrap());
    service.request(Method::DELETE, &path).bearer_auth(&acme.key).send().await.unwrap();
    let again = upload(&service, &acme, "", "one").await;
    assert_eq!(again["id"], first["id"], "a file that was removed comes back with its content");
}

#[tokio::test]
async fn an_address_is_read_by_anybody_until_it_expires_and_only_as_it_was_signed() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let file = upload(&service, &acme, "?name=men%C3%BA.txt", "0123456789").await;
    let path = file["path"].as_str().unwrap();
    let whole = read(&service, path, None).await;
    assert_eq!(whole.status().as_u16(), 200);
    for (name, value) in [
        ("content-type", "text/plain"),
        ("content-length", "10"),
        ("x-content-type-options", "nosniff"),
        ("content-disposition", "attachment; filename*=UTF-8''men%C3%BA.txt"),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(whole.headers()[name], value);
    }
    assert_eq!(whole.text().await.unwrap(), "0123456789");
    let part = read(&service, path, Some("bytes=3-5")).await;
    assert_eq!(
        (part.status().as_u16(), part.headers()["content-range"].to_str().unwrap()),
        (206, "bytes 3-5/10")
    );
    assert_eq!(part.text().await.unwrap(), "345");
    assert_eq!(read(&service, path, Some("bytes=10-")).await.status().as_u16(), 416);

    let (id, other) = (file["id"].as_str().unwrap(), upload(&service, &acme, "", "other").await);
    let last = path.chars().last().unwrap();
    let forged = format!("{}{}", &path[..path.len() - 1], if last == '0' { '1' } else { '0' });
    let moved = path.replace(id, other["id"].as_str().unwrap());
    let longer = path.replace("until=", "until=9");
    let ago = Timestamp::now().millis() / 1_000 - 1;
    let vault = Vault::open(&Config::default().secrets, service.directory()).unwrap().0;
    let signature = hex::encode(vault.sign_link(&format!("{id} {ago}")));
    let expired = format!("/media/{id}?until={ago}&signature={signature}");
    let bare = format!("/media/{id}");
    for path in [forged, moved, longer, expired, bare] {
        let answer = Answer::to(service.request(Method::GET, &path)).await;
        assert_eq!((answer.status, answer.code().as_deref()), (404, Some("media_not_found")), "{path}");
    }
    let soon = Timestamp::now().millis() / 1_000 + 60;
    let signature = hex::encode(vault.sign_link(&format!("{id} {soon}")));
    let path = format!("/media/{id}?until={soon}&signature={signature}");
    assert_eq!(read(&service, &path, None).await.status().as_u16(), 200);
}

#[tokio::test]
async fn the_provider_gets_an_address_at_which_it_fetches_the_file() {
    let header = json!([{"type": "HEADER", "format": "DOCUMENT"}, {"type": "BODY", "text": "Hello"}]);
    let shop = Box::pin(Shop::open(vec![("bill", header)])).await;
    let (service, acme) = (&shop.service, &shop.acme);
    let png = picture(40, ImageFormat::Png);
    let image = upload(service, acme, "", png.clone()).await;
    let sent = shop.sent(&json!({"type": "image", "link": image["link"], "caption": "x"}), FIRST).await;
    let fetched = read(service, &path_of(sent["image"]["link"].as_str().unwrap()), None).await;
    assert_eq!(fetched.headers()["content-type"], "image/png");
    assert_eq!(fetched.bytes().await.unwrap(), png);

    let pdf = upload(service, acme, "?name=bill.pdf", "%PDF-1.7\n").await;
    let parameter = json!({"type": "document", "link": pdf["link"]});
    let values = json!([{"type": "header", "parameters": [parameter]}]);
    let sent = shop.sent(&shop.template("bill", &values).await, FIRST + 1).await;
    let document = &sent["template"]["components"][0]["parameters"][0]["document"];
    assert_eq!(document["filename"], "bill.pdf", "the file's own name");
    let path = path_of(document["link"].as_str().unwrap());
    assert_eq!(read(service, &path, None).await.text().await.unwrap(), "%PDF-1.7\n");
    let used = service.get(&format!("{MEDIA}/{}", pdf["id"].as_str().unwrap()), &acme.key).await.json();
    assert!(used["used_at"].is_string(), "{used}");

    // A provider fetches files some time after it accepted the message.
    let own = format!("{MEDIA}/{}", pdf["id"].as_str().unwrap());
    service.request(Method::DELETE, &own).bearer_auth(&acme.key).send().await.unwrap();
    assert_eq!(read(service, &path, None).await.status().as_u16(), 200);
    shop.refused(&json!({"type": "document", "link": pdf["link"]}), "media_unavailable").await;

    let sentence = shop.refused(&json!({"type": "video", "link": image["link"]}), "media_unavailable").await;
    assert!(sentence.contains("is an image and cannot be sent as a video"), "{sentence}");
    shop.refused(&json!({"type": "image", "link": "media:logo"}), "invalid_link").await;
    let globex = service.company("globex").await;
    let theirs = upload(service, &globex, "", picture(41, ImageFormat::Png)).await;
    shop.refused(&json!({"type": "image", "link": theirs["link"]}), "media_unavailable").await;
}

#[tokio::test]
async fn without_a_public_address_a_business_account_sends_no_file_of_the_library() {
    let elsewhere = |config: &mut Config| {
        config.cloud_api.base_url = "https://provider.example".to_owned();
        config.server.public_url = Some("http://127.0.0.1:8080".parse().unwrap());
    };
    let service = Service::start_configured(ScriptedDriver::default(), elsewhere).await;
    let acme = service.company("acme").await;
    let file = upload(&service, &acme, "", "hello").await;
    let channel: Uuid = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let body = json!({"type": "document", "link": file["link"], "phone_number": "5511988887777"}).to_string();
    let refused = service.post(&World::send(channel), &acme.key, body).await;
    assert_eq!((refused.status, refused.code().as_deref()), (409, Some("no_public_address")));
    assert!(refused.body.contains("server.public_url"), "{}", refused.body);
}
