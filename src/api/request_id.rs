//! The id of a request, which logs and the answer contain.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// The header in requests and answers.
pub(super) const NAME: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is accepted from a client.
const MAX_BYTES: usize = 128;

/// The client's id if it is valid, otherwise a new id.
pub(super) fn choose(headers: &HeaderMap) -> HeaderValue {
    match headers.get(NAME) {
        Some(given) if is_sane(given.as_bytes()) => given.clone(),
        _ => fresh(),
    }
}

fn is_sane(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=MAX_BYTES).contains(&id.len()) && id.iter().all(plain)
}

/// A new id.
pub(super) fn fresh() -> HeaderValue {
    let mut buffer = Uuid::encode_buffer();
    let id = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
    // Hexadecimal digits and hyphens always make a header's value.
    HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sane_id_is_accepted() {
        let chosen = |given: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(NAME, HeaderValue::from_str(given).unwrap());
            choose(&headers).to_str().unwrap().to_owned()
        };
        assert_eq!(chosen("job-7_a.B"), "job-7_a.B");
        assert_eq!(chosen(&"a".repeat(128)).len(), 128);
        for insane in ["", "a b", "a/b", "{}", "\"x\"", &"a".repeat(129)] {
            let id = chosen(insane);
            assert_eq!(Uuid::parse_str(&id).unwrap().get_version_num(), 7, "{insane}");
        }
    }
}
