//! Converts a row to a draft of a contact, or says why it cannot.
//!
//! A contact is identified by its valid number, or else by its e-mail address, so a second import of the same
//! file changes nothing. A row with neither is refused, and so is a row with a wrong number and no address.
//! With an address, such a row becomes a contact without a valid number, which keeps the number as it was
//! given and gets no messages.
//!
//! The cells of an export of Pombo are taken as they are: a contact that the API accepts is the same after an export and
//! an import. Only its numbers are read by the rules of a country, if a person says so: people fill its columns, too.

use std::borrow::Cow;
use std::collections::HashSet;

use super::encoding::{self, MARK};
use super::header::{Field, Layout};
use domain::cell::unguard;
use domain::contact::{MOST_TAGS, Person, is_picture, tag_name};
use domain::own_field::{OwnField, OwnValues, WrongValue};
use domain::phone::{Country, InvalidPhone, PhoneNumber};
use store::ContactDraft;

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
    #[error("{field} holds a byte that is not valid in the file's encoding")]
    WrongByte { field: &'static str },
    #[error(
        "phone_number_lid is {0}, which a spreadsheet rounded: format its column as text there, and save again"
    )]
    RoundedLid(String),
    #[error("{field} is longer than {most} characters")]
    TooLong { field: &'static str, most: usize },
    #[error("has more than {MOST_TAGS} tags")]
    TooManyTags,
    #[error("profile_picture is not an http or https address")]
    Picture,
    #[error("has neither a phone number nor an e-mail address to identify the contact")]
    Nobody,
    #[error("{0:?} is no e-mail address, and there is no phone number to identify the contact")]
    Address(String),
    #[error("the phone number {1}, and there is no e-mail address to identify the contact")]
    Phone(String, InvalidPhone),
    #[error("{name}: {cell:?} {wrong}")]
    Own { name: String, cell: String, wrong: WrongValue },
    #[error("{name} holds a byte that is not valid in the file's encoding")]
    OwnWrongByte { name: String },
}

