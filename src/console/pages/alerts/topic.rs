//! What happened to one subject, in words.

use crate::clock::Timestamp;
use crate::console::pages::channel::words::{self as channel_words, REASONS};
use crate::console::pages::send::words as send_words;
use crate::console::text::Text;
use crate::console::zone::Zone;
use crate::domain::alert::AlertTurn;
use crate::domain::channel::Status;
use crate::domain::event::Type;
use crate::domain::event::log::{FactKind, TemplateFact, Why};
use crate::domain::limit;
use crate::domain::message::State;
use crate::domain::send::{self, Counts};
use crate::domain::webhook::Cause;
use crate::engine::{AlertFact, AlertTopic};

/// A part of a mail.
pub(super) struct Paragraph {
    /// What happened.
    pub(super) title: String,
    /// More about it.
    pub(super) lines: Vec<String>,
    /// What to do.
    pub(super) remedy: Option<String>,
    /// The path of the page about it.
    pub(super) path: String,
}

/// What happened to a subject. The last of it is the title.
pub(super) fn topic(text: Text, zone: &Zone, topic: &AlertTopic) -> Paragraph {
    let AlertTopic { kind: _, count, since, facts } = topic;
    let minute = |at: Timestamp| zone.minute(at, text.0);
    let Some(last) = facts.last() else {
        let title =
            text.with("alerts-changes", [("count", (*count).into()), ("since", minute(*since).into())]);
        return Paragraph { title, lines: Vec::new(), remedy: None, path: "/console".to_owned() };
    };
    let mut lines = vec![minute(last.fact.at)];
    lines.extend(details(text, last));
    let shown = facts.len() as u64;
    if *count > shown || is_of_one_subject(last) && *count > 1 {
        let since = minute(*since).into();
        lines.push(text.with("alerts-changes", [("count", (*count).into()), ("since", since)]));
    }
    if !is_of_one_subject(last) {
        // Each is about something else.
        for fact in facts.iter().rev().skip(1) {
            lines.push(format!("{}: {}", minute(fact.fact.at), title(text, zone, fact)));
        }
    }
    Paragraph {
        title: title(text, zone, last),
        lines,
        remedy: Some(text.get(remedy(last))),
        path: path(last),
    }
}

/// Whether all facts of the topic are about the same thing.
const fn is_of_one_subject(fact: &AlertFact) -> bool {
    matches!(
        fact.fact.what,
        FactKind::Channel { .. } | FactKind::WebhookDisabled { .. } | FactKind::WebhookRecovered { .. }
    )
}

fn is_better(fact: &AlertFact) -> bool {
    fact.fact.alert().is_some_and(|(_, turn)| turn == AlertTurn::Better)
}

/// What happened, in a few words.
fn title(text: Text, zone: &Zone, fact: &AlertFact) -> String {
    let name = || fact.name.clone().unwrap_or_else(|| text.get("alerts-removed"));
    match &fact.fact.what {
        FactKind::Channel { status, .. } => {
            let key = match status.parse() {
                Ok(Status::Connected) => "alerts-channel-connected",
                Ok(Status::Blocked) => "alerts-channel-blocked",
                _ => "alerts-channel-disconnected",
            };
            text.with(key, [("name", name().into())])
        }
        FactKind::Send { state, .. } => {
            let key = match send::State::from_i16(*state) {
                Some(send::State::Canceled) => "alerts-send-canceled",
                Some(send::State::Expired) => "alerts-send-expired",
                _ => "alerts-send-finished",
            };
            let name = match &fact.send {
                Some(send) => send_words::name(text, send),
                None => text.get("alerts-removed"),
            };
            text.with(key, [("name", name.into())])
        }
        FactKind::Quota { limit, left, most } => {
            let key = if *left == 0 { "alerts-quota-used-up" } else { "alerts-quota-low" };
            let limit = match limit.parse::<limit::Name>() {
                Ok(limit) => channel_words::limit(text, limit),
                Err(_) => limit.clone(),
            };
            let (left, most) = ((*left).into(), (*most).into());
            text.with(key, [("name", name().into()), ("limit", limit.into()), ("left", left), ("most", most)])
        }
        FactKind::Key { name, expires_at, .. } => {
            let at = zone.minute(*expires_at, text.0);
            text.with("alerts-key-expiring", [("name", name.as_str().into()), ("at", at.into())])
        }
        FactKind::Template(template) => {
            let TemplateFact { name, language, .. } = template;
            let key = match template.r#type() {
                Some(Type::TemplateRejected) => "alerts-template-rejected",
                Some(Type::TemplateDisabled) => "alerts-template-disabled",
                _ => "alerts-template-paused",
            };
            text.with(key, [("name", name.as_str().into()), ("language", language.as_str().into())])
        }
        FactKind::WebhookDisabled { .. } => text.with("alerts-webhook-stopped", [("name", name().into())]),
        FactKind::WebhookRecovered { .. } => text.with("alerts-webhook-recovered", [("name", name().into())]),
        // These are no alerts.
        FactKind::Inbound { .. }
        | FactKind::Wrote(_)
        | FactKind::Conversation(_)
        | FactKind::OptedOut(_)
        | FactKind::OptedIn(_)
        | FactKind::Notice { .. } => String::new(),
    }
}

