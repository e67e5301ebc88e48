//! Resumable uploads of samples and pictures. A session is its own record: its id says how long the file is and of which type. The
//! file comes in one request and is kept in the library; its handle names it there, until the provider needs it.

use std::time::Instant;

use actix_web::HttpResponse;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::call::Call;
use super::path::UPLOAD;
use super::refusal::DoorRefusal;
use crate::domain::graph::{media_id, media_of};
use crate::domain::link::file_link;

/// The beginning of a handle, as the provider's have it.
const HANDLE: &str = "4::";
/// The largest file, in bytes: what the provider takes as a video.
pub(super) const MOST: usize = 16 * 1024 * 1024;
/// The most characters of a name.
const NAME: usize = 100;

/// A session, as its id says.
struct UploadSession {
    bytes: usize,
    name: String,
}

impl UploadSession {
    fn id(&self) -> String {
        format!("{UPLOAD}{}", URL_SAFE_NO_PAD.encode(format!("{} {}", self.bytes, self.name)))
    }

    fn read(id: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(id.strip_prefix(UPLOAD)?).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (bytes, name) = text.split_once(' ')?;
        let bytes = bytes.parse().ok().filter(|bytes| (1..=MOST).contains(bytes))?;
        Some(Self { bytes, name: name.to_owned() })
    }
}

/// Opens a session for a file of a length.
pub(super) async fn open(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    let app = call.path.at(0).to_owned();
    if app != "app" && !call.door().is_app(&app).await? {
        return Err(call.unknown(&app));
    }
    let (fields, _) = call.fields().await?;
    let given = |name: &str| match fields.map.get(name) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let bytes = given("file_length").parse().ok().filter(|bytes| (1..=MOST).contains(bytes));
    let bytes = bytes.ok_or_else(|| {
        DoorRefusal::because(100, format!("`file_length` must be a number of bytes from 1 to {MOST}"))
    })?;
    let kind = given("file_type");
    if !["application/pdf", "image/jpeg", "image/jpg", "image/png", "video/mp4"].contains(&kind.as_str()) {
        let details = "`file_type` must be application/pdf, image/jpeg, image/png or video/mp4";
        return Err(DoorRefusal::because(100, details));
    }
    let name = match given("file_name") {
        name if name.is_empty() => kind.replace('/', "."),
        name => name.chars().filter(|letter| !letter.is_control()).take(NAME).collect(),
    };
    Ok(HttpResponse::Ok().json(json!({ "id": UploadSession { bytes, name }.id() })))
}

/// Says how much has come, which is nothing before everything has.
pub(super) fn show(call: &Call) -> Result<HttpResponse, DoorRefusal> {
    let id = call.path.at(0);
    UploadSession::read(id).ok_or_else(|| call.unknown(id))?;
    Ok(HttpResponse::Ok().json(json!({ "id": id, "file_offset": 0 })))
}

/// Takes the file of a session.
pub(super) async fn take(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    let id = call.path.at(0).to_owned();
    let session = UploadSession::read(&id).ok_or_else(|| call.unknown(&id))?;
    let offset = call.request.headers().get("file_offset").map_or(&b"0"[..], |offset| offset.as_bytes());
    if offset != b"0" {
        let details =
            "`file_offset` must be 0: a file comes in one request, and nothing of it is kept before";
        return Err(DoorRefusal::because(100, details));
    }
    let mut pieces = call.raw(session.bytes)?;
    let mut upload = match call.state.engine.media().begin_upload(call.caller.company_id).await {
        Ok(upload) => upload,
        Err(error) => {
            pieces.pass_over().await;
            return Err(error.into());
        }
    };
    let mut came = 0;
    while let Some(piece) = pieces.next().await? {
        let began = Instant::now();
        came += piece.len();
        if let Err(error) = upload.write(piece).await {
            drop(upload);
            pieces.pass_over().await;
            return Err(error.into());
        }
        pieces.stored(began.elapsed());
    }
    if came != session.bytes {
        let details = format!("the session is for {} bytes, and {came} came", session.bytes);
        return Err(DoorRefusal::because(100, details));
    }
    let kept = upload.finish(&call.who(), Some(&session.name), None).await?;
    Ok(HttpResponse::Ok().json(json!({ "h": format!("{HANDLE}{}", media_id(kept.id)) })))
}

/// The file of the library that a handle names, as the engine knows it; a handle of the provider stays.
pub(super) fn file_of(handle: &str) -> Option<String> {
    media_of(handle.trim().strip_prefix(HANDLE)?).map(file_link)
}

/// Parts of a template whose samples were uploaded here, with files of the library in the place of their handles.
pub(super) fn with_files(mut parts: Value) -> Value {
    match &mut parts {
        Value::String(text) => {
            if let Some(file) = file_of(text) {
                *text = file;
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = with_files(item.take());
            }
        }
        Value::Object(fields) => {
            for (_, value) in fields.iter_mut() {
                *value = with_files(value.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    parts
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_session_is_read_from_its_id_and_a_handle_names_a_file() {
        let session = UploadSession { bytes: 7, name: "menu 1.pdf".to_owned() };
        let read = UploadSession::read(&session.id()).unwrap();
        assert_eq!((read.bytes, read.name.as_str()), (7, "menu 1.pdf"));
        let huge = UploadSession { bytes: MOST + 1, name: String::new() };
        assert!(UploadSession::read(&huge.id()).is_none() && UploadSession::read("upload:x").is_none());
        let file = Uuid::from_u128(7);
        let parts = json!([{"example": {"header_handle": [format!("4::{}", media_id(file)), "4::aW1h"]}}]);
        assert_eq!(with_files(parts)[0]["example"]["header_handle"], json!([file_link(file), "4::aW1h"]));
    }
}
