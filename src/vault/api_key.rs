//! API keys of companies and of operators, and tokens of sessions and links: made here, shown once, kept only as a hash.
//!
//! A key is `pombo_`, or `pombo_op_` for an operator, and 43 letters and digits: 256 random bits behind a
//! beginning that secret scanners can look for and a person can tell apart. Nobody can guess or enumerate 256 bits, so one round of SHA-256 protects a stolen table as
//! well as a slow password hash would, and costs a request nothing.

use rand::distr::{Alphanumeric, SampleString as _};
use sha2::{Digest as _, Sha256};

use crate::domain::secret::Secret;

/// What every key begins with.
pub const PREFIX: &str = "pombo_";
/// What an operator's key begins with; no company's key has an underscore after the first.
pub const OPERATOR_PREFIX: &str = "pombo_op_";
/// What the token begins with that a session gives to programs.
pub const SESSION_PREFIX: &str = "pombos_";
/// The letters and digits after the prefix: 43 × log2(62) is 256 bits.
const RANDOM_CHARS: usize = 43;
/// The random characters of a key that may be shown to tell it from others; they leave 220 bits unknown.
const SHOWN_CHARS: usize = 6;

/// A company's new key, and its beginning that may be stored and shown.
pub fn generate() -> (Secret, String) {
    generate_with(PREFIX)
}

/// An operator's new key, and its beginning that may be stored and shown.
pub fn generate_operator() -> (Secret, String) {
    generate_with(OPERATOR_PREFIX)
}

/// A session's new token for programs.
pub fn generate_session_token() -> Secret {
    generate_with(SESSION_PREFIX).0
}

/// A new token for a cookie or a link.
pub fn generate_token() -> Secret {
    generate_with("").0
}

fn generate_with(prefix: &str) -> (Secret, String) {
    let plain = format!("{prefix}{}", Alphanumeric.sample_string(&mut rand::rng(), RANDOM_CHARS));
    let shown = plain.chars().take(prefix.len() + SHOWN_CHARS).collect();
    (Secret::new(plain), shown)
}

/// What is stored instead of the key, and what a presented key is looked up by.
pub fn hash(plain: &str) -> [u8; 32] {
    Sha256::digest(plain.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_recognisable_and_no_two_are_alike() {
        let (one, shown) = generate();
        let (other, _) = generate();
        assert_eq!(one.expose().len(), PREFIX.len() + RANDOM_CHARS);
        assert!(one.expose().starts_with(&shown) && shown.starts_with(PREFIX));
        assert!(one.expose()[PREFIX.len()..].bytes().all(|character| character.is_ascii_alphanumeric()));
        assert_ne!(one, other);
        assert_ne!(hash(one.expose()), hash(other.expose()));
    }

    #[test]
    fn an_operator_s_key_begins_as_no_company_s_does() {
        let (operator, shown) = generate_operator();
        assert_eq!(operator.expose().len(), OPERATOR_PREFIX.len() + RANDOM_CHARS);
        assert!(operator.expose().starts_with(&shown) && shown.starts_with(OPERATOR_PREFIX));
        assert!(!generate().0.expose().starts_with(OPERATOR_PREFIX));
    }

    #[test]
    fn the_hash_is_sha_256_for_ever() {
        assert_eq!(
            hex::encode(hash("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
