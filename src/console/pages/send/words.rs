//! Words for states, reasons and causes.

use maud::{Markup, html};

use crate::console::component::badge::{Tone, badge, explained};
use crate::console::component::cause;
use crate::console::component::explain::{self, Topic};
use crate::console::component::outcome::OutcomeColour;
use crate::console::text::Text;
use crate::domain::content::Kind;
use crate::domain::message::{Reception, State};
use crate::domain::plan::Binding;
use crate::domain::send::{Naming, Stage};
use crate::engine::records::sends::Record;

/// The name of a send: the given one, or one that is made of what it sends and to whom.
pub(in crate::console::pages) fn name(text: Text, send: &Record) -> String {
    let given = send.label.name.clone();
    given.unwrap_or_else(|| made_name(text, &send.naming(&kind(text, send.kind))))
}

fn made_name(text: Text, naming: &Naming<'_>) -> String {
    let what = ("what", naming.what().into());
    let (tags, more) = naming.tags();
    match (tags.is_empty(), more, naming.is_to_group) {
        (false, 0, _) => text.with("send-name-to-tags", [what, ("tags", tags.into())]),
        (false, more, _) => {
            text.with("send-name-to-more-tags", [what, ("tags", tags.into()), ("more", more.into())])
        }
        (true, _, true) => text.with("send-name-to-group", [what]),
        (true, _, false) => text.with("send-name-to-people", [what, ("count", naming.recipients.into())]),
    }
}

/// The outcome of a send for a person.
pub(in crate::console::pages) fn reception(text: Text, reception: Reception) -> String {
    text.get(match reception {
        Reception::Received => "send-received",
        Reception::NotReceived => "send-not-received",
        Reception::Read => "send-was-read",
        Reception::NotRead => "send-not-read",
        Reception::Answered => "send-was-answered",
        Reception::NotAnswered => "send-not-answered",
    })
}

/// The badge for the state of a send.
pub(in crate::console::pages) fn stage(text: Text, stage: Stage) -> Markup {
    let (tone, key) = match stage {
        Stage::Scheduled => (Tone::Plain, "send-stage-scheduled"),
        Stage::Active => (Tone::Busy, "send-stage-active"),
        Stage::Paused => (Tone::Warning, "send-stage-paused"),
        Stage::Finished => (Tone::Good, "send-stage-finished"),
        Stage::Canceled => (Tone::Plain, "send-stage-canceled"),
        Stage::Expired => (Tone::Warning, "send-stage-expired"),
    };
    explained(tone, &text.get(key), Topic::Send(stage))
}

/// The word for the state of a send, for lists to choose from.
pub(in crate::console::pages) fn stage_word(text: Text, stage: Stage) -> String {
    text.get(match stage {
        Stage::Scheduled => "send-stage-scheduled",
        Stage::Active => "send-stage-active",
        Stage::Paused => "send-stage-paused",
        Stage::Finished => "send-stage-finished",
        Stage::Canceled => "send-stage-canceled",
        Stage::Expired => "send-stage-expired",
    })
}

/// The word for the state of a message.
pub(in crate::console::pages) fn state_word(text: Text, state: State) -> String {
    text.get(match state {
        State::Queued => "send-state-queued",
        State::Sending => "send-state-sending",
        State::Sent => "send-state-sent",
        State::Delivered => "send-state-delivered",
        State::Read => "send-state-read",
        State::Failed => "send-state-failed",
        State::Expired => "send-state-expired",
        State::Canceled => "send-state-canceled",
        State::Unknown => "send-state-unknown",
        State::Suppressed => "send-state-suppressed",
    })
}

/// The badge for the state of a message.
pub(in crate::console::pages) fn state(text: Text, state: State) -> Markup {
    explained(tone(state), &state_word(text, state), Topic::Message(state))
}

/// The same inside a link to something else, followed by a mark that links to the explanation.
pub(in crate::console::pages) fn linked_state(text: Text, state: State, address: &str) -> Markup {
    let word = state_word(text, state);
    html! {
        a href=(address) { (badge(tone(state), &word)) } " "
        (explain::mark(text, Topic::Message(state), &word))
    }
}

const fn tone(state: State) -> Tone {
    match state {
        State::Expired | State::Unknown | State::Suppressed => Tone::Warning,
        state => Tone::Outcome(OutcomeColour::of(state)),
    }
}

/// Why a message did not arrive, in words.
pub(in crate::console::pages) fn cause(text: Text, state: State, code: Option<i64>) -> String {
    match state {
        State::Expired => text.get("send-cause-expired"),
        State::Canceled => text.get("send-cause-canceled"),
        State::Suppressed => text.get("send-cause-suppressed"),
        State::Unknown if code.is_none() => text.get("send-cause-unknown"),
        _ => cause::words(text, code),
    }
}

/// The topic that explains a cause: the provider's code, or the message's state.
pub(in crate::console::pages) fn topic(state: State, code: Option<i64>) -> Topic<'static> {
    match (code, state) {
        (Some(code), _) => Topic::Code(code),
        (None, State::Failed) => Topic::NoCode,
        (None, state) => Topic::Message(state),
    }
}

/// The limit that decides how long a send takes.
pub(in crate::console::pages) fn binding(text: Text, binding: Binding) -> String {
    text.get(match binding {
        Binding::MessagesPerSecond => "send-limit-rate",
        Binding::ProviderLevel => "send-limit-level",
        Binding::BackOff => "send-limit-back-off",
        Binding::Pair => "send-limit-pair",
        Binding::TemplateQuota => "send-limit-quota",
        Binding::QuietHours => "send-limit-quiet",
    })
}

/// The kind of a message.
pub(in crate::console::pages) fn kind(text: Text, kind: Kind) -> String {
    text.get(match kind {
        Kind::Text => "send-kind-text",
        Kind::Image => "send-kind-image",
        Kind::Video => "send-kind-video",
        Kind::Audio => "send-kind-audio",
        Kind::Document => "send-kind-document",
        Kind::Sticker => "send-kind-sticker",
        Kind::Location => "send-kind-location",
        Kind::Contacts => "send-kind-contacts",
        Kind::Reaction => "send-kind-reaction",
        Kind::Template => "send-kind-template",
        Kind::Interactive => "send-kind-interactive",
    })
}
