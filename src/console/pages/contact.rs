//! One contact: showing, adding, changing and deleting it, and merging it with duplicates.

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::contacts::{name, tag_badge};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::number::Typed;
use crate::console::component::time::moment;
use crate::console::component::{confirm, copy, notice, number};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Contact, Person, is_picture};
use crate::domain::phone::{Country, InvalidPhone, PhoneNumber};
use crate::engine::Whom;
use crate::engine::records::contacts::{ContactChange, ContactDraft, Edited};
use crate::error::{Code, Refusal};
use crate::import;

/// The number of duplicates that are shown.
const DOUBLES: u32 = 20;
/// The maximum of characters of all tags' names together.
const TAGS: usize = 2_000;

/// Shows an empty form.
pub(in crate::console) async fn new(viewer: Viewer) -> Page {
    new_page(&viewer, &Form::new(viewer.text), &[])
}

pub(in crate::console) async fn add(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    let company = viewer.company.id;
    let country = state.engine.company(company).await?.country().await?.likely();
    let Read { person, tags, meant } = read(&mut form, country, "");
    if form.has_faults() {
        return Ok(new_page(&viewer, &form, &meant).unprocessable().into());
    }
    let added = state
        .once
        .act(&viewer, &form, async || {
            if let Some(number) = person.phone() {
                let records = state.engine.company(company).await?;
                if !records.contacts().with_numbers(&[number]).await?.is_empty() {
                    return Err(Error::Refused(Refusal::new(Code::NumberTaken, "")));
                }
            }
            let written = state
                .engine
                .contacts()
                .write(&viewer.who(), company, vec![ContactDraft { person, tags }])
                .await?;
            let (id, _) = written.first().ok_or(Error::Internal)?;
            state.flashes.put(viewer.session, "done", viewer.text.get("contacts-added"));
            Ok(Answer::to(format!("/console/contacts/{id}")))
        })
        .await;
    match added {
        Err(Error::Refused(refusal)) if refusal.code == Code::NumberTaken => {
            form.fault("phone_number", viewer.text.get("contacts-number-taken"));
            Ok(new_page(&viewer, &form, &[]).unprocessable().into())
        }
        other => other,
    }
}

pub(in crate::console) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page, Error> {
    let (contact, doubles) = find(&viewer, &state, id.0).await?;
    let person = &contact.person;
    let tags: Vec<_> = contact.tags.iter().map(|tag| tag.name.as_str()).collect();
    let form = Form::filled(
        viewer.text,
        [
            ("first_name", person.first_name.clone()),
            ("last_name", person.last_name.clone()),
            ("phone_number", person.phone_number.clone()),
            ("email", person.email.clone()),
            ("phone_number_lid", person.phone_number_lid.clone().unwrap_or_default()),
            ("profile_picture", person.profile_picture.clone()),
            ("tags", tags.join("; ")),
        ],
    );
    let done = state.flashes.take(viewer.session, "done");
    Ok(page(&viewer, &form, &[], &contact, &doubles, done.as_deref()))
}

pub(in crate::console) async fn change(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    mut form: Form,
) -> Result<Answer, Error> {
    let (contact, doubles) = find(&viewer, &state, id.0).await?;
    let country = state.engine.company(viewer.company.id).await?.country().await?.likely();
    let Read { person, tags, meant } = read(&mut form, country, &contact.person.phone_number);
    if !form.has_faults() {
        let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture } = person;
        let change = ContactChange {
            first_name: Some(first_name),
            last_name: Some(last_name),
            email: Some(email),
            phone_number: Some(phone_number),
            phone_number_lid: Some(phone_number_lid.unwrap_or_default()),
            profile_picture: Some(profile_picture),
            tags: Some(tags),
        };
        let records = state.engine.company(viewer.company.id).await?;
        match records.contacts().change(&viewer.who(), id.0, &change, Timestamp::now()).await? {
            Edited::Done => {
                state.flashes.put(viewer.session, "done", viewer.text.get("contacts-saved"));
                return Ok(Answer::to(format!("/console/contacts/{}", id.0)));
            }
            Edited::Missing => return Err(Error::NotFound),
            Edited::Taken => form.fault("phone_number", viewer.text.get("contacts-number-taken")),
            Edited::Nameless => form.fault("phone_number", viewer.text.get("contacts-nameless")),
        }
    }
    Ok(page(&viewer, &form, &meant, &contact, &doubles, None).unprocessable().into())
}

