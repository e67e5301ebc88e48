//! Converts a row to a draft of a contact, or says why it cannot.
//!
//! A contact is identified by its valid number, or else by its e-mail address, so a second import of the same
//! file changes nothing. A row with neither is refused, and so is a row with a wrong number and no address.
//! With an address, such a row becomes a contact without a valid number, which keeps the number as it was
//! given and gets no messages.

use std::borrow::Cow;
use std::collections::HashSet;

use super::header::{Field, Layout};
use crate::domain::cell::unguard;
use crate::domain::contact::{MOST_TAGS, Person, is_picture, tag_name};
use crate::domain::phone::{InvalidPhone, PhoneNumber};
use crate::store::ContactDraft;

/// The longest name, in characters.
const MAX_NAME: usize = 200;
/// The longest e-mail address that RFC 5321 allows.
const MAX_EMAIL: usize = 254;
/// The longest phone number, with separators and other text that people add.
const MAX_PHONE: usize = 64;
/// The longest picture address, as for links in a send.
const MAX_PICTURE: usize = 2_048;
/// The longest name of a tag, which lists show.
const MAX_TAG: usize = 100;

/// Why a row becomes no contact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("has {found} fields where the header has {wanted}")]
    FieldCount { found: usize, wanted: usize },
    #[error("{field} holds a NUL character")]
    Nul { field: &'static str },
    #[error("{field} is longer than {most} characters")]
    TooLong { field: &'static str, most: usize },
    #[error("has more than {MOST_TAGS} tags")]
    TooManyTags,
    #[error("profile_picture is not an http or https address")]
    Picture,
    #[error("has neither a phone number nor an e-mail address to identify the contact")]
    Nobody,
    #[error("the phone number {1}, and there is no e-mail address to identify the contact")]
    Phone(String, InvalidPhone),
}

/// Checks the fields of a contact that a person or a program gives against the bounds of a row. Returns the
/// trimmed fields.
///
/// # Errors
///
/// A sentence that says which field is wrong.
pub fn check_contact(person: &Person) -> Result<Person, String> {
    let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture } = person;
    let bounded =
        |field, value: &str, most| text(field, value.trim(), most).map_err(|wrong| wrong.to_string());
    let lid = phone_number_lid.as_deref().map(str::trim).filter(|lid| !lid.is_empty());
    Ok(Person {
        first_name: bounded("first_name", first_name, MAX_NAME)?,
        last_name: bounded("last_name", last_name, MAX_NAME)?,
        email: bounded("email", email, MAX_EMAIL)?,
        phone_number: bounded("phone_number", phone_number, MAX_PHONE)?,
        phone_number_lid: lid.map(|lid| bounded("phone_number_lid", lid, MAX_PHONE)).transpose()?,
        profile_picture: picture(profile_picture.trim()).map_err(|wrong| wrong.to_string())?,
    })
}

/// Checks the name of a tag. Returns the name in its one form.
///
/// # Errors
///
/// A sentence that says what is wrong with it.
pub fn check_tag(name: &str) -> Result<String, String> {
    let name = &*tag_name(name);
    if name.is_empty() || name.contains([';', '\n', '\r']) || name.contains(":::") {
        return Err("a tag's name has at least one character, and no semicolon, `:::` or line end".to_owned());
    }
    text("tags", name, MAX_TAG).map_err(|wrong| format!("the tag's name: {wrong}"))
}

/// Checks names of tags that a contact, or each contact of a file, gets at once. Returns them trimmed and without
/// repetitions.
///
/// # Errors
///
/// The first name that [`check_tag`] refuses with its sentence, or that there are too many.
pub fn check_tags<'a>(given: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, String> {
    let (mut known, mut names) = (HashSet::new(), Vec::new());
    for name in given {
        let name = check_tag(name)?;
        if known.insert(name.clone()) {
            names.push(name);
        }
        if names.len() > MOST_TAGS {
            return Err(Refused::TooManyTags.to_string());
        }
    }
    Ok(names)
}