/// Checks the fields of a contact that a person or a program gives against the bounds of a row. Returns the
/// trimmed fields.
///
/// # Errors
///
/// A sentence that says which field is wrong.
pub fn check_contact(person: &Person) -> Result<Person, String> {
    let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, own } =
        person;
    let bounded =
        |field, value: &str, most| text(field, value.trim(), most).map_err(|wrong| wrong.to_string());
    let given_lid = phone_number_lid.as_deref().unwrap_or_default().trim();
    if PhoneNumber::parse(phone_number) == Err(InvalidPhone::Figure) {
        return Err(format!("the phone number {}", InvalidPhone::Figure));
    }
    Ok(Person {
        first_name: bounded("first_name", first_name, MAX_NAME)?,
        last_name: bounded("last_name", last_name, MAX_NAME)?,
        email: bounded("email", email, MAX_EMAIL)?,
        phone_number: bounded("phone_number", phone_number, MAX_PHONE)?,
        phone_number_lid: lid(given_lid).map_err(|wrong| wrong.to_string())?,
        profile_picture: picture(profile_picture.trim()).map_err(|wrong| wrong.to_string())?,
        own: own.clone(),
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

/// A row that is a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadRow {
    pub(super) draft: ContactDraft,
    /// A malformed e-mail address: the contact is read without it.
    pub(super) left_out: Option<String>,
}

/// The contact that a row describes, without the tags that `every` contact of the file gets. Numbers without a plus sign
/// are read by the rules of `country`, if there is one.
pub(super) fn draft(
    layout: &Layout,
    fields: &[&str],
    every: &[String],
    country: Option<Country>,
) -> Result<ReadRow, Refused> {
    let wanted = layout.header.len();
    // Programs leave empty cells at the end of a row out, or add some.
    let (known, more) = fields.split_at(fields.len().min(wanted));
    if more.iter().any(|cell| !bare(cell).is_empty()) {
        return Err(Refused::FieldCount { found: fields.len(), wanted });
    }
    let mut cells: Vec<_> = known.iter().map(|cell| unguard(bare(cell))).collect();
    cells.resize(wanted, Cow::Borrowed(""));
    let values = |field| layout.columns(field).map(|index| bare(&cells[index]));
    let first = |field| values(field).find(|value| !value.is_empty()).unwrap_or_default();
    if layout.is_own {
        return Ok(ReadRow { draft: exported(layout, first, every, country)?, left_out: None });
    }

    let given = [first(Field::FirstName), first(Field::MiddleName)];
    let given: Vec<&str> = given.into_iter().filter(|name| !name.is_empty()).collect();
    let mut first_name = given.join(" ");
    let last_name = first(Field::LastName);
    if first_name.is_empty() && last_name.is_empty() {
        let whole = first(Field::Name);
        first_name = if whole.is_empty() { first(Field::Organization) } else { whole }.to_owned();
    }
    let email = values(Field::Email).flat_map(parts).find(|text| is_address(text));
    // A remark, such as `none`, is not meant as an address. What is kept of one that is wrong is bounded like an address.
    let left_out = values(Field::Email).flat_map(parts).find(|text| text.contains(['@', '.']));
    let left_out = left_out.filter(|_| email.is_none());
    let left_out = left_out.map(|text| encoding::shown(&text.chars().take(MAX_EMAIL).collect::<String>()));
    let email = email.unwrap_or_default();
    let phone_number = phone(values(Field::PhoneNumber).flat_map(parts), country)?;
    let person = Person {
        first_name: text("first_name", &first_name, MAX_NAME)?,
        last_name: text("last_name", last_name, MAX_NAME)?,
        email: text("email", email, MAX_EMAIL)?,
        phone_number: text("phone_number", &phone_number, MAX_PHONE)?,
        phone_number_lid: lid(first(Field::PhoneNumberLid))?,
        profile_picture: picture(first(Field::ProfilePicture))?,
        own: own_values(&layout.own, first, country)?,
    };
    let names = layout.columns(Field::Tags).flat_map(|index| {
        let cell = bare(&cells[index]);
        let has_groups = layout.has_google_groups(index);
        let separators = [';', layout.tag_separator];
        let names = parts(cell).flat_map(move |part| part.split(separators)).map(str::trim);
        // Google's own groups, such as `* myContacts`.
        names.filter(move |name| !has_groups || *name != "*" && !name.starts_with("* "))
    });
    match (identified(person, tags(names, every)?), left_out) {
        (Ok(draft), left_out) => Ok(ReadRow { draft, left_out }),
        (Err(Refused::Nobody), Some(left_out)) => Err(Refused::Address(left_out)),
        (Err(refused), _) => Err(refused),
    }
}

/// The contact of a row of our own export.
fn exported<'a>(
    layout: &Layout,
    first: impl Fn(Field) -> &'a str,
    every: &[String],
    country: Option<Country>,
) -> Result<ContactDraft, Refused> {
    let phone_number = own_phone(first(Field::PhoneNumber), country)?;
    let person = Person {
        first_name: text("first_name", first(Field::FirstName), MAX_NAME)?,
        last_name: text("last_name", first(Field::LastName), MAX_NAME)?,
        email: text("email", first(Field::Email), MAX_EMAIL)?,
        phone_number: text("phone_number", &phone_number, MAX_PHONE)?,
        phone_number_lid: lid(first(Field::PhoneNumberLid))?,
        profile_picture: picture(first(Field::ProfilePicture))?,
        own: own_values(&layout.own, &first, country)?,
    };
    identified(person, tags(first(Field::Tags).split(';').map(str::trim), every)?)
}

/// The values of the own fields that have a column.
fn own_values<'a>(
    own: &[OwnField],
    first: impl Fn(Field) -> &'a str,
    country: Option<Country>,
) -> Result<OwnValues, Refused> {
    /// Characters that are kept of a wrong cell.
    const SHOWN: usize = 80;
    let mut values = OwnValues::new();
    for OwnField { key, name, kind, .. } in own {
        let cell = first(Field::Own(*key));
        if cell.contains(MARK) {
            return Err(Refused::OwnWrongByte { name: name.clone() });
        }
        let wrong = |wrong| Refused::Own {
            name: name.clone(),
            cell: encoding::shown(&cell.chars().take(SHOWN).collect::<String>()),
            wrong,
        };
        values.extend(kind.written(cell, country).map_err(wrong)?.map(|value| (*key, value)));
    }
    Ok(values)
}

/// The draft of a person whom a number or an address identifies.
fn identified(person: Person, tags: Vec<String>) -> Result<ContactDraft, Refused> {
    match PhoneNumber::parse(&person.phone_number) {
        Err(InvalidPhone::Figure) => return Err(Refused::Phone(person.phone_number, InvalidPhone::Figure)),
        Err(_) if !person.email.is_empty() => {}
        Err(_) if person.phone_number.is_empty() => return Err(Refused::Nobody),
        Err(invalid) => return Err(Refused::Phone(person.phone_number, invalid)),
        Ok(_) => {}
    }
    Ok(ContactDraft { person, tags })
}

/// A cell without the spaces and byte-order marks around it.
pub(super) fn bare(cell: &str) -> &str {
    cell.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}')
}

