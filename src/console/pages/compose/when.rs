//! The last step: when the messages go out, and the name of the send.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::content::Kind;
use super::{Around, Checked, Found, name, web};
use crate::clock::Timestamp;
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::visitor::Viewer;

/// The precision of the fields for times.
const MINUTE: Duration = Duration::from_secs(60);
/// The values of the field `start`.
const NOW: &str = "now";
const LATER: &str = "later";

/// The fields of the step, below what was checked.
pub(super) fn fields(viewer: &Viewer, form: &Form, around: &Around, checked: &Checked) -> Markup {
    let text = viewer.text;
    html! {
        @if let Some(Found::Bulk(found)) = &checked.found {
            p { strong { (text.with("send-check-count", [("count", found.0.recipients.into())])) } }
        }
        section.panel {
            h2 { (text.get("compose-when")) }
            @if around.choice.is_web() { (web::pace(viewer, &around.audience)) } @else { (schedule(viewer, form, around.choice.kind)) }
            (name::field(text, form))
        }
    }
}

fn schedule(viewer: &Viewer, form: &Form, kind: Kind) -> Markup {
    let text = viewer.text;
    let is_later = is_later(form);
    let at = |name, label: &str, hint: &str| {
        Field::new(form, name, &text.get(label)).hint(&text.get(hint)).input("datetime-local")
    };
    html! {
        fieldset.field.start {
            legend { (text.get("compose-start")) }
            label.choice { input type="radio" name="start" value=(NOW) checked[!is_later]; span { (text.get("compose-now")) } }
            label.choice { input type="radio" name="start" value=(LATER) checked[is_later]; span { (text.get("compose-later")) } }
            (at("send_at", "compose-starts", "compose-starts-hint"))
            @if kind != Kind::Template { p.hint { (text.get("compose-starts-window")) } }
        }
        (at("expires_at", "compose-expires", "compose-expires-hint"))
        p.soft { (text.get("compose-zone")) " " (viewer.zone.name()) }
    }
}

/// Whether the messages go out at a time of their own. A time without the choice counts as one.
fn is_later(form: &Form) -> bool {
    match form.words().one("start") {
        NOW => false,
        LATER => true,
        _ => !form.words().one("send_at").is_empty(),
    }
}

/// Adds the times to a request, with a fault at each that is wrong.
pub(super) fn add(viewer: &Viewer, form: &mut Form, body: &mut Map<String, Value>) {
    if is_later(form) {
        moment(viewer, form, "send_at", body);
    }
    if !form.words().one("expires_at").is_empty() {
        moment(viewer, form, "expires_at", body);
    }
}

fn moment(viewer: &Viewer, form: &mut Form, name: &'static str, body: &mut Map<String, Value>) {
    match viewer.zone.moment(form.words().one(name)) {
        // The field has no seconds: the present minute is not over.
        Some(at) if name == "send_at" && at.plus(MINUTE) <= Timestamp::now() => {
            form.fault(name, viewer.text.get("compose-fault-past"));
        }
        Some(at) => {
            body.insert(name.to_owned(), at.to_string().into());
        }
        None => form.fault(name, viewer.text.get("compose-fault-time")),
    }
}
