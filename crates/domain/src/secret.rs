//! Values that must not be seen: a provider's token, a database's password, the key that seals them.
//!
//! Both types show nothing in `Debug`, cannot be serialised, and are wiped from memory when dropped. Code that needs
//! the text calls [`Secret::expose`], for which a reviewer can search.

use std::fmt;
use std::marker::PhantomData;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serializer, de};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// A text that never appears in logs, answers or panics.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes ownership of the text, which is wiped when the secret is dropped.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// Takes ownership of bytes as text. Returns `None`, and wipes them, when they are not UTF-8.
    pub fn from_utf8(bytes: Vec<u8>) -> Option<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Some(Self::new(text)),
            Err(error) => {
                drop(Zeroizing::new(error.into_bytes()));
                None
            }
        }
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Writes a secret into a document that only its owner reads.
///
/// # Errors
///
/// Those of the serializer.
pub fn exposed<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose())
}

/// Writes an optional secret into a document that only its owner reads.
///
/// # Errors
///
/// Those of the serializer.
pub fn exposed_if_any<S: Serializer>(secret: &Option<Secret>, serializer: S) -> Result<S::Ok, S::Error> {
    match secret {
        Some(secret) => serializer.serialize_some(secret.expose()),
        None => serializer.serialize_none(),
    }
}

/// Takes the same time wherever two secrets of one length begin to differ.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The name by which a deserializer learns that a secret is asked for.
pub const NAME: &str = "pombo::Secret";

/// Reads a value that contains secrets, and tells the deserializer so.
///
/// # Errors
///
/// Those of the deserializer.
pub fn deserialize_secret<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Inner<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Inner<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
            T::deserialize(deserializer)
        }
    }

    deserializer.deserialize_newtype_struct(NAME, Inner(PhantomData))
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_secret(deserializer).map(Self::new)
    }
}

/// The 32 bytes that everything secret in the database is sealed with.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey(Zeroizing<[u8; 32]>);

/// A text that is no key; completes a sentence that begins with "the value" (never with the value itself).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a key: 64 hex digits or the base64 of 32 bytes")]
pub struct InvalidKey;

impl SealingKey {
    /// Takes ownership of the bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads 64 hex digits, or base64 (either alphabet, with or without padding) of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] for anything else.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let text = text.trim();
        let mut key = Self::new([0; 32]);
        if text.len() == 64 {
            hex::decode_to_slice(text, key.0.as_mut()).map_err(|_| InvalidKey)?;
            return Ok(key);
        }
        let standard = Zeroizing::new(text.trim_end_matches('=').replace('-', "+").replace('_', "/"));
        let bytes = Zeroizing::new(STANDARD_NO_PAD.decode(standard.as_bytes()).map_err(|_| InvalidKey)?);
        if bytes.len() != key.0.len() {
            return Err(InvalidKey);
        }
        key.0.copy_from_slice(&bytes);
        Ok(key)
    }

    /// The bytes themselves.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

impl<'de> Deserialize<'de> for SealingKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(Secret::deserialize(deserializer)?.expose()).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_hex_and_from_base64_alike() {
        let key = SealingKey::new([0xfb; 32]);
        let hex = hex::encode([0xfb; 32]);
        let padded = base64::engine::general_purpose::STANDARD.encode([0xfb; 32]);
        let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode([0xfb; 32]);
        for text in [hex.clone(), hex.to_uppercase(), format!("{hex}\n"), padded, url_safe] {
            assert_eq!(SealingKey::parse(&text), Ok(key.clone()), "{text}");
        }
        for text in ["", "secret", &hex[1..], &format!("{hex}00"), &"g".repeat(64), "c2hvcnQ="] {
            assert_eq!(SealingKey::parse(text), Err(InvalidKey), "{text}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("EAAG".to_owned())), "Secret(…)");
        assert_eq!(format!("{:?}", SealingKey::new([1; 32])), "SealingKey(…)");
    }
}
