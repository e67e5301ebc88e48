//! The middleware of every console route. It checks origin, session and role, and adds headers and error pages to the
//! response.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, REFERER,
    REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use url::Url;

use super::access::Access;
use super::answer::redirect;
use super::error::{Error, Result};
use super::layout;
use super::visitor::{Person, Visitor};
use super::{State, cookie, rest, unread, unsent};
use crate::accounts::Role;
use crate::engine::panic_message;
use crate::surface::Listener;
use crate::surface::paths::Allow;

/// Allows only our own scripts, styles and pictures, from files; forms and live parts only to this host; no
/// frames or plugins.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                              connect-src 'self'; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The header in which a browser says how the requesting page is related to ours.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Forms that a person may send however often: a preview changes nothing and is sent while a person types, and a person
/// can always sign out.
const UNPACED: [&str; 3] = ["/console/sends/preview", "/console/contacts/number", "/console/sign-out"];

/// The first page after signing in, and the one of agents, who do not see it.
const START: &str = "/console";
const INBOX: &str = "/console/inbox";

/// Why a request does not reach its handler.
enum Stop {
    /// The answer is a page that says why.
    Fault(Error),
    /// The answer redirects to another page.
    Elsewhere(String),
    /// The same, but the form that was sent is kept on a page, if it can be.
    Unsent(String),
}

/// Passes a request to its handler if that is allowed, and completes the answer.
pub(super) async fn pass(
    access: Access,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, actix_web::Error> {
    request.extensions_mut().insert(access);
    let mut response = match admit(access, &request).await {
        Ok(()) => {
            let own = request.request().clone();
            match AssertUnwindSafe(next.call(request)).catch_unwind().await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => ServiceResponse::from_err(error, own),
                Err(panic) => {
                    tracing::error!(panic = panic_message(&*panic), "a page panicked");
                    ServiceResponse::from_err(Error::Internal, own)
                }
            }
        }
        Err(Stop::Fault(error)) => {
            let (request, _) = request.into_parts();
            ServiceResponse::from_err(error, request)
        }
        Err(Stop::Elsewhere(place)) => request.into_response(redirect(&place)),
        Err(Stop::Unsent(place)) => {
            let is_typed = request.match_pattern().is_some_and(|pattern| unsent::is_typed(&pattern));
            let (request, mut payload) = request.into_parts();
            let kept = if is_typed { unsent::page(&request, &mut payload, &place).await } else { None };
            ServiceResponse::new(request, kept.unwrap_or_else(|| redirect(&place)))
        }
    };
    response = explain(response);
    complete(response.headers_mut());
    Ok(rest::receive(response))
}

/// Reads the session, and checks origin and role.
async fn admit(access: Access, request: &ServiceRequest) -> Result<(), Stop> {
    if access == Access::Asset {
        return Ok(());
    }
    let state = request.app_data::<Data<State>>().ok_or(Stop::Fault(Error::Internal))?;
    let is_changing = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let headers = request.headers();
    let client = state.client(request.peer_addr(), headers);
    if is_changing && !is_same_origin(headers, state.options.public_url.as_ref()) {
        request.extensions_mut().insert(Visitor::new(headers, client, None));
        return Err(Stop::Fault(Error::OtherOrigin));
    }
    let session = match cookie::session(headers, client.is_https) {
        Some(token) => state.session(token, Listener::of(request.request())).await,
        None => Ok(None),
    };
    let failed = session.as_ref().is_err();
    let session = session.unwrap_or_else(|error| {
        tracing::warn!(%error, "the session could not be looked up");
        None
    });
    if is_changing && access == Access::Public {
        let peer = request.peer_addr().map(|address| address.ip());
        state.hidden.look(&state.options.proxies, peer, headers, state.is_reached_over_https());
    }
    let mut visitor = Visitor::new(headers, client, session);
    // The body of this request counts against this sender's share of the memory.
    request.extensions_mut().insert(visitor.sender());
    let verdict = judge(access, visitor.person.as_ref());
    if verdict == Passage::Refused
        && request.path() == START
        && visitor.person.as_ref().is_some_and(Person::is_agent)
    {
        return Err(Stop::Elsewhere(INBOX.to_owned()));
    }
    if let Some(person) = visitor.person.as_mut().filter(|_| verdict == Passage::Pass && !is_changing) {
        person.unread = unread::of(state, person).await;
    }
    let signed_in = visitor.person.as_ref().map(|person| (person.session, person.signed_in.user.id));
    request.extensions_mut().insert(visitor);
    match (verdict, signed_in) {
        (Passage::Pass, Some((session, person))) if is_changing && !UNPACED.contains(&request.path()) => {
            let paced = state.pace.admit(session, person, Instant::now());
            paced.map_err(|wait| Stop::Fault(Error::TooMany(wait)))
        }
        (verdict, _) => {
            let end = match cookie::session(headers, client.is_https) {
                Some(token) if verdict == Passage::SignIn && !failed => Some(end_of(state, token).await),
                _ => None,
            };
            conclude(verdict, failed, request, is_changing, end)
        }
    }
}

