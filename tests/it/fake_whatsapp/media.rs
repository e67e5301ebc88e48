//! The other half of WhatsApp: files, sealed by their senders, and the page with the current version.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::http::Method;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use pombo::connector::web_session::{MediaKind, SealedFile};
use pombo::domain::inbound::{MediaKeys, base64_of};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use url::form_urlencoded;
use whatsapp_rust::wacore::download::{DownloadUtils, MediaType};
use whatsapp_rust::wacore::upload::encrypt_media;

use super::message::SentMessage;
use super::query::MEDIA_TOKEN;

/// A size larger than any file of a test.
const LARGEST: usize = 64 << 20;
/// The timeout of a test's waits.
const PATIENCE: Duration = Duration::from_secs(60);
/// The beginning of a file's path, before its hash.
const KEPT: &str = "/o1/";

/// The files' server.
pub(super) struct Files {
    /// `127.0.0.1:PORT`
    pub(super) host: String,
    kept: Arc<Kept>,
    handle: ServerHandle,
}

struct Kept {
    host: String,
    /// Sealed files by their path.
    files: Mutex<HashMap<String, Vec<u8>>>,
    /// Uploads are refused with this status.
    refusal: watch::Sender<Option<u16>>,
    /// Uploads get no answer while this is set.
    is_holding: watch::Sender<bool>,
    /// How many uploads began.
    begun: watch::Sender<usize>,
}

/// A file of a message, opened with the message's key.
pub(crate) struct OpenedFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mimetype: String,
    pub(crate) caption: Option<String>,
    pub(crate) file_name: Option<String>,
    pub(crate) seconds: Option<u32>,
    pub(crate) is_voice: bool,
    /// The small JPEG that is shown before the file is loaded.
    pub(crate) thumbnail: Option<Vec<u8>>,
}

/// A file that a person uploaded for the accounts of a test.
pub(crate) struct StoredFile {
    pub(super) url: String,
    pub(super) path: String,
    pub(super) key: [u8; 32],
    pub(super) sha256: [u8; 32],
    pub(super) sealed_sha256: [u8; 32],
    pub(super) length: u64,
}

impl StoredFile {
    /// What a message with it says.
    pub(crate) fn announced(&self) -> SealedFile {
        let keys = MediaKeys {
            direct_path: self.path.clone(),
            media_key: base64_of(&self.key),
            sealed_sha256: base64_of(&self.sealed_sha256),
        };
        SealedFile { kind: MediaKind::Image, keys, sha256: Some(base64_of(&self.sha256)), size: self.length }
    }
}

impl Files {
    /// Serves files in a thread of its own.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let kept = Arc::new(Kept {
            host: host.clone(),
            files: Mutex::default(),
            refusal: watch::Sender::new(None),
            is_holding: watch::Sender::new(false),
            begun: watch::Sender::new(0),
        });
        let (tell, told) = std::sync::mpsc::channel();
        let served = Arc::clone(&kept);
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = HttpServer::new(move || {
                    let state = web::Data::from(Arc::clone(&served));
                    let size = web::PayloadConfig::new(LARGEST);
                    App::new().app_data(state).app_data(size).default_service(web::to(answer))
                });
                let server = server.workers(1).disable_signals().listen(listener).unwrap().run();
                tell.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        Self { host, kept, handle: told.recv().unwrap() }
    }

    /// Uploads are refused with this HTTP status from now on, or accepted again.
    pub(super) fn refuse_uploads(&self, status: impl Into<Option<u16>>) {
        self.kept.refusal.send_replace(status.into());
    }

    /// Uploads get no answer from now on, or are answered again.
    pub(super) fn hold_uploads(&self, holds: bool) {
        self.kept.is_holding.send_replace(holds);
    }

    /// Waits until an upload has begun.
    pub(super) async fn expect_upload(&self) {
        let mut begun = self.kept.begun.subscribe();
        let upload = tokio::time::timeout(PATIENCE, begun.wait_for(|begun| *begun > 0)).await;
        upload.expect("no file was uploaded").unwrap();
    }

    /// Seals an image and keeps it.
    pub(super) fn keep_image(&self, bytes: &[u8]) -> StoredFile {
        let sealed = encrypt_media(bytes, MediaType::Image).unwrap();
        let path = format!("{KEPT}{}", BASE64_URL_SAFE_NO_PAD.encode(sealed.file_enc_sha256));
        self.kept.files.lock().unwrap().insert(path.clone(), sealed.data_to_upload);
        StoredFile {
            url: format!("https://{}{path}", self.host),
            path,
            key: sealed.media_key,
            sha256: sealed.file_sha256,
            sealed_sha256: sealed.file_enc_sha256,
            length: bytes.len().try_into().unwrap(),
        }
    }

    /// Opens the file of a message.
    ///
    /// # Panics
    ///
    /// If the message has none, if it was not uploaded, or if it differs from the message's description.
    pub(super) fn open(&self, message: &SentMessage) -> OpenedFile {
        let described = Described::of(message).expect("the message has no file");
        let path = described.path.expect("the message does not say where its file is");
        let sealed = self.kept.files.lock().unwrap().get(&path).cloned();
        let sealed = sealed.unwrap_or_else(|| panic!("{path} was not uploaded"));
        assert_eq!(described.sealed_sha256, Some(Sha256::digest(&sealed).to_vec()), "the sealed file's hash");
        let bytes = DownloadUtils::verify_and_decrypt(&sealed, &described.key.unwrap(), described.kind);
        let bytes = bytes.expect("the message's key opens its file");
        assert_eq!(described.sha256, Some(Sha256::digest(&bytes).to_vec()), "the file's hash");
        assert_eq!(described.length, u64::try_from(bytes.len()).ok(), "the file's length");
        OpenedFile { bytes, ..described.file }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // The command is sent at once, without a wait for its end.
        drop(self.handle.stop(false));
    }
}

