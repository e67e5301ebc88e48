//! A send through a business account: the request of the form, and its schedule.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::audience::{self, Audience};
use super::choice::Choice;
use super::content::{self, Kind};
use super::{name, refused, template};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::visitor::Viewer;
use crate::domain::request::BusinessRequest;

/// The precision of the fields for times.
const MINUTE: Duration = Duration::from_secs(60);

/// The request, with a fault at each field that is wrong.
pub(super) fn request(
    state: &State,
    viewer: &Viewer,
    choice: &Choice,
    recipients: &Audience,
    form: &mut Form,
) -> Option<BusinessRequest> {
    if choice.kind == Kind::Template && choice.template.is_none() {
        form.fault("template", choice.template_fault(viewer.text));
    }
    if let Some(template) = choice.template.as_ref().filter(|_| choice.kind == Kind::Template) {
        template::check_contact_fields(template, &choice.own, form);
        template::read_deadline(viewer, template, form);
    }
    let mut body = content::body(choice, form.words());
    audience::add(&mut body, form.words());
    name::add(&mut body, viewer.text, choice, recipients, form.words());
    for field in ["send_at", "expires_at"] {
        moment(viewer, form, field, &mut body);
    }
    if form.has_faults() {
        return None;
    }
    match BusinessRequest::parse(Value::Object(body).to_string().as_bytes(), &state.options.send) {
        Ok(request) => Some(request),
        Err(refusal) => {
            refused::fault(form, &refusal);
            None
        }
    }
}

fn moment(viewer: &Viewer, form: &mut Form, name: &'static str, body: &mut Map<String, Value>) {
    let local = form.words().one(name).to_owned();
    if local.is_empty() {
        return;
    }
    match viewer.zone.moment(&local) {
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

/// The fields for the schedule.
pub(super) fn when(viewer: &Viewer, form: &Form) -> Markup {
    let text = viewer.text;
    html! {
        div.row {
            (Field::new(form, "send_at", &text.get("compose-starts")).hint(&text.get("compose-starts-hint"))
                .input("datetime-local"))
            (Field::new(form, "expires_at", &text.get("compose-expires")).hint(&text.get("compose-expires-hint"))
                .input("datetime-local"))
        }
        p.soft { (text.get("compose-zone")) " " (viewer.zone.name()) }
    }
}
