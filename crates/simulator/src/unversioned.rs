//! Requests without a version in their path, which the provider treats as requests of the app's own version.

use actix_web::dev::ServiceRequest;
use actix_web::http::Uri;
use actix_web::http::uri::PathAndQuery;

/// The version that such requests use.
const NEWEST: &str = "v26.0";

/// Puts a version before a path that begins with the id of an object, or of an upload.
pub(super) fn to_newest(request: &mut ServiceRequest) {
    let first = request.path().split('/').nth(1).unwrap_or_default();
    let is_id = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    if !is_id && !first.starts_with("upload:") {
        return;
    }
    let mut parts = request.uri().clone().into_parts();
    let path = parts.path_and_query.as_ref().map_or("/", PathAndQuery::as_str);
    let Ok(path) = format!("/{NEWEST}{path}").parse::<PathAndQuery>() else { return };
    parts.path_and_query = Some(path);
    let Ok(uri) = Uri::from_parts(parts) else { return };
    request.match_info_mut().get_mut().update(&uri);
    request.head_mut().uri = uri;
}
