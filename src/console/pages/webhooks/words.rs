//! Words for webhook endpoints: their states, and the events that they get.

use std::time::Duration;

use maud::{Markup, html};

use crate::clock::Timestamp;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::notice::alarm;
use crate::console::component::time::second;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::event::Type;
use crate::domain::webhook::{Cause, SealedPart, Settings, State};
use crate::engine::ShownEndpoint;

/// What waits in the log for less time is on its way.
const ON_ITS_WAY: Duration = Duration::from_secs(60);

/// Types of events that belong together.
pub(super) struct EventGroup {
    /// The key of its name.
    pub(super) name: &'static str,
    /// The key of a hint about its events.
    pub(super) hint: Option<&'static str>,
    /// The types.
    pub(super) types: &'static [Type],
}

/// All types that an endpoint can get.
pub(super) const GROUPS: &[EventGroup] = &[
    EventGroup {
        name: "webhooks-group-inbound",
        hint: None,
        types: &[
            Type::MessageReceived,
            Type::MessageReaction,
            Type::MessageEdited,
            Type::MessageDeleted,
            Type::MessageEcho,
        ],
    },
    EventGroup {
        name: "webhooks-group-conversations",
        hint: None,
        types: &[
            Type::ConversationOpened,
            Type::ConversationClosed,
            Type::ConversationReopened,
            Type::ConversationAssigned,
        ],
    },
    EventGroup {
        name: "webhooks-group-people",
        hint: None,
        types: &[Type::ContactOptedOut, Type::ContactOptedIn],
    },
    EventGroup {
        name: "webhooks-group-trouble",
        hint: None,
        types: &[
            Type::MessageFailed,
            Type::MessageUnknown,
            Type::MessageExpired,
            Type::MessageCanceled,
            Type::MessageSuppressed,
        ],
    },
    EventGroup {
        name: "webhooks-group-sends",
        hint: None,
        types: &[Type::SendFinished, Type::SendCanceled, Type::SendExpired],
    },
    EventGroup {
        name: "webhooks-group-channels",
        hint: None,
        types: &[
            Type::ChannelConnected,
            Type::ChannelConnecting,
            Type::ChannelDisconnected,
            Type::ChannelBlocked,
            Type::ChannelPairing,
        ],
    },
    EventGroup {
        name: "webhooks-group-templates",
        hint: None,
        types: &[
            Type::TemplateApproved,
            Type::TemplateRejected,
            Type::TemplatePaused,
            Type::TemplateDisabled,
            Type::TemplateCategoryChanged,
            Type::TemplateQualityChanged,
        ],
    },
    EventGroup { name: "webhooks-group-provider", hint: None, types: &[Type::ProviderNotice] },
    EventGroup {
        name: "webhooks-group-progress",
        hint: Some("webhooks-group-progress-hint"),
        types: &[Type::MessageSent, Type::MessageDelivered, Type::MessageRead],
    },
    EventGroup {
        name: "webhooks-group-limits",
        hint: None,
        types: &[Type::QuotaLow, Type::QuotaUsedUp, Type::KeyExpiring],
    },
    EventGroup {
        name: "webhooks-group-webhooks",
        hint: None,
        types: &[Type::WebhookDisabled, Type::WebhookRecovered],
    },
];

