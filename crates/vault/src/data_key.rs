//! The keys with which the contents of a company are sealed: what people write, and notes about them.
//!
//! A company has millions of contents, which cannot be sealed again when the sealing key changes. So each is sealed with a
//! key of the company, which alone is sealed with the sealing key. A content begins with a version and the id of its key:
//! `1`, sixteen bytes of id, a nonce of 24 bytes, ciphertext and tag (XChaCha20-Poly1305).

use std::fmt;

use chacha20poly1305::aead::{Aead as _, Generate as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::Error;

const VERSION: u8 = 1;
const ID_BYTES: usize = 16;
const NONCE_BYTES: usize = 24;
/// The length of a key.
const KEY_BYTES: usize = 32;

/// A key of a company, ready for use.
pub struct DataKey {
    id: Uuid,
    cipher: XChaCha20Poly1305,
}

impl DataKey {
    /// A new key, to be sealed and stored.
    pub(super) fn generate() -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(rand::random())
    }

    /// The key with this id in these bytes, if their number is right.
    pub(super) fn new(id: Uuid, key: &[u8]) -> Option<Self> {
        let key: Zeroizing<[u8; KEY_BYTES]> = Zeroizing::new(key.try_into().ok()?);
        Some(Self { id, cipher: XChaCha20Poly1305::new((&*key).into()) })
    }

    /// Its id.
    pub const fn id(&self) -> Uuid {
        self.id
    }

    /// The id of the key that a content was sealed with.
    pub fn id_of(sealed: &[u8]) -> Option<Uuid> {
        let (version, rest) = sealed.split_first()?;
        (*version == VERSION).then(|| Uuid::from_slice(rest.get(..ID_BYTES)?).ok()).flatten()
    }

    /// Seals a content to a `context`, so that it opens at no other place.
    #[expect(clippy::expect_used, reason = "the cipher refuses only texts of 256 GiB and more")]
    pub fn seal(&self, plaintext: &[u8], context: &str) -> Vec<u8> {
        let nonce = XNonce::generate();
        let payload = Payload { msg: plaintext, aad: context.as_bytes() };
        let ciphertext = self.cipher.encrypt(&nonce, payload).expect("a content is small");
        [&[VERSION], &self.id.as_bytes()[..], nonce.as_slice(), &ciphertext].concat()
    }

    /// Opens a content that was sealed with this key to the same context.
    ///
    /// # Errors
    ///
    /// [`Error::NotSealed`], [`Error::DoesNotOpen`].
    pub fn open(&self, sealed: &[u8], context: &str) -> Result<Vec<u8>, Error> {
        if Self::id_of(sealed) != Some(self.id) {
            return Err(Error::DoesNotOpen);
        }
        let rest = sealed.get(1 + ID_BYTES..).ok_or(Error::NotSealed)?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(Error::NotSealed)?;
        let payload = Payload { msg: ciphertext, aad: context.as_bytes() };
        self.cipher.decrypt(nonce.into(), payload).map_err(|_| Error::DoesNotOpen)
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_opens_with_its_key_at_its_place_alone() {
        let (one, two) = (DataKey::generate(), DataKey::generate());
        let id = Uuid::from_u128(1);
        let key = DataKey::new(id, &*one).unwrap();
        let sealed = key.seal(b"hello", "message:1");
        assert_eq!(DataKey::id_of(&sealed), Some(id));
        assert_eq!(key.open(&sealed, "message:1").unwrap(), b"hello");
        assert!(key.open(&sealed, "message:2").is_err());
        assert!(DataKey::new(id, &*two).unwrap().open(&sealed, "message:1").is_err());
        assert!(DataKey::new(Uuid::from_u128(2), &*one).unwrap().open(&sealed, "message:1").is_err());
        assert!(key.open(&sealed[..20], "message:1").is_err() && key.open(b"", "message:1").is_err());
        assert!(DataKey::new(id, b"short").is_none());
    }
}
