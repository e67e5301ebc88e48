//! Files that people send, through the real surface: fetched once, kept by their content, given out, and gone when they have
//! to be; or missing, with the reason.

mod bucket;

use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use image::{ImageFormat, RgbImage};
use pombo::clock::Timestamp;
use pombo::domain::inbound::{InboundFile, MissingFile};
use pombo::domain::phone::PhoneNumber;
use pombo::engine::conversations::types::ConversationFilter;
use pombo::engine::conversations::{ThreadEntry, ThreadFrom};
use pombo::store::changes::Who;
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::teller::Teller;
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, TOKEN, until};

stores!(
    a_picture_is_fetched_once_kept_by_its_content_and_leaves_with_its_person,
    a_page_of_a_stranger_is_only_ever_saved,
    a_file_that_cannot_be_kept_is_missing_with_the_reason,
    what_a_process_did_not_fetch_the_next_one_does,
    without_keeping_files_none_is_fetched,
);

const ANA: &str = "5511900000001";

fn picture() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(40, 30, image::Rgb([20, 130, 60])).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Puts a file where the provider has it, and returns its id.
async fn upload(running: &Running, mime_type: &str, bytes: &[u8]) -> String {
    let url = format!("{}/v26.0/{NUMBER}/media", running.simulator.base_url());
    let head = format!(
        "--b\r\nContent-Disposition: form-data; name=\"messaging_product\"\r\n\r\nwhatsapp\r\n--b\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"f\"\r\nContent-Type: {mime_type}\r\n\r\n"
    );
    let body = [head.as_bytes(), bytes, b"\r\n--b--\r\n"].concat();
    let request = reqwest::Client::new().post(url).bearer_auth(TOKEN).body(body);
    let answer = request.header("content-type", "multipart/form-data; boundary=b").send().await.unwrap();
    let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    answer["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// A message of hers with a file.
async fn tell(running: &Running, id: &str, kind: &str, file: Value) {
    let mut message = json!({ "from": ANA, "id": id, "type": kind });
    message["timestamp"] = json!((Timestamp::now().millis() / 1_000).to_string());
    message[kind] = file;
    let contacts = json!([{ "profile": { "name": "Ana" }, "wa_id": ANA }]);
    let value = json!({ "contacts": contacts, "messages": [message] });
    let told = Teller::new(running).tell(running.channel, NUMBER, &value).await;
    assert_eq!(told.status, 200, "{}", told.body);
}

/// What is said of the files of her messages, the earlier ones first.
async fn files(running: &Running) -> Vec<InboundFile> {
    let found = running.conversations().list(ConversationFilter::default(), None, 9).await.unwrap();
    let Some(conversation) = found.conversations.first() else { return Vec::new() };
    let id = conversation.conversation.id;
    let thread = running.conversations().thread(id, ThreadFrom::Latest, 50).await.unwrap();
    let files = thread.entries.into_iter().filter_map(|entry| match entry {
        ThreadEntry::Written(written) => written.body?.content.media()?.file.clone(),
        ThreadEntry::Own(_) => None,
    });
    files.collect()
}

/// Waits until the only file is there or missing. Attempts that wait are made at once.
async fn settled(universe: &Universe, running: &Running) -> InboundFile {
    until("a file that is there or missing", async || {
        let database = Database::connect(&universe.url).await.unwrap();
        let sql = "UPDATE inbound_file SET next_at = 0 WHERE state = 0 AND digest IS NULL";
        database.execute_unprepared(sql).await.unwrap();
        database.close().await.unwrap();
        !matches!(files(running).await.as_slice(), [InboundFile::Fetching { .. }])
    })
    .await;
    files(running).await.pop().unwrap()
}

/// The names of the files that are kept.
fn kept(directory: &Path) -> Vec<String> {
    let companies = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let folders = companies.filter(|entry| entry.file_name() != "arriving");
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
    files.map(|file| file.file_name().into_string().unwrap()).collect()
}

async fn read(running: &Running, path: &str) -> reqwest::Response {
    running.request(Method::GET, path).send().await.unwrap()
}

async fn a_picture_is_fetched_once_kept_by_its_content_and_leaves_with_its_person(universe: &Universe) {
    let media = tempfile::tempdir().unwrap();
    let directory = media.path().join("files");
    let mut running =
        Running::start(universe, |config| config.media.directory = Some(directory.clone())).await;
    let asked = "/api/v1/events?types=message.received";
    running.ask(Method::GET, asked, &Value::Null).await;
    let bytes = picture();
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let id = upload(&running, "image/png", &bytes).await;
    for message in ["wamid.1", "wamid.1", "wamid.2"] {
        tell(&running, message, "image", json!({ "id": id, "mime_type": "image/png", "sha256": sha256 }))
            .await;
    }
    until("both files", async || {
        let files = files(&running).await;
        files.len() == 2 && files.iter().all(|file| matches!(file, InboundFile::Kept { .. }))
    })
    .await;
    assert_eq!(kept(&directory), std::slice::from_ref(&sha256), "the same content is kept once");
    let told = files(&running).await;
    let [InboundFile::Kept { path, url, kind, mime_type, size, name, has_thumbnail }, _] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!((kind.as_str(), mime_type.as_str(), name.as_str()), ("image", "image/png", "image.png"));
    assert_eq!((*size, *has_thumbnail), (bytes.len() as u64, true));
    assert!(url.as_ref().is_some_and(|url| url.ends_with(path.as_str())), "{url:?}");
    let events = running.ask(Method::GET, asked, &Value::Null).await.json();
    let file = &events["data"][0]["data"]["message"]["content"]["media"]["file"];
    assert_eq!((&file["state"], &file["path"]), (&json!("kept"), &json!(path)), "{events}");

    running.restart().await;
    let answer = read(&running, path).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "image/png");
    assert_eq!(answer.headers()["content-disposition"], "inline; filename*=UTF-8''image.png");
    assert_eq!(answer.bytes().await.unwrap(), bytes);
    assert_eq!(read(&running, &path.replace("signature=", "signature=00")).await.status(), 404);

    let number = PhoneNumber::parse(ANA).unwrap();
    assert_eq!(running.conversations().erase(&Who::Pombo, number).await.unwrap().len(), 2);
    until("no content", async || kept(&directory).is_empty()).await;
    assert_eq!(read(&running, path).await.status(), 404);
    running.end().await;
}

async fn a_page_of_a_stranger_is_only_ever_saved(universe: &Universe) {
    let media = tempfile::tempdir().unwrap();
    let directory = media.path().to_owned();
    let running = Running::start(universe, |config| config.media.directory = Some(directory)).await;
    let id = upload(&running, "image/png", b"<!DOCTYPE html><script>alert(1)</script>").await;
    tell(&running, "wamid.1", "document", json!({ "id": id, "filename": "../\u{202e}gpj.html" })).await;
    let file = settled(universe, &running).await;
    let InboundFile::Kept { path, kind, mime_type, name, .. } = file else { panic!("{file:?}") };
    assert_eq!((kind.as_str(), mime_type.as_str(), name.as_str()), ("document", "text/html", "gpj.html"));
    let answer = read(&running, &path).await;
    assert_eq!(answer.headers()["content-disposition"], "attachment; filename*=UTF-8''gpj.html");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert!(answer.headers()["content-security-policy"].to_str().unwrap().contains("sandbox"));
    running.end().await;
}

async fn a_file_that_cannot_be_kept_is_missing_with_the_reason(universe: &Universe) {
    let media = tempfile::tempdir().unwrap();
    let directory = media.path().to_owned();
    // The scanner refuses what contains its name.
    let scanner = ["sh", "-c", "! grep -q eicar \"$0\""].map(str::to_owned).to_vec();
    let running = Running::start(universe, |config| {
        config.media.directory = Some(directory.clone());
        config.media.scanner = scanner;
        config.media.document_limit = 4_096;
        config.media.incoming_max_bytes = 3_000;
    })
    .await;
    let number = PhoneNumber::parse(ANA).unwrap();
    let large = vec![b'x'; 5_000];
    for (content, said, reason) in [
        (&large[..], json!({}), MissingFile::TooLarge),
        (&large[..3_500], json!({}), MissingFile::NoRoom),
        (&b"eicar"[..], json!({}), MissingFile::Infected),
        (&b"MZ\x90\0 a program"[..], json!({}), MissingFile::RefusedType),
        (&b"text"[..], json!({ "sha256": hex::encode([7_u8; 32]) }), MissingFile::Damaged),
    ] {
        let id = upload(&running, "text/plain", content).await;
        let mut file = said;
        file["id"] = json!(id);
        tell(&running, &format!("wamid.{reason}"), "document", file).await;
        assert_eq!(settled(universe, &running).await, InboundFile::missing(reason));
        running.conversations().erase(&Who::Pombo, number).await.unwrap();
    }
    // The provider does not have it.
    tell(&running, "wamid.gone", "document", json!({ "id": "1100000000009999" })).await;
    assert_eq!(settled(universe, &running).await, InboundFile::missing(MissingFile::Gone));
    assert_eq!(kept(&directory), [""; 0]);
    running.end().await;
}

async fn what_a_process_did_not_fetch_the_next_one_does(universe: &Universe) {
    let media = tempfile::tempdir().unwrap();
    let directory = media.path().join("files");
    // Nothing can be kept there.
    std::fs::write(&directory, "in the way").unwrap();
    let mut running =
        Running::start(universe, |config| config.media.directory = Some(directory.clone())).await;
    let id = upload(&running, "image/png", &picture()).await;
    tell(&running, "wamid.1", "image", json!({ "id": id })).await;
    let told = files(&running).await;
    let [InboundFile::Fetching { path, .. }] = &told[..] else { panic!("{told:?}") };
    let answer = read(&running, path).await;
    assert_eq!((answer.status().as_u16(), answer.headers().contains_key("retry-after")), (503, true));
    running.restart().await;
    std::fs::remove_file(&directory).unwrap();
    assert!(matches!(settled(universe, &running).await, InboundFile::Kept { .. }));
    assert_eq!(read(&running, path).await.status(), 200, "the address is the same");
    running.end().await;
}

async fn without_keeping_files_none_is_fetched(universe: &Universe) {
    let running = Running::start(universe, |config| config.media.incoming_keep = Duration::ZERO).await;
    let id = upload(&running, "image/png", &picture()).await;
    tell(&running, "wamid.1", "image", json!({ "id": id })).await;
    assert_eq!(files(&running).await, [InboundFile::missing(MissingFile::NotKept)]);
    running.end().await;
}
