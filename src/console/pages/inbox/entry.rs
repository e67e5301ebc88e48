//! One entry of a conversation: a bubble with its quotation, content, marks, reactions, time and state.

use maud::{Markup, html};
use uuid::Uuid;

use super::composer::quoting;
use super::filter::InboxFilter;
use super::said;
use super::thread::OpenThread;
use crate::console::component::cause;
use crate::console::component::copy::copy;
use crate::console::component::formatting::{LABEL_CHARS, plain};
use crate::console::component::number;
use crate::console::component::time::moment;
use crate::console::pages::send::words;
use crate::console::visitor::Viewer;
use crate::domain::inbound::{Direction, InboundBody, MessageAuthor};
use crate::domain::message::State as At;
use crate::engine::conversations::{OwnEntry, ShownReaction, ThreadEntry, WrittenEntry};

/// The id of an entry in the page.
fn anchor(id: Uuid) -> String {
    format!("m-{id}")
}

/// The first words of an entry, for a quotation.
pub(super) fn line(viewer: &Viewer, thread: &OpenThread, entry: &ThreadEntry) -> String {
    let text = viewer.text;
    match entry {
        ThreadEntry::Written(written) => match &written.body {
            Some(body) => {
                let line = body.content.line();
                if line.is_empty() { said::kind(text, &written.kind) } else { line }
            }
            None => missing(viewer, written),
        },
        ThreadEntry::Own(own) => own.content.as_ref().map_or_else(
            || text.get("inbox-gone"),
            |content| said::own_line(text, content, thread.template_words(own)),
        ),
    }
}

pub(super) fn entry(
    viewer: &Viewer,
    thread: &OpenThread,
    filter: &InboxFilter,
    entry: &ThreadEntry,
) -> Markup {
    match entry {
        ThreadEntry::Written(written) => of_person(viewer, thread, filter, written),
        ThreadEntry::Own(own) => of_company(viewer, thread, own),
    }
}

/// Why an entry has no content.
fn missing(viewer: &Viewer, written: &WrittenEntry) -> String {
    viewer.text.get(if written.deleted_at.is_some() { "inbox-deleted" } else { "inbox-not-kept" })
}

fn of_person(viewer: &Viewer, thread: &OpenThread, filter: &InboxFilter, written: &WrittenEntry) -> Markup {
    let text = viewer.text;
    let is_echo = written.direction == Direction::Echo;
    let may_reply = viewer.may_answer() && thread.reach.is_open() && written.deleted_at.is_none();
    html! {
        li.spoken.own[is_echo].echo[is_echo] id=(anchor(written.id)) {
            @if is_echo { p.soft { (text.get("inbox-echo")) } }
            @match &written.body {
                Some(body) => {
                    (around(viewer, thread, body))
                    (said::written(text, written.id, body))
                }
                None => p.soft { (missing(viewer, written)) },
            }
            (reactions(&written.reactions))
            (id(viewer, written.id, &written.provider_id, false))
            p.soft {
                (moment(viewer, written.at))
                @if let Some(at) = written.edited_at { ", " (text.get("inbox-edited")) " " (moment(viewer, at)) }
                @if may_reply {
                    " " (quoting(filter, thread.conversation().id, &written.provider_id, &text.get("inbox-reply")))
                }
            }
        }
    }
}

/// What stands above the content: its author in a group, where it comes from, and what it answers.
fn around(viewer: &Viewer, thread: &OpenThread, body: &InboundBody) -> Markup {
    let text = viewer.text;
    let (is_forwarded, quoted) = body.context.as_ref().map_or((false, None), |context| {
        (context.forwarded || context.frequently_forwarded, context.message_id.as_deref())
    });
    html! {
        @if let Some(author) = &body.author { p { strong { bdi { (author_of(author)) } } } }
        @if is_forwarded { p.soft { (text.get("inbox-forwarded")) } }
        @if let Some(referral) = &body.referral {
            p.soft {
                (text.get("inbox-from-advertisement"))
                @if let Some(headline) = &referral.headline { ": " bdi { (plain(headline, LABEL_CHARS)) } }
            }
        }
        @if let Some(quoted) = quoted { (quotation(viewer, thread, quoted)) }
    }
}

fn author_of(author: &MessageAuthor) -> String {
    let number = author.number.as_deref().map(number::written);
    author.name.clone().or(number).or_else(|| author.user_id.clone()).unwrap_or_else(|| "—".to_owned())
}

/// The message that another one answers, which may be above the part that is shown.
fn quotation(viewer: &Viewer, thread: &OpenThread, provider_id: &str) -> Markup {
    html! {
        blockquote.quoted {
            @match thread.named(provider_id) {
                Some(entry) => {
                    a href={ "#" (anchor_of(entry)) } { (plain(&line(viewer, thread, entry), LABEL_CHARS)) }
                }
                None => span.soft { (viewer.text.get("inbox-quoted-earlier")) },
            }
        }
    }
}

fn anchor_of(entry: &ThreadEntry) -> String {
    anchor(match entry {
        ThreadEntry::Written(written) => written.id,
        ThreadEntry::Own(own) => own.message.send_id,
    })
}

fn of_company(viewer: &Viewer, thread: &OpenThread, own: &OwnEntry) -> Markup {
    let text = viewer.text;
    let outcome = &own.message.message.outcome;
    let (state, code) = (outcome.state, outcome.error.as_ref().and_then(|error| error.code));
    let has_failed = matches!(state, At::Failed | At::Expired | At::Canceled | At::Unknown | At::Suppressed);
    let send = own.message.send_id;
    html! {
        li.spoken.own.bulk[own.is_bulk] id=(anchor(send)) {
            @if own.is_bulk {
                @let name = thread.send(send).map_or_else(|| text.get("inbox-bulk"), str::to_owned);
                p.soft {
                    (text.get("inbox-bulk-of")) " "
                    @if viewer.is_agent() || thread.send(send).is_none() { bdi { (name) } }
                    @else { a href=(format!("/console/sends/{send}")) { bdi { (name) } } }
                }
            }
            @match &own.content {
                Some(content) => (said::own(text, content, thread.template_words(own).as_deref())),
                None => p.soft { (text.get("inbox-gone")) },
            }
            (reactions(&own.reactions))
            // Of a message that did not go, as people ask about it; the provider has no id for it.
            (id(viewer, send, outcome.provider_message_id.as_deref().unwrap_or(&send.to_string()), has_failed))
            p.soft { (moment(viewer, own.at)) " " (words::state(text, state)) }
            @if has_failed {
                p.fault {
                    (words::cause(text, state, code))
                    @if let Some(remedy) = cause::remedy(text, code) { " " (remedy) }
                }
            }
        }
    }
}

/// The id of a message, to copy: the provider's, or that of its send.
fn id(viewer: &Viewer, entry: Uuid, message: &str, is_open: bool) -> Markup {
    let name = viewer.text.get("inbox-message-id");
    html! {
        details.more id=(format!("id-{}", entry.simple())) open[is_open] {
            summary { (name) }
            (copy(viewer.text, &name, message))
        }
    }
}

fn reactions(reactions: &[ShownReaction]) -> Markup {
    html! {
        @if !reactions.is_empty() {
            p.reactions { @for reaction in reactions { span { (plain(&reaction.emoji, 16)) } " " } }
        }
    }
}
