//! Resumable uploads: the samples of headers, and pictures of profiles. A session is opened with the file's length and type, gets
//! the bytes, and gives the handle by which the file is named.

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::json;

use super::error::GraphError;
use super::graph::Parameters;
use super::reply::answer;
use super::send::bearer;
use super::world::World;

/// The beginning of every handle.
pub(super) const HANDLE: &str = "4::";
/// The types of files that the provider takes.
const TYPES: [&str; 5] = ["application/pdf", "image/jpeg", "image/jpg", "image/png", "video/mp4"];

/// `POST /{app_id}/uploads?file_length=…&file_type=…`.
pub(super) async fn open(world: Data<World>, query: Parameters, request: HttpRequest) -> HttpResponse {
    let verdict = world.admit(bearer(&request)).and_then(|()| {
        let bytes = query.get("file_length").and_then(|length| length.parse::<usize>().ok());
        let bytes = bytes.filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or_else(|| GraphError::because(100, "file_length must be a number of bytes"))?;
        let kind = query.get("file_type").map(String::as_str).unwrap_or_default();
        if !TYPES.contains(&kind) {
            return Err(GraphError::because(100, format!("file_type must be one of {}", TYPES.join(", "))));
        }
        // The provider's have a signature as a query, too.
        Ok(json!({ "id": format!("upload:{bytes}x{:x}?sig=simulated", rand::random::<u64>()) }))
    });
    answer(&world, None, &verdict)
}

/// `POST /upload:…`, with the bytes as the body.
pub(super) async fn take(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    let (_, session) = path.into_inner();
    let verdict = world.admit(bearer(&request)).and_then(|()| {
        let wanted = length(&session)?;
        if request.headers().get("file_offset").is_none_or(|offset| offset.as_bytes() != b"0") {
            return Err(GraphError::because(100, "file_offset must be 0: nothing was uploaded yet"));
        }
        if body.len() != wanted {
            let details = format!("the session is for {wanted} bytes, and {} came", body.len());
            return Err(GraphError::because(100, details));
        }
        Ok(json!({ "h": format!("{HANDLE}{:x}", rand::random::<u128>()) }))
    });
    answer(&world, None, &verdict)
}

/// `GET /upload:…`: how much has arrived, which is nothing before everything has.
pub(super) async fn show(
    world: Data<World>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (_, session) = path.into_inner();
    let verdict = world
        .admit(bearer(&request))
        .and_then(|()| length(&session))
        .map(|_| json!({ "id": session, "file_offset": 0 }));
    answer(&world, None, &verdict)
}

/// The number of bytes that a session is for.
fn length(session: &str) -> Result<usize, GraphError> {
    let bytes = session.strip_prefix("upload:").and_then(|rest| rest.split_once('x'));
    bytes.and_then(|(bytes, _)| bytes.parse().ok()).ok_or_else(|| GraphError::unknown_object(session))
}
