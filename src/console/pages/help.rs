//! Explains states, waits and causes, with what to do. The page is built from the program's own tables, so
//! that none is missing.

use std::ops::RangeInclusive;

use maud::{Markup, html};

use super::channel::words as channel;
use super::send::words as send;
use crate::connector::{Disposition, cloud_api};
use crate::console::component::bar::ANSWERED;
use crate::console::component::cause::{CAUSES, Cause};
use crate::console::component::explain::Topic;
use crate::console::component::reason::reason;
use crate::console::component::status;
use crate::console::page::{Menu, Page};
use crate::console::text::Text;
use crate::console::visitor::Visitor;
use crate::domain::channel::Status;
use crate::domain::message::{State, own_code};
use crate::domain::outlook::Reason;
use crate::domain::send::Stage;

pub(crate) async fn show(visitor: Visitor) -> Page {
    Page::new(visitor.text.get("help-title"), Menu::None, body(visitor.text))
}

/// The parts of the page: an id, and the key of a heading.
const PARTS: [(&str, &str); 6] = [
    ("sends", "help-sends"),
    ("waits", "help-waits"),
    ("messages", "help-messages"),
    ("channels", "help-channels"),
    ("connections", "help-connections"),
    ("codes", "help-codes"),
];

fn body(text: Text) -> Markup {
    html! {
        p { (text.get("help-lead")) }
        nav aria-label=(text.get("help-contents")) {
            ul.tags { @for (id, key) in PARTS { li { a href=(format!("#{id}")) { (text.get(key)) } } } }
        }
        @for (id, key) in PARTS {
            section.panel.help id=(id) aria-label=(text.get(key)) {
                h2 { (text.get(key)) }
                @match id {
                    "sends" => @for stage in Stage::ALL {
                        (entry(Topic::Send(stage), &send::stage_word(text, stage), &text.get(of_stage(stage))))
                    },
                    "waits" => @for wait in Reason::ALL {
                        (entry(Topic::Wait(*wait), &capitalized(&reason(text, *wait)), &text.get(of_wait(*wait))))
                    },
                    "messages" => {
                        @for state in State::ALL {
                            (entry(Topic::Message(state), &send::state_word(text, state), &text.get(of_message(state))))
                        }
                        (entry(Topic::Answered, &text.get(ANSWERED), &text.get("help-message-answered")))
                    },
                    "channels" => (channels(text)),
                    "connections" => @for (code, title, said) in channel::REASONS {
                        (entry(Topic::Connection(code), &text.get(title), &text.get(said)))
                    },
                    _ => (codes(text)),
                }
            }
        }
    }
}

fn channels(text: Text) -> Markup {
    html! {
        @for state in Status::ALL {
            (entry(Topic::Channel(*state), &capitalized(&status::word(text, *state)), &text.get(channel::meaning(*state))))
        }
        (entry(Topic::Restricted, &capitalized(&text.get("channels-state-restricted")), &text.get("channels-reason-restricted")))
    }
}

/// The provider's codes: what happened, what to do, and what the service does with the message.
fn codes(text: Text) -> Markup {
    html! {
        p { (text.get("help-codes-lead")) }
        @for cause in CAUSES {
            div.entry {
                h3 { (text.get(cause.words)) }
                p { (text.get(cause.remedy)) }
                @for (does, spans) in by_effect(cause) {
                    p.soft {
                        @for (index, span) in spans.into_iter().enumerate() {
                            @if index > 0 { ", " }
                            span id=(Topic::Code(*span.start()).anchor()) { (numbers(span)) }
                        }
                        " " (text.get(does))
                    }
                }
            }
        }
        div.entry id="code-other" { h3 { (text.get("cause-other")) } p { (text.get("help-cause-other")) } }
        (entry(Topic::NoCode, &text.get("cause-none"), &text.get("help-cause-none")))
    }
}

/// The codes of a cause, with the key of the text about what the service does after them.
fn by_effect(cause: &Cause) -> Vec<(&'static str, Vec<&'static RangeInclusive<i64>>)> {
    let mut groups: Vec<(&'static str, Vec<_>)> = Vec::new();
    for span in cause.codes {
        let Some(does) = meaning(*span.start()).map(of_disposition) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == does) {
            Some((_, spans)) => spans.push(span),
            None => groups.push((does, vec![span])),
        }
    }
    groups
}

/// The provider's numbers. Codes of Pombo's own say nothing to people.
fn numbers(span: &RangeInclusive<i64>) -> Markup {
    html! {
        @if *span.start() >= 0 {
            code { (span.start()) }
            @if span.start() != span.end() { "–" code { (span.end()) } }
        }
    }
}

