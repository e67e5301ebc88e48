//! Files behind links: the answer, and the file that the recipient opens.

use std::time::Duration;

use image::ImageFormat;
use serde_json::{Value, json};

use super::samples;
use super::world::{Sent, World, check};
use super::{GROUP, JOAO, MARIA};
use crate::fake_whatsapp::OpenedFile;
use crate::media::host::Host;

/// A file for Maria, of this kind and with this caption, behind this link.
fn media(kind: &str, link: &str, caption: Option<&str>) -> Value {
    let body = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": kind, "link": link, "caption": caption,
    });
    body
}

/// Sends a file of this kind from this host, and opens it at its recipient. Returns it with the answer's
/// content, whose address and length are checked.
async fn sent(kind: &str, path: &str, bytes: &[u8], caption: Option<&str>) -> (Value, OpenedFile) {
    let world = Box::pin(World::linked()).await;
    world.whatsapp.contact(MARIA);
    let host = Host::body("", bytes).await;
    let (sent, message) = Box::pin(world.arrives(&media(kind, &host.link(path), caption))).await;
    assert_eq!(host.connections(), 1, "a link is followed once");
    let opened = world.whatsapp.file_of(&message);
    assert_eq!(opened.bytes, bytes);
    let content = content(&sent, kind, bytes.len());
    check(&sent, &format!("{MARIA}@s.whatsapp.net"), &json!({format!("{kind}Message"): content}));
    assert_eq!(content["mimetype"], opened.mimetype);
    world.reaches(&sent.send, "sent").await;
    (without_address(content), opened)
}

/// The answer's description of a file, with the address of the sealed file.
fn content(sent: &Sent, kind: &str, length: usize) -> Value {
    let content = sent.result()["message"][format!("{kind}Message")].clone();
    let address = content["url"].as_str().expect("an address");
    assert!(address.starts_with("https://") && address.contains("/o1/"), "{address}");
    assert_eq!(content["fileLength"], length.to_string());
    content
}

fn without_address(mut content: Value) -> Value {
    let fields = content.as_object_mut().unwrap();
    fields.remove("url");
    fields.remove("fileLength");
    content
}

#[tokio::test]
async fn an_image_arrives_with_its_caption_and_a_thumbnail() {
    for (format, mimetype) in [(ImageFormat::Jpeg, "image/jpeg"), (ImageFormat::Png, "image/png")] {
        let picture = samples::picture(format);
        let (content, opened) = sent("image", "/photo", &picture, Some("olha só")).await;
        assert_eq!(content, json!({"mimetype": mimetype, "caption": "olha só"}));
        assert_eq!(opened.caption.as_deref(), Some("olha só"));
        let thumbnail =
            image::load_from_memory_with_format(&opened.thumbnail.unwrap(), ImageFormat::Jpeg).unwrap();
        assert_eq!((thumbnail.width(), thumbnail.height()), (96, 48));
    }
}

#[tokio::test]
async fn an_image_without_caption_says_nothing_of_one() {
    let picture = samples::picture(ImageFormat::Png);
    let (content, opened) = sent("image", "/", &picture, None).await;
    assert_eq!((content, opened.caption), (json!({"mimetype": "image/png"}), None));
}

#[tokio::test]
async fn a_video_arrives_with_its_caption_and_its_length() {
    let (content, opened) = sent("video", "/film.mp4", &samples::film(), Some("assista")).await;
    assert_eq!(content, json!({"mimetype": "video/mp4", "caption": "assista", "seconds": 13}));
    assert_eq!((opened.caption.as_deref(), opened.seconds), (Some("assista"), Some(13)));
}

#[tokio::test]
async fn a_sound_is_no_voice_note() {
    let (content, opened) = sent("audio", "/song.mp3", &samples::song(), None).await;
    assert_eq!(content, json!({"mimetype": "audio/mpeg", "seconds": 4, "ptt": false}));
    assert_eq!((opened.seconds, opened.is_voice), (Some(4), false));
}

#[tokio::test]
async fn an_ogg_file_with_opus_is_a_voice_note() {
    let (content, opened) = sent("audio", "/voice.ogg", &samples::voice(7000), None).await;
    assert_eq!(content, json!({"mimetype": "audio/ogg; codecs=opus", "seconds": 7, "ptt": true}));
    assert_eq!((opened.seconds, opened.is_voice), (Some(7), true));
}

#[tokio::test]
async fn a_document_arrives_with_its_name_and_its_caption() {
    let pdf = [b"%PDF-1.7\n".as_slice(), &[b'x'; 300_000]].concat();
    let (content, opened) = sent("document", "/a/Nota%20fiscal.pdf?x=1", &pdf, Some("vence hoje")).await;
    let expected =
        json!({"mimetype": "application/pdf", "fileName": "Nota fiscal.pdf", "caption": "vence hoje"});
    assert_eq!(content, expected);
    assert_eq!(
        (opened.file_name.as_deref(), opened.caption.as_deref()),
        (Some("Nota fiscal.pdf"), Some("vence hoje"))
    );
}

