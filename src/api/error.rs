//! Converts refusals and failures into HTTP answers.
//!
//! A client gets a [`Refusal`]'s code and sentence, or an apology that contains no internal details. The
//! apology is written by [`super::observe`], which also handles panics.

use std::fmt;
use std::time::Duration;

use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use serde::Serialize;
use utoipa::ToSchema;

use super::rate_limit::{self, whole_seconds};
use super::skipped::{SkippedRecord, skipped_records};
use crate::accounts;
use crate::domain::limit::Spent;
use crate::domain::request::Skipped;
use crate::engine::{self, Exhausted};
use crate::error::{Class, Code, Refusal};
use crate::surface::paths::Allow;

/// The default of `Retry-After`.
pub(super) const RETRY_SOON: Duration = Duration::from_secs(1);

/// The body of every refusal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorBody<'a> {
    /// One sentence for a person: what is wrong and what to do about it.
    #[schema(example = "`type` is missing: give one of text, image, video, audio, document")]
    pub(super) error: &'a str,
    /// For programs; a code never changes.
    #[schema(example = "missing_type")]
    pub(super) code: &'static str,
    /// For `no_valid_recipients`, where entries were skipped: their number.
    #[schema(value_type = u64, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped_count: Option<u64>,
    /// For `no_valid_recipients`: the first hundred of them, as in the answer to an accepted send.
    #[schema(value_type = Vec<SkippedRecord>, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Vec<SkippedRecord>>,
}

impl<'a> ErrorBody<'a> {
    pub(super) const fn new(error: &'a str, code: Code) -> Self {
        Self { error, code: code.as_str(), skipped_count: None, skipped: None }
    }

    fn of_nobody(error: &'a str, code: Code, skipped: &Skipped) -> Self {
        let body = Self::new(error, code);
        if skipped.count == 0 {
            return body;
        }
        let shown = Some(skipped_records(skipped.clone()));
        Self { skipped_count: Some(skipped.count), skipped: shown, ..body }
    }
}

/// The body of a refusal in the older form of web sessions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(super) struct MessageBody {
    /// One sentence for a person.
    #[schema(example = "Unknown Channel")]
    message: &'static str,
}

/// The body after an internal failure. It contains no internal details.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Apology {
    /// One sentence for a person.
    #[schema(example = "internal server error")]
    error: &'static str,
}

/// Why a request is refused or fails.
#[derive(Debug)]
pub(super) enum Error {
    /// Refused, with a code from the table.
    Refused(Refusal),
    /// Refused, because nobody is left to send to.
    Nobody(Refusal, Skipped),
    /// A web-session send to a channel that the company does not have.
    UnknownChannel,
    /// The path exists, the method does not.
    MethodNotAllowed(String),
    /// The company makes too many requests.
    RateLimited(Exhausted),
    /// The request comes too soon for its channel: when to retry, why, and which allowance is used up.
    TooSoon(Duration, String, Spent),
    /// The request may succeed later.
    Unavailable(Duration),
    /// A defect of ours, which was logged where it happened.
    Internal,
}

impl Error {
    pub(super) fn refused(code: Code, sentence: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(code, sentence))
    }

    pub(super) fn no_such_path() -> Self {
        Self::refused(
            Code::NotFound,
            "there is nothing at this path: see /docs for the paths of this service",
        )
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<engine::records::QueryError> for Error {
    fn from(error: engine::records::QueryError) -> Self {
        engine::Error::from(error).into()
    }
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Refused(refusal) => Self::Refused(refusal),
            engine::Error::Nobody { refusal, skipped } => Self::Nobody(refusal, skipped),
            engine::Error::TooSoon { retry_after, sentence, spent } => {
                Self::TooSoon(retry_after, sentence, spent)
            }
            engine::Error::Unavailable { retry_after } => Self::Unavailable(retry_after),
            engine::Error::Internal => Self::Internal,
        }
    }
}

