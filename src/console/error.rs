//! Why a page is not shown, and how that becomes an answer.

use std::fmt;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};

use crate::accounts;
use crate::engine;
use crate::error::{Class, Refusal};
use crate::surface::body::Fault;

/// What a page is shown or refused with.
pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a page is not shown or a form is refused. The gate turns it into a page in the person's language.
#[derive(Debug)]
pub(super) enum Error {
    /// There is no such page, or its record belongs to another company.
    NotFound,
    /// The person's role does not allow it.
    Forbidden,
    /// A request for a change that does not come from a page of this console.
    OtherOrigin,
    /// The path does not answer this method.
    OtherMethod,
    /// The form cannot be read at all.
    Unreadable,
    /// The form is larger than this route accepts.
    TooLarge,
    /// The form has more fields than any page.
    TooManyFields,
    /// The form took too long to arrive.
    TooSlow,
    /// Too many attempts, or too many open pages: retry after this delay.
    TooMany(Duration),
    /// The engine refused the request, and no field can show that.
    Refused(Refusal),
    /// The request may succeed later.
    Unavailable,
    /// An internal failure, which was logged where it happened.
    Internal,
}

impl Error {
    /// The name of the texts that explain it: `fault-{name}-title` and `fault-{name}`.
    pub(super) const fn keys(&self) -> (&'static str, &'static str) {
        match self {
            Self::NotFound => ("fault-not-found-title", "fault-not-found"),
            Self::Forbidden => ("fault-forbidden-title", "fault-forbidden"),
            Self::OtherOrigin => ("fault-other-origin-title", "fault-other-origin"),
            Self::OtherMethod => ("fault-other-method-title", "fault-other-method"),
            Self::Unreadable => ("fault-unreadable-title", "fault-unreadable"),
            Self::TooLarge => ("fault-too-large-title", "fault-too-large"),
            Self::TooManyFields => ("fault-too-many-fields-title", "fault-too-many-fields"),
            Self::TooSlow => ("fault-too-slow-title", "fault-too-slow"),
            Self::TooMany(_) => ("fault-too-many-title", "fault-too-many"),
            Self::Refused(_) => ("fault-refused-title", "fault-refused"),
            Self::Unavailable => ("fault-unavailable-title", "fault-unavailable"),
            Self::Internal => ("fault-internal-title", "fault-internal"),
        }
    }

    /// When to retry, where that is known.
    pub(super) const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooMany(wait) => Some(*wait),
            Self::Unavailable => Some(Duration::from_secs(1)),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keys().1)
    }
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Forbidden | Self::OtherOrigin => StatusCode::FORBIDDEN,
            Self::OtherMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Unreadable => StatusCode::BAD_REQUEST,
            Self::TooLarge | Self::TooManyFields => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Refused(refusal) => match refusal.code.class() {
                Class::NotFound => StatusCode::NOT_FOUND,
                Class::Conflict => StatusCode::CONFLICT,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            },
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The answer without a page: the gate, which knows the person's language, adds the page.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::TooLarge(_) | Fault::TooMuch => Self::TooLarge,
            Fault::TooSlow => Self::TooSlow,
            Fault::Broken | Fault::NoForm => Self::Unreadable,
            Fault::TooManyParts => Self::TooManyFields,
            Fault::NoRoom => Self::Unavailable,
            Fault::Defect => Self::Internal,
        }
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
            engine::Error::Refused(refusal) if refusal.code.class() == Class::NotFound => Self::NotFound,
            engine::Error::Refused(refusal) | engine::Error::Nobody { refusal, .. } => Self::Refused(refusal),
            engine::Error::TooSoon { retry_after, .. } => Self::TooMany(retry_after),
            engine::Error::Unavailable { .. } => Self::Unavailable,
            engine::Error::Internal => Self::Internal,
        }
    }
}

impl From<accounts::Error> for Error {
    fn from(error: accounts::Error) -> Self {
        match error {
            accounts::Error::TooMany { retry_after } => Self::TooMany(retry_after),
            accounts::Error::NotFound | accounts::Error::LinkGone => Self::NotFound,
            // Pages on which these can occur show them beside a field.
            accounts::Error::Refused
            | accounts::Error::Exists
            | accounts::Error::LastOwner
            | accounts::Error::OperatorsOnly
            | accounts::Error::CommonPassword
            | accounts::Error::Invalid { .. } => Self::Unreadable,
            accounts::Error::Vault(_) | accounts::Error::Defect(_) => {
                tracing::error!(%error, "an operation on an account failed");
                Self::Internal
            }
            accounts::Error::Store(error) => engine::Error::from(error).into(),
        }
    }
}