/// What an event of this type tells.
pub(super) fn event(text: Text, r#type: Type) -> String {
    let key = match r#type {
        Type::MessageSent => "webhooks-event-sent",
        Type::MessageDelivered => "webhooks-event-delivered",
        Type::MessageRead => "webhooks-event-read",
        Type::MessageFailed => "webhooks-event-failed",
        Type::MessageExpired => "webhooks-event-expired",
        Type::MessageCanceled => "webhooks-event-canceled",
        Type::MessageUnknown => "webhooks-event-unknown",
        Type::MessageSuppressed => "webhooks-event-suppressed",
        Type::SendFinished => "webhooks-event-send-finished",
        Type::SendCanceled => "webhooks-event-send-canceled",
        Type::SendExpired => "webhooks-event-send-expired",
        Type::ChannelConnecting => "webhooks-event-channel-connecting",
        Type::ChannelConnected => "webhooks-event-channel-connected",
        Type::ChannelDisconnected => "webhooks-event-channel-disconnected",
        Type::ChannelBlocked => "webhooks-event-channel-blocked",
        Type::ChannelPairing => "webhooks-event-channel-pairing",
        Type::MessageReceived => "webhooks-event-inbound",
        Type::MessageReaction => "webhooks-event-reaction",
        Type::MessageEdited => "webhooks-event-edited",
        Type::MessageDeleted => "webhooks-event-deleted",
        Type::MessageEcho => "webhooks-event-echo",
        Type::ConversationOpened => "webhooks-event-conversation-opened",
        Type::ConversationClosed => "webhooks-event-conversation-closed",
        Type::ConversationReopened => "webhooks-event-conversation-reopened",
        Type::ConversationAssigned => "webhooks-event-conversation-assigned",
        Type::ContactOptedOut => "webhooks-event-opted-out",
        Type::ContactOptedIn => "webhooks-event-opted-in",
        Type::TemplateApproved => "webhooks-event-template-approved",
        Type::TemplateRejected => "webhooks-event-template-rejected",
        Type::TemplatePaused => "webhooks-event-template-paused",
        Type::TemplateDisabled => "webhooks-event-template-disabled",
        Type::TemplateCategoryChanged => "webhooks-event-template-category",
        Type::TemplateQualityChanged => "webhooks-event-template-quality",
        Type::ProviderNotice => "webhooks-event-provider-notice",
        Type::QuotaLow => "webhooks-event-quota-low",
        Type::QuotaUsedUp => "webhooks-event-quota-used-up",
        Type::KeyExpiring => "webhooks-event-key-expiring",
        Type::WebhookDisabled => "webhooks-event-webhook-disabled",
        Type::WebhookRecovered => "webhooks-event-webhook-recovered",
        // No endpoint gets it.
        Type::OutboxLost => return r#type.as_str().to_owned(),
    };
    text.get(key)
}

/// The events that an endpoint with these settings gets: groups that are complete, and single types.
pub(super) fn gets(text: Text, settings: &Settings) -> String {
    let types = settings.effective_types();
    let mut words = Vec::new();
    for group in GROUPS {
        let chosen: Vec<Type> = group.types.iter().copied().filter(|one| types.contains(one)).collect();
        if chosen.len() == group.types.len() {
            words.push(text.get(group.name));
        } else {
            words.extend(chosen.into_iter().map(|one| event(text, one)));
        }
    }
    words.join(" · ")
}

/// What an endpoint does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// It gets its events as they happen.
    Working,
    /// Events wait for it since then, although it accepts them.
    Behind(Timestamp),
    /// It accepts no events since then.
    Failing(Timestamp),
    /// It gets no events, because its secret or its headers cannot be unsealed.
    Unsealable,
    /// It gets no events since then.
    Disabled(Cause, Timestamp),
}

impl Doing {
    pub(super) fn of(shown: &ShownEndpoint, now: Timestamp) -> Self {
        let health = shown.endpoint.health;
        match (health.state, health.failing_since, shown.waiting_since) {
            (State::Disabled { cause, since }, ..) => Self::Disabled(cause, since),
            (State::Enabled, ..) if !shown.unsealable.is_empty() => Self::Unsealable,
            (State::Enabled, Some(since), _) => Self::Failing(since),
            (State::Enabled, None, Some(since)) if since.plus(ON_ITS_WAY) <= now => Self::Behind(since),
            (State::Enabled, None, _) => Self::Working,
        }
    }

    /// The key of the text that says what it means, and what to do.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Working => "webhooks-means-working",
            Self::Behind(_) => "webhooks-means-behind",
            Self::Failing(_) => "webhooks-means-failing",
            Self::Unsealable => "webhooks-means-sealed",
            Self::Disabled(Cause::Gone, _) => "webhooks-means-gone",
            Self::Disabled(Cause::Failures, _) => "webhooks-means-failures",
            Self::Disabled(Cause::Person, _) => "webhooks-means-disabled",
        }
    }
}

