//! A send through a business account: the request of the form.

use serde_json::{Map, Value, json};

use super::attached::{Attached, BulkRequest};
use super::audience::{self, Audience as Recipients};
use super::choice::Choice;
use super::content::{self, Kind};
use super::list::{self, RecipientList};
use super::{columns, files, name, refused, template, when};
use crate::console::State;
use crate::console::form::Form;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::request::{Audience, BusinessRequest, Skipped};
use crate::domain::values::Rows;
use crate::error::Refusal;

/// The request, with a fault at each field that is wrong. `list` is the file of its recipients, as long as it is kept.
pub(super) fn request(
    state: &State,
    viewer: &Viewer,
    (choice, list): (&Choice, Option<&RecipientList>),
    recipients: &Recipients,
    form: &mut Form,
) -> Option<BulkRequest> {
    if choice.kind == Kind::Template && choice.template.is_none() {
        form.fault("template", choice.template_fault(viewer.text));
    }
    if choice.kind != Kind::Template {
        choice.instead.complain(form);
    }
    if let Some(template) = choice.filled() {
        template::read_deadline(viewer, template, form);
    }
    let words = columns::applied(form.words());
    let has_placeholders = columns::check(choice, list.map(|list| list.names.as_slice()), &words, form);
    let mut body = content::body(choice, &words);
    let is_test = form.words().names(list::TESTED);
    if let Some(list) = list.filter(|_| is_test) {
        body.insert("values".to_owned(), json!(list.example()));
    } else if has_placeholders {
        body.insert("values".to_owned(), json!({}));
    }
    let named = list::named(form.words()).filter(|_| !is_test);
    let attached =
        Attached::of(choice, &words, words.iter().map(|(_, text)| text)).filter(|_| named.is_some());
    if named.is_some() {
        list::complain(form);
    }
    audience::add(&mut body, form.words());
    name::add(&mut body, viewer.text, choice, recipients, form.words());
    when::add(viewer, form, &mut body);
    if form.has_faults() {
        return None;
    }
    let request = read(state, body, attached.is_some());
    let request = request.map_err(|refusal| refused::fault(form, &refusal)).ok()?;
    Some(BulkRequest { request, files: files::named(choice, &words), attached })
}

/// Only the recipients of the form, before there is a message.
///
/// # Errors
///
/// Those of the request's audience: nobody is named, or too many.
pub(super) fn audience(state: &State, words: &Words) -> Result<Audience, Refusal> {
    let mut body = Map::from_iter([("type".to_owned(), json!("text")), ("message".to_owned(), json!("-"))]);
    audience::add(&mut body, words);
    Ok(read(state, body, list::named(words).is_some())?.audience)
}

/// Reads a request, whose recipients may come in a file that is read later.
fn read(state: &State, body: Map<String, Value>, has_list: bool) -> Result<BusinessRequest, Refusal> {
    let (body, limits) = (Value::Object(body).to_string(), &state.options.send);
    if has_list {
        return BusinessRequest::parse_upload(body.as_bytes(), limits, Rows::default(), Skipped::default());
    }
    BusinessRequest::parse(body.as_bytes(), limits)
}
