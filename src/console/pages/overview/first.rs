//! The first steps of a company, each ticked off once it is done.

use maud::{Markup, html};

use super::{LATEST, Overview};
use crate::console::component::icon::Icon;
use crate::console::visitor::Viewer;

/// A step.
struct FirstStep {
    is_done: bool,
    title: &'static str,
    about: &'static str,
    /// The address and the label of its button, for people who may take the step.
    button: Option<(&'static str, &'static str)>,
}

/// Whether all steps are done, or the company has sent so much that it needs none: programs may send without contacts.
pub(super) fn is_over(overview: &Overview) -> bool {
    let has_sent_often = overview.latest.len() as u64 >= LATEST;
    has_sent_often || overview.has_sent() && overview.has_contacts
}

/// The steps, until all of them are done; a live part.
pub(super) fn show(viewer: &Viewer, overview: &Overview) -> Markup {
    let text = viewer.text;
    if is_over(overview) {
        return html! { div id="first" {} };
    }
    let (may_add, may_work) = (viewer.is_owner(), viewer.may_work());
    let steps = [
        FirstStep {
            is_done: overview.is_connected() || overview.has_sent(),
            title: "overview-first-channel",
            about: if may_add { "overview-first-channel-why" } else { "overview-first-channel-ask" },
            button: may_add.then_some(("/console/channels/new", "overview-add-channel")),
        },
        FirstStep {
            is_done: overview.has_contacts,
            title: "overview-first-contacts",
            about: "overview-first-contacts-why",
            button: may_work.then_some(("/console/contacts/import", "overview-import")),
        },
        FirstStep {
            is_done: overview.has_sent(),
            title: "overview-first-send",
            about: "overview-first-send-why",
            button: may_work.then_some(("/console/sends/new", "overview-new-send")),
        },
    ];
    let next = steps.iter().position(|step| !step.is_done);
    html! {
        section.panel id="first" aria-labelledby="first-steps" {
            h2 id="first-steps" { (text.get("overview-first")) }
            p.soft { (text.get("overview-first-why")) }
            ol.steps {
                @for (index, step) in steps.iter().enumerate() {
                    li.done[step.is_done] {
                        (if step.is_done { Icon::Done } else { Icon::ToDo })
                        div.what {
                            strong { (text.get(step.title)) }
                            @if step.is_done { " " span.badge.good { (text.get("overview-first-done")) } }
                            p { (text.get(step.about)) }
                        }
                        @if let Some((place, label)) = step.button.filter(|_| !step.is_done) {
                            a.button.plain[next != Some(index)] href=(place) { (text.get(label)) }
                        }
                    }
                }
            }
        }
    }
}