/// The badge of an endpoint's state, and since when it has this state.
pub(super) fn state(viewer: &Viewer, doing: Doing) -> Markup {
    let (tone, key, since) = match doing {
        Doing::Working => (Tone::Good, "webhooks-state-working", None),
        Doing::Behind(since) => (Tone::Busy, "webhooks-state-behind", Some(since)),
        Doing::Failing(since) => (Tone::Warning, "webhooks-state-failing", Some(since)),
        Doing::Unsealable => (Tone::Bad, "webhooks-state-sealed", None),
        Doing::Disabled(Cause::Gone, since) => (Tone::Bad, "webhooks-state-gone", Some(since)),
        Doing::Disabled(Cause::Failures, since) => (Tone::Bad, "webhooks-state-failures", Some(since)),
        Doing::Disabled(Cause::Person, since) => (Tone::Plain, "webhooks-state-disabled", Some(since)),
    };
    html! {
        (badge(tone, &viewer.text.get(key)))
        @if let Some(since) = since {
            " " span.soft { (viewer.text.get("channels-since")) " " (second(viewer, since)) }
        }
    }
}

/// What of an endpoint cannot be unsealed, and what to do about it; nothing when everything can.
pub(super) fn unsealable(text: Text, parts: &[SealedPart]) -> Markup {
    let key = |part: &SealedPart| match part {
        SealedPart::Secret => "webhooks-sealed-secret",
        SealedPart::Headers => "webhooks-sealed-headers",
    };
    html! {
        @if !parts.is_empty() {
            (alarm(&html! {
                @for part in parts { p { (text.get(key(part))) } }
                p { (text.get("webhooks-sealed-operator")) }
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::console::language::Language;
    use crate::domain::webhook::{Endpoint, Health};

    #[test]
    fn every_type_that_an_endpoint_can_get_is_in_one_group() {
        for one in Type::ALL {
            let groups = GROUPS.iter().filter(|group| group.types.contains(one)).count();
            assert_eq!(groups, usize::from(*one != Type::OutboxLost), "{one}");
        }
    }

    #[test]
    fn a_whole_group_has_one_name() {
        let text = Text(Language::English);
        let some = Settings {
            types: vec![Type::MessageRead, Type::SendFinished, Type::SendCanceled, Type::SendExpired],
            ..Settings::new("https://example.com/")
        };
        assert_eq!(gets(text, &some), "Sends that are over · A message was read");
    }

    #[test]
    fn an_endpoint_is_behind_only_after_a_while() {
        let start = Timestamp::from_millis(0);
        let after = |seconds| start.plus(Duration::from_secs(seconds));
        let shown = |state, failing_since: Option<Timestamp>, waiting_since| ShownEndpoint {
            endpoint: Endpoint {
                id: Uuid::nil(),
                company_id: Uuid::nil(),
                settings: Settings::new("https://example.com/"),
                health: Health {
                    failures: u32::from(failing_since.is_some()),
                    failing_since,
                    failed_at: failing_since,
                    state,
                },
                created_at: start,
            },
            header_names: Some(Vec::new()),
            unsealable: Vec::new(),
            retries: 0,
            given_up: 0,
            lost: 0,
            waiting_since,
            replay: None,
        };
        let disabled = State::Disabled { cause: Cause::Person, since: after(7) };
        for (state, failing, waiting, seconds, expected) in [
            (State::Enabled, None, None, 100, Doing::Working),
            (State::Enabled, None, Some(start), 59, Doing::Working),
            (State::Enabled, None, Some(start), 60, Doing::Behind(start)),
            (State::Enabled, Some(start), Some(start), 60, Doing::Failing(start)),
            (disabled, Some(start), Some(start), 60, Doing::Disabled(Cause::Person, after(7))),
        ] {
            assert_eq!(Doing::of(&shown(state, failing, waiting), after(seconds)), expected);
        }
        let unsealable = |state| ShownEndpoint {
            unsealable: vec![SealedPart::Secret],
            ..shown(state, Some(start), Some(start))
        };
        assert_eq!(Doing::of(&unsealable(State::Enabled), after(60)), Doing::Unsealable);
        assert_eq!(Doing::of(&unsealable(disabled), after(60)), Doing::Disabled(Cause::Person, after(7)));
    }
}