#[tokio::test]
async fn a_document_has_the_name_that_its_host_gives_it_whatever_the_link_says() {
    for (header, name) in [
        ("Content-Disposition: attachment; filename=\"invoice 7.txt\"\r\n", "invoice 7.txt"),
        (
            "Content-Disposition: attachment; filename=\"a.txt\"; filename*=UTF-8''n%C2%BA%207.txt\r\n",
            "nº 7.txt",
        ),
        ("Content-Disposition: inline\r\n", "file.txt"),
    ] {
        let world = World::linked().await;
        world.whatsapp.contact(MARIA);
        let host = Host::body(header, b"some text").await;
        let (sent, message) = world.arrives(&media("document", &host.link("/file.txt"), None)).await;
        assert_eq!(sent.result()["message"]["documentMessage"]["fileName"], json!(name), "{header}");
        assert_eq!(world.whatsapp.file_of(&message).file_name.as_deref(), Some(name), "{header}");
    }
}

#[tokio::test]
async fn a_document_without_caption_arrives_with_its_name() {
    let (content, opened) = sent("document", "/lista.csv", b"nome;numero\n", None).await;
    assert_eq!(content, json!({"mimetype": "text/plain", "fileName": "lista.csv"}));
    assert_eq!((opened.file_name.as_deref(), opened.caption), (Some("lista.csv"), None));
}

#[tokio::test]
async fn an_image_to_a_group_is_opened_by_its_members() {
    let world = World::linked().await;
    let (maria, joao) = (world.whatsapp.contact(MARIA), world.whatsapp.contact(JOAO));
    world.whatsapp.group(GROUP, &[&maria, &joao]);
    let picture = samples::picture(ImageFormat::Jpeg);
    let host = Host::body("", &picture).await;
    let body = json!({
        "phone_number": GROUP, "recipient_type": "group", "type": "image", "link": host.link("/"), "caption": "nós",
    });
    let (sent, message) = world.arrives(&body).await;
    let content = content(&sent, "image", picture.len());
    check(&sent, &format!("{GROUP}@g.us"), &json!({"imageMessage": content}));
    assert_eq!(message.readers.iter().collect::<Vec<_>>(), [MARIA, JOAO]);
    let opened = world.whatsapp.file_of(&message);
    assert_eq!((opened.bytes, opened.caption.as_deref()), (picture, Some("nós")));
}

#[tokio::test]
async fn a_file_that_whatsapp_refuses_is_reported_and_the_next_one_goes() {
    let world = World::linked_with(|config| config.web_session.patience = Duration::from_secs(2)).await;
    world.whatsapp.contact(MARIA);
    let host = Host::body("", &samples::song()).await;
    world.whatsapp.refuse_uploads(507);
    let refused = world.post(&media("audio", &host.link("/"), None)).await;
    assert!(refused.status >= 400, "{} {}", refused.status, refused.body);
    assert!(world.whatsapp.messages().is_empty());
    world.whatsapp.refuse_uploads(None);
    let (sent, _) = world.arrives(&media("audio", &host.link("/"), None)).await;
    world.reaches(&sent.send, "sent").await;
    assert_eq!(world.whatsapp.messages().len(), 1);
}

#[tokio::test]
async fn a_file_of_the_library_arrives_without_a_link_to_anywhere() {
    // No link may lead to this machine: the file is not read through an address.
    let world = Box::pin(World::linked_with(|config| config.media.allow.clear())).await;
    world.whatsapp.contact(MARIA);
    let upload = async |query: &str, bytes: Vec<u8>| {
        let path = format!("/api/v1/media{query}");
        let kept = world.service.post(&path, &world.own.company.key, bytes).await;
        assert_eq!(kept.status, 201, "{}", kept.body);
        kept.json()
    };
    let picture = samples::picture(ImageFormat::Png);
    let image = upload("", picture.clone()).await;
    let body = media("image", image["link"].as_str().unwrap(), Some("olha"));
    let (sent, message) = Box::pin(world.arrives(&body)).await;
    let opened = world.whatsapp.file_of(&message);
    assert_eq!((opened.bytes, opened.mimetype.as_str()), (picture, "image/png"));
    world.reaches(&sent.send, "sent").await;
    let bill = upload("?name=bill.pdf", b"%PDF-1.7\n".to_vec()).await;
    let (sent, _) = Box::pin(world.arrives(&media("document", bill["link"].as_str().unwrap(), None))).await;
    assert_eq!(sent.result()["message"]["documentMessage"]["fileName"], "bill.pdf", "{}", sent.body);
    let globex = world.service.company("globex").await;
    let theirs = world.service.post("/api/v1/media", &globex.key, "hello").await.json();
    let body = media("document", theirs["link"].as_str().unwrap(), None).to_string();
    let path = format!("/api/v1/web-chat/{}/messages", world.own.channel);
    let refused = world.service.post(&path, &world.own.company.key, body).await;
    assert_eq!(
        (refused.status, refused.code().as_deref()),
        (400, Some("media_unavailable")),
        "{}",
        refused.body
    );
}
