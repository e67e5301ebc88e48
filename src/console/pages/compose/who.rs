//! The first step: the channel, and the people.

use std::sync::Arc;

use maud::{Markup, html};

use super::choice::{self, Choice};
use super::reach;
use super::{Around, audience, bulk, list, refused, web};
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::form::Form;
use crate::console::pages::channel::words::kind as kind_of_channel;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};

/// The fields of the step.
pub(super) fn fields(viewer: &Viewer, form: &Form, around: &Around) -> Markup {
    let text = viewer.text;
    html! {
        section.panel {
            h2 { (text.get("compose-whom")) }
            (channel(viewer, form, &around.choice))
            @if around.choice.is_web() {
                (web::fields(viewer, form, &around.audience))
                (web::pace(viewer, &around.audience))
            } @else if around.choice.is_for_many() {
                (list::fields(viewer, form, around.list.as_ref()))
                (audience::fields(viewer, form, &around.audience))
                div.row {
                    (reach::shown(text, &around.reach, list::named(form.words()).is_some()))
                    button.plain type="submit" name="action" value="count" formnovalidate { (text.get("compose-count")) }
                }
            }
        }
    }
}

/// The channel: the only one without a question, otherwise a list to choose from.
fn channel(viewer: &Viewer, form: &Form, choice: &Choice) -> Markup {
    let text = viewer.text;
    let named = |channel: &Arc<Channel>| match channel.kind {
        Kind::BusinessAccount => channel.name.clone(),
        Kind::WebSession => format!("{} ({})", channel.name, kind_of_channel(text, channel.kind)),
    };
    let current = choice.channel.as_ref().map(|channel| channel.id.to_string()).unwrap_or_default();
    let only = choice.channel.as_ref().filter(|_| choice.channels.len() == 1);
    // The fields of a linked phone are other ones.
    let has_phones = choice.channels.iter().any(|channel| channel.kind == Kind::WebSession);
    let mut first = Form::filled(text, [("channel", current.clone())]);
    if let Some(fault) = form.fault_of("channel") {
        first.fault("channel", fault);
    }
    html! {
        @if let Some(only) = only {
            input type="hidden" name="channel" value=(current);
            p { span.soft { (text.get("compose-channel")) ": " } bdi { (named(only)) } }
            @if let Some(fault) = form.fault_of("channel") { (notice::fault(fault)) }
        } @else {
            div.row.bottom {
                (Field::new(&first, "channel", &text.get("compose-channel")).select(
                    std::iter::once((String::new(), text.get("compose-choose")))
                        .chain(choice.channels.iter().map(|channel| (channel.id.to_string(), named(channel))))
                ))
                @if has_phones {
                    button.plain type="submit" name="action" value=(choice::CHOOSE) formnovalidate { (text.get("compose-use")) }
                }
            }
        }
        (choice.not_linked(text))
    }
}

/// Notes what the first step lacks.
pub(super) fn complain(state: &State, around: &Around, form: &mut Form) {
    let text = form.text();
    if around.choice.channel.is_none() {
        form.fault("channel", text.get("compose-fault-channel"));
    }
    if around.choice.is_web() {
        web::complain(form);
    } else if let Err(refusal) = bulk::audience(state, form.words()) {
        refused::fault(form, &refusal);
    } else if list::named(form.words()).is_some() {
        if around.list.is_none() {
            form.fault(list::LIST, text.get("compose-list-gone"));
        }
        list::complain(form);
    }
}
