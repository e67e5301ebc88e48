//! The key of a request: every way in which programs give it to Meta.

use actix_web::HttpMessage as _;
use actix_web::HttpRequest;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};

use super::GraphState;
use super::passing::OF_META;
use super::refusal::DoorRefusal;
use crate::domain::scope::Scope;
use crate::engine::Caller;
use crate::surface::body::Sender;

/// The schemes of the header `Authorization`.
const SCHEMES: [&str; 2] = ["bearer", "oauth"];
/// The field and the parameter with a key.
pub(super) const ACCESS_TOKEN: &str = "access_token";

/// The key in the head of a request: in a header, or in the address.
pub(super) fn in_head(headers: &HeaderMap, query: &[(String, String)]) -> Option<String> {
    let named = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = authorization.and_then(|value| {
        let (scheme, token) = value.trim().split_once(' ')?;
        SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(token)
    });
    let token = token.or_else(|| named("x-api-key")).map(str::trim);
    let in_query = || query.iter().find(|(name, _)| name == ACCESS_TOKEN).map(|(_, value)| value.as_str());
    token.or_else(in_query).filter(|token| !token.is_empty()).map(str::to_owned)
}

/// The caller with this key, if the key may be used here and the company's allowance of requests is not used up.
pub(super) async fn admit(
    state: &GraphState,
    request: &HttpRequest,
    key: &str,
) -> Result<Caller, DoorRefusal> {
    let found = state.engine.authenticate(key).await?;
    let caller = found.ok_or_else(|| {
        DoorRefusal::bad_key(if key.starts_with(OF_META) {
            "this token is Meta's, and this request does not go on to Meta: give an API key with the scope `graph`"
        } else {
            "this API key is unknown, revoked or expired"
        })
    })?;
    // The body of this request counts against this sender's share of the memory.
    request.extensions_mut().insert(Sender::Company(caller.company_id));
    let admitted = state.engine.admit_request(&caller);
    let allowance = admitted.as_ref().map_or_else(|refused| Some(refused.allowance), |left| *left);
    if let Some(allowance) = allowance {
        // For the answer's fields.
        request.extensions_mut().insert(allowance);
    }
    admitted.map_err(|refused| DoorRefusal::too_many(refused.wait))?;
    if !caller.scopes.has(Scope::Graph) {
        let details = "this API key does not have the scope `graph`: use one that has it";
        return Err(DoorRefusal::because(10, details));
    }
    Ok(caller)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn read(header: (&'static str, &'static str), query: &[(&str, &str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        if !header.0.is_empty() {
            headers.insert(HeaderName::from_static(header.0), HeaderValue::from_static(header.1));
        }
        let query: Vec<_> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        in_head(&headers, &query)
    }

    #[test]
    fn a_key_is_read_wherever_programs_give_it() {
        for header in [
            ("authorization", "Bearer k"),
            ("authorization", "bearer  k "),
            ("authorization", "OAuth k"),
            ("x-api-key", "k"),
        ] {
            assert_eq!(read(header, &[]).as_deref(), Some("k"), "{header:?}");
        }
        assert_eq!(read(("", ""), &[("access_token", "k")]).as_deref(), Some("k"));
        assert_eq!(read(("authorization", "Bearer a"), &[("access_token", "b")]).as_deref(), Some("a"));
        for header in [("", ""), ("authorization", "Basic k"), ("authorization", "k"), ("x-api-key", "")] {
            assert_eq!(read(header, &[("access_token", "")]), None, "{header:?}");
        }
    }
}