/// A message's description of its file.
struct Described {
    kind: MediaType,
    path: Option<String>,
    key: Option<Vec<u8>>,
    sha256: Option<Vec<u8>>,
    sealed_sha256: Option<Vec<u8>>,
    length: Option<u64>,
    file: OpenedFile,
}

/// Reads the fields that all kinds of files have.
macro_rules! described {
    ($kind:ident, $message:expr, $file:expr) => {
        Described {
            kind: MediaType::$kind,
            path: $message.direct_path.clone(),
            key: $message.media_key.clone(),
            sha256: $message.file_sha256.clone(),
            sealed_sha256: $message.file_enc_sha256.clone(),
            length: $message.file_length,
            file: OpenedFile { mimetype: $message.mimetype.clone().unwrap_or_default(), ..$file },
        }
    };
}

impl Described {
    fn of(message: &SentMessage) -> Option<Self> {
        let nothing = || OpenedFile {
            bytes: Vec::new(),
            mimetype: String::new(),
            caption: None,
            file_name: None,
            seconds: None,
            is_voice: false,
            thumbnail: None,
        };
        let content = &message.content;
        if let Some(image) = content.image_message.as_option() {
            let (caption, thumbnail) = (image.caption.clone(), image.jpeg_thumbnail.clone());
            let file = OpenedFile { caption, thumbnail, ..nothing() };
            return Some(described!(Image, image, file));
        }
        if let Some(video) = content.video_message.as_option() {
            let file = OpenedFile { caption: video.caption.clone(), seconds: video.seconds, ..nothing() };
            return Some(described!(Video, video, file));
        }
        if let Some(audio) = content.audio_message.as_option() {
            let is_voice = audio.ptt.unwrap_or_default();
            return Some(described!(
                Audio,
                audio,
                OpenedFile { seconds: audio.seconds, is_voice, ..nothing() }
            ));
        }
        if let Some(sticker) = content.sticker_message.as_option() {
            return Some(described!(Sticker, sticker, nothing()));
        }
        let document = content.document_message.as_option();
        // A document with a caption comes in an envelope.
        let envelope = content.document_with_caption_message.as_option();
        let enclosed = envelope.and_then(|envelope| envelope.message.as_option());
        let document =
            document.or_else(|| enclosed.and_then(|content| content.document_message.as_option()))?;
        let (caption, file_name) = (document.caption.clone(), document.file_name.clone());
        Some(described!(Document, document, OpenedFile { caption, file_name, ..nothing() }))
    }
}

async fn answer(kept: web::Data<Kept>, request: HttpRequest, body: web::Bytes) -> HttpResponse {
    let path = request.path();
    let query: HashMap<_, _> =
        form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect();
    if path.ends_with("/sw.js") {
        return HttpResponse::Ok().body(r#"{"client_revision":1029000000}"#);
    }
    if request.method() == Method::GET {
        return match kept.files.lock().unwrap().get(path) {
            Some(file) => HttpResponse::Ok().body(file.clone()),
            None => HttpResponse::NotFound().finish(),
        };
    }
    if query.get("auth").map(String::as_str) != Some(MEDIA_TOKEN) {
        return HttpResponse::Unauthorized().finish();
    }
    if query.contains_key("resume") {
        return HttpResponse::NotFound().finish();
    }
    kept.begun.send_modify(|begun| *begun += 1);
    let mut is_holding = kept.is_holding.subscribe();
    let _ = is_holding.wait_for(|holds| !holds).await;
    let refusal = *kept.refusal.borrow();
    if let Some(status) = refusal {
        return HttpResponse::build(status.try_into().unwrap()).finish();
    }
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&body));
    if !path.starts_with("/mms/") || query.get("token") != Some(&hash) {
        return HttpResponse::BadRequest().finish();
    }
    let stored = format!("{KEPT}{hash}");
    kept.files.lock().unwrap().insert(stored.clone(), body.to_vec());
    HttpResponse::Ok().json(json!({ "url": format!("https://{}{stored}", kept.host), "direct_path": stored }))
}
