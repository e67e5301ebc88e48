//! Converts refusals and failures into HTTP answers.
//!
//! A client gets a [`Refusal`]'s code and sentence, or an apology that contains no internal details. An [`Error`] makes the
//! head of an answer. Its body has the id of the request, and is added by [`super::observe`], which also handles panics.

mod body;

use std::fmt;
use std::time::Duration;

use actix_web::http::header::{ALLOW, ContentType, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, ResponseError};

pub(super) use self::body::{Apology, ErrorBody, MessageBody};
use super::rate_limit::{self, whole_seconds};
use crate::accounts;
use crate::domain::limit::Spent;
use crate::domain::request::Skipped;
use crate::engine::{self, Exhausted};
use crate::error::{Class, Code, Refusal};
use crate::surface::paths::Allow;

/// The default of `Retry-After`.
pub(super) const RETRY_SOON: Duration = Duration::from_secs(1);

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

    /// The refusal of a field or a parameter: "`param` what".
    pub(super) fn of(param: impl Into<String>, code: Code, what: impl fmt::Display) -> Self {
        Self::Refused(Refusal::of(param, code, what))
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
            accounts::Error::Invalid { field, fault } => Self::of(field, Code::InvalidField, fault),
            accounts::Error::CommonPassword => {
                Self::of("password", Code::InvalidField, "is easy to guess: choose another one")
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
            | accounts::Error::OperatorsOnly
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

    /// The head of the answer; [`super::observe`] adds the body.
    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::build(self.status_code());
        match self {
            Self::Refused(refusal) => match refusal.code.class() {
                Class::Unauthenticated => {
                    answer.insert_header((WWW_AUTHENTICATE, "Bearer"));
                }
                Class::TooManyRequests | Class::Unavailable => {
                    answer.insert_header((RETRY_AFTER, whole_seconds(RETRY_SOON)));
                }
                Class::Conflict
                    if matches!(refusal.code, Code::IdempotencyInProgress | Code::RetryInProgress) =>
                {
                    answer.insert_header((RETRY_AFTER, whole_seconds(RETRY_SOON)));
                }
                Class::Invalid
                | Class::Forbidden
                | Class::NotFound
                | Class::Gone
                | Class::MethodNotAllowed
                | Class::TooSlow
                | Class::Conflict
                | Class::TooLarge
                | Class::Unprocessable
                | Class::NotBuilt => {}
            },
            Self::Nobody(..) | Self::UnknownChannel | Self::Internal => {}
            Self::MethodNotAllowed(allow) => {
                answer.insert_header((ALLOW, allow.as_str()));
            }
            Self::RateLimited(Exhausted { wait, .. }) => {
                answer.insert_header((RETRY_AFTER, whole_seconds(*wait)));
            }
            Self::TooSoon(retry_after, _, spent) => {
                answer
                    .insert_header((RETRY_AFTER, whole_seconds(*retry_after)))
                    .insert_header((rate_limit::POLICY, rate_limit::policy_of(spent)))
                    .insert_header((rate_limit::LEFT, rate_limit::nothing_left(spent, *retry_after)));
            }
            Self::Unavailable(retry_after) => {
                answer.insert_header((RETRY_AFTER, whole_seconds(*retry_after)));
            }
        }
        answer.content_type(ContentType::json()).finish()
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
        Class::Gone => StatusCode::GONE,
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
pub(super) async fn not_found() -> Result<HttpResponse, Error> {
    Err(Error::no_such_path())
}

/// Answers a known path with a method that it does not have.
pub(super) async fn other_method(request: HttpRequest) -> Result<HttpResponse, Error> {
    let Allow(allow) = request.app_data::<Allow>().ok_or(Error::Internal)?.clone();
    if request.method() == Method::OPTIONS {
        return Ok(HttpResponse::NoContent().insert_header((ALLOW, allow)).finish());
    }
    Err(Error::MethodNotAllowed(allow))
}
