//! The headers of every page that a browser shows.

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};

/// Forbids content from other hosts, frames around the page, and scripts or objects other than our own files.
/// The API reference sets styles by script, and its pictures are in its styles.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                              img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
                              form-action 'none'; frame-ancestors 'none'";

/// Adds the headers that keep a browser from running or embedding anything else.
pub(super) fn harden(answer: &mut HttpResponseBuilder) {
    answer
        .insert_header((CONTENT_SECURITY_POLICY, CONTENT_POLICY))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"));
}
