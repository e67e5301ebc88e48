//! Requests of programs that go on to the provider, and its answers as they are.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use serde::de::IgnoredAny;

use super::{BEARER, Connections, OAUTH, address, authorization, failure, read_most};
use crate::Error;
use crate::file_store::Bytes;
use domain::secret::Secret;

/// From the start of a request to the end of its answer: programs wait no longer.
const WITHIN: Duration = Duration::from_secs(10);
/// The same for a file that is uploaded.
const FILE_WITHIN: Duration = Duration::from_secs(60);
/// The longest answer, in bytes: a hundred templates.
const LONGEST: usize = 2 * 1024 * 1024;

/// Whether a body is a form with a file.
fn has_file(body: Option<&(&str, Bytes)>) -> bool {
    body.is_some_and(|(kind, _)| kind.trim().to_ascii_lowercase().starts_with("multipart/form-data"))
}

/// A request that goes on to the provider.
#[derive(Debug)]
pub struct PassedRequest<'r> {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'r str,
    /// The segments of its path, without a version.
    pub path: Vec<&'r str>,
    /// The parameters of its address, without tokens.
    pub query: Vec<(&'r str, &'r str)>,
    /// The type and the bytes of its body, if it has one.
    pub body: Option<(&'r str, Bytes)>,
    /// Where the body begins in a file that is uploaded in a session; `None` for every other request.
    pub file_offset: Option<u64>,
}

/// The provider's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedAnswer {
    /// The HTTP status; no redirection.
    pub status: u16,
    /// The body, which is JSON.
    pub body: Vec<u8>,
    /// The seconds after which the request may be repeated, if the provider says so.
    pub retry_after: Option<u64>,
}

impl Connections {
    /// Passes a request on with this token.
    ///
    /// # Errors
    ///
    /// When the provider does not answer within ten seconds, or a minute for a file or a form with one, or with something else
    /// than JSON of at most 2 MiB.
    pub async fn pass_on(
        &self,
        options: &config::CloudApi,
        token: &Secret,
        request: PassedRequest<'_>,
    ) -> Result<PassedAnswer, Error> {
        let PassedRequest { method, path, query, body, file_offset } = request;
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| Error::NoAnswer("the request has no method".to_owned()))?;
        let scheme = if file_offset.is_some() { OAUTH } else { BEARER };
        let within = if file_offset.is_some() || has_file(body.as_ref()) { FILE_WITHIN } else { WITHIN };
        let mut passed = self.0.request(method, address(options, &path)?).timeout(within);
        passed = passed.header(AUTHORIZATION, authorization(scheme, token)?);
        if let Some(offset) = file_offset {
            passed = passed.header("file_offset", offset);
        }
        if !query.is_empty() {
            passed = passed.query(&query);
        }
        if let Some((kind, bytes)) = body {
            passed = passed.header(CONTENT_TYPE, kind).body(bytes);
        }
        let answer = passed.send().await.map_err(|error| Error::NoAnswer(failure(&error).sentence))?;
        let status = answer.status();
        let retry_after =
            answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = read_most(answer, LONGEST).await.map_err(|failure| Error::NoAnswer(failure.sentence))?;
        if status.is_redirection() || serde_json::from_slice::<IgnoredAny>(&body).is_err() {
            let sentence = format!("the provider answered with the status {} and no JSON", status.as_u16());
            return Err(Error::NoAnswer(sentence));
        }
        Ok(PassedAnswer { status: status.as_u16(), body, retry_after })
    }
}
