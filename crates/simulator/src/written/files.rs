//! The files of played people: small ones that are what they say, or the bytes that a script gives.

use actix_web::web::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::WrittenContent;
use domain::inbound::base64_of;

/// The most bytes of a file.
const MOST_BYTES: usize = 32 << 20;

/// A file that a person sends; everything may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenFile {
    /// The text below it.
    pub caption: Option<String>,
    /// Its name.
    pub file_name: Option<String>,
    /// The type that its sender says; that of its kind without it.
    pub mime_type: Option<String>,
    /// Its content in base64; a small one of its kind without it.
    pub data: Option<String>,
    /// Its size in bytes, at most 32 MiB: zeros follow the content up to it.
    pub size: Option<usize>,
    /// Whether the provider does not have it any more when it is asked.
    pub gone: bool,
}

/// A file of a message, with its bytes.
#[derive(Debug, Clone)]
pub(crate) struct StoredFile {
    pub(crate) mime_type: String,
    pub(crate) bytes: Bytes,
}

impl StoredFile {
    /// The SHA-256 of its bytes in base64.
    pub(super) fn sha256(&self) -> String {
        let sum: [u8; 32] = Sha256::digest(&self.bytes).into();
        base64_of(&sum)
    }
}

impl WrittenFile {
    /// A sentence about its fault.
    pub(super) fn fault(&self) -> Option<String> {
        if self.size.is_some_and(|size| size > MOST_BYTES) {
            return Some(format!("the size of a file is at most {MOST_BYTES} bytes"));
        }
        let data = self.data.as_deref().map(|data| STANDARD.decode(data));
        data.is_some_and(|data| data.is_err()).then(|| "data must be base64".to_owned())
    }
}

impl WrittenContent {
    /// Its file with the bytes, if it is one.
    pub(crate) fn stored_file(&self) -> Option<StoredFile> {
        let (mime_type, content): (_, &[u8]) = match self {
            Self::Image(_) => ("image/png", include_bytes!("files/photo.png")),
            Self::Video(_) => ("video/mp4", include_bytes!("files/film.mp4")),
            Self::Audio(_) | Self::Voice(_) => ("audio/ogg; codecs=opus", include_bytes!("files/voice.ogg")),
            Self::Document(_) => ("application/pdf", include_bytes!("files/list.pdf")),
            Self::Sticker(_) => ("image/webp", include_bytes!("files/sticker.webp")),
            _ => return None,
        };
        let file = self.file()?;
        let given = file.data.as_deref().and_then(|data| STANDARD.decode(data).ok());
        let mut bytes = given.unwrap_or_else(|| content.to_vec());
        if let Some(size) = file.size {
            bytes.resize(size.max(bytes.len()).min(MOST_BYTES), 0);
        }
        let mime_type = file.mime_type.clone().unwrap_or_else(|| mime_type.to_owned());
        Some(StoredFile { mime_type, bytes: bytes.into() })
    }
}
