//! Authentication of companies: a handler whose signature takes [`Company`] runs only for an authenticated
//! caller.

use actix_web::dev::Payload;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use futures_util::future::LocalBoxFuture;
use uuid::Uuid;

use super::State;
use super::error::Error;
use super::parameters;
use super::route::{Access, Accesses, Listener};
use crate::accounts::Bearer;
use crate::domain::scope::{Scope, Scopes};
use crate::engine::{self, Caller, Who, company_disabled};
use crate::error::Code;
use crate::surface::body::Sender;
use crate::surface::paths::Argument;
use crate::vault::api_key::SESSION_PREFIX;

/// The company whose API key the request carries. The key is valid and has the scope in the table of routes,
/// and the company's allowance of requests is not used up. Otherwise a handler that takes a `Company` is not
/// called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Company {
    pub(super) id: Uuid,
}

impl Argument for Company {}

impl FromRequest for Company {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { Ok(Self { id: admit(&request).await?.0.company_id }) })
    }
}

/// A [`Company`] whose changes and exports are recorded: the record names the key, or the person of a session.
#[derive(Debug, Clone)]
pub(super) struct Author {
    pub(super) company: Company,
    /// The caller's name in the record of changes.
    pub(super) who: Who,
}

impl Argument for Author {}

impl FromRequest for Author {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let (caller, person) = admit(&request).await?;
            let who = person.unwrap_or_else(|| Who::Key(caller.key_name.to_string()));
            Ok(Self { company: Company { id: caller.company_id }, who })
        })
    }
}

/// The caller, if the key or token may be used for the route, its allowance is not used up, and the parameters are known; and the
/// person of a session's token.
async fn admit(request: &HttpRequest) -> Result<(Caller, Option<Who>), Error> {
    let key = bearer(request.headers()).ok_or_else(|| {
        let sentence = "give the Authorization header once, as `Bearer <API key>`";
        Error::refused(Code::InvalidAuthHeader, sentence)
    })?;
    let state = request.app_data::<Data<State>>().ok_or(Error::Internal)?;
    let access = request.app_data::<Accesses>().and_then(|accesses| accesses.of(request.method()));
    let (access, scope) = access.and_then(|access| Some((access, access.scope()?))).ok_or(Error::Internal)?;
    let caller = match access {
        Access::CompanyOrSession if key.starts_with(SESSION_PREFIX) => {
            of_session(state, key, request).await?
        }
        _ => state.engine.authenticate(key).await?.map(|caller| (caller, None)),
    };
    let (caller, person) = caller
        .ok_or_else(|| Error::refused(Code::InvalidApiKey, "this API key is unknown, revoked or expired"))?;
    // The body of this request counts against this sender's share of the memory.
    request.extensions_mut().insert(Sender::Company(caller.company_id));
    let admitted = state.engine.admit_request(&caller);
    let allowance = admitted.as_ref().map_or_else(|refused| Some(refused.allowance), |left| *left);
    if let Some(allowance) = allowance {
        // For the answer's fields.
        request.extensions_mut().insert(allowance);
    }
    admitted.map_err(Error::RateLimited)?;
    if !caller.scopes.has(scope) {
        let sentence = format!("this API key does not have the scope `{scope}`: use one that has it");
        return Err(Error::refused(Code::InsufficientScope, sentence));
    }
    parameters::check(request)?;
    Ok((caller, person))
}

/// The caller whose session in the console has this token, and the person.
async fn of_session(
    state: &State,
    token: &str,
    request: &HttpRequest,
) -> Result<Option<(Caller, Option<Who>)>, Error> {
    let bearer = state.accounts.bearer(token).await?;
    let listener = Listener::of(request);
    let bearer = bearer.filter(|bearer| bearer.is_member || listener.admits_operators());
    if bearer.as_ref().is_some_and(|bearer| bearer.is_company_disabled) {
        return Err(engine::Error::from(company_disabled()).into());
    }
    let connected = request.peer_addr().map(|address| address.ip());
    let address = state.options.proxies.client(connected, request.headers()).address;
    Ok(bearer.map(|Bearer { session_id, email, company_id, tier, .. }| {
        let caller = Caller {
            company_id,
            key_id: session_id,
            key_name: "".into(),
            tier: tier.into(),
            scopes: Scopes::from_iter([Scope::Contacts]),
            channels: None,
        };
        (caller, Some(Who::User { email, address }))
    }))
}

/// The token of the only `Authorization` header, if its scheme is `Bearer` in any case.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION);
    let (only, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("Bearer") && is_one_word).then_some(token)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn read(values: &[&[u8]]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn the_scheme_is_compared_without_case() {
        for header in ["Bearer k", "bearer k", "BEARER  k "] {
            assert_eq!(read(&[header.as_bytes()]).as_deref(), Some("k"), "{header}");
        }
    }

    #[test]
    fn anything_else_than_one_bearer_token_is_malformed() {
        let malformed: [&[&[u8]]; 9] = [
            &[],
            &[b""],
            &[b"Bearer"],
            &[b"Bearer "],
            &[b"k"],
            &[b"Basic k"],
            &[b"Bearer k l"],
            &[b"Bearer k\xff"],
            &[b"Bearer k", b"Bearer k"],
        ];
        for values in malformed {
            assert_eq!(read(values), None, "{values:?}");
        }
    }
}
