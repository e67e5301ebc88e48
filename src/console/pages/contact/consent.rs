//! Whether a contact gets messages: since when and why not, and the buttons that change it.

use actix_web::web::Data;
use maud::{Markup, html};

use super::{find, place};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::field::Field;
use crate::console::component::time::moment;
use crate::console::component::{confirm, explain, number as numbers};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::pages::suppressions::{scope_words, why};
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::domain::contact::Contact;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::Suppression;
use crate::engine::records::suppressions::Kept;

/// The suppressions of the person with this number, under any form of it.
pub(super) async fn read(viewer: &Viewer, state: &State, number: PhoneNumber) -> Result<Vec<Kept>> {
    let records = state.engine.company(viewer.company.id).await?;
    let mut found = state.engine.contacts().suppressions_of(&records, &[number]).await?;
    Ok(found.remove(&number).unwrap_or_default())
}

/// Opts a contact out.
pub(crate) async fn opt_out(viewer: Viewer, state: Data<State>, id: Id, form: Form) -> Result<Answer> {
    let scope: Suppression = form.words().one("opt_out").parse().map_err(|_| Error::Unreadable)?;
    let number = number(&find(&viewer, &state, id.0).await?)?;
    let records = state.engine.company(viewer.company.id).await?;
    let added = state.engine.contacts().suppress(&viewer.who(), &records, number, scope).await?;
    let key = if added { "suppressions-added" } else { "suppressions-known" };
    let said = viewer.text.with(key, [("number", numbers::grouped(number).into())]);
    Ok(Answer::done(&state, &viewer, said, place(id.0)))
}

/// Opts a contact in again: lifts whatever keeps messages from the person.
pub(crate) async fn opt_in(viewer: Viewer, state: Data<State>, id: Id, _form: Form) -> Result<Answer> {
    let number = number(&find(&viewer, &state, id.0).await?)?;
    // A suppression may name another form of the person's number.
    let recipients = read(&viewer, &state, number).await?;
    let records = state.engine.company(viewer.company.id).await?;
    for recipient in recipients.iter().map(|kept| kept.record.recipient) {
        state.engine.contacts().lift_suppressions(&viewer.who(), &records, recipient).await?;
    }
    if !recipients.is_empty() {
        let done = viewer.text.with("suppressions-lifted", [("number", numbers::grouped(number).into())]);
        state.flashes.put(viewer.session, "done", done);
    }
    Ok(Answer::to(place(id.0)))
}

/// The number of a contact, by which messages reach it.
fn number(contact: &Contact) -> Result<PhoneNumber> {
    contact.person.phone().ok_or(Error::NotFound)
}

/// The panel of the contact's page.
pub(super) fn panel(viewer: &Viewer, contact: &Contact, suppressions: &[Kept]) -> Markup {
    let text = viewer.text;
    let place = place(contact.id);
    let is_on = |scope| suppressions.iter().any(|kept| kept.record.scope == scope);
    html! {
        section.panel {
            h2 { (text.get("contacts-consent")) }
            @if contact.person.phone().is_none() {
                p { (text.get("contacts-consent-nowhere")) }
            } @else if suppressions.is_empty() {
                p { (badge(Tone::Good, &text.get("contacts-consent-all"))) }
            } @else {
                @for kept in suppressions {
                    p { (badge(Tone::Warning, &text.get("contacts-consent-none"))) " " (scope_words(text, kept.record.scope)) }
                    dl.facts {
                        dt { (text.get("suppressions-since")) } dd { (moment(viewer, kept.since)) }
                        dt { (text.get("suppressions-why")) }
                        dd { (why(text, kept)) @if let Some(code) = kept.record.provider_code { " " (explain::code(code)) } }
                        @if let Some(until) = kept.record.until {
                            dt { (text.get("suppressions-until")) } dd { (moment(viewer, until)) }
                        }
                    }
                }
            }
            @if viewer.may_work() && contact.person.phone().is_some() {
                div.row {
                    @if !is_on(Suppression::Everything) { (out(viewer, &place)) }
                    @if !suppressions.is_empty() {
                        (confirm::confirm(text, &format!("{place}/opt-in"), &text.get("contacts-opt-in"), &text.get("contacts-opt-in-question")))
                    }
                }
            }
        }
    }
}

/// The button that opts the contact out, with its question.
fn out(viewer: &Viewer, place: &str) -> Markup {
    let text = viewer.text;
    let form = Form::filled(text, [("opt_out", Suppression::Everything.as_str().to_owned())]);
    let scopes = Suppression::ALL.map(|scope| (scope.as_str(), scope_words(text, scope)));
    let radios = Field::new(&form, "opt_out", &text.get("suppressions-scope")).radios(scopes);
    let (label, question) = (text.get("contacts-opt-out"), text.get("contacts-opt-out-question"));
    confirm::with(text, &format!("{place}/opt-out"), &label, &question, &radios)
}