pub(in crate::console) async fn delete(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer, Error> {
    let whom = Whom::Named { ids: vec![id.0], numbers: Vec::new() };
    if state.engine.contacts().delete(&viewer.who(), viewer.company.id, whom).await? == 0 {
        return Err(Error::NotFound);
    }
    let done = viewer.text.with("contacts-deleted", [("count", 1.into())]);
    state.flashes.put(viewer.session, "done", done);
    Ok(Answer::to("/console/contacts"))
}

/// Merges duplicates into a contact.
pub(in crate::console) async fn merge(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<Answer, Error> {
    let others = form.words().all("contact").filter_map(|id| Uuid::try_parse(id).ok());
    let others: Vec<Uuid> = others.take(DOUBLES as usize).collect();
    if !others.is_empty() {
        let records = state.engine.company(viewer.company.id).await?;
        match records.contacts().merge(&viewer.who(), id.0, &others, Timestamp::now()).await? {
            Edited::Done => {}
            Edited::Missing | Edited::Taken | Edited::Nameless => return Err(Error::NotFound),
        }
        state.flashes.put(viewer.session, "done", viewer.text.get("contacts-merged"));
    }
    Ok(Answer::to(format!("/console/contacts/{}", id.0)))
}

async fn find(viewer: &Viewer, state: &State, id: Uuid) -> Result<(Contact, Vec<Contact>), Error> {
    let records = state.engine.company(viewer.company.id).await?;
    let contact = records.contacts().find(id).await?.ok_or(Error::NotFound)?;
    let doubles = records.contacts().doubles(&contact, DOUBLES).await?;
    Ok((contact, doubles))
}

/// What a form says of a contact.
struct Read {
    person: Person,
    tags: Vec<String>,
    /// The numbers that may be meant, when the person has to choose.
    meant: Vec<PhoneNumber>,
}

/// Reads a form of a company in this country; faults are noted in the form. The number that the contact has is not asked
/// about again.
fn read(form: &mut Form, country: Option<Country>, known: &str) -> Read {
    let text = form.text();
    let mut field = |name, most| form.optional(name, most).unwrap_or_default();
    let mut given = Person {
        first_name: field("first_name", 200),
        last_name: field("last_name", 200),
        email: field("email", 254),
        phone_number: field("phone_number", 64),
        phone_number_lid: Some(field("phone_number_lid", 64)),
        profile_picture: field("profile_picture", 2_048),
    };
    let tags = field("tags", TAGS);
    if !is_picture(&given.profile_picture) {
        form.fault("profile_picture", text.get("imports-reject-picture"));
    }
    let mut numbers = Vec::new();
    if given.phone_number != known {
        match number::read(form.words(), "phone_number", country) {
            Typed::Number(number) if PhoneNumber::parse(&given.phone_number) != Ok(number) => {
                given.phone_number = format!("+{number}");
            }
            Typed::Number(_) | Typed::Wrong(_) => {}
            Typed::Either(meant) => {
                form.fault("phone_number", text.get("shell-number-unsure"));
                numbers = meant;
            }
        }
    }
    let person = import::check_contact(&given).unwrap_or_else(|_| {
        if !form.has_faults() {
            let is_number = PhoneNumber::parse(&given.phone_number) == Err(InvalidPhone::Figure);
            let (name, key) = match is_number {
                true => ("phone_number", "contacts-number-wrong"),
                false => ("phone_number_lid", "contacts-lid-wrong"),
            };
            form.fault(name, text.get(key));
        }
        Person::default()
    });
    if !form.has_faults() && person.phone().is_none() && person.email.is_empty() {
        let key = if person.phone_number.is_empty() { "contacts-nameless" } else { "contacts-number-wrong" };
        form.fault("phone_number", text.get(key));
    }
    Read { person, tags: super::import::tags(&tags, form), meant: numbers }
}

fn new_page(viewer: &Viewer, form: &Form, meant: &[PhoneNumber]) -> Page {
    let text = viewer.text;
    let body = html! {
        (faults(form))
        form.panel method="post" action="/console/contacts/new" {
            (once(form))
            (fields(form, meant))
            button type="submit" { (text.get("contacts-add")) }
        }
    };
    Page::new(text.get("contacts-new"), Menu::Contacts, body)
}

fn fields(form: &Form, meant: &[PhoneNumber]) -> Markup {
    let text = form.text();
    html! {
        (Field::new(form, "first_name", &text.get("contacts-first-name")).most(200).text())
        (Field::new(form, "last_name", &text.get("contacts-last-name")).most(200).text())
        (Field::new(form, "phone_number", &text.get("contacts-number")).hint(&text.get("contacts-number-hint")).most(64).input("tel"))
        @if !meant.is_empty() { (number::choose(text, "phone_number", meant)) }
        (Field::new(form, "email", &text.get("contacts-email")).most(254).input("email"))
        (Field::new(form, "tags", &text.get("contacts-tags")).hint(&text.get("contacts-tags-hint")).most(TAGS).text())
        (Field::new(form, "phone_number_lid", &text.get("contacts-lid")).most(64).text())
        (Field::new(form, "profile_picture", &text.get("contacts-picture")).most(2_048).input("url"))
    }
}

fn page(
    viewer: &Viewer,
    form: &Form,
    meant: &[PhoneNumber],
    contact: &Contact,
    doubles: &[Contact],
    done: Option<&str>,
) -> Page {
    let text = viewer.text;
    let place = format!("/console/contacts/{}", contact.id);
    let body = html! {
        @if let Some(done) = done { (notice::done(done)) }
        (faults(form))
        p.soft {
            (text.get("contacts-since")) " " (moment(viewer, contact.created_at)) " · "
            (text.get("contacts-changed")) " " (moment(viewer, contact.updated_at))
        }
        p { (copy::id(text, contact.id)) }
        form.panel method="post" action=(place) {
            fieldset.plain disabled[!viewer.may_work()] {
                (fields(form, meant))
                @if viewer.may_work() { button type="submit" { (text.get("contacts-save")) } }
            }
        }
        @if !doubles.is_empty() { (double_list(viewer, &place, doubles)) }
        @if viewer.may_work() {
            (confirm::confirm(text, &format!("{place}/delete"), &text.get("contacts-do-delete"),
                &text.with("contacts-delete-question", [("count", 1.into())])))
        }
        p { a href="/console/contacts" { (text.get("contacts-back")) } }
    };
    Page::new(name(contact), Menu::Contacts, body)
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
                        bdi { (double.person.phone_number) } " " bdi { (double.person.email) } " "
                        @for tag in &double.tags { (tag_badge(tag)) " " }
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
