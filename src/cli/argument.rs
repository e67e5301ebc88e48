//! Arguments that several commands take, checked before anything is opened.

use std::time::Duration;

use clap::Args;

use crate::clock::Timestamp;
use crate::domain::contact::tag_name;
use crate::domain::phone::{Country, PhoneNumber};
use crate::domain::scope::Scope;
use crate::domain::time_span::NOT_A_SPAN;
use crate::domain::user::{Email, Role};

/// The longest name of a company, channel or key, in characters.
const MAX_NAME: usize = 200;
/// The most digits of a provider's id. Its ids have some 15 digits.
const MAX_ID_DIGITS: usize = 32;

/// One company.
#[derive(Debug, Args)]
pub(super) struct OfCompany {
    /// The company's name or id
    #[arg(long, value_name = "COMPANY")]
    pub(super) company: String,
}

/// One company, or all.
#[derive(Debug, Args)]
pub(super) struct MaybeOfCompany {
    /// The company's name or id; without it, every company's
    #[arg(long, value_name = "COMPANY")]
    pub(super) company: Option<String>,
}

/// One channel.
#[derive(Debug, Args)]
pub(super) struct OfChannel {
    /// The channel's name, COMPANY/NAME where companies share a name, or its id
    #[arg(value_name = "CHANNEL")]
    pub(super) channel: String,
}

/// A name without space around it.
pub(super) fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("a name cannot be blank".to_owned());
    }
    if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(format!("a name has at most {MAX_NAME} characters, none of them a line break or tab"));
    }
    Ok(name.to_owned())
}

/// The name of a tag. A file separates several tags with semicolons.
pub(super) fn tag(text: &str) -> Result<String, String> {
    let tag = tag_name(&name(text)?).into_owned();
    if tag.is_empty() {
        return Err("a tag's name has at least one character".to_owned());
    }
    if tag.contains(';') { Err("a tag's name cannot have a semicolon".to_owned()) } else { Ok(tag) }
}

/// The name of an operator, which no other author of a recorded change can have.
pub(super) fn operator(text: &str) -> Result<String, String> {
    let operator = name(text)?;
    if operator.contains(':') || operator.eq_ignore_ascii_case("pombo") {
        return Err("an operator's name has no colon and is not pombo".to_owned());
    }
    Ok(operator)
}

/// A phone number in international form, kept as it was written.
pub(super) fn phone_number(text: &str) -> Result<String, String> {
    recipient(text)?;
    name(text)
}

/// A phone number in international form.
pub(super) fn recipient(text: &str) -> Result<PhoneNumber, String> {
    PhoneNumber::parse(text)
        .map_err(|reason| format!("it {reason}; write it in international form, such as +55 11 98888-7777"))
}

/// A country, by its two letters.
pub(super) fn country(text: &str) -> Result<Country, String> {
    Country::parse(text).ok_or_else(|| "a country is given by its two letters, such as BR".to_owned())
}

/// An id that the provider gives: digits.
pub(super) fn provider_id(text: &str) -> Result<String, String> {
    let id = text.trim();
    if (1..=MAX_ID_DIGITS).contains(&id.len()) && id.bytes().all(|digit| digit.is_ascii_digit()) {
        Ok(id.to_owned())
    } else {
        Err("the provider's ids are digits only; copy it from the provider's console".to_owned())
    }
}

/// What an API key may be used for.
pub(super) fn scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text.trim()).ok_or_else(|| {
        let words = Scope::ALL.map(Scope::as_str).join(", ");
        format!("a scope is one of {words}")
    })
}

/// What a person may do in a company.
pub(super) fn role(text: &str) -> Result<Role, String> {
    Role::parse(text.trim()).ok_or_else(|| {
        let words = Role::ALL.map(Role::as_str).join(", ");
        format!("a role is one of {words}")
    })
}

/// A person's e-mail address.
pub(super) fn email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|wrong| format!("it {wrong}"))
}

/// A duration with its unit.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim()).map_err(|_| format!("it {NOT_A_SPAN}"))
}

/// A time.
pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text.trim()).map_err(|_| "it is not a time such as 2026-11-27T18:00:00Z".to_owned())
}

/// A time that has not come yet.
pub(super) fn future(text: &str) -> Result<Timestamp, String> {
    let moment = moment(text)?;
    if moment > Timestamp::now() {
        Ok(moment)
    } else {
        Err("it is over; give a time in the future".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faulty_argument_is_refused_with_a_remedy() {
        assert_eq!(name("  Acme Ltd "), Ok("Acme Ltd".to_owned()));
        assert!(name(" \t").is_err() && name("a\nb").is_err() && name(&"x".repeat(201)).is_err());
        assert!(operator("ana").is_ok() && operator("cli:ana").is_err() && operator("Pombo").is_err());
        assert_eq!(phone_number(" +55 11 98888-7777"), Ok("+55 11 98888-7777".to_owned()));
        assert!(phone_number("0800").unwrap_err().contains("begins with 0"));
        assert_eq!(provider_id("106540352242922"), Ok("106540352242922".to_owned()));
        assert!(provider_id("").is_err() && provider_id("../x").is_err());
        assert_eq!(span("90d"), Ok(Duration::from_secs(90 * 86_400)));
        assert!(span("90").is_err());
    }
}