/// Why the session of a cookie with this token is over, in the word that the page for signing in takes.
async fn end_of(state: &State, token: &str) -> &'static str {
    match state.accounts.expired_session(token).await {
        Ok(Some((_, expiry))) => unsent::word(expiry),
        Ok(None) => unsent::ENDED,
        Err(error) => {
            tracing::warn!(%error, "why a session ended could not be looked up");
            unsent::ENDED
        }
    }
}

fn conclude(
    verdict: Passage,
    failed: bool,
    request: &ServiceRequest,
    is_changing: bool,
    end: Option<&'static str>,
) -> Result<(), Stop> {
    match verdict {
        Passage::Pass => Ok(()),
        Passage::Refused => Err(Stop::Fault(Error::Forbidden)),
        _ if failed => Err(Stop::Fault(Error::Unavailable)),
        Passage::SignIn => {
            let next = next(request, is_changing);
            Err(match end {
                // The browser keeps the cookie of a session that has ended, and loses it when the person signs out.
                Some(end) if is_changing => Stop::Unsent(format!("/console/sign-in?ended={end}&{next}")),
                Some(end) => Stop::Elsewhere(format!("/console/sign-in?ended={end}&{next}")),
                None => Stop::Elsewhere(format!("/console/sign-in?{next}")),
            })
        }
        Passage::Choose => Err(Stop::Elsewhere(format!("/console/companies?{}", next(request, is_changing)))),
    }
}

/// The decision on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passage {
    Pass,
    SignIn,
    Choose,
    Refused,
}

fn judge(access: Access, person: Option<&Person>) -> Passage {
    let within = |allowed: &dyn Fn(Role) -> bool| match person {
        None => Passage::SignIn,
        Some(Person { company: None, .. }) => Passage::Choose,
        Some(Person { company: Some(company), .. }) if allowed(company.role) => Passage::Pass,
        Some(_) => Passage::Refused,
    };
    match access {
        Access::Asset | Access::Public => Passage::Pass,
        Access::SignedIn => person.map_or(Passage::SignIn, |_| Passage::Pass),
        Access::Inbox => within(&|_| true),
        Access::Agent => within(&Role::answers),
        Access::Viewer => within(&Role::sees_company),
        Access::Member => within(&|role| matches!(role, Role::Member | Role::Owner)),
        Access::Owner => within(&|role| role == Role::Owner),
        Access::Operator => match person {
            None => Passage::SignIn,
            Some(person) if person.is_operator() => Passage::Pass,
            Some(_) => Passage::Refused,
        },
    }
}

/// Where a person continues after signing in: at the page of the request, or for a form at the page that had
/// the form.
fn next(request: &ServiceRequest, is_changing: bool) -> String {
    let own = || request.uri().path_and_query().map_or("/console", |path| path.as_str()).to_owned();
    let from_page = || {
        let page = Url::parse(request.headers().get(REFERER)?.to_str().ok()?).ok()?;
        Some(page.query().map_or_else(|| page.path().to_owned(), |query| format!("{}?{query}", page.path())))
    };
    let place = if is_changing { from_page().unwrap_or_else(|| "/console".to_owned()) } else { own() };
    url::form_urlencoded::Serializer::new(String::new()).append_pair("next", inner(&place)).finish()
}