fn entry(topic: Topic<'_>, title: &str, explanation: &str) -> Markup {
    html! { div.entry id=(topic.anchor()) { h3 { (title) } p { (explanation) } } }
}

/// Capitalizes words that appear inside sentences elsewhere.
fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const fn of_stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Scheduled => "help-send-scheduled",
        Stage::Active => "help-send-active",
        Stage::Paused => "help-send-paused",
        Stage::Finished => "help-send-finished",
        Stage::Canceled => "help-send-canceled",
        Stage::Expired => "help-send-expired",
    }
}

const fn of_wait(reason: Reason) -> &'static str {
    match reason {
        Reason::Rate => "help-wait-rate",
        Reason::BackOff => "help-wait-back-off",
        Reason::Pair => "help-wait-pair",
        Reason::TemplateQuota => "help-wait-template-quota",
        Reason::QuietHours => "help-wait-quiet-hours",
        Reason::DailyCap => "help-wait-daily-cap",
        Reason::TemplatePaused => "help-wait-template-paused",
        Reason::RecipientHeld => "help-wait-recipient-held",
        Reason::ProviderPause => "help-wait-provider-pause",
        Reason::NoSocket => "help-wait-no-socket",
        Reason::AccountThrottled => "help-wait-account-throttled",
        Reason::AppThrottled => "help-wait-app-throttled",
        Reason::Disconnected => "help-wait-disconnected",
        Reason::Blocked => "help-wait-blocked",
        Reason::Paused => "help-wait-paused",
        Reason::Scheduled => "help-wait-scheduled",
        Reason::UnknownOutcome => "help-wait-unknown-outcome",
        Reason::Retry => "help-wait-retry",
        Reason::InFlight => "help-wait-in-flight",
        Reason::Turn => "help-wait-turn",
    }
}

const fn of_message(state: State) -> &'static str {
    match state {
        State::Queued => "help-message-queued",
        State::Sending => "help-message-sending",
        State::Sent => "help-message-sent",
        State::Delivered => "help-message-delivered",
        State::Read => "help-message-read",
        State::Failed => "help-message-failed",
        State::Expired => "help-message-expired",
        State::Canceled => "help-message-canceled",
        State::Unknown => "help-message-unknown",
        State::Suppressed => "help-message-suppressed",
    }
}

/// What a code means for its message; a message with a code of Pombo's own has failed.
fn meaning(code: i64) -> Option<Disposition> {
    let is_own = own_code::ALL.iter().any(|own| own.code == code);
    if is_own { Some(Disposition::Fail) } else { cloud_api::meaning(code) }
}

/// The text about what the service does after an answer.
const fn of_disposition(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Fail => "help-does-fail",
        Disposition::Retry => "help-does-retry",
        Disposition::Wait => "help-does-wait",
        Disposition::SlowNumber => "help-does-slow-number",
        Disposition::SlowAccount => "help-does-slow-account",
        Disposition::SlowApp => "help-does-slow-app",
        Disposition::Maintenance => "help-does-maintenance",
        Disposition::Pair => "help-does-pair",
        Disposition::HoldTemplate => "help-does-hold-template",
        Disposition::HoldRecipient => "help-does-hold-recipient",
        Disposition::Suppress(_) => "help-does-suppress",
        Disposition::Disconnect => "help-does-disconnect",
        Disposition::Block => "help-does-block",
        Disposition::Restrict => "help-does-restrict",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::console::language::Language;

    /// All topics that the program can link to.
    fn topics() -> Vec<Topic<'static>> {
        let codes = cloud_api::known_codes().flat_map(|span| [*span.start(), *span.end()]);
        let waits = Reason::ALL.iter().map(|reason| Topic::Wait(*reason));
        let states = Status::ALL.iter().map(|status| Topic::Channel(*status));
        waits
            .chain(states)
            .chain([Topic::Restricted, Topic::NoCode, Topic::Code(-1), Topic::Code(999)])
            .chain(channel::REASONS.iter().map(|(code, ..)| Topic::Connection(code)))
            .chain(Stage::ALL.map(Topic::Send))
            .chain(State::ALL.map(Topic::Message))
            .chain(codes.map(Topic::Code))
            .collect()
    }

    #[test]
    fn everything_that_pages_link_to_is_explained_in_every_language() {
        for language in Language::ALL {
            let page = body(Text(language)).into_string();
            let ids: Vec<_> =
                page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let known: HashSet<_> = ids.iter().copied().collect();
            assert_eq!(ids.len(), known.len(), "an anchor is there twice");
            for topic in topics() {
                assert!(known.contains(topic.anchor().as_str()), "{language:?} does not explain {topic:?}");
            }
            assert!(!page.contains("<p></p>") && !page.contains("-1<"), "an explanation is empty");
        }
    }
}
