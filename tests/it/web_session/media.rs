//! Files: the recipient opens exactly the file that was sent.

use std::process::Command;

use pombo::connector::web_session::{
    Built, Content, FetchError, Media, MediaKind, MessageId, SealedFile, SendError,
};
use pombo::domain::inbound::base64_of;

use super::{MARIA, OWN, Stage, person};
use crate::fake_whatsapp::OpenedFile;
use crate::media::host::Host;

fn media(kind: MediaKind, mimetype: &str, bytes: &[u8]) -> Media {
    Media {
        kind,
        bytes: bytes.to_vec(),
        mimetype: mimetype.to_owned(),
        file_name: None,
        caption: None,
        seconds: None,
        jpeg_thumbnail: None,
    }
}

/// Sends a file and opens it at its recipient.
async fn sent(media: Media) -> OpenedFile {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let id = MessageId::generate();
    let sent = session.session.send(&person(MARIA), &id, Content::Media(media.clone())).await.unwrap();
    let Built::Media(built) = sent.built else { panic!("it was no file") };
    assert_eq!((built.kind, built.file_length), (media.kind, media.bytes.len() as u64));

    let message = stage.whatsapp.expect_message(id.as_str()).await;
    assert_eq!(message.kind, "media");
    let opened = stage.whatsapp.file_of(&message);
    assert_eq!(opened.bytes, media.bytes);
    assert_eq!((&opened.mimetype, &built.mimetype), (&media.mimetype, &media.mimetype));
    opened
}

#[tokio::test]
async fn an_image_arrives_with_its_caption() {
    let image = media(MediaKind::Image, "image/png", b"\x89PNG and the rest");
    let opened = sent(Media { caption: Some(String::from("olha")), ..image }).await;
    assert_eq!(opened.caption.as_deref(), Some("olha"));
}

#[tokio::test]
async fn a_file_that_somebody_sent_is_fetched_and_opened() {
    let stage = Stage::set();
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let sent = stage.whatsapp.keeps_image(b"a picture of the door");
    let fetched = session.session.fetch(sent.announced()).await;
    assert_eq!(fetched, Ok(b"a picture of the door".to_vec()));
    let mut other_key = sent.announced();
    other_key.keys.media_key = base64_of(&[7; 32]);
    assert_eq!(session.session.fetch(other_key).await, Err(FetchError::Damaged));
    // Nobody takes more memory than the length that is announced.
    let large = stage.whatsapp.keeps_image(&[7; 20_000]);
    assert!(session.session.fetch(large.announced()).await.is_ok());
    let lying = SealedFile { size: 1, ..large.announced() };
    assert_eq!(session.session.fetch(lying).await, Err(FetchError::Damaged));
    let mut gone = sent.announced();
    gone.keys.direct_path.push_str("-gone");
    assert_eq!(session.session.fetch(gone).await, Err(FetchError::Gone));
    session.session.stop().await;
    assert_eq!(session.session.fetch(sent.announced()).await, Err(FetchError::NotConnected));
}

#[tokio::test]
async fn a_video_arrives_with_its_length() {
    let video = media(MediaKind::Video, "video/mp4", &[7; 200_000]);
    let opened = sent(Media { caption: Some(String::from("assista")), seconds: Some(12), ..video }).await;
    assert_eq!((opened.caption.as_deref(), opened.seconds), (Some("assista"), Some(12)));
}

#[tokio::test]
async fn a_voice_message_arrives_as_one() {
    let voice = media(MediaKind::Audio { is_voice: true }, "audio/ogg; codecs=opus", b"OggS");
    let opened = sent(Media { seconds: Some(3), ..voice }).await;
    assert!(opened.is_voice);
    assert_eq!(opened.seconds, Some(3));
}

#[tokio::test]
async fn a_sound_is_no_voice_message() {
    assert!(!sent(media(MediaKind::Audio { is_voice: false }, "audio/mpeg", b"ID3")).await.is_voice);
}

#[tokio::test]
async fn a_document_arrives_with_its_name() {
    let document = media(MediaKind::Document, "application/pdf", b"%PDF-1.7");
    let document = Media {
        file_name: Some(String::from("boleto.pdf")),
        caption: Some(String::from("vence hoje")),
        ..document
    };
    let opened = sent(document).await;
    assert_eq!(opened.file_name.as_deref(), Some("boleto.pdf"));
    assert_eq!(opened.caption.as_deref(), Some("vence hoje"));
}

/// From 5 MiB on, the library asks first whether the file is there already.
#[tokio::test]
async fn a_large_file_arrives_whole() {
    let bytes: Vec<u8> = (0..6_000_000_u32).map(|index| (index % 251) as u8).collect();
    sent(media(MediaKind::Document, "application/octet-stream", &bytes)).await;
}

#[tokio::test]
async fn a_file_that_cannot_be_uploaded_is_not_sent() {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    stage.whatsapp.refuse_uploads(507);
    let image = media(MediaKind::Image, "image/png", b"\x89PNG");
    let refused =
        session.session.send(&person(MARIA), &MessageId::generate(), Content::Media(image.clone())).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, SendError::Upload(_)), "{refused:?}");
    assert!(refused.is_surely_unsent());

    stage.whatsapp.refuse_uploads(None);
    let sent =
        session.session.send(&person(MARIA), &MessageId::generate(), Content::Media(image)).await.unwrap();
    stage.whatsapp.expect_message(sent.id.as_str()).await;
    assert_eq!(stage.whatsapp.messages().len(), 1);
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked() {
    let host = Host::body("", b"not WhatsApp").await;
    // Only another process can have another environment.
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "web_session::media::a_document_arrives_with_its_name"]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, host.link(""));
    }
    for name in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
        child.env_remove(name);
    }
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert_eq!(host.connections(), 0);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
