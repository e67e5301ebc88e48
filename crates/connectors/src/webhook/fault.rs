//! What can go wrong with a delivery, in sentences for the people of the company.
//!
//! Each sentence says what happened and what to do. None contains the address of the endpoint, an address that a name
//! resolved to, or a part of the answer.

use std::io;
use std::time::Duration;

use rustls::CertificateError;

use crate::{guard, http};
use domain::webhook::FaultKind;

/// Why a delivery failed, or what is wrong with the answer to one that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryFault {
    /// The address cannot be read.
    #[error("the address is not a URL: give one such as https://example.com/webhooks")]
    Address,
    /// The address is neither http nor https.
    #[error("the address is not https: give one that begins with https://")]
    Scheme,
    /// The address is http, which the operator does not allow.
    #[error(
        "the address begins with http://, which would let anyone on the way read the events: give one that begins with \
         https://, or ask the operator of this service to set `webhooks.allow_http`"
    )]
    Unencrypted,
    /// The address contains a user name or a password.
    #[error("the address has a user name or a password in it: give them in a header of the endpoint")]
    Credentials,
    /// The address leads to a network that is not allowed.
    #[error(
        "the address leads to a network that is not on the public internet: give a public address, or ask the operator \
         of this service to add the network to `webhooks.allow_networks`"
    )]
    Network,
    /// A header of the endpoint is not valid, or belongs to the protocol.
    #[error("the header `{0}` of the endpoint cannot be sent: change it or remove it")]
    Header(String),
    /// The name in the address has no addresses.
    #[error("the host in the address is not known: check its name")]
    UnknownHost,
    /// The receiver refuses connections.
    #[error("the receiver refuses connections: check that it runs, and the port in the address")]
    Refused,
    /// No connection could be made.
    #[error("no connection to the receiver could be made: check that it runs, and its firewall")]
    Unreachable,
    /// This machine has no file, port or memory left for a connection.
    #[error(
        "this service has no file or port left for a connection: its operator has to raise the limit of open files"
    )]
    NoSocket,
    /// The certificate has expired.
    #[error("the certificate of the receiver has expired: renew it")]
    CertificateExpired,
    /// The certificate belongs to another name.
    #[error(
        "the certificate of the receiver is for another host name: check the address, or get a certificate for its host"
    )]
    CertificateName,
    /// The certificate's issuer is not known.
    #[error(
        "the certificate of the receiver has no known issuer: use one of a public authority, and send the intermediate \
         certificates with it"
    )]
    CertificateIssuer,
    /// Another fault of TLS.
    #[error("no TLS connection to the receiver could be made: check that it speaks https at this port")]
    Tls,
    /// The receiver gave no status in time.
    #[error("the receiver did not answer within {0:?}: answer first, and process the event afterwards")]
    Timeout(Duration),
    /// The connection ended, or what came is not HTTP.
    #[error(
        "the connection to the receiver broke off before its answer: check that it runs, and that it speaks HTTP there"
    )]
    Broken,
    /// The answer is a redirect, which is not followed.
    #[error(
        "the receiver redirects (status {0}), which is not followed: give the endpoint the address that it leads to"
    )]
    Redirect(u16),
    /// The answer is no success.
    #[error("the receiver answered with status {0}: {remedy}", remedy = remedy(*.0))]
    Status(u16),
    /// The delivery was accepted; the answer has more than [`super::ANSWER_BYTES`].
    #[error(
        "accepted, but the answer is longer than 8 KiB and was not read to its end: answer with an empty body"
    )]
    AnswerTooLong,
    /// The delivery was accepted; the answer did not end in time.
    #[error(
        "accepted, but the answer did not end within {0:?}, which delays the next events: answer with an empty body"
    )]
    AnswerTooSlow(Duration),
    /// The delivery was accepted; the connection broke off in the answer.
    #[error("accepted, but the connection broke off before the end of the answer")]
    AnswerBroken,
}

