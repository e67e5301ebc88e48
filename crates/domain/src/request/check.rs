//! Requests to check numbers before they are sent to.

use std::ops::ControlFlow;

use serde_json::value::RawValue;
use uuid::Uuid;

use super::body::Split;
use super::field::{Json, Raw};
use super::shape::Numbers;
use super::skipped::beginning;
use crate::bodies;
use crate::error::{Code, Refusal};
use crate::phone::{Country, PhoneNumber};

/// The most numbers that one request checks.
pub const MOST_CHECKED: usize = 10_000;

/// A client's request to check numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRequest {
    /// The entries, in the order in which they were given.
    pub entries: Vec<CheckEntry>,
    /// The web session whose WhatsApp is asked.
    pub channel_id: Option<Uuid>,
}

/// One entry, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckEntry {
    /// The entry's beginning.
    pub input: String,
    /// The number, or why there is none, in words that continue "the number …".
    pub number: Result<PhoneNumber, String>,
}

bodies! {
    /// Numbers to check.
    pub struct NumberCheck<'a> of &'a RawValue {
        /// One number or up to 10,000.
        #[schema(example = json!(["+55 11 98888-7777"]))]
        phone_number: Numbers,
        /// The two letters of a country: numbers without a plus sign are read as its people write them. When absent, all
        /// numbers are international, as in a send.
        #[schema(example = "BR")]
        country: Option<String>,
        /// A web session, which asks WhatsApp whether the numbers are there. When absent, nobody is asked.
        channel_id: Option<Uuid>,
    }
}

impl CheckRequest {
    /// Reads a request's body.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_body`; `invalid_field`; `missing_phone_number`, `too_many_recipients`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let NumberCheck { phone_number, country, channel_id } =
            Split::other::<NumberCheck<'_>>(bytes)?.body();
        let country = self::country(country)?;
        let channel_id = id(channel_id)?;
        let entries = entries(phone_number, country)?;
        Ok(Self { entries, channel_id })
    }
}

fn country(field: Raw<'_, Option<String>>) -> Result<Option<Country>, Refusal> {
    let Some(code) = field.text()? else { return Ok(None) };
    let country = Country::parse(&code);
    country.map(Some).ok_or_else(|| field.wrong_type("the two letters of a country, such as BR"))
}

fn id(field: Raw<'_, Option<Uuid>>) -> Result<Option<Uuid>, Refusal> {
    let Some(text) = field.text()? else { return Ok(None) };
    let id = Uuid::parse_str(text.trim());
    id.map(Some).map_err(|_| field.wrong_type("the id of a web session: GET /api/v1/web-chat lists yours"))
}

fn entries(field: Raw<'_, Numbers>, country: Option<Country>) -> Result<Vec<CheckEntry>, Refusal> {
    let mut entries = Vec::new();
    let (mut is_wrong_type, mut are_too_many) = (false, false);
    field.each(|entry| {
        if entry == Json::Absent {
            return ControlFlow::Continue(());
        }
        are_too_many = entries.len() == MOST_CHECKED;
        let read = (!are_too_many).then(|| read(entry, country)).flatten();
        is_wrong_type = read.is_none() && !are_too_many;
        let Some(read) = read else { return ControlFlow::Break(()) };
        entries.push(read);
        ControlFlow::Continue(())
    });
    if is_wrong_type {
        return Err(field.wrong_type("a string, a number or an array of these"));
    }
    if are_too_many {
        let what = format!("has more than {MOST_CHECKED} entries: split it");
        return Err(field.refuse(Code::TooManyRecipients, what));
    }
    if entries.is_empty() {
        return Err(field.refuse(Code::MissingPhoneNumber, "is missing: give one number or many"));
    }
    Ok(entries)
}

/// Reads an entry; `None` for one of a type that the field does not take.
fn read(entry: Json<'_>, country: Option<Country>) -> Option<CheckEntry> {
    let parse = |text: &str| PhoneNumber::parse_in(text, country).map_err(|invalid| invalid.to_string());
    match entry {
        Json::Text(text) => Some(CheckEntry { input: beginning(&text), number: parse(&text) }),
        Json::Number(written) if written.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(CheckEntry { input: beginning(written), number: parse(written) })
        }
        Json::Number(written) => {
            let number = Err("is not a whole positive number".to_owned());
            Some(CheckEntry { input: beginning(written), number })
        }
        Json::BrokenText => {
            Some(CheckEntry { input: String::new(), number: Err("is not readable text".to_owned()) })
        }
        Json::Absent | Json::Bool | Json::Array | Json::Object => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<CheckRequest, Code> {
        CheckRequest::parse(body.as_bytes()).map_err(|refusal| refusal.code)
    }

    #[test]
    fn each_entry_is_read_by_itself_and_keeps_its_place() {
        let body = r#"{"phone_number": ["+55 11 98888-7777", 5511988887777, "12", 1.5, "11 98888-7777"]}"#;
        let entries = read(body).unwrap().entries;
        let number = PhoneNumber::parse("5511988887777");
        assert_eq!(entries[0].number.as_ref().ok(), number.as_ref().ok());
        assert_eq!(entries[1].number, entries[0].number);
        assert_eq!(entries[2].number, Err("has fewer than 7 digits".to_owned()));
        assert_eq!(entries[3].number, Err("is not a whole positive number".to_owned()));
        assert!(entries[4].number.is_err(), "national");
        let at_home = read(r#"{"phone_number": "(11) 98888-7777", "country": "br"}"#).unwrap().entries;
        assert_eq!(at_home[0].number, entries[0].number);
        assert_eq!(at_home[0].input, "(11) 98888-7777");
    }

    #[test]
    fn a_request_that_names_nobody_or_too_many_is_refused() {
        let many = format!(r#"{{"phone_number": [{}1]}}"#, "1,".repeat(MOST_CHECKED));
        for (body, code) in [
            (r#"{"phone_number": []}"#, Code::MissingPhoneNumber),
            (r#"{"country": "BR"}"#, Code::MissingPhoneNumber),
            (r#"{"phone_number": [true]}"#, Code::InvalidField),
            (r#"{"phone_number": "1", "country": "XX"}"#, Code::InvalidField),
            (r#"{"phone_number": "1", "channel_id": "7"}"#, Code::InvalidField),
            (many.as_str(), Code::TooManyRecipients),
            ("[]", Code::InvalidBody),
        ] {
            assert_eq!(read(body), Err(code), "{:.60}", body);
        }
        let most = format!(r#"{{"phone_number": [{}1]}}"#, "1,".repeat(MOST_CHECKED - 1));
        assert_eq!(read(&most).unwrap().entries.len(), MOST_CHECKED);
    }
}