/// The contact that a row describes, without the tags that `every` contact of the file gets.
pub(super) fn draft(layout: &Layout, fields: &[&str], every: &[String]) -> Result<ContactDraft, Refused> {
    if fields.len() != layout.header.len() {
        return Err(Refused::FieldCount { found: fields.len(), wanted: layout.header.len() });
    }
    let fields: Vec<_> = fields.iter().map(|cell| unguard(cell.trim())).collect();
    let values = |field| layout.columns(field).map(|index| fields[index].trim());
    let first = |field| values(field).find(|value| !value.is_empty()).unwrap_or_default();

    let given = [first(Field::FirstName), first(Field::MiddleName)];
    let given: Vec<&str> = given.into_iter().filter(|name| !name.is_empty()).collect();
    let mut first_name = given.join(" ");
    let last_name = first(Field::LastName);
    if first_name.is_empty() && last_name.is_empty() {
        let whole = first(Field::Name);
        first_name = if whole.is_empty() { first(Field::Organization) } else { whole }.to_owned();
    }
    let email = values(Field::Email).flat_map(parts).find(|text| is_address(text)).unwrap_or_default();
    let phone_number = phone(values(Field::PhoneNumber).flat_map(parts))?;
    let lid = first(Field::PhoneNumberLid);

    let person = Person {
        first_name: text("first_name", &first_name, MAX_NAME)?,
        last_name: text("last_name", last_name, MAX_NAME)?,
        email: text("email", email, MAX_EMAIL)?,
        phone_number: text("phone_number", &phone_number, MAX_PHONE)?,
        phone_number_lid: if lid.is_empty() { None } else { Some(text("phone_number_lid", lid, MAX_PHONE)?) },
        profile_picture: picture(first(Field::ProfilePicture))?,
    };
    match PhoneNumber::parse(&person.phone_number) {
        Err(_) if !person.email.is_empty() => {}
        Err(_) if person.phone_number.is_empty() => return Err(Refused::Nobody),
        Err(invalid) => return Err(Refused::Phone(person.phone_number, invalid)),
        Ok(_) => {}
    }
    Ok(ContactDraft { person, tags: tags(values(Field::Tags), every)? })
}

/// The values of a cell; Google separates several with ` ::: `.
fn parts(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(":::").map(str::trim).filter(|part| !part.is_empty())
}

/// The first valid number, or else the first given text.
///
/// # Errors
///
/// A figure of a spreadsheet, even beside an address: the file lost the number, and its other rows show how.
fn phone<'a>(given: impl Iterator<Item = &'a str>) -> Result<Cow<'a, str>, Refused> {
    let mut first = "";
    for text in given {
        match PhoneNumber::parse(text) {
            Ok(number) => return Ok(shown(text, number)),
            Err(invalid @ InvalidPhone::Figure) => return Err(Refused::Phone(text.to_owned(), invalid)),
            Err(_) if first.is_empty() => first = text,
            Err(_) => {}
        }
    }
    Ok(first.into())
}

/// The text of a number as the file has it, or the number alone where the text has other digits: the decimals of a
/// spreadsheet, a device of WhatsApp.
fn shown(text: &str, number: PhoneNumber) -> Cow<'_, str> {
    let number = number.to_string();
    let has_its_digits = text.bytes().filter(u8::is_ascii_digit).eq(number.bytes());
    if has_its_digits { text.into() } else { number.into() }
}

/// Whether the text has characters on both sides of one `@`, and no space, which is enough to distinguish an
/// address from a remark.
fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(who, host)| !who.is_empty() && !host.is_empty() && !host.contains('@'))
        && !text.contains(char::is_whitespace)
}

/// Names of tags, without repetitions and without those of `every` contact. Google's own groups, such as `* myContacts`,
/// are skipped.
fn tags<'a>(cells: impl Iterator<Item = &'a str>, every: &'a [String]) -> Result<Vec<String>, Refused> {
    let mut known: HashSet<Cow<'a, str>> = HashSet::new();
    let mut tags: Vec<String> = Vec::new();
    for name in cells.flat_map(parts).flat_map(|part| part.split(';')) {
        let name = tag_name(name);
        if name.is_empty() || name == "*" || name.starts_with("* ") {
            continue;
        }
        if known.is_empty() {
            known.extend(every.iter().map(|name| Cow::Borrowed(name.as_str())));
        }
        if !known.insert(name.clone()) {
            continue;
        }
        if known.len() > MOST_TAGS {
            return Err(Refused::TooManyTags);
        }
        tags.push(text("tags", &name, MAX_TAG)?);
    }
    Ok(tags)
}

fn picture(value: &str) -> Result<String, Refused> {
    let address = text("profile_picture", value, MAX_PICTURE)?;
    if is_picture(&address) { Ok(address) } else { Err(Refused::Picture) }
}

fn text(field: &'static str, value: &str, most: usize) -> Result<String, Refused> {
    if value.contains('\0') {
        return Err(Refused::Nul { field });
    }
    // Bytes are compared first, because most texts are short and counting characters is slower.
    if value.len() > most && value.chars().count() > most {
        return Err(Refused::TooLong { field, most });
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests;
