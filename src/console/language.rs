//! The language that a browser prefers.

use actix_web::http::header::{ACCEPT_LANGUAGE, HeaderMap};

pub(super) use crate::domain::user::Language;

/// The language of a request without a person; English when the browser names none of ours.
pub(super) fn accepted(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Language::accepted(accepted.unwrap_or_default())
}