/// A place that `next` may redirect to: a page of the console, and never another host.
pub(super) fn inner(place: &str) -> &str {
    let is_page = place == "/console" || place.starts_with("/console/") || place.starts_with("/console?");
    let is_plain = place.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let leads_in_circles = place.starts_with("/console/sign-in") || place.starts_with("/console/companies");
    if is_page && is_plain && !leads_in_circles { place } else { "/console" }
}

/// Whether a request for a change comes from one of our pages. Each header that a browser sends as proof must
/// agree, and there must be at least one.
fn is_same_origin(headers: &HeaderMap, public: Option<&Url>) -> bool {
    let said = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let (site, origin) = (said(SEC_FETCH_SITE), said(ORIGIN));
    let is_own = |origin: &str| {
        let Ok(origin) = Url::parse(origin) else { return false };
        let is_public = public.is_some_and(|public| public.origin() == origin.origin());
        let host = said(HOST).and_then(|host| Url::parse(&format!("{}://{host}", origin.scheme())).ok());
        is_public || host.is_some_and(|host| host.origin() == origin.origin() && host.has_host())
    };
    match (site, origin) {
        (None, None) => false,
        (site, origin) => site.is_none_or(|site| site == "same-origin") && origin.is_none_or(is_own),
    }
}

/// Adds a page to an error without one.
fn explain(response: ServiceResponse) -> ServiceResponse {
    let error = response.response().error();
    let is_failure = response.status().is_client_error() || response.status().is_server_error();
    if error.is_none() || !is_failure {
        return response;
    }
    let (request, response) = response.into_parts();
    let own = response.error().and_then(|error| error.as_error::<Error>());
    // The library's extractors refuse requests that none of our pages makes.
    let error = own.unwrap_or(&Error::NotFound);
    let mut shown = layout::fault(&request, error);
    if let Some(wait) = error.retry_after() {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        shown.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
    if matches!(error, Error::OtherMethod)
        && let Some(allow) =
            request.app_data::<Allow>().and_then(|Allow(allow)| HeaderValue::from_str(allow).ok())
    {
        shown.headers_mut().insert(ALLOW, allow);
    }
    ServiceResponse::new(request, shown)
}

fn complete(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if !headers.contains_key(VARY) {
        headers.insert(VARY, HeaderValue::from_static("accept-encoding, accept-language, cookie"));
    }
}

/// Answers a known path with a method that it does not have.
pub(super) async fn other_method(request: HttpRequest) -> Result<HttpResponse> {
    if request.method() == Method::OPTIONS {
        let Allow(allow) = request.app_data::<Allow>().ok_or(Error::Internal)?.clone();
        return Ok(HttpResponse::build(StatusCode::NO_CONTENT).insert_header((ALLOW, allow)).finish());
    }
    Err(Error::OtherMethod)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_may_change_something() {
        let public = Url::parse("https://pombo.example").unwrap();
        for (site, origin, expected) in [
            (None, None, false),
            (Some("same-origin"), None, true),
            (None, Some("http://pombo.test:8080"), true),
            (Some("same-origin"), Some("http://pombo.test:8080"), true),
            (Some("same-origin"), Some("https://pombo.example"), true),
            (Some("cross-site"), Some("http://pombo.test:8080"), false),
            (Some("same-site"), Some("http://pombo.test:8080"), false),
            (Some("none"), None, false),
            (Some("same-origin"), Some("http://pombo.test"), false),
            (None, Some("http://pombo.test:8081"), false),
            (None, Some("http://evil.example"), false),
            (None, Some("http://pombo.example"), false),
            (None, Some("null"), false),
            (None, Some(""), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("pombo.test:8080"));
            for (name, value) in [(SEC_FETCH_SITE, site), (ORIGIN, origin)] {
                if let Some(value) = value {
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
            assert_eq!(is_same_origin(&headers, Some(&public)), expected, "{site:?} {origin:?}");
        }
    }

    #[test]
    fn next_leads_to_no_other_host() {
        for place in ["/console", "/console/keys", "/console?x=1", "/console/sends/1?page=2"] {
            assert_eq!(inner(place), place);
        }
        for place in [
            "",
            "//evil.example",
            "/consolex",
            "https://evil.example/console/",
            "/console/\\evil",
            "/console/a b",
            "/console/sign-in?next=/console/sign-in",
            "/metrics",
        ] {
            assert_eq!(inner(place), "/console", "{place}");
        }
    }
}
