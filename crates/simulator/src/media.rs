//! Files that clients upload and people send: kept in memory under an id, described, fetched at an address that is valid for
//! five minutes, and deleted. Their memory is bounded: beyond [`MOST_BYTES`] the oldest are removed.

use std::collections::BTreeMap;

use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::error::GraphError;
use super::graph::Parameters;
use super::multipart::{self, Part};
use super::reply::{Verdict, about_number, answer};
use super::send::bearer;
use super::world::World;
use super::written::StoredFile;
use clock::Timestamp;

/// The maximum size of all files together.
const MOST_BYTES: usize = 64 << 20;
/// The first id; the provider's have as many digits.
const FIRST_ID: u64 = 1_100_000_000_000_001;
/// The ids that files have, or had: unknown ones among them are no numbers that could be created on first use.
const IDS: std::ops::Range<u64> = FIRST_ID..FIRST_ID + 1_000_000_000_000;
/// How long the address of a file is valid, in seconds.
const ADDRESS_SECONDS: i64 = 5 * 60;

const MIB: usize = 1 << 20;
/// Types of files with the maximum size of each. A document of 100 MiB is beyond what the simulator reads.
const TYPES: &[(&str, usize)] = &[
    ("image/jpeg", 5 * MIB),
    ("image/png", 5 * MIB),
    ("image/webp", MIB / 2),
    ("video/mp4", 16 * MIB),
    ("video/3gpp", 16 * MIB),
    ("video/3gp", 16 * MIB),
    ("audio/aac", 16 * MIB),
    ("audio/amr", 16 * MIB),
    ("audio/mpeg", 16 * MIB),
    ("audio/mp4", 16 * MIB),
    ("audio/ogg", 16 * MIB),
    ("text/plain", 100 * MIB),
    ("application/pdf", 100 * MIB),
    ("application/msword", 100 * MIB),
    ("application/vnd.ms-excel", 100 * MIB),
    ("application/vnd.ms-powerpoint", 100 * MIB),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", 100 * MIB),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 100 * MIB),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", 100 * MIB),
];

#[derive(Debug, Default)]
pub(super) struct Library {
    files: BTreeMap<u64, File>,
    bytes: usize,
    uploads: u64,
}

#[derive(Debug, Clone)]
struct File {
    phone_number_id: String,
    mime_type: String,
    bytes: Bytes,
}

impl Library {
    fn add(&mut self, file: File) -> u64 {
        self.bytes += file.bytes.len();
        let id = FIRST_ID + self.uploads;
        self.uploads += 1;
        self.files.insert(id, file);
        while self.bytes > MOST_BYTES
            && let Some((_, oldest)) = self.files.pop_first()
        {
            self.bytes -= oldest.bytes.len();
        }
        id
    }

    /// Adds the file of a person's message to a number, or only its id if the file is gone. Returns the id.
    pub(super) fn keep(&mut self, phone_number_id: &str, file: &StoredFile, is_gone: bool) -> String {
        let StoredFile { mime_type, bytes } = file.clone();
        let id = self.add(File { phone_number_id: phone_number_id.to_owned(), mime_type, bytes });
        if is_gone {
            self.remove(id);
        }
        id.to_string()
    }

    /// Whether a send may name this id: its file was uploaded and is still there.
    pub(super) fn has(&self, id: &str) -> bool {
        id.parse().is_ok_and(|id| self.files.contains_key(&id))
    }

    fn remove(&mut self, id: u64) {
        if let Some(file) = self.files.remove(&id) {
            self.bytes -= file.bytes.len();
        }
    }

    pub(super) fn clear(&mut self) {
        self.files.clear();
        self.bytes = 0;
    }
}

/// `POST /{phone_number_id}/media`.
pub(super) async fn upload(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    about_number(&world, &id, &request, |number| {
        number.account.spare(world.now())?;
        let parts = multipart::parts(kind, &body).unwrap_or_default();
        // Some clients name the product in the query.
        let is_named = query.get("messaging_product").is_some_and(|product| product == "whatsapp");
        let file = read(parts, is_named, &id)?;
        Ok(json!({ "id": world.media.lock().add(file).to_string() }))
    })
}

