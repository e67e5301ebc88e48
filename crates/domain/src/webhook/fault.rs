//! The kinds of faults of deliveries, for records and for words in other languages.

crate::worded! {
    /// What went wrong with a delivery.
    pub enum FaultKind {
        /// The address cannot be read.
        Address = "address",
        /// The address is neither http nor https.
        Scheme = "scheme",
        /// The address is http, which the operator does not allow.
        Unencrypted = "unencrypted",
        /// The address contains a user name or a password.
        Credentials = "credentials",
        /// The address leads to a network that is not allowed.
        Network = "network",
        /// A header of the endpoint cannot be sent.
        Header = "header",
        /// The name in the address has no addresses.
        UnknownHost = "unknown_host",
        /// The receiver refuses connections.
        Refused = "refused",
        /// No connection could be made.
        Unreachable = "unreachable",
        /// This machine has no file, port or memory left for a connection.
        NoSocket = "no_socket",
        /// The certificate has expired.
        CertificateExpired = "certificate_expired",
        /// The certificate belongs to another name.
        CertificateName = "certificate_name",
        /// The certificate's issuer is not known.
        CertificateIssuer = "certificate_issuer",
        /// Another fault of TLS.
        Tls = "tls",
        /// The receiver gave no status in time.
        Timeout = "timeout",
        /// The connection ended, or the answer is not HTTP.
        Broken = "broken",
        /// The answer is a redirect.
        Redirect = "redirect",
        /// The answer is no success.
        Status = "status",
        /// The delivery was accepted; the answer is too long.
        AnswerTooLong = "answer_too_long",
        /// The delivery was accepted; the answer did not end in time.
        AnswerTooSlow = "answer_too_slow",
        /// The delivery was accepted; the connection broke off in the answer.
        AnswerBroken = "answer_broken",
    }
}