/// The values of a cell; Google separates several with ` ::: `.
fn parts(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(":::").map(str::trim).filter(|part| !part.is_empty())
}

/// The first valid number as it is written, or in international form if it was read by a country's rules; or else the
/// first given text.
///
/// # Errors
///
/// A figure of a spreadsheet, even beside an address: the file lost the number, and its other rows show how. A number
/// that is too short for the country, too.
fn phone<'a>(
    given: impl Iterator<Item = &'a str>,
    country: Option<Country>,
) -> Result<Cow<'a, str>, Refused> {
    let (mut first, mut lacks_area) = ("", None);
    for text in given {
        match PhoneNumber::parse_in(text, country) {
            Ok(number) if PhoneNumber::parse(text) != Ok(number) => return Ok(format!("+{number}").into()),
            Ok(number) => return Ok(shown(text, number)),
            Err(invalid @ InvalidPhone::Figure) => return Err(Refused::Phone(text.to_owned(), invalid)),
            // Without the area code it is nobody's number, though a program would take it for an international one.
            Err(invalid) if PhoneNumber::parse(text).is_ok() => lacks_area = Some((text, invalid)),
            Err(_) if first.is_empty() => first = text,
            Err(_) => {}
        }
    }
    match lacks_area {
        Some((text, invalid)) => Err(Refused::Phone(text.to_owned(), invalid)),
        None => Ok(first.into()),
    }
}

/// The number of a row of our own export as it is written, or in international form if it was read by a country's rules.
/// The numbers of an export are international. So one that is no national number stays if it is another country's mobile
/// number.
///
/// # Errors
///
/// A number that is too short for the country, even beside an address.
fn own_phone(given: &str, country: Option<Country>) -> Result<Cow<'_, str>, Refused> {
    if country.is_none() {
        return Ok(given.into());
    }
    match (PhoneNumber::parse_in(given, country), PhoneNumber::parse(given)) {
        (Ok(number), international) if international != Ok(number) => Ok(format!("+{number}").into()),
        (Err(invalid), Ok(international)) if !international.is_mobile() => {
            Err(Refused::Phone(given.to_owned(), invalid))
        }
        _ => Ok(given.into()),
    }
}

/// The text of a number as the file has it, or the number alone where the text has other digits: the decimals of a
/// spreadsheet, a device of WhatsApp.
fn shown(text: &str, number: PhoneNumber) -> Cow<'_, str> {
    let number = number.to_string();
    let has_its_digits = text.bytes().filter(u8::is_ascii_digit).eq(number.bytes());
    if has_its_digits { text.into() } else { number.into() }
}

/// Whether the text has characters on both sides of one `@`, those behind it a name with a dot, and none that stands
/// between addresses.
fn is_address(text: &str) -> bool {
    let is_host =
        |host: &str| host.contains('.') && !host.split('.').any(str::is_empty) && !host.contains('@');
    let is_strange =
        |char: char| char.is_whitespace() || matches!(char, ',' | ';' | ':' | '<' | '>' | '(' | ')' | '"');
    text.split_once('@').is_some_and(|(who, host)| !who.is_empty() && is_host(host))
        && !text.contains(is_strange)
}

/// Names of tags, without repetitions and without those of `every` contact.
fn tags<'a>(names: impl Iterator<Item = &'a str>, every: &'a [String]) -> Result<Vec<String>, Refused> {
    let mut known: HashSet<Cow<'a, str>> = HashSet::new();
    let mut tags: Vec<String> = Vec::new();
    for name in names.map(tag_name).filter(|name| !name.is_empty()) {
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

/// WhatsApp's id of a person. One that a spreadsheet rounded is nobody's.
fn lid(value: &str) -> Result<Option<String>, Refused> {
    if value.is_empty() {
        return Ok(None);
    }
    let lid = text("phone_number_lid", value, MAX_PHONE)?;
    match PhoneNumber::parse(&lid) {
        Err(InvalidPhone::Figure) => Err(Refused::RoundedLid(lid)),
        Ok(_) | Err(_) => Ok(Some(lid)),
    }
}

fn picture(value: &str) -> Result<String, Refused> {
    let address = text("profile_picture", value, MAX_PICTURE)?;
    if is_picture(&address) { Ok(address) } else { Err(Refused::Picture) }
}

fn text(field: &'static str, value: &str, most: usize) -> Result<String, Refused> {
    if value.contains('\0') {
        return Err(Refused::Nul { field });
    }
    if value.contains(MARK) {
        return Err(Refused::WrongByte { field });
    }
    // Bytes are compared first, because most texts are short and counting characters is slower.
    if value.len() > most && value.chars().count() > most {
        return Err(Refused::TooLong { field, most });
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests;