fn read(parts: Vec<Part>, is_product_named: bool, phone_number_id: &str) -> Result<File, GraphError> {
    let (mut has_product, mut named, mut file) = (is_product_named, None, None);
    for part in parts {
        match part.name.as_str() {
            "messaging_product" => has_product = part.bytes == "whatsapp",
            "type" => named = String::from_utf8(part.bytes.to_vec()).ok(),
            "file" => file = Some((part.content_type, part.bytes)),
            // Such as `ttl_minutes`.
            _ => {}
        }
    }
    if !has_product {
        return Err(GraphError::because(100, "messaging_product is required and must be whatsapp"));
    }
    let Some((kind, bytes)) = file else {
        return Err(GraphError::because(100, "file is required, in a body of multipart/form-data"));
    };
    let mime_type = kind.or(named).unwrap_or_default();
    let plain = mime_type.split(';').next().unwrap_or_default().trim();
    let Some((_, most)) = TYPES.iter().find(|(known, _)| *known == plain) else {
        let known: Vec<_> = TYPES.iter().map(|(known, _)| *known).collect();
        let details = format!("file must be of one of the types {}, and is {plain}", known.join(", "));
        return Err(GraphError::because(100, details));
    };
    if bytes.is_empty() || bytes.len() > *most {
        return Err(GraphError::because(100, format!("a file of {plain} has 1 to {most} bytes")));
    }
    Ok(File { phone_number_id: phone_number_id.to_owned(), mime_type, bytes })
}

/// The file of this id, if the token may see its number, and it was uploaded for the number that is named.
fn find(
    world: &World,
    token: Option<&str>,
    id: &str,
    phone_number_id: Option<&String>,
) -> Result<(u64, File), GraphError> {
    let number: Option<u64> = id.parse().ok();
    let file = number.and_then(|number| Some((number, world.media.lock().files.get(&number)?.clone())));
    let is_of = |file: &File| phone_number_id.is_none_or(|wanted| *wanted == file.phone_number_id);
    let (number, file) =
        file.filter(|(_, file)| is_of(file)).ok_or_else(|| GraphError::unknown_object(id))?;
    world.number(token, &file.phone_number_id).map_err(|_| GraphError::unknown_object(id))?;
    Ok((number, file))
}

/// `GET /{media_id}`: `None` when the id is no file's. Ids of files begin where no other object's are expected, and only
/// a file is asked for with its number.
pub(super) fn describe(
    world: &World,
    request: &HttpRequest,
    id: &str,
    query: &Parameters,
) -> Option<Verdict> {
    let is_asked_as_file = query.contains_key("phone_number_id");
    let is_known = world.directory.read().number(id).is_some();
    let may_be_file = id.parse().is_ok_and(|id| IDS.contains(&id));
    if is_known || !may_be_file && !is_asked_as_file {
        return None;
    }
    let file = match find(world, bearer(request), id, query.get("phone_number_id")) {
        Ok((_, file)) => file,
        Err(error) => return Some(Err(error)),
    };
    let connection = request.connection_info();
    let ends = Timestamp::now().millis() / 1_000 + ADDRESS_SECONDS;
    Some(Ok(json!({
        "messaging_product": "whatsapp",
        "url": format!("{}://{}/media/{id}?ext={ends}", connection.scheme(), connection.host()),
        "mime_type": file.mime_type,
        "sha256": hex::encode(Sha256::digest(&file.bytes)),
        "file_size": file.bytes.len(),
        "id": id,
    })))
}

/// `DELETE /{media_id}`.
pub(super) async fn delete(
    world: Data<World>,
    path: Path<(String, String)>,
    query: Parameters,
    request: HttpRequest,
) -> HttpResponse {
    let (_, id) = path.into_inner();
    let token = bearer(&request);
    let found = world.admit(token).and_then(|()| find(&world, token, &id, query.get("phone_number_id")));
    let verdict = found.map(|(number, _)| {
        world.media.lock().remove(number);
        json!({ "success": true })
    });
    answer(&world, None, &verdict)
}

/// `GET /media/{id}`: the file itself, for a client with a token and an address that has not expired.
pub(super) async fn download(
    world: Data<World>,
    path: Path<String>,
    query: Parameters,
    request: HttpRequest,
) -> HttpResponse {
    let id = path.into_inner();
    let token = bearer(&request);
    if let Err(error) = world.admit(token) {
        return answer(&world, None, &Err(error));
    }
    let ends: i64 = query.get("ext").and_then(|ends| ends.parse().ok()).unwrap_or_default();
    match find(&world, token, &id, None) {
        Ok((_, file)) if ends > Timestamp::now().millis() / 1_000 => {
            HttpResponse::Ok().content_type(file.mime_type).body(file.bytes)
        }
        _ => HttpResponse::NotFound().finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_files_are_removed_when_there_are_too_many() {
        let file = |length: usize| File {
            phone_number_id: "1".to_owned(),
            mime_type: "image/png".to_owned(),
            bytes: Bytes::from(vec![0; length]),
        };
        let mut library = Library::default();
        let ids = [MOST_BYTES / 2, MOST_BYTES / 2, 1].map(|length| library.add(file(length)));
        assert_eq!(library.files.keys().copied().collect::<Vec<_>>(), ids[1..]);
        library.remove(ids[1]);
        assert_eq!(library.bytes, 1);
    }
}
