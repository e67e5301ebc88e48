//! The keys of a vault, and the format of sealed values.
//!
//! A sealed value begins with a version and the id of its key: `2`, eight bytes of id, a nonce of 24 bytes,
//! ciphertext and tag (XChaCha20-Poly1305). Values that were sealed before keys had ids begin with `1`,
//! followed by the nonce: every key is tried on them.

use std::fmt;
use std::sync::Arc;

use chacha20poly1305::aead::{Aead as _, Generate as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{Error, links, messages};
use domain::secret::SealingKey;

/// The first byte of a value that names its key.
pub(super) const WITH_ID: u8 = 2;
/// The first byte of a value that was sealed before keys had ids.
pub(super) const WITHOUT_ID: u8 = 1;
const NONCE_BYTES: usize = 24;
/// The label that the id of a key is derived from, together with the key. It never changes.
const ID_LABEL: &[u8] = b"pombo sealing key id";

/// Identifies a sealing key without revealing it. It is derived from the key, so that it is the same wherever
/// the key is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; Self::BYTES]);

impl KeyId {
    /// The length of an id. Two keys of one installation have the same id with a probability of 1 in 10¹⁹.
    pub const BYTES: usize = 8;

    /// The id in these bytes, if their number is right.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes of the id.
    pub const fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// The id of this key.
    pub fn of(key: &SealingKey) -> Self {
        let mut id = [0; Self::BYTES];
        id.copy_from_slice(&derive(key, ID_LABEL)[..Self::BYTES]);
        Self(id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// HMAC-SHA256 of the label under the key.
#[expect(clippy::expect_used, reason = "the algorithm takes a key of any length")]
fn derive(key: &SealingKey, label: &[u8]) -> [u8; 32] {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key.expose()).expect("any key will do");
    mac.update(label);
    mac.finalize().into_bytes().into()
}

/// One key, ready for use.
pub(super) struct Sealer {
    pub(super) id: KeyId,
    cipher: XChaCha20Poly1305,
    /// Seals messages between nodes.
    pub(super) messages: XChaCha20Poly1305,
    /// Signs addresses.
    pub(super) links: Zeroizing<[u8; 32]>,
}

impl Sealer {
    pub(super) fn new(key: &SealingKey) -> Self {
        let cipher = XChaCha20Poly1305::new(key.expose().into());
        Self { id: KeyId::of(key), cipher, messages: messages::cipher(key), links: links::key(key) }
    }

    #[expect(clippy::expect_used, reason = "the cipher refuses only texts of 256 GiB and more")]
    fn seal(&self, plaintext: &[u8], context: &str) -> Vec<u8> {
        let nonce = XNonce::generate();
        let payload = Payload { msg: plaintext, aad: context.as_bytes() };
        let ciphertext = self.cipher.encrypt(&nonce, payload).expect("a secret is small");
        [&[WITH_ID], &self.id.0[..], nonce.as_slice(), &ciphertext].concat()
    }

    fn open(&self, nonce: &[u8; NONCE_BYTES], ciphertext: &[u8], context: &str) -> Option<Vec<u8>> {
        let payload = Payload { msg: ciphertext, aad: context.as_bytes() };
        self.cipher.decrypt(nonce.into(), payload).ok()
    }
}

/// The keys: the current key seals, all keys open values.
#[derive(Clone)]
pub(super) struct Ring {
    current: Arc<Sealer>,
    /// Former current keys, latest first.
    previous: Vec<Arc<Sealer>>,
    /// Keys that were removed from the key file since this process started. They open values that were read before they
    /// were sealed again with another key.
    retired: Vec<Arc<Sealer>>,
}

impl Ring {
    /// `keys` are the previous keys; repetitions count once.
    pub(super) fn new<'k>(current: &SealingKey, keys: impl IntoIterator<Item = &'k SealingKey>) -> Self {
        let current = Arc::new(Sealer::new(current));
        let mut previous: Vec<Arc<Sealer>> = Vec::new();
        for sealer in keys.into_iter().map(Sealer::new) {
            if sealer.id != current.id && previous.iter().all(|known| known.id != sealer.id) {
                previous.push(Arc::new(sealer));
            }
        }
        Self { current, previous, retired: Vec::new() }
    }

    /// This ring, which also opens the values that the former ring opened.
    pub(super) fn instead_of(mut self, former: &Self) -> Self {
        for sealer in former.all() {
            if self.all().all(|known| known.id != sealer.id) {
                self.retired.push(Arc::clone(sealer));
            }
        }
        self
    }

    pub(super) fn current(&self) -> &Arc<Sealer> {
        &self.current
    }

    pub(super) fn previous(&self) -> &[Arc<Sealer>] {
        &self.previous
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Sealer>> {
        self.in_use().chain(&self.retired)
    }

    /// The keys that were not removed.
    pub(super) fn in_use(&self) -> impl Iterator<Item = &Arc<Sealer>> {
        std::iter::once(&self.current).chain(&self.previous)
    }

    pub(super) fn seal(&self, plaintext: &[u8], context: &str) -> Vec<u8> {
        self.current.seal(plaintext, context)
    }

    /// Seals with one of the keys in use, which need not be the current one.
    pub(super) fn seal_with(&self, id: KeyId, plaintext: &[u8], context: &str) -> Option<Vec<u8>> {
        self.in_use().find(|sealer| sealer.id == id).map(|sealer| sealer.seal(plaintext, context))
    }

    /// Opens a sealed value.
    pub(super) fn open(&self, sealed: &[u8], context: &str) -> Result<Vec<u8>, Error> {
        let (version, rest) = sealed.split_first().ok_or(Error::NotSealed)?;
        match *version {
            WITH_ID => {
                let (id, rest) = rest.split_first_chunk().ok_or(Error::NotSealed)?;
                let (nonce, ciphertext) = rest.split_first_chunk().ok_or(Error::NotSealed)?;
                let id = KeyId(*id);
                let sealer = self.all().find(|sealer| sealer.id == id).ok_or(Error::UnknownKey(id))?;
                sealer.open(nonce, ciphertext, context).ok_or(Error::DoesNotOpen)
            }
            WITHOUT_ID => {
                let (nonce, ciphertext) = rest.split_first_chunk().ok_or(Error::NotSealed)?;
                let opened = self.all().find_map(|sealer| sealer.open(nonce, ciphertext, context));
                opened.ok_or(Error::DoesNotOpen)
            }
            _ => Err(Error::NotSealed),
        }
    }
}
