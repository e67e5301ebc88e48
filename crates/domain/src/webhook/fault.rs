//! The kinds of faults of deliveries, for records and for words in other languages.

use crate::words::words;

/// What went wrong with a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The address cannot be read.
    Address,
    /// The address is neither http nor https.
    Scheme,
    /// The address is http, which the operator does not allow.
    Unencrypted,
    /// The address contains a user name or a password.
    Credentials,
    /// The address leads to a network that is not allowed.
    Network,
    /// A header of the endpoint cannot be sent.
    Header,
    /// The name in the address has no addresses.
    UnknownHost,
    /// The receiver refuses connections.
    Refused,
    /// No connection could be made.
    Unreachable,
    /// This machine has no file, port or memory left for a connection.
    NoSocket,
    /// The certificate has expired.
    CertificateExpired,
    /// The certificate belongs to another name.
    CertificateName,
    /// The certificate's issuer is not known.
    CertificateIssuer,
    /// Another fault of TLS.
    Tls,
    /// The receiver gave no status in time.
    Timeout,
    /// The connection ended, or the answer is not HTTP.
    Broken,
    /// The answer is a redirect.
    Redirect,
    /// The answer is no success.
    Status,
    /// The delivery was accepted; the answer is too long.
    AnswerTooLong,
    /// The delivery was accepted; the answer did not end in time.
    AnswerTooSlow,
    /// The delivery was accepted; the connection broke off in the answer.
    AnswerBroken,
}

words!(FaultKind {
    Address = "address",
    Scheme = "scheme",
    Unencrypted = "unencrypted",
    Credentials = "credentials",
    Network = "network",
    Header = "header",
    UnknownHost = "unknown_host",
    Refused = "refused",
    Unreachable = "unreachable",
    NoSocket = "no_socket",
    CertificateExpired = "certificate_expired",
    CertificateName = "certificate_name",
    CertificateIssuer = "certificate_issuer",
    Tls = "tls",
    Timeout = "timeout",
    Broken = "broken",
    Redirect = "redirect",
    Status = "status",
    AnswerTooLong = "answer_too_long",
    AnswerTooSlow = "answer_too_slow",
    AnswerBroken = "answer_broken",
});
