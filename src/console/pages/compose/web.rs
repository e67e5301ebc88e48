//! A message through a linked phone: to one person or one group, without a schedule, at the pace that keeps
//! the phone's account safe.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::audience::{Audience, SEARCH_CHARS};
use super::choice::Choice;
use super::{columns, content, name, refused};
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::component::number;
use crate::console::component::time::second;
use crate::console::form::Form;
use crate::console::pages::channel::{limits, words};
use crate::console::pages::contacts::number_of;
use crate::console::visitor::Viewer;
use crate::domain::limit::Limit;
use crate::domain::request::{GROUP_SUFFIX, WebRequest};
use crate::engine::{DryRunFile, WebDryRun};

/// The field `to`: a person.
pub(super) const PERSON: &str = "number";
/// The field `to`: a group.
pub(super) const GROUP: &str = "group";
/// The longest number or group id that a field accepts.
const ADDRESS_CHARS: usize = 60;

/// The request, with a fault at each field that is wrong.
pub(super) fn request(
    state: &State,
    choice: &Choice,
    audience: &Audience,
    form: &mut Form,
) -> Option<WebRequest> {
    let words = form.words().clone();
    let has_placeholders = columns::check(choice, None, &words, form);
    let mut body = content::body(choice, &words);
    if has_placeholders {
        // The fields of the recipient's contact are filled in.
        body.insert("values".to_owned(), Value::Object(Map::new()));
    }
    name::add(&mut body, form.text(), choice, audience, form.words());
    let to = if form.words().one("to") == GROUP { GROUP } else { PERSON };
    body.insert("recipient_type".to_owned(), to.into());
    // Each kind of recipient has a field with its own name.
    body.insert("phone_number".to_owned(), form.words().one(to).into());
    match WebRequest::parse(Value::Object(body).to_string().as_bytes(), &state.options.send) {
        Ok(request) if !form.has_faults() => Some(request),
        Ok(_) => None,
        Err(refusal) => {
            refused::fault(form, &refusal);
            None
        }
    }
}

/// Notes a missing recipient. The check looks at what is there.
pub(super) fn complain(form: &mut Form) {
    let (to, fault) = match form.words().one("to") {
        GROUP => (GROUP, "compose-fault-group"),
        _ => (PERSON, "compose-fault-number"),
    };
    if form.words().one(to).is_empty() {
        let fault = form.text().get(fault);
        form.fault(to, fault);
    }
}

/// The fields for the recipient.
pub(super) fn fields(viewer: &Viewer, form: &Form, audience: &Audience) -> Markup {
    let text = viewer.text;
    let is_group = form.words().one("to") == GROUP;
    let found = audience.found.as_deref();
    html! {
        p.hint { (text.get("compose-web-one")) }
        fieldset.field {
            legend { (text.get("compose-web-to")) }
            label.choice {
                input type="radio" name="to" value=(PERSON) checked[!is_group]; span { (text.get("compose-web-person")) }
            }
            label.choice {
                input type="radio" name="to" value=(GROUP) checked[is_group]; span { (text.get("compose-web-group")) }
            }
        }
        (Field::new(form, PERSON, &text.get("compose-web-number")).hint(&text.get("compose-web-number-hint"))
            .most(ADDRESS_CHARS).input("tel"))
        (number::read_as(text, Some(form.words().one(PERSON)).filter(|number| !number.is_empty()).into_iter(), audience.country))
        div.row.bottom {
            (Field::new(form, "find", &text.get("compose-find")).most(SEARCH_CHARS).input("search"))
            button.plain type="submit" name="action" value="find" formnovalidate { (text.get("compose-find-button")) }
        }
        @if let Some(found) = found {
            @if found.is_empty() { p { (text.get("compose-found-none")) } }
            ul {
                @for person in found.iter().map(|contact| &contact.person).filter(|person| person.phone().is_some()) {
                    li {
                        button.quiet type="submit" name="pick" value=(person.phone_number) formnovalidate {
                            bdi { (person.first_name) " " (person.last_name) } " " bdi.digits { (number_of(person)) }
                        }
                    }
                }
            }
        }
        (Field::new(form, GROUP, &text.get("compose-web-group-id")).hint(&text.get("compose-web-group-hint"))
            .most(ADDRESS_CHARS).text())
    }
}

/// The phone's limits, with what is left of each.
pub(super) fn pace(viewer: &Viewer, audience: &Audience) -> Markup {
    let text = viewer.text;
    html! {
        p.hint { (text.get("compose-pace-hint")) }
        dl.tiles {
            @for Limit { name, allows, set_by: _, is_binding: _, left, next_slot } in &audience.limits {
                div.tile {
                    dt { (words::limit(text, *name)) }
                    dd {
                        (limits::allowed(viewer, *allows))
                        @if let Some(left) = left {
                            " " small { (text.with("compose-pace-left", [("count", (*left).into())])) }
                        }
                        @if let Some(next) = next_slot {
                            " " small { (text.get("compose-pace-next")) " " (second(viewer, *next)) }
                        }
                    }
                }
            }
        }
    }
}

/// The result of the dry run: the recipient, the file, and the time of the turn.
pub(super) fn outcome(viewer: &Viewer, dry_run: &WebDryRun) -> Markup {
    let text = viewer.text;
    let WebDryRun { to, file, wait, at, ignored: _ } = dry_run;
    let (name, _) = to.as_str().split_once('@').unwrap_or((to.as_str(), ""));
    let (key, name) = match to.as_str().ends_with(GROUP_SUFFIX) {
        true => ("compose-web-to-group", name.to_owned()),
        false => ("compose-web-to-person", number::written(&format!("+{name}"))),
    };
    html! {
        section.panel id="check" aria-label=(text.get("send-check-title")) {
            p { strong { (text.get(key)) " " bdi { (name) } } }
            @if let Some(file) = file { p { (described(viewer, file)) } }
            @if wait.is_zero() {
                p { (text.get("compose-web-at-once")) }
            } @else {
                p { (text.get("compose-web-turn")) " " (second(viewer, *at)) }
            }
        }
    }
}

/// The file behind the link.
pub(super) fn described(viewer: &Viewer, file: &DryRunFile) -> Markup {
    let text = viewer.text;
    let DryRunFile { mime_type, length, file_name, seconds, is_voice_note } = file;
    html! {
        (text.get("compose-web-file")) " "
        @if let Some(name) = file_name { bdi { (name) } ", " }
        code { (mime_type) } ", " (text.with("compose-web-size", [("kilobytes", (length.div_ceil(1_000) as u64).into())]))
        @if let Some(seconds) = seconds { ", " (text.with("compose-web-plays", [("seconds", u64::from(*seconds).into())])) }
        @if is_voice_note == &Some(true) { ", " (text.get("compose-web-voice")) }
    }
}
