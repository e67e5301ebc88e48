//! The address at which the person's browser reaches the service, for links and commands to copy.

use actix_web::HttpRequest;
use actix_web::http::header::HOST;
use url::Url;

use super::State;
use super::visitor::Visitor;

/// The address of the service without a slash at its end: the configured one, or else the host of this
/// request.
pub(super) fn base(request: &HttpRequest, state: &State) -> String {
    if let Some(public) = &state.options.public_url {
        return public.as_str().trim_end_matches('/').to_owned();
    }
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_https = Visitor::of(request).is_ok_and(|visitor| visitor.is_https);
    let scheme = if is_https { "https" } else { "http" };
    // The host is parsed, so that a command that a person pastes contains nothing but a host and a port.
    let origin = Url::parse(&format!("{scheme}://{host}")).ok().filter(Url::has_host).map(|url| url.origin());
    origin.map_or_else(|| "http://127.0.0.1:8080".to_owned(), |origin| origin.ascii_serialization())
}
