//! What a send is: to whom it goes, through which channel, when, who made it, and who paused or canceled it.

use maud::{Markup, html};

use super::{Around, words};
use crate::clock::Timestamp;
use crate::console::component::time::moment;
use crate::console::pages::changes::words::author;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::send::{EndReason, Source};
use crate::engine::records::sends::Record;
use crate::engine::{Steered, SteeringStep, Who};

/// The facts about a send.
pub(super) fn facts(viewer: &Viewer, send: &Record, around: &Around) -> Markup {
    let text = viewer.text;
    let schedule = [("send-starts", send.schedule.send_at), ("send-expires", send.schedule.expires_at)];
    html! {
        section.panel aria-label=(text.get("send-about")) {
            dl.facts {
                dt { (text.get("send-to")) }
                dd { (audience(text, send)) }
                dt { (text.get("send-channel")) }
                dd { a href=(format!("/console/channels/{}", send.channel_id)) {
                    bdi { (around.channel.as_deref().unwrap_or("—")) }
                } }
                dt { (text.get("send-made")) }
                dd { (by(viewer, send.created_at, send.label.made_by.as_deref())) }
                @for (key, at) in schedule {
                    @if let Some(at) = at { dt { (text.get(key)) } dd { (moment(viewer, at)) } }
                }
                @for SteeringStep { what, who, at } in &around.steps {
                    dt { (text.get(step(*what))) }
                    dd {
                        (by(viewer, *at, Some(who.as_str())))
                        // Pombo itself pauses sends of disabled companies alone.
                        @if *what == Steered::Paused && *who == Who::Pombo.to_string() {
                            p.soft { (text.get("send-step-disabled")) }
                        }
                    }
                }
                @if let Some(at) = send.finished_at { dt { (text.get("send-ended")) } dd { (moment(viewer, at)) } }
                @if send.skipped > 0 {
                    dt { (text.get("send-skipped")) }
                    dd { (text.with("send-entries", [("count", send.skipped.into())])) }
                }
            }
            @match send.end_reason {
                Some(EndReason::Restored) => { p { (text.get("send-restored")) } }
                None => {}
            }
            (instead(text, send, around))
            @if let Some(origin) = &around.origin {
                p { (text.get("send-repeats")) " " a href=(format!("/console/sends/{}", origin.id)) { bdi { (words::name(text, origin)) } } }
            }
            @if !around.repeats.is_empty() {
                p {
                    (text.get("send-repeated")) " "
                    @for repeat in &around.repeats {
                        a href=(format!("/console/sends/{}", repeat.id)) { (moment(viewer, repeat.created_at)) } " "
                    }
                }
            }
        }
    }
}

/// The other send of the request, if people whose window was closed get a template.
fn instead(text: Text, send: &Record, around: &Around) -> Markup {
    let is_of_all = send.sources.contains(&Source::Closed(None));
    html! {
        @if let Some(id) = send.instead {
            p { (text.get("send-instead")) " " a href=(format!("/console/sends/{id}")) { (text.get("send-instead-open")) } }
        }
        @if is_of_all { p { (text.get("send-instead-all")) } }
        @if let Some(other) = &around.in_place_of {
            p { (text.get("send-instead-of")) " " a href=(format!("/console/sends/{}", other.id)) { bdi { (words::name(text, other)) } } }
        }
    }
}

/// The tags by name, and how many people get the message.
fn audience(text: Text, send: &Record) -> Markup {
    html! {
        @if !send.tags.is_empty() {
            ul.tags { @for tag in &send.tags { li { bdi { (tag) } } } }
        }
        @if !send.left_out_tags.is_empty() {
            div {
                span.soft { (text.get("send-without")) } " "
                ul.tags { @for tag in &send.left_out_tags { li { bdi { (tag) } } } }
            }
        }
        @if send.is_to_group { (text.get("send-group")) }
        @else { (text.with("send-people", [("count", send.recipients.into())])) }
    }
}

/// A time, and who did it then.
fn by(viewer: &Viewer, at: Timestamp, who: Option<&str>) -> Markup {
    html! {
        (moment(viewer, at))
        @if let Some(who) = who { ", " bdi { (author(viewer.text, who)) } }
    }
}

const fn step(what: Steered) -> &'static str {
    match what {
        Steered::Paused => "send-step-paused",
        Steered::Resumed => "send-step-resumed",
        Steered::Canceled => "send-step-canceled",
        Steered::Moved => "send-step-moved",
    }
}
