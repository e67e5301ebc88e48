//! A send through a business account: the request of the form.

use serde_json::{Map, Value, json};

use super::audience::{self, Audience as Recipients};
use super::choice::Choice;
use super::content::{self, Kind};
use super::{name, refused, template, when};
use crate::console::State;
use crate::console::form::Form;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::request::{Audience, BusinessRequest};
use crate::error::Refusal;

/// The request, with a fault at each field that is wrong.
pub(super) fn request(
    state: &State,
    viewer: &Viewer,
    choice: &Choice,
    recipients: &Recipients,
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
    when::add(viewer, form, &mut body);
    if form.has_faults() {
        return None;
    }
    read(state, body).map_err(|refusal| refused::fault(form, &refusal)).ok()
}

/// Only the recipients of the form, before there is a message.
///
/// # Errors
///
/// Those of the request's audience: nobody is named, or too many.
pub(super) fn audience(state: &State, words: &Words) -> Result<Audience, Refusal> {
    let mut body = Map::from_iter([("type".to_owned(), json!("text")), ("message".to_owned(), json!("-"))]);
    audience::add(&mut body, words);
    Ok(read(state, body)?.audience)
}

fn read(state: &State, body: Map<String, Value>) -> Result<BusinessRequest, Refusal> {
    BusinessRequest::parse(Value::Object(body).to_string().as_bytes(), &state.options.send)
}