impl From<accounts::Error> for Error {
    fn from(error: accounts::Error) -> Self {
        match error {
            accounts::Error::Store(error) => engine::Error::from(error).into(),
            accounts::Error::TooMany { retry_after } => Self::Unavailable(retry_after),
            accounts::Error::Invalid { field, fault } => {
                Self::refused(Code::InvalidField, format!("`{field}` {fault}"))
            }
            accounts::Error::CommonPassword => {
                Self::refused(Code::InvalidField, "`password` is easy to guess: choose another one")
            }
            accounts::Error::Exists => Self::refused(
                Code::AlreadyExists,
                "there is a user with this e-mail already: GET /operator/v1/users lists the users",
            ),
            accounts::Error::NotFound => Self::refused(
                Code::UserNotFound,
                "there is no user with this id: GET /operator/v1/users lists the users",
            ),
            // No request of the API signs a user in, uses a link or removes a role.
            accounts::Error::Refused
            | accounts::Error::LinkGone
            | accounts::Error::LastOwner
            | accounts::Error::Vault(_)
            | accounts::Error::Defect(_) => {
                tracing::error!(%error, "accounts failed");
                Self::Internal
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) | Self::Nobody(refusal, _) => refusal.fmt(f),
            Self::UnknownChannel => f.write_str("unknown channel"),
            Self::MethodNotAllowed(_) => f.write_str("method not allowed"),
            Self::RateLimited(_) | Self::TooSoon(..) => f.write_str("too many requests"),
            Self::Unavailable(_) => f.write_str("unavailable"),
            Self::Internal => f.write_str("internal server error"),
        }
    }
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Refused(refusal) | Self::Nobody(refusal, _) => status(refusal.code.class()),
            Self::UnknownChannel => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::RateLimited(_) | Self::TooSoon(..) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::build(self.status_code());
        match self {
            Self::Refused(Refusal { code, sentence }) => {
                match code.class() {
                    Class::Unauthenticated => {
                        answer.insert_header((WWW_AUTHENTICATE, "Bearer"));
                    }
                    Class::TooManyRequests | Class::Unavailable => {
                        answer.insert_header((RETRY_AFTER, whole_seconds(RETRY_SOON)));
                    }
                    Class::Conflict if *code == Code::IdempotencyInProgress => {
                        answer.insert_header((RETRY_AFTER, whole_seconds(RETRY_SOON)));
                    }
                    Class::Invalid
                    | Class::Forbidden
                    | Class::NotFound
                    | Class::MethodNotAllowed
                    | Class::TooSlow
                    | Class::Conflict
                    | Class::TooLarge
                    | Class::Unprocessable
                    | Class::NotBuilt => {}
                }
                answer.json(ErrorBody::new(sentence, *code))
            }
            Self::Nobody(Refusal { code, sentence }, skipped) => {
                answer.json(ErrorBody::of_nobody(sentence, *code, skipped))
            }
            Self::UnknownChannel => answer.json(MessageBody { message: "Unknown Channel" }),
            Self::MethodNotAllowed(allow) => {
                answer.insert_header((ALLOW, allow.as_str())).json(ErrorBody::new(
                    "this path does not answer that method: see the Allow header",
                    Code::MethodNotAllowed,
                ))
            }
            Self::RateLimited(Exhausted { allowance, wait }) => {
                let (limit, seconds) = (allowance.limit, allowance.window.as_secs());
                let sentence = format!(
                    "the company's tier allows {limit} requests in {seconds} s and all are used: \
                     try again after the seconds of Retry-After"
                );
                answer
                    .insert_header((RETRY_AFTER, whole_seconds(*wait)))
                    .json(ErrorBody::new(&sentence, Code::RateLimited))
            }
            Self::TooSoon(retry_after, sentence, spent) => answer
                .insert_header((RETRY_AFTER, whole_seconds(*retry_after)))
                .insert_header((rate_limit::POLICY, rate_limit::policy_of(spent)))
                .insert_header((rate_limit::LEFT, rate_limit::nothing_left(spent, *retry_after)))
                .json(ErrorBody::new(sentence, Code::RateLimited)),
            Self::Unavailable(retry_after) => {
                answer.insert_header((RETRY_AFTER, whole_seconds(*retry_after))).json(ErrorBody::new(
                    "the service cannot do this now: try again after the seconds of Retry-After",
                    Code::ServiceUnavailable,
                ))
            }
            Self::Internal => answer.finish(),
        }
    }
}

/// The HTTP status that a refusal of this class is answered with.
pub fn status_code(class: Class) -> u16 {
    status(class).as_u16()
}

const fn status(class: Class) -> StatusCode {
    match class {
        Class::Invalid => StatusCode::BAD_REQUEST,
        Class::Unauthenticated => StatusCode::UNAUTHORIZED,
        Class::Forbidden => StatusCode::FORBIDDEN,
        Class::NotFound => StatusCode::NOT_FOUND,
        Class::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Class::TooSlow => StatusCode::REQUEST_TIMEOUT,
        Class::Conflict => StatusCode::CONFLICT,
        Class::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Class::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Class::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Class::NotBuilt => StatusCode::NOT_IMPLEMENTED,
        Class::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Answers a path that is not in the table of routes.
pub(super) async fn not_found() -> HttpResponse {
    Error::no_such_path().error_response()
}

/// Answers a known path with a method that it does not have.
pub(super) async fn other_method(request: HttpRequest) -> Result<HttpResponse, Error> {
    let Allow(allow) = request.app_data::<Allow>().ok_or(Error::Internal)?.clone();
    if request.method() == Method::OPTIONS {
        return Ok(HttpResponse::NoContent().insert_header((ALLOW, allow)).finish());
    }
    Err(Error::MethodNotAllowed(allow))
}