/// More about the last that happened.
fn details(text: Text, fact: &AlertFact) -> Option<String> {
    match &fact.fact.what {
        FactKind::Channel { reason: Some(why), .. } if !is_better(fact) => Some(reason(text, why)),
        FactKind::Send { recipients, .. } => Some(match &fact.counts {
            Some(counts) => figures(text, *recipients, counts),
            None => text.with("alerts-recipients", [("count", (*recipients).into())]),
        }),
        FactKind::Template(TemplateFact { reason: Some(reason), .. }) => {
            Some(text.with("alerts-template-reason", [("reason", reason.as_str().into())]))
        }
        FactKind::WebhookDisabled { cause, .. } => Some(text.get(match cause.parse() {
            Ok(Cause::Gone) => "alerts-webhook-gone",
            _ => "alerts-webhook-failing",
        })),
        _ => None,
    }
}

/// Why a channel cannot send; in English if this version has no words for it.
fn reason(text: Text, why: &Why) -> String {
    match REASONS.iter().find(|(code, ..)| *code == why.code) {
        Some((_, _, said)) => text.get(said),
        None => why.sentence.clone(),
    }
}

fn figures(text: Text, recipients: u64, counts: &Counts) -> String {
    let of = |states: &[State]| states.iter().map(|state| counts.of(*state)).sum::<u64>();
    text.with(
        "alerts-figures",
        [
            ("recipients", recipients.into()),
            ("sent", of(&[State::Sent, State::Delivered, State::Read]).into()),
            ("delivered", of(&[State::Delivered, State::Read]).into()),
            ("read", of(&[State::Read]).into()),
            ("failed", of(&[State::Failed]).into()),
            ("others", of(&[State::Unknown, State::Expired, State::Canceled, State::Suppressed]).into()),
        ],
    )
}

/// The key of the text that says what to do.
fn remedy(fact: &AlertFact) -> &'static str {
    match &fact.fact.what {
        FactKind::Channel { .. } if is_better(fact) => "alerts-do-channel-better",
        FactKind::Channel { status, .. } if *status == Status::Blocked.as_str() => {
            "alerts-do-channel-blocked"
        }
        FactKind::Channel { .. } => "alerts-do-channel",
        FactKind::Quota { .. } => "alerts-do-quota",
        FactKind::Key { .. } => "alerts-do-key",
        FactKind::Template(_) => "alerts-do-template",
        FactKind::WebhookDisabled { .. } => "alerts-do-webhook",
        FactKind::WebhookRecovered { .. } => "alerts-do-webhook-better",
        FactKind::Send { .. }
        | FactKind::Inbound { .. }
        | FactKind::Wrote(_)
        | FactKind::Conversation(_)
        | FactKind::OptedOut(_)
        | FactKind::OptedIn(_)
        | FactKind::Notice { .. } => "alerts-do-send",
    }
}

/// The path of the page about it.
fn path(fact: &AlertFact) -> String {
    match &fact.fact.what {
        FactKind::Send { id, .. } => format!("/console/sends/{id}"),
        FactKind::Key { .. } => "/console/keys".to_owned(),
        FactKind::Template(_) => "/console/templates".to_owned(),
        FactKind::WebhookDisabled { id, .. } | FactKind::WebhookRecovered { id, .. } => {
            format!("/console/webhooks/{id}")
        }
        _ => match fact.fact.channel_id {
            Some(id) => format!("/console/channels/{id}"),
            None => "/console".to_owned(),
        },
    }
}
