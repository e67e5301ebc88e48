//! Seals what must not lie in the database in the clear: providers' tokens and app secrets.
//!
//! A sealed value is bound to its place (the *context*), so that a row copied elsewhere does not open
//! there. The key never enters the database; it comes from the configuration or from a file ([`KeyOrigin`]).
//! The words of webhook handshakes are made from the same key ([`Vault::verify_token`]). API keys are not
//! sealed but hashed, see [`api_key`].

pub mod api_key;
pub mod context;
mod key_file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead as _, Generate as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

use crate::config::Secrets;
use crate::domain::secret::{SealingKey, Secret};

/// The first byte of everything sealed: XChaCha20-Poly1305, a nonce of 24 bytes, ciphertext and tag.
const VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;

/// Why a vault cannot be opened, or a value in it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The key file is there and cannot be read, or cannot be made.
    #[error("cannot {attempt} the key file {}: {source}", .path.display())]
    KeyFile {
        /// The path.
        path: PathBuf,
        /// "read" or "create".
        attempt: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The key file holds something else.
    #[error(
        "the key file {} does not hold a key (64 hex digits or the base64 of 32 bytes); \
         restore it from a backup, or move it away to begin with a new key and enter all tokens again",
        .0.display()
    )]
    MalformedKey(PathBuf),
    /// The bytes were not sealed by this version of the program, or were cut.
    #[error("the value is not a sealed one of this program's format")]
    NotSealed,
    /// Sealed with another key, for another place, or altered.
    #[error(
        "the value does not open: it was sealed with another key or for another place, or it was altered"
    )]
    DoesNotOpen,
    /// What was sealed is not text.
    #[error("the value opens to something that is not text")]
    NotText,
}

/// Where the key came from, for the log line of the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// From `secrets.key`.
    Configured,
    /// From a file that was there.
    File {
        /// The file.
        path: PathBuf,
        /// Other users of this machine can read it, which deserves a warning.
        exposed: bool,
    },
    /// There was none: a new key was made and written. Tokens sealed earlier with another key will not open.
    Created {
        /// The file, to be backed up.
        path: PathBuf,
    },
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("sealing key taken from secrets.key"),
            Self::File { path, exposed: false } => write!(f, "sealing key read from {}", path.display()),
            Self::File { path, exposed: true } => {
                let path = path.display();
                write!(f, "sealing key read from {path}, which other users can read: chmod 600 {path}")
            }
            Self::Created { path } => write!(
                f,
                "new sealing key written to {}: back it up, without it all tokens must be entered again",
                path.display()
            ),
        }
    }
}

/// Seals and opens with one key. Cheap to share behind an `Arc`.
pub struct Vault {
    cipher: XChaCha20Poly1305,
    key: SealingKey,
}

impl Vault {
    /// With the configured key, else with the one in the key file, which is made when it is missing.
    ///
    /// Reads and perhaps writes files: call it once at the start.
    ///
    /// # Errors
    ///
    /// [`Error::KeyFile`] and [`Error::MalformedKey`].
    pub fn open(secrets: &Secrets, data_dir: &Path) -> Result<(Self, KeyOrigin), Error> {
        let (key, origin) = match &secrets.key {
            Some(key) => (key.clone(), KeyOrigin::Configured),
            None => key_file::read_or_create(secrets.key_file(data_dir))?,
        };
        Ok((Self { cipher: XChaCha20Poly1305::new(key.expose().into()), key }, origin))
    }

    /// Seals `plaintext` for one place, named by `context`, such as `channel:<id>:token`.
    ///
    /// Sealing the same text twice gives different bytes.
    #[expect(clippy::expect_used, reason = "the cipher refuses only texts of 256 GiB and more")]
    pub fn seal(&self, plaintext: &[u8], context: &str) -> Vec<u8> {
        let nonce = XNonce::generate();
        let payload = Payload { msg: plaintext, aad: context.as_bytes() };
        let ciphertext = self.cipher.encrypt(&nonce, payload).expect("a secret is small");
        [&[VERSION], nonce.as_slice(), &ciphertext].concat()
    }

    /// Opens what [`Vault::seal`] made with the same key and for the same place.
    ///
    /// # Errors
    ///
    /// [`Error::NotSealed`], [`Error::DoesNotOpen`], [`Error::NotText`].
    pub fn unseal(&self, sealed: &[u8], context: &str) -> Result<Secret, Error> {
        Secret::from_utf8(self.unseal_bytes(sealed, context)?).ok_or(Error::NotText)
    }

    /// As [`Vault::unseal`], for what need not be text. Who asks has to wipe it.
    ///
    /// # Errors
    ///
    /// [`Error::NotSealed`], [`Error::DoesNotOpen`].
    pub fn unseal_bytes(&self, sealed: &[u8], context: &str) -> Result<Vec<u8>, Error> {
        let (version, rest) = sealed.split_first().ok_or(Error::NotSealed)?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(Error::NotSealed)?;
        if *version != VERSION {
            return Err(Error::NotSealed);
        }
        let payload = Payload { msg: ciphertext, aad: context.as_bytes() };
        self.cipher.decrypt(nonce.into(), payload).map_err(|_| Error::DoesNotOpen)
    }

    /// The word that the provider repeats when it is told a channel's webhook address: 64 hex digits that always
    /// come out the same for one key and one channel, so that they need not be kept, and that tell nothing of
    /// the key.
    #[expect(clippy::expect_used, reason = "the algorithm takes a key of any length")]
    pub fn verify_token(&self, channel_id: Uuid) -> String {
        let mut mac =
            <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(self.key.expose()).expect("any key will do");
        mac.update(context::verify_token(channel_id).as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(…)")
    }
}
