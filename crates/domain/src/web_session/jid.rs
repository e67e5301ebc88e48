//! Addresses of WhatsApp.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::phone::PhoneNumber;

const PERSON: &str = "s.whatsapp.net";
const GROUP: &str = "g.us";
const HIDDEN: &str = "lid";
/// The maximum number of characters of an address. Groups have some 30.
const MOST_CHARACTERS: usize = 100;

/// An address of WhatsApp, such as `5511988887777@s.whatsapp.net`: a person, a person whose number is hidden, or a
/// group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Jid(String);

/// The error for a text that is no such address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not the address of a person or a group on WhatsApp")]
pub struct InvalidJid;

impl<'de> Deserialize<'de> for Jid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Jid {
    /// The address of a person by their number. A session finds the person's actual address.
    pub fn person(number: PhoneNumber) -> Self {
        Self(format!("{number}@{PERSON}"))
    }

    /// The address of a group, from its id with or without `@g.us`: digits, and in old ids a hyphen.
    ///
    /// # Errors
    ///
    /// [`InvalidJid`].
    pub fn group(id: &str) -> Result<Self, InvalidJid> {
        let id = id.strip_suffix("@g.us").unwrap_or(id);
        Self::parse(&format!("{id}@{GROUP}"))
    }

    /// Reads an address as WhatsApp writes it, without the number of a device.
    ///
    /// # Errors
    ///
    /// [`InvalidJid`].
    pub fn parse(text: &str) -> Result<Self, InvalidJid> {
        let (user, server) = text.split_once('@').ok_or(InvalidJid)?;
        let is_user = user.bytes().all(|byte| byte.is_ascii_digit() || (byte == b'-' && server == GROUP))
            && user.starts_with(|first: char| first.is_ascii_digit());
        let is_known = matches!(server, PERSON | GROUP | HIDDEN);
        if is_user && is_known && text.len() <= MOST_CHARACTERS {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidJid)
        }
    }

    /// The number, if it is not hidden.
    pub fn number(&self) -> Option<PhoneNumber> {
        let user = self.0.strip_suffix("@s.whatsapp.net")?;
        PhoneNumber::parse(user).ok()
    }

    /// Whether it is the address of a group.
    pub fn is_group(&self) -> bool {
        self.0.ends_with("@g.us")
    }

    /// The address as WhatsApp writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Jid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_a_hidden_number_and_a_group_are_addresses() {
        let number = PhoneNumber::parse("+55 11 98888-7777").unwrap();
        assert_eq!(Jid::person(number).as_str(), "5511988887777@s.whatsapp.net");
        assert_eq!(Jid::person(number).number(), Some(number));
        for text in
            ["5511988887777@s.whatsapp.net", "200000000000001@lid", "120363000000000001@g.us", "5511-99@g.us"]
        {
            assert_eq!(Jid::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Jid::parse("200000000000001@lid").unwrap().number(), None);
        assert!(Jid::parse("120363000000000001@g.us").unwrap().is_group());
    }

    #[test]
    fn a_group_may_be_named_with_or_without_its_server() {
        assert_eq!(Jid::group("120363000000000001"), Jid::group("120363000000000001@g.us"));
        assert_eq!(Jid::group("120363@s.whatsapp.net"), Err(InvalidJid));
    }

    #[test]
    fn everything_else_is_refused() {
        let long = format!("{}@g.us", "1".repeat(100));
        for text in [
            "",
            "@",
            "@g.us",
            "12",
            "a@g.us",
            "1:2@s.whatsapp.net",
            "status@broadcast",
            "-1@g.us",
            "1-2@lid",
            &long,
        ] {
            assert_eq!(Jid::parse(text), Err(InvalidJid), "{text}");
        }
    }
}
