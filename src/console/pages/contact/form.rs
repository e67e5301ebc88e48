//! The form of a contact: its fields, reading them, and what someone else has changed meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::own;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::component::number::{self, Typed};
use crate::console::form::Form;
use crate::console::pages::import as files;
use crate::domain::contact::{Contact, Person, is_picture};
use crate::domain::own_field::{FieldKey, FieldValue, OwnField};
use crate::domain::phone::{Country, InvalidPhone, PhoneNumber};
use crate::import;

/// The maximum of characters of all tags' names together.
const TAGS: usize = 2_000;
/// The field with the number that the contact has, which is not asked about again.
const STORED: &str = "stored_number";
/// The field with the time of the last change of the contact that the person saw.
pub(super) const KNOWN: &str = "known";
/// The field with a digest of the tags that the person saw. A tag that is renamed or deleted changes no contact's time, and
/// the form, which has the tags by their names, would make it again.
pub(super) const KNOWN_TAGS: &str = "known_tags";

/// What a form says of a contact.
pub(super) struct Read {
    pub(super) person: Person,
    pub(super) tags: Vec<String>,
    /// The values of own fields.
    pub(super) own: BTreeMap<FieldKey, Option<FieldValue>>,
    /// The numbers that may be meant, when the person has to choose.
    pub(super) meant: Vec<PhoneNumber>,
}

/// Reads a form of a company in this country, with these own fields; faults are noted in the form. The number that the contact
/// has is not asked about again.
pub(super) fn read(form: &mut Form, own: &[OwnField], country: Option<Country>, known: &str) -> Read {
    let text = form.text();
    let mut field = |name, most| form.optional(name, most).unwrap_or_default();
    let mut given = Person {
        first_name: field("first_name", 200),
        last_name: field("last_name", 200),
        email: field("email", 254),
        phone_number: field("phone_number", 64),
        phone_number_lid: Some(field("phone_number_lid", 64)),
        profile_picture: field("profile_picture", 2_048),
        ..Person::default()
    };
    let tags = field("tags", TAGS);
    let own = own::read(form, own);
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
    Read { person, tags: files::tags(&tags, form), own, meant: numbers }
}

/// The values that the fields of a contact have now.
pub(super) fn values(contact: &Contact) -> [(&'static str, String); 7] {
    let person = &contact.person;
    let tags: Vec<_> = contact.tags.iter().map(|tag| tag.name.as_str()).collect();
    [
        ("first_name", person.first_name.clone()),
        ("last_name", person.last_name.clone()),
        ("phone_number", person.phone_number.clone()),
        ("email", person.email.clone()),
        ("tags", tags.join("; ")),
        ("phone_number_lid", person.phone_number_lid.clone().unwrap_or_default()),
        ("profile_picture", person.profile_picture.clone()),
    ]
}

/// The values of the fields that say which contact the person saw.
pub(super) fn seen(contact: &Contact) -> [(&'static str, String); 2] {
    [(KNOWN, contact.updated_at.millis().to_string()), (KNOWN_TAGS, digest_of_tags(contact))]
}

/// Whether the person saw other tags than the contact has.
pub(super) fn saw_other_tags(form: &Form, contact: &Contact) -> bool {
    let seen = form.words().one(KNOWN_TAGS);
    !seen.is_empty() && seen != digest_of_tags(contact)
}

/// SHA-256 over the names of the contact's tags, which are in order.
fn digest_of_tags(contact: &Contact) -> String {
    let mut digest = Sha256::new();
    for tag in &contact.tags {
        // Each name with its length, so that different names never have the same input.
        digest.update((tag.name.len() as u64).to_le_bytes());
        digest.update(tag.name.as_bytes());
    }
    hex::encode(digest.finalize())
}

/// The key of the name of a field.
fn label(field: &str) -> &'static str {
    match field {
        "first_name" => "contacts-first-name",
        "last_name" => "contacts-last-name",
        "phone_number" => "contacts-number",
        "email" => "contacts-email",
        "tags" => "contacts-tags",
        "phone_number_lid" => "contacts-lid",
        _ => "contacts-picture",
    }
}

/// Whether a field has the stored value. Tags may stand in any order.
fn is_same(field: &str, typed: &str, stored: &str) -> bool {
    let parts = |text: &str| text.split(';').map(|part| part.trim().to_owned()).collect::<BTreeSet<_>>();
    typed.trim() == stored || (field == "tags" && parts(typed) == parts(stored))
}

/// Says that someone else has changed the contact since the form was opened, and what is stored now where the form says
/// something else.
pub(super) fn outdated(form: &Form, contact: &Contact, own: &[OwnField]) -> Markup {
    let text = form.text();
    let values = values(contact);
    let other = values.iter().filter(|(name, stored)| !is_same(name, form.value(name), stored));
    let other = other.map(|(name, stored)| (text.get(label(name)), stored.clone()));
    let own = own.iter().map(|field| (field, own::stored(contact, field)));
    let own = own.filter(|(field, stored)| form.value(&own::input(field)).trim() != stored);
    let other = other.chain(own.map(|(field, stored)| (field.name.clone(), stored)));
    notice::alarm(&html! {
        p { (text.get("contacts-outdated")) }
        ul {
            @for (name, stored) in other {
                li {
                    (name) ": "
                    @if stored.is_empty() { (text.get("contacts-empty-now")) } @else { bdi { (stored) } }
                }
            }
        }
    })
}

/// The fields of a contact of a company in this country, with these own fields. The number is shown as it is read.
pub(super) fn fields(
    form: &Form,
    own: &[OwnField],
    meant: &[PhoneNumber],
    country: Option<Country>,
    stored: &str,
) -> Markup {
    let text = form.text();
    let is_open = ["phone_number_lid", "profile_picture"].iter().any(|name| form.fault_of(name).is_some());
    html! {
        div.columns {
            (Field::new(form, "first_name", &text.get("contacts-first-name")).most(200).text())
            (Field::new(form, "last_name", &text.get("contacts-last-name")).most(200).text())
        }
        (Field::new(form, "phone_number", &text.get("contacts-number")).hint(&text.get("contacts-number-hint")).most(64).input("tel"))
        input type="hidden" name=(STORED) value=(stored);
        (number::reading(text, form.words(), "phone_number", country, stored))
        @if !meant.is_empty() { (number::choose(text, "phone_number", meant)) }
        (Field::new(form, "email", &text.get("contacts-email")).most(254).input("email"))
        (Field::new(form, "tags", &text.get("contacts-tags")).hint(&text.get("contacts-tags-hint")).most(TAGS).text())
        (own::fields(form, own))
        details.more id="rare" open[is_open] {
            summary { (text.get("contacts-more-fields")) }
            (Field::new(form, "phone_number_lid", &text.get("contacts-lid")).most(64).text())
            (Field::new(form, "profile_picture", &text.get("contacts-picture")).most(2_048).input("url"))
        }
    }
}

/// What the number in a form that is being filled in is read as.
pub(super) fn reading(form: &Form, country: Option<Country>) -> Markup {
    let name = ["phone_number", "number"].into_iter().find(|name| form.words().names(name));
    number::reading(form.text(), form.words(), name.unwrap_or("phone_number"), country, form.value(STORED))
}