impl DeliveryFault {
    /// The kind of the fault.
    pub const fn kind(&self) -> FaultKind {
        match self {
            Self::Address => FaultKind::Address,
            Self::Scheme => FaultKind::Scheme,
            Self::Unencrypted => FaultKind::Unencrypted,
            Self::Credentials => FaultKind::Credentials,
            Self::Network => FaultKind::Network,
            Self::Header(_) => FaultKind::Header,
            Self::UnknownHost => FaultKind::UnknownHost,
            Self::Refused => FaultKind::Refused,
            Self::Unreachable => FaultKind::Unreachable,
            Self::NoSocket => FaultKind::NoSocket,
            Self::CertificateExpired => FaultKind::CertificateExpired,
            Self::CertificateName => FaultKind::CertificateName,
            Self::CertificateIssuer => FaultKind::CertificateIssuer,
            Self::Tls => FaultKind::Tls,
            Self::Timeout(_) => FaultKind::Timeout,
            Self::Broken => FaultKind::Broken,
            Self::Redirect(_) => FaultKind::Redirect,
            Self::Status(_) => FaultKind::Status,
            Self::AnswerTooLong => FaultKind::AnswerTooLong,
            Self::AnswerTooSlow(_) => FaultKind::AnswerTooSlow,
            Self::AnswerBroken => FaultKind::AnswerBroken,
        }
    }

    /// Whether the fault is this service's own, and no fault of the endpoint.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::NoSocket)
    }

    /// The fault of a request that was not answered. The error's own text is not used, because it contains addresses.
    pub(super) fn of(error: &reqwest::Error) -> Self {
        let is_refusal = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        if guard::was_refused(error) {
            Self::Network
        } else if error.is_builder() {
            Self::Address
        } else if error.is_connect() && http::lacks_socket(error) {
            Self::NoSocket
        } else if error.is_dns() {
            Self::UnknownHost
        } else if let Some(fault) =
            http::causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>())
        {
            Self::of_tls(fault)
        } else if http::causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).any(is_refusal) {
            Self::Refused
        } else if error.is_connect() {
            Self::Unreachable
        } else {
            Self::Broken
        }
    }

    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(fault) => match fault {
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    Self::CertificateExpired
                }
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    Self::CertificateName
                }
                CertificateError::UnknownIssuer => Self::CertificateIssuer,
                _ => Self::Tls,
            },
            _ => Self::Tls,
        }
    }
}

/// What to do about a status.
fn remedy(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 => "check how it verifies the signature, and the headers of the endpoint",
        404 | 405 => "check the path in the address",
        410 => "it wants no further events",
        413 => "let it accept larger bodies, or make the batch smaller",
        429 => "it asks for fewer events at a time",
        500..=599 => "look for the error in its log",
        _ => "answer with a status from 200 to 299",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_a_certificate_says_what_to_renew() {
        let of = |fault| DeliveryFault::of_tls(&rustls::Error::InvalidCertificate(fault));
        assert_eq!(of(CertificateError::Expired), DeliveryFault::CertificateExpired);
        assert_eq!(of(CertificateError::NotValidForName), DeliveryFault::CertificateName);
        assert_eq!(of(CertificateError::UnknownIssuer), DeliveryFault::CertificateIssuer);
        assert_eq!(of(CertificateError::Revoked), DeliveryFault::Tls);
        assert_eq!(DeliveryFault::of_tls(&rustls::Error::HandshakeNotComplete), DeliveryFault::Tls);
    }

    #[test]
    fn what_only_the_operator_can_change_is_named_by_its_option() {
        assert!(DeliveryFault::Network.to_string().contains("webhooks.allow_networks"));
        assert!(DeliveryFault::Unencrypted.to_string().contains("webhooks.allow_http"));
    }

    #[test]
    fn a_sentence_has_its_numbers_and_what_to_do() {
        let told = [
            DeliveryFault::Timeout(Duration::from_secs(10)),
            DeliveryFault::Redirect(302),
            DeliveryFault::Status(503),
        ];
        let told = told.map(|fault| fault.to_string());
        assert!(told[0].contains("within 10s: "), "{}", told[0]);
        assert!(told[1].contains("(status 302)"), "{}", told[1]);
        assert_eq!(told[2], "the receiver answered with status 503: look for the error in its log");
    }
}
