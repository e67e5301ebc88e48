//! The page of one contact, and the page of a new one.

use maud::{Markup, html};

use super::form::{self, KNOWN, KNOWN_TAGS};
use super::{DOUBLES, consent, conversations, country, messages, notes, own, place};
use crate::console::State;
use crate::console::component::field::{faults, once};
use crate::console::component::time::moment;
use crate::console::component::{confirm, copy, tag};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::contacts::{name, number_of};
use crate::console::visitor::Viewer;
use crate::domain::contact::Contact;
use crate::domain::own_field::OwnField;
use crate::domain::phone::{Country, PhoneNumber};
use crate::engine::records::contacts::ContactNote;
use crate::engine::records::suppressions::Kept;

/// The data of the page.
pub(super) struct Shown {
    contact: Contact,
    doubles: Vec<Contact>,
    country: Option<Country>,
    /// Why sends skip the person.
    suppressions: Vec<Kept>,
    messages: Vec<messages::LastMessage>,
    /// The conversations with the person.
    conversations: u64,
    notes: Vec<ContactNote>,
    /// The form of a note, with its faults.
    noting: Option<notes::Noting>,
    /// The company's own fields.
    own: Vec<OwnField>,
    /// Whether someone else has changed the contact since the form was opened.
    is_outdated: bool,
}

impl Shown {
    pub(super) async fn read(viewer: &Viewer, state: &State, contact: Contact) -> Result<Self> {
        let records = state.engine.company(viewer.company.id).await?;
        let doubles = records.contacts().doubles(&contact, DOUBLES).await?;
        let own = records.fields().all().await?;
        drop(records);
        let (mut suppressions, mut lines) = (Vec::new(), Vec::new());
        if let Some(number) = contact.person.phone() {
            suppressions = consent::read(viewer, state, number).await?;
            lines = messages::read(viewer, state, number).await?;
        }
        let country = country(viewer, state).await?;
        let notes = notes::read(viewer, state, contact.id).await?;
        let conversations = conversations::count(viewer, state, contact.id).await?;
        Ok(Self {
            contact,
            doubles,
            country,
            suppressions,
            messages: lines,
            conversations,
            notes,
            noting: None,
            own,
            is_outdated: false,
        })
    }

    /// Shows the form of a note with its faults.
    pub(super) fn noting(mut self, noting: notes::Noting) -> Self {
        self.noting = Some(noting);
        self
    }

    /// Shows that someone else has changed the contact.
    pub(super) const fn outdated(mut self) -> Self {
        self.is_outdated = true;
        self
    }

    /// The form of the contact with what is stored.
    pub(super) fn filled(&self, viewer: &Viewer) -> Form {
        let values = form::values(&self.contact).into_iter().chain(form::seen(&self.contact));
        let mut form = Form::filled(viewer.text, values);
        own::put(&mut form, &self.contact, &self.own);
        form
    }

    /// The page with this form. `meant` are the numbers that the typed one may mean.
    pub(super) fn page(&self, viewer: &Viewer, form: &Form, meant: &[PhoneNumber]) -> Page {
        let (text, contact) = (viewer.text, &self.contact);
        let place = place(contact.id);
        let stored = &contact.person.phone_number;
        let body = html! {
            @if self.is_outdated { (form::outdated(form, contact, &self.own)) } @else { (faults(form)) }
            p.who-is {
                @if !stored.is_empty() { bdi.digits { (number_of(&contact.person)) } " " }
                @for known in &contact.tags {
                    a class=(tag::class(known)) href=(format!("/console/contacts?tag={}", known.id)) { bdi { (known.name) } } " "
                }
            }
            div.contact-page {
                form.panel method="post" action=(place) data-preview="/console/contacts/number" {
                    fieldset.plain disabled[!viewer.may_work()] {
                        @for name in [KNOWN, KNOWN_TAGS] {
                            input type="hidden" name=(name) value=(form.value(name)) autocomplete="off";
                        }
                        (form::fields(form, &self.own, meant, self.country, stored))
                        @if viewer.may_work() { button type="submit" { (text.get("contacts-save")) } }
                    }
                }
                div {
                    (consent::panel(viewer, contact, &self.suppressions))
                    (messages::panel(viewer, &self.messages))
                    (notes::panel(viewer, contact.id, &self.notes, self.noting.as_ref()))
                }
            }
            @if !self.doubles.is_empty() { (double_list(viewer, &place, &self.doubles)) }
            details.more id="technical" {
                summary { (text.get("contacts-details")) }
                p { (copy::id(text, contact.id)) }
                p.soft {
                    (text.get("contacts-since")) " " (moment(viewer, contact.created_at)) " · "
                    (text.get("contacts-changed")) " " (moment(viewer, contact.updated_at))
                }
            }
            @if viewer.may_work() {
                div.row {
                    (conversations::button(viewer, contact.id, self.conversations))
                    (confirm::confirm(text, &format!("{place}/delete"), &text.get("contacts-do-delete"),
                        &text.with("contacts-delete-question", [("count", 1.into())])))
                }
            }
            p { a href="/console/contacts" { (text.get("contacts-back")) } }
        };
        let page = Page::new(name(contact), Menu::Contacts, body);
        if viewer.may_work() && contact.person.phone().is_some() {
            let address = format!("/console/sends/new?contact={}", contact.id);
            return page.action(html! { a.button.plain href=(address) { (text.get("contacts-write")) } });
        }
        page
    }
}

/// The form of a new contact.
pub(super) fn new(form: &Form, own: &[OwnField], meant: &[PhoneNumber], country: Option<Country>) -> Page {
    let text = form.text();
    let body = html! {
        (faults(form))
        form.panel method="post" action="/console/contacts/new" data-preview="/console/contacts/number" {
            (once(form))
            (form::fields(form, own, meant, country, ""))
            button type="submit" { (text.get("contacts-add")) }
        }
    };
    Page::new(text.get("contacts-new"), Menu::Contacts, body)
}

/// Other contacts with the same number or e-mail address.
fn double_list(viewer: &Viewer, place: &str, doubles: &[Contact]) -> Markup {
    let text = viewer.text;
    html! {
        section {
            h2 { (text.get("contacts-doubles")) }
            p { (text.get("contacts-doubles-hint")) }
            ul {
                @for double in doubles {
                    li {
                        a href=(format!("/console/contacts/{}", double.id)) { bdi { (name(double)) } } " "
                        bdi.digits { (number_of(&double.person)) } " " bdi { (double.person.email) } " "
                        @for known in &double.tags { (tag::tag(known)) " " }
                    }
                }
            }
            @if viewer.may_work() {
                (confirm::with(text, &format!("{place}/merge"), &text.get("contacts-merge"), &text.get("contacts-merge-question"), &html! {
                    @for double in doubles { input type="hidden" name="contact" value=(double.id); }
                }))
            }
        }
    }
}
