//! Our codes as Meta's numbers: the one place that knows both.

use std::time::Duration;

use super::DoorRefusal;
use crate::domain::graph::known_error;
use crate::domain::message::Failure;
use crate::domain::request::{SkipCode, Skipped};
use crate::engine;
use crate::error::{Class, Code, Refusal};
use crate::surface::body::Fault;

/// When a request may be repeated that nothing else says it of.
const SOON: Duration = Duration::from_secs(1);

/// Meta's number for a code of ours. Those that no request of the door leads to have that of their class.
pub(in crate::graph) const fn number(code: Code) -> i64 {
    match code {
        Code::InvalidAuthHeader | Code::InvalidApiKey => 190,
        Code::InsufficientScope | Code::CompanyDisabled => 10,
        Code::RateLimited => 130_429,
        Code::MissingType
        | Code::MissingRecipient
        | Code::MissingMessage
        | Code::MissingLink
        | Code::MissingTemplateId
        | Code::MissingComponents
        | Code::MissingInteractive
        | Code::MissingLocation
        | Code::MissingContacts
        | Code::MissingReaction
        | Code::MissingPhoneNumber
        | Code::MissingRecipientType => 131_008,
        Code::InvalidType => 131_051,
        Code::TextTooLong | Code::CaptionTooLong => 100,
        Code::InvalidField
        | Code::UnknownField
        | Code::InvalidLink
        | Code::LinkTooLong
        | Code::InvalidInteractive
        | Code::InvalidLocation
        | Code::InvalidContacts
        | Code::InvalidReaction
        | Code::InvalidRecipientType
        | Code::InvalidPhoneNumber
        | Code::NoValidRecipients
        | Code::MessageNotFound => 131_009,
        Code::TemplateNotFound | Code::TemplateNotApproved => 132_001,
        Code::InvalidComponents => 132_012,
        Code::ReconnectWaba => 131_031,
        Code::SessionDisconnected | Code::ProviderUnavailable | Code::FeatureUnavailable => 131_016,
        Code::NotOnWhatsapp => 131_026,
        Code::MediaUnavailable
        | Code::LinkNotAllowed
        | Code::MediaTooLarge
        | Code::MediaLibraryFull
        | Code::NoPublicAddress => 131_053,
        Code::WindowClosed => 131_047,
        Code::IdempotencyInProgress | Code::ServiceUnavailable => 2,
        _ => match code.class() {
            Class::Unauthenticated => 190,
            Class::Forbidden => 10,
            Class::TooManyRequests => 4,
            Class::NotBuilt => 131_016,
            Class::Unavailable => 2,
            Class::Invalid
            | Class::NotFound
            | Class::Gone
            | Class::MethodNotAllowed
            | Class::TooSlow
            | Class::Conflict
            | Class::TooLarge
            | Class::Unprocessable => 100,
        },
    }
}

impl From<Refusal> for DoorRefusal {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, sentence, param: _ } = refusal;
        let refused = Self::because(number(code), sentence);
        match code.class() {
            Class::TooManyRequests | Class::Unavailable => refused.later(SOON),
            Class::Conflict if matches!(code, Code::IdempotencyInProgress) => refused.later(SOON),
            Class::TooLarge => refused.with_status(413),
            Class::TooSlow => refused.with_status(408),
            Class::Invalid
            | Class::Unauthenticated
            | Class::Forbidden
            | Class::NotFound
            | Class::Gone
            | Class::MethodNotAllowed
            | Class::Conflict
            | Class::Unprocessable
            | Class::NotBuilt => refused,
        }
    }
}

impl From<engine::Error> for DoorRefusal {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Refused(refusal) => refusal.into(),
            engine::Error::Nobody { refusal, skipped } => of_nobody(refusal, &skipped),
            engine::Error::TooSoon { retry_after, sentence, spent: _ } => {
                Self::because(130_429, sentence).later(retry_after)
            }
            engine::Error::Unavailable { retry_after } => {
                let details = "the service cannot do this now: try again after the seconds of Retry-After";
                Self::because(2, details).later(retry_after)
            }
            engine::Error::Internal => Self::internal(),
        }
    }
}

impl From<engine::records::QueryError> for DoorRefusal {
    fn from(error: engine::records::QueryError) -> Self {
        engine::Error::from(error).into()
    }
}

impl From<Fault> for DoorRefusal {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::TooLarge(most) => {
                Self::because(100, format!("the body is larger than {most} bytes")).with_status(413)
            }
            Fault::TooMuch => {
                Self::because(100, "reading the body would take too much memory").with_status(413)
            }
            Fault::TooSlow => Self::because(100, "the body took too long to arrive").with_status(408),
            Fault::Broken => Self::because(100, "the body did not arrive whole"),
            Fault::NoForm => Self::because(100, "the body is not a whole form (multipart/form-data)"),
            Fault::TooManyParts => Self::because(100, "the form has too many parts"),
            Fault::NoRoom => {
                let details =
                    "too many request bodies are being read: try again after the seconds of Retry-After";
                Self::because(2, details).later(SOON)
            }
            Fault::Defect => Self::internal(),
        }
    }
}

/// Why the only recipient gets no message.
fn of_nobody(refusal: Refusal, skipped: &Skipped) -> DoorRefusal {
    let code = skipped.first.first().and_then(|entry| entry.code.as_deref());
    let is = |known: SkipCode| code == Some(known.as_str());
    if is(SkipCode::Suppressed) || is(SkipCode::OptedOut) {
        return DoorRefusal::because(131_050, refusal.sentence);
    }
    refusal.into()
}

/// What went wrong with a message after it was accepted: the provider's own number, if it gave one.
pub(in crate::graph) fn of_failure(failure: Option<Failure>) -> DoorRefusal {
    match failure {
        Some(failure) => of_provider(failure, 131_026),
        None => DoorRefusal::because(131_000, "the message was not sent").with_status(400),
    }
}

/// What the provider refused, with its own number, or this one if it gave none.
pub(in crate::graph) fn of_provider(Failure { code, sentence }: Failure, usual: i64) -> DoorRefusal {
    match known_error(code) {
        // It is the channel's token that the provider refuses, and not the key of the program.
        Some(190) => DoorRefusal::because(131_031, sentence),
        Some(code) => DoorRefusal::because(code, sentence),
        None if code.is_some_and(|code| code > 0) => DoorRefusal::because(131_000, sentence).with_status(400),
        None => DoorRefusal::because(usual, sentence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_ours_has_a_number_that_programs_know() {
        for code in Code::ALL {
            let number = number(*code);
            assert!(
                super::super::TITLES.iter().any(|(known, ..)| *known == number),
                "{} is {number}, which has no title",
                code.as_str()
            );
        }
        // Only a bad key may look like one: programs take 401 for the end of their connection.
        let token = Failure { code: Some(190), sentence: "the token expired".to_owned() };
        assert_eq!(of_failure(Some(token)).status().as_u16(), 403);
        let refused = |code: Code| DoorRefusal::from(Refusal::new(code, "x")).status().as_u16();
        let unauthorised: Vec<_> = Code::ALL.iter().filter(|code| refused(**code) == 401).collect();
        assert_eq!(unauthorised, [&Code::InvalidAuthHeader, &Code::InvalidApiKey]);
    }
}
