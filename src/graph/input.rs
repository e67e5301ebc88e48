//! The bodies of the door's requests: JSON, whatever their type says; forms; or nothing.

use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use actix_web::web::Bytes;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::form::UploadForm;
use super::refusal::DoorRefusal;
use crate::domain::json::Measure;
use crate::surface::body::{Incoming, Room, json};
use crate::surface::multipart::Multipart;

/// What a field of a form takes in memory at most, beside its text.
const PER_FIELD: usize = 256;

/// A body, as far as it is read.
pub(super) enum DoorBody {
    /// Not at all.
    Unread(Incoming),
    /// Whole.
    Fields(GivenFields, Bytes),
    /// Up to the file of a form.
    Form(UploadForm),
    /// It is somebody else's now.
    Taken,
}

impl DoorBody {
    /// A text among the fields that are read.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self {
            Self::Fields(fields, _) => fields.map.get(name).and_then(Value::as_str),
            Self::Form(form) => form.text(name),
            Self::Unread(_) | Self::Taken => None,
        }
    }
}

/// The fields of a body, with the room that they take.
pub(super) struct GivenFields {
    pub(super) map: Map<String, Value>,
    room: Option<Room>,
}

impl GivenFields {
    /// Charges the sender for what is made of the fields.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), DoorRefusal> {
        Ok(self.room.as_mut().map_or(Ok(()), |room| room.charge(bytes))?)
    }
}

/// Whether the body says that it is a form without files.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim().to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")
}

/// The fields of a body of at most `most` bytes, and bytes that other fields would not have: those of the body, or of the texts of
/// a form.
pub(super) async fn fields(input: DoorBody, most: usize) -> Result<(GivenFields, Bytes), DoorRefusal> {
    match input {
        DoorBody::Fields(fields, bytes) => Ok((fields, bytes)),
        DoorBody::Form(form) => Ok(texts_of(form)),
        DoorBody::Unread(body) if Multipart::is(&body) => Ok(texts_of(UploadForm::open(body, most).await?)),
        DoorBody::Unread(body) => {
            let is_form = is_form(body.request().headers());
            let whole = body.whole(most).await?;
            let bytes = whole.bytes().clone();
            let (map, room) = whole.read(move |bytes, room| read(bytes, room, is_form)).await?;
            Ok((GivenFields { map, room: Some(room) }, bytes))
        }
        DoorBody::Taken => Err(DoorRefusal::internal()),
    }
}

fn texts_of(form: UploadForm) -> (GivenFields, Bytes) {
    let map = form.into_fields();
    let bytes = serde_json::to_vec(&map).unwrap_or_default().into();
    (GivenFields { map, room: None }, bytes)
}

/// Reads a body, which is charged before anything is made of it. A body that begins as JSON is JSON: `curl -d` says that
/// everything is a form.
fn read(bytes: &[u8], room: &mut Room, is_form: bool) -> Result<Map<String, Value>, DoorRefusal> {
    let begins = bytes.trim_ascii_start().first();
    if begins.is_none() {
        return Ok(Map::new());
    }
    if is_form && begins != Some(&b'{') {
        let fields = bytes.iter().filter(|byte| **byte == b'&').count() + 1;
        room.charge(bytes.len().saturating_mul(2).saturating_add(fields.saturating_mul(PER_FIELD)))?;
        let pairs = form_urlencoded::parse(bytes);
        let pairs = pairs.filter(|(name, value)| !name.contains('\0') && !value.contains('\0'));
        return Ok(pairs.map(|(name, value)| (name.into_owned(), of_form(&value, room))).collect());
    }
    let text = json::object(bytes).map_err(|sentence| DoorRefusal::because(100, sentence))?;
    room.charge(Measure::of(text).bytes)?;
    serde_json::from_str(text).map_err(|wrong| {
        DoorRefusal::because(100, format!("the body is not a readable JSON object: {wrong}"))
    })
}

/// The value of a field of a form: a text, or the JSON in it.
fn of_form(text: &str, room: &mut Room) -> Value {
    let is_json = text.starts_with(['{', '[']) && room.charge(Measure::of(text).bytes).is_ok();
    let read = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    read.unwrap_or_else(|| Value::String(text.to_owned()))
}
