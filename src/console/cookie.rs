//! The console's cookies: the session, the device that people signed in on before, the language of visitors who are not
//! signed in, and the time zone of the browser.

use std::time::Duration;

use actix_web::http::header::{COOKIE, HeaderMap};

/// The language that a visitor chose.
pub(super) const LANGUAGE: &str = "pombo_language";
/// The time zone of the browser, which the script of every page writes.
pub(super) const ZONE: &str = "pombo_zone";
/// The session's token, over http.
const SESSION: &str = "pombo_session";
/// The same over https: a browser accepts it only from this host, and never sends it over http.
const SECURE_SESSION: &str = "__Host-pombo_session";
/// The token by which a device is known, over http.
const DEVICE: &str = "pombo_device";
/// The same over https.
const SECURE_DEVICE: &str = "__Host-pombo_device";
/// How long a browser keeps the session; the service ends an unused session sooner.
const SESSION_KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How long a browser keeps the token of the device: longer than the service, and as long as browsers allow.
const DEVICE_KEPT: Duration = Duration::from_secs(400 * 24 * 3_600);
/// How long a browser keeps the language.
const LANGUAGE_KEPT: Duration = Duration::from_secs(365 * 24 * 3_600);

/// The name of the session's cookie.
const fn name(is_secure: bool) -> &'static str {
    if is_secure { SECURE_SESSION } else { SESSION }
}

/// The name of the device's cookie.
const fn device_name(is_secure: bool) -> &'static str {
    if is_secure { SECURE_DEVICE } else { DEVICE }
}

/// The value of a cookie.
pub(super) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(COOKIE).filter_map(|cookies| cookies.to_str().ok());
    let mut pairs =
        pairs.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The session's token.
pub(super) fn session(headers: &HeaderMap, is_secure: bool) -> Option<&str> {
    value(headers, name(is_secure)).filter(|token| !token.is_empty())
}

/// The token by which the device may be known.
pub(super) fn device(headers: &HeaderMap, is_secure: bool) -> Option<&str> {
    value(headers, device_name(is_secure)).filter(|token| !token.is_empty())
}

/// Sets the cookie of the device.
pub(super) fn known_device(token: &str, is_secure: bool) -> String {
    written(device_name(is_secure), token, DEVICE_KEPT, is_secure)
}

/// Sets the session's cookie.
pub(super) fn begin(token: &str, is_secure: bool) -> String {
    written(name(is_secure), token, SESSION_KEPT, is_secure)
}

/// Removes the session's cookie.
pub(super) fn end(is_secure: bool) -> String {
    written(name(is_secure), "", Duration::ZERO, is_secure)
}

/// Sets the cookie of a visitor's language.
pub(super) fn language(tag: &str, is_secure: bool) -> String {
    written(LANGUAGE, tag, LANGUAGE_KEPT, is_secure)
}

fn written(name: &str, value: &str, kept: Duration, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Lax{secure}", kept.as_secs())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; pombo_session=t0ken"));
        headers.append(COOKIE, HeaderValue::from_static("pombo_language=es;x"));
        assert_eq!((session(&headers, false), session(&headers, true)), (Some("t0ken"), None));
        assert_eq!(value(&headers, LANGUAGE), Some("es"));
    }

    #[test]
    fn over_https_the_session_is_bound_to_the_host() {
        let kept = "Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax";
        assert_eq!(begin("x", false), format!("pombo_session=x; {kept}"));
        assert_eq!(begin("x", true), format!("__Host-pombo_session=x; {kept}; Secure"));
        assert_eq!(end(false), "pombo_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }
}
