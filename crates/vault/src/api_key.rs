//! API keys of companies and of operators, and tokens of sessions and links. They are generated here, shown
//! once, and stored only as a hash.
//!
//! A key is `pombo_`, or `pombo_op_` for an operator, followed by 43 letters and digits: 256 random bits
//! after a prefix that secret scanners can search for and people can recognise. Nobody can guess 256 bits, so
//! one round of SHA-256 protects a stolen table as well as a slow password hash would, at hardly any cost for
//! a request.

use rand::distr::{Alphanumeric, SampleString as _};
use sha2::{Digest as _, Sha256};

use domain::secret::Secret;

/// The prefix of every key.
pub const PREFIX: &str = "pombo_";
/// The prefix of an operator's key; a company's key has no further underscore after the first one.
pub const OPERATOR_PREFIX: &str = "pombo_op_";
/// The prefix of a session's token for programs.
pub const SESSION_PREFIX: &str = "pombos_";
/// The letters and digits after the prefix: 43 × log2(62) is 256 bits.
const RANDOM_CHARS: usize = 43;
/// The random characters of a key that may be shown to identify it; 220 bits stay secret.
const SHOWN_CHARS: usize = 6;

/// A new key for a company, and its beginning, which may be stored and shown.
pub fn generate() -> (Secret, String) {
    generate_with(PREFIX)
}

/// A new key for an operator, and its beginning, which may be stored and shown.
pub fn generate_operator() -> (Secret, String) {
    generate_with(OPERATOR_PREFIX)
}

/// A new token of a session for programs.
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

/// The hash that is stored instead of the key, and by which a presented key is looked up.
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
    fn the_hash_is_always_sha_256() {
        assert_eq!(
            hex::encode(hash("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
