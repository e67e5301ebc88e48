//! People who sign in: their e-mail, their role in a company, their language.

mod language;

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

use crate::words::listed;

/// The longest e-mail address, in bytes (RFC 5321, 4.5.3.1.3).
const MAX_EMAIL: usize = 254;
/// The longest name of a person, in characters.
const MAX_NAME: usize = 200;
/// The fewest characters of a password.
pub const MIN_PASSWORD: usize = 8;
/// The most characters of a password: more would only cost time to hash.
pub const MAX_PASSWORD: usize = 256;
/// The longest name of a time zone.
const MAX_ZONE: usize = 64;

/// An e-mail address, folded: two spellings of one address are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

/// Why a text is no e-mail address, name, password or time zone; completes a sentence that begins with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub &'static str);

impl Email {
    /// Reads an address, and folds its case.
    ///
    /// # Errors
    ///
    /// [`Invalid`] for a text without exactly one `@` between two parts, with spaces, or too long.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let folded: String = text.trim().nfc().flat_map(char::to_lowercase).collect();
        let has_two_parts = folded
            .split_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty() && !domain.contains('@'));
        if !has_two_parts || folded.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(Invalid("must be an e-mail address, such as ana@example.com"));
        }
        if folded.len() > MAX_EMAIL {
            return Err(Invalid("is longer than an e-mail address can be"));
        }
        Ok(Self(folded))
    }

    /// The folded address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The role of a person in a company. Each role includes the permissions of those before it, except that a viewer answers
/// nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads and answers conversations, and sees nothing else of the company.
    Agent,
    /// Reads.
    Viewer,
    /// Sends, edits contacts, pairs channels.
    Member,
    /// Everything, API keys and members too.
    Owner,
}

// The most powerful first.
listed!(of Role { Owner = "owner", Member = "member", Viewer = "viewer", Agent = "agent" });

impl Role {
    /// Whether the person sees more of the company than its conversations.
    pub const fn sees_company(self) -> bool {
        !matches!(self, Self::Agent)
    }

    /// Whether the person answers conversations.
    pub const fn answers(self) -> bool {
        !matches!(self, Self::Viewer)
    }

    /// The role of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

listed! {
    /// A language of the console.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Language {
        /// English.
        English = "en",
        /// Portuguese of Brazil.
        Portuguese = "pt-BR",
        /// Spanish.
        Spanish = "es",
    }
}

impl Language {
    /// The language of this tag, in any case.
    pub fn parse(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str().eq_ignore_ascii_case(tag.trim()))
    }
}

/// A person's name without space around it.
///
/// # Errors
///
/// [`Invalid`] when nothing is left, and for line breaks and too many characters.
pub fn name(text: &str) -> Result<String, Invalid> {
    let name = text.trim();
    if name.is_empty() {
        return Err(Invalid("must not be blank"));
    }
    if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Invalid("has at most 200 characters, none of them a line break or tab"));
    }
    Ok(name.to_owned())
}

/// The name of a time zone, such as `America/Sao_Paulo`. Whether there is such a zone is not checked here.
///
/// # Errors
///
/// [`Invalid`] for a text that cannot be one.
pub fn time_zone(text: &str) -> Result<String, Invalid> {
    let zone = text.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    if zone.is_empty() || zone.len() > MAX_ZONE || !zone.bytes().all(is_plain) {
        return Err(Invalid("must be the name of a time zone, such as America/Sao_Paulo"));
    }
    Ok(zone.to_owned())
}

/// Checks whether a new password has an allowed length.
///
/// # Errors
///
/// [`Invalid`] when it is not.
pub fn check_password(password: &str) -> Result<(), Invalid> {
    let length = password.chars().count();
    if length < MIN_PASSWORD {
        return Err(Invalid("must have at least 8 characters"));
    }
    if length > MAX_PASSWORD {
        return Err(Invalid("must have at most 256 characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_are_equal() {
        let ana = Email::parse("ana@example.com").unwrap();
        for spelling in [" ana@example.com ", "Ana@Example.COM", "ANA@EXAMPLE.COM\n"] {
            assert_eq!(Email::parse(spelling).as_ref(), Ok(&ana), "{spelling}");
        }
        assert_eq!(Email::parse("JOSÉ@x.br"), Email::parse("jose\u{301}@x.br"));
        for wrong in
            ["", "ana", "@x", "ana@", "a@b@c", "a b@x", "a@x\u{7}y", &format!("{}@x", "a".repeat(254))]
        {
            assert!(Email::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_role_includes_those_before_it() {
        assert!(Role::Owner > Role::Member && Role::Member > Role::Viewer && Role::Viewer > Role::Agent);
        assert_eq!(Role::ALL.map(|role| Role::parse(role.as_str())), Role::ALL.map(Some));
        assert_eq!(Role::parse("admin"), None);
    }

    #[test]
    fn languages_zones_and_passwords_are_checked() {
        assert_eq!(Language::parse("PT-br"), Some(Language::Portuguese));
        assert_eq!(Language::parse("fr"), None);
        assert_eq!(time_zone(" America/Sao_Paulo "), Ok("America/Sao_Paulo".to_owned()));
        assert!(time_zone("").is_err() && time_zone("a b").is_err());
        assert!(check_password("seven77").is_err() && check_password("eight888").is_ok());
        assert!(check_password("pássword").is_ok() && check_password(&"x".repeat(257)).is_err());
        assert!(name(" \n").is_err() && name(" Ana ").is_ok());
    }
}
