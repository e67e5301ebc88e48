//! What goes wrong with deliveries to webhook endpoints, in the person's language.

use maud::{Markup, html};

use crate::console::text::Text;
use crate::domain::webhook::FaultKind;

/// What went wrong, and what to do; in English for a kind that this version does not know.
pub(super) fn fault(
    text: Text,
    kind: Option<FaultKind>,
    status: Option<u16>,
    sentence: Option<&str>,
) -> Markup {
    match (kind, sentence) {
        (Some(kind), _) => html! { (words(text, kind, status)) },
        (None, Some(sentence)) => html! { span lang="en" { (sentence) } },
        (None, None) => html! {},
    }
}

/// What went wrong, and what to do. `status` is that of the answer, if there was one.
pub(in crate::console::pages) fn words(text: Text, kind: FaultKind, status: Option<u16>) -> String {
    match (kind, status) {
        (FaultKind::Status, Some(status)) => {
            let shown = [("status", status.to_string().into())];
            format!("{} {}", text.with("webhooks-fault-status", shown), text.get(remedy(status)))
        }
        _ => text.get(key(kind)),
    }
}

const fn key(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Address => "webhooks-fault-address",
        FaultKind::Scheme => "webhooks-fault-scheme",
        FaultKind::Unencrypted => "webhooks-fault-unencrypted",
        FaultKind::Credentials => "webhooks-fault-credentials",
        FaultKind::Network => "webhooks-fault-network",
        FaultKind::Header => "webhooks-fault-header",
        FaultKind::UnknownHost => "webhooks-fault-unknown-host",
        FaultKind::Refused => "webhooks-fault-refused",
        FaultKind::Unreachable => "webhooks-fault-unreachable",
        FaultKind::NoSocket => "webhooks-fault-no-socket",
        FaultKind::CertificateExpired => "webhooks-fault-certificate-expired",
        FaultKind::CertificateName => "webhooks-fault-certificate-name",
        FaultKind::CertificateIssuer => "webhooks-fault-certificate-issuer",
        FaultKind::Tls => "webhooks-fault-tls",
        FaultKind::Timeout => "webhooks-fault-timeout",
        FaultKind::Broken => "webhooks-fault-broken",
        FaultKind::Redirect => "webhooks-fault-redirect",
        FaultKind::Status => "webhooks-remedy-other",
        FaultKind::AnswerTooLong => "webhooks-fault-answer-too-long",
        FaultKind::AnswerTooSlow => "webhooks-fault-answer-too-slow",
        FaultKind::AnswerBroken => "webhooks-fault-answer-broken",
    }
}

/// The key of the text that says what to do about a status.
const fn remedy(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 => "webhooks-remedy-signature",
        404 | 405 => "webhooks-remedy-path",
        410 => "webhooks-remedy-gone",
        413 => "webhooks-remedy-large",
        429 => "webhooks-remedy-slower",
        500..=599 => "webhooks-remedy-log",
        _ => "webhooks-remedy-other",
    }
}
