//! A form with a file: its texts up to the file, and then the file, piece by piece.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::refusal::DoorRefusal;
use crate::surface::body::{Fault, Incoming};
use crate::surface::multipart::Multipart;

/// The longest text in a form, and what a form may have around its file, in bytes. It is less than the memory that is charged for a
/// form.
const LONGEST_TEXT: usize = 16 * 1024;
const AROUND: usize = 256 * 1024;
/// The most texts before the file.
const MOST_TEXTS: usize = 64;

/// A form that is read up to its file.
pub(super) struct UploadForm {
    pub(super) parts: Multipart,
    texts: BTreeMap<String, String>,
    /// The name of the file, if it gives one; `None` when there is no file.
    pub(super) file: Option<Option<String>>,
}

impl UploadForm {
    /// The form of a request, whose file has at most `most` bytes.
    pub(super) async fn open(body: Incoming, most: usize) -> Result<Self, DoorRefusal> {
        let mut parts = Multipart::new(body, most.saturating_add(AROUND))?;
        let (mut texts, mut file, mut room) = (BTreeMap::new(), None, AROUND);
        while let Some(part) = parts.next().await? {
            // Some programs give their file no name.
            if part.file_name.is_some() || part.name == "file" {
                file = Some(part.file_name.filter(|name| !name.trim().is_empty()));
                break;
            }
            if texts.len() >= MOST_TEXTS {
                return Err(Fault::TooManyParts.into());
            }
            let text = parts.text(LONGEST_TEXT).await?;
            let bytes = part.name.len().saturating_add(text.len());
            room = room.checked_sub(bytes).ok_or(Fault::TooLarge(AROUND))?;
            texts.insert(part.name, text);
        }
        Ok(Self { parts, texts, file })
    }

    /// A text before the file that is not blank.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The texts, as fields of a body.
    pub(super) fn into_fields(self) -> Map<String, Value> {
        self.texts.into_iter().map(|(name, text)| (name, Value::String(text))).collect()
    }
}
