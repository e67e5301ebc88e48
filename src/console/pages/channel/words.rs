//! Words for channels: kinds, states, reasons, limits.

use maud::{Markup, html};

use crate::console::component::badge::{Tone, badge, explained};
use crate::console::component::explain::{self, Topic};
use crate::console::component::number::grouped;
use crate::console::component::status::status;
use crate::console::text::Text;
use crate::domain::channel::{Channel, Connection, Kind, Reason, Status};
use crate::domain::limit;
use crate::domain::phone::PhoneNumber;

/// The name of a kind of channel.
pub(crate) fn kind(text: Text, kind: Kind) -> String {
    text.get(match kind {
        Kind::BusinessAccount => "channels-kind-business",
        Kind::WebSession => "channels-kind-web",
    })
}

/// The badge of a channel's state.
pub(crate) fn state(text: Text, connection: &Connection) -> Markup {
    if connection.status == Status::Connected && connection.reason.is_some() {
        return explained(Tone::Warning, &text.get("channels-state-restricted"), Topic::Restricted);
    }
    status(text, connection.status)
}

/// The meaning of the state for the company, and its reason.
pub(crate) fn explanation(text: Text, connection: &Connection) -> Markup {
    let Some(Reason { code, sentence, provider_code }) = &connection.reason else {
        return html! { p { (text.get(meaning(connection.status))) } };
    };
    let code = code.as_str();
    html! {
        @match because(code) {
            Some((_, said)) => p { (text.get(said)) },
            None => p lang="en" { (sentence) },
        }
        @if let Some((title, _)) = because(code) {
            details.more {
                summary { (text.get("channels-reason-more")) }
                p.said lang="en" { bdi { (sentence) } }
                p.soft {
                    (explain::link(Topic::Connection(code), &text.get(title)))
                    @if let Some(provider_code) = provider_code {
                        " · " (text.get("channels-provider-code")) " " (explain::code(*provider_code))
                    }
                }
            }
        }
    }
}

/// The key of the text about a state.
pub(crate) const fn meaning(status: Status) -> &'static str {
    match status {
        Status::Connected => "channels-means-connected",
        Status::Connecting => "channels-means-connecting",
        Status::Disconnected => "channels-means-disconnected",
        Status::Blocked => "channels-means-blocked",
        Status::Pairing => "channels-means-pairing",
    }
}

/// The codes of reasons, each with the keys of its title and of the text about it.
pub(crate) const REASONS: &[(&str, &str, &str)] = &[
    ("credentials_refused", "channels-why-credentials-refused", "channels-reason-credentials-refused"),
    ("account_restricted", "channels-why-account-restricted", "channels-reason-account-restricted"),
    ("no_usable_token", "channels-why-no-usable-token", "channels-reason-no-usable-token"),
    ("logged_out", "channels-why-logged-out", "channels-reason-logged-out"),
    ("account_locked", "channels-why-account-locked", "channels-reason-account-locked"),
    ("replaced", "channels-why-replaced", "channels-reason-replaced"),
    ("banned", "channels-why-banned", "channels-reason-banned"),
    ("client_outdated", "channels-why-client-outdated", "channels-reason-client-outdated"),
    ("passkey_timed_out", "channels-why-passkey-timed-out", "channels-reason-passkey-timed-out"),
    ("passkey_refused", "channels-why-passkey-refused", "channels-reason-passkey-refused"),
    (
        "business_pairing_refused",
        "channels-why-business-pairing-refused",
        "channels-reason-business-pairing-refused",
    ),
    ("pairing_failed", "channels-why-pairing-failed", "channels-reason-pairing-failed"),
    ("connection_refused", "channels-why-connection-refused", "channels-reason-connection-refused"),
    ("link_lost", "channels-why-link-lost", "channels-reason-link-lost"),
    ("session_failed", "channels-why-session-failed", "channels-reason-session-failed"),
    ("unreachable", "channels-why-unreachable", "channels-reason-unreachable"),
    ("qr_expired", "channels-why-qr-expired", "channels-reason-qr-expired"),
    ("restricted", "channels-why-restricted", "channels-reason-restricted"),
];

/// The keys of the title and the text of a reason; `None` for a reason that an older or newer program wrote.
fn because(code: &str) -> Option<(&'static str, &'static str)> {
    REASONS.iter().find(|(known, ..)| *known == code).map(|(_, title, said)| (*title, *said))
}

/// The channel's number in groups, if it has one.
pub(crate) fn number(channel: &Channel) -> Markup {
    html! {
        @match channel.phone_number.as_deref().filter(|number| !number.is_empty()) {
            Some(number) => bdi { (PhoneNumber::parse(number).map_or_else(|_| number.to_owned(), grouped)) },
            None => span.soft { "—" },
        }
    }
}

/// The name of a limit.
pub(crate) fn limit(text: Text, name: limit::Name) -> String {
    text.get(match name {
        limit::Name::MessagesPerSecond => "channels-limit-messages-per-second",
        limit::Name::ProviderLevel => "channels-limit-provider-level",
        limit::Name::BackOff => "channels-limit-back-off",
        limit::Name::Pause => "channels-limit-pause",
        limit::Name::Pair => "channels-limit-pair",
        limit::Name::TemplateQuota => "channels-limit-template-quota",
        limit::Name::DailyCap => "channels-limit-daily-cap",
        limit::Name::QuietHours => "channels-limit-quiet-hours",
        limit::Name::ColdContacts => "channels-limit-cold-contacts",
        limit::Name::ProviderMessagingLimit => "channels-limit-provider-messaging-limit",
        limit::Name::ApiRequests => "channels-limit-api-requests",
    })
}

/// How the provider rates the number.
pub(crate) fn quality(text: Text, rating: Option<&str>) -> Markup {
    let (tone, key) = match rating {
        Some("GREEN") => (Tone::Good, "channels-quality-high"),
        Some("YELLOW") => (Tone::Warning, "channels-quality-medium"),
        Some("RED") => (Tone::Bad, "channels-quality-low"),
        Some(other) if other != "UNKNOWN" => return badge(Tone::Plain, other),
        _ => (Tone::Plain, "channels-quality-unknown"),
    };
    badge(tone, &text.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_and_every_state_has_its_words() {
        let text = Text(crate::console::language::Language::English);
        for name in limit::Name::ALL {
            assert!(!super::limit(text, *name).starts_with("channels-limit"), "{name}");
        }
        for status in Status::ALL {
            assert_ne!(text.get(meaning(*status)), meaning(*status));
        }
    }
}
