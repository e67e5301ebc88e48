//! Why a template or a profile was not written.

use crate::Error;
use domain::error::{Code, Refusal};
use domain::message::Failure;

/// Why a template or a profile was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Declined {
    /// The provider said no.
    #[error("{}", .0.sentence)]
    ByProvider(Failure),
    /// It did not come to the provider, or the provider did not answer.
    #[error(transparent)]
    Here(#[from] Error),
}

impl From<Declined> for Error {
    fn from(declined: Declined) -> Self {
        match declined {
            Declined::ByProvider(failure) => {
                let sentence = format!("the provider refused: {}", failure.sentence);
                Refusal::new(Code::ProviderRefused, sentence).into()
            }
            Declined::Here(error) => error,
        }
    }
}

impl From<connectors::Error> for Declined {
    fn from(error: connectors::Error) -> Self {
        match error {
            connectors::Error::Refused(_, failure) => Self::ByProvider(failure),
            error @ connectors::Error::NoAnswer(_) => {
                Self::Here(Refusal::new(Code::ProviderUnavailable, error.to_string()).into())
            }
        }
    }
}

impl From<store::Error> for Declined {
    fn from(error: store::Error) -> Self {
        Self::Here(error.into())
    }
}

impl From<Refusal> for Declined {
    fn from(refusal: Refusal) -> Self {
        Self::Here(refusal.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_provider_refuses_keeps_its_words() {
        let failure = Failure { code: Some(100), sentence: "(#100) too long".to_owned() };
        let refused = Declined::from(connectors::Error::Refused(connectors::Disposition::Fail, failure));
        let Error::Refused(refusal) = refused.into() else { panic!("it is a refusal") };
        assert_eq!(refusal.code, Code::ProviderRefused);
        assert!(refusal.sentence.ends_with("(#100) too long"));
    }
}
