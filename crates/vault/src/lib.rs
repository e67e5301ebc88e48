//! Seals secrets that must not be in the database as plain text: providers' tokens, app secrets, verify
//! tokens of webhooks and the keys of linked devices.
//!
//! A sealed value is bound to its *context*, so that a row that is copied elsewhere cannot be opened there.
//! It names the key that it was sealed with. The keys are never in the database; they come from the
//! configuration or from a file ([`KeyOrigin`]). One key seals, the others only open values that were sealed
//! before; when the file changes, a running process reads it again. API keys are not sealed but hashed, see
//! [`api_key`]. [Messages](Vault::seal_message) between nodes are sealed, and
//! [addresses](Vault::sign_link) of files signed, with keys that are derived from these.

pub mod api_key;
pub mod context;
mod data_key;
mod derived;
mod key_file;
mod links;
mod messages;
mod proof;
mod ring;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;
use zeroize::Zeroizing;

use self::key_file::Stamp;
use self::ring::Ring;
use config::Secrets;
use domain::secret::{SealingKey, Secret};

pub use self::data_key::DataKey;
pub use self::key_file::Hold;
pub use self::links::SIGNATURE_BYTES;
pub use self::messages::{MESSAGE_OVERHEAD, Opened};
pub use self::ring::KeyId;

/// Why a vault, or a value in it, cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The key file cannot be read or created.
    #[error("cannot {attempt} the key file {}: {source}", .path.display())]
    KeyFile {
        /// The path.
        path: PathBuf,
        /// "read", "create", "replace" or "lock".
        attempt: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The key file does not contain keys.
    #[error(
        "the key file {} does not hold keys, one on each line (64 hex digits or the base64 of 32 bytes); \
         restore it from a backup, or move it away to begin with a new key and enter all tokens again",
        .0.display()
    )]
    MalformedKey(PathBuf),
    /// Another process is changing the key file, or does not finish sealing.
    #[error("the key file {} has been in use by another process for a minute; run this again", .0.display())]
    Busy(PathBuf),
    /// The key is in the configuration, where only a person can change it.
    #[error("the sealing key is set as secrets.key, which a command cannot change")]
    Configured,
    /// The value was sealed with a key that is neither in the key file nor in the configuration.
    #[error(
        "the value was sealed with the key {0}, which is neither in the key file nor in the configuration"
    )]
    UnknownKey(KeyId),
    /// The bytes are not in the format in which this program seals values, or are incomplete.
    #[error("the value is not in the format in which this program seals values, or is incomplete")]
    NotSealed,
    /// The value was sealed with another key or for another context, or was altered.
    #[error(
        "the value cannot be opened: it was sealed with another key or for another place, or it was altered"
    )]
    DoesNotOpen,
    /// The sealed value is not text.
    #[error("the value opens to something that is not text")]
    NotText,
}

/// The origin of the key, for the log line at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// From `secrets.key`.
    Configured,
    /// From an existing file.
    File {
        /// The file.
        path: PathBuf,
        /// Whether other users of this machine can read it, which needs a warning.
        exposed: bool,
    },
    /// There was none: a new key was created and written. Tokens that were sealed with another key cannot be
    /// opened.
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

/// Seals with one key and opens with several. Cheap to share behind an `Arc`.
pub struct Vault {
    ring: RwLock<Arc<Ring>>,
    /// `None` when the current key is configured.
    file: Option<KeyFile>,
    /// Keys of the configuration that only open values.
    configured: Vec<SealingKey>,
    is_unused: bool,
}

struct KeyFile {
    path: PathBuf,
    /// The version that the ring was read from.
    seen: Mutex<Option<Stamp>>,
}

impl Vault {
    /// Opens the vault with the configured key, or else with the keys in the key file, which is created if it
    /// does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::KeyFile`] and [`Error::MalformedKey`].
    pub fn open(secrets: &Secrets, data_dir: &Path) -> Result<(Self, KeyOrigin), Error> {
        let configured = secrets.previous_keys.clone();
        let (keys, file, origin) = match &secrets.key {
            Some(key) => (vec![key.clone()], None, KeyOrigin::Configured),
            None => {
                let path = secrets.key_file(data_dir);
                // The version is noted before the file is read, so that a version that comes in between is
                // read again.
                let seen = Mutex::new(Stamp::of(&path));
                let (keys, origin) = key_file::read_or_create(path.clone())?;
                (keys, Some(KeyFile { path, seen }), origin)
            }
        };
        let ring = ring(&keys, &configured).ok_or_else(|| Error::MalformedKey(secrets.key_file(data_dir)))?;
        Ok((Self { ring: RwLock::new(Arc::new(ring)), file, configured, is_unused: false }, origin))
    }

    /// As [`Vault::open`], without creating a key file: `None` where [`Vault::open`] would create one.
    pub fn open_existing(secrets: &Secrets, data_dir: &Path) -> Result<Option<Self>, Error> {
        let is_there = secrets.key.is_some() || secrets.key_file(data_dir).exists();
        if is_there { Self::open(secrets, data_dir).map(|(vault, _)| Some(vault)) } else { Ok(None) }
    }

    /// A vault for commands that seal and open nothing. Its key is kept nowhere: a sealing key that nobody asked for
    /// would be taken for the service's.
    pub fn unused() -> Self {
        let ring = Ring::new(&key_file::generate(), std::iter::empty());
        Self { ring: RwLock::new(Arc::new(ring)), file: None, configured: Vec::new(), is_unused: true }
    }

    /// Whether it is [unused](Vault::unused). That it opens nothing says nothing of the service then.
    pub const fn is_unused(&self) -> bool {
        self.is_unused
    }

    /// Seals `plaintext` with the current key for a `context`, such as `channel:<id>:token`.
    ///
    /// Sealing the same text twice gives different bytes. A caller that writes them during a possible rotation
    /// takes a [`Vault::hold`] before and keeps it until the commit.
    pub fn seal(&self, plaintext: &[u8], context: &str) -> Vec<u8> {
        self.refresh();
        self.ring().seal(plaintext, context)
    }

    /// Opens a value that [`Vault::seal`] sealed for the same context, with any of the keys.
    ///
    /// # Errors
    ///
    /// [`Error::NotSealed`], [`Error::UnknownKey`], [`Error::DoesNotOpen`], [`Error::NotText`].
    pub fn unseal(&self, sealed: &[u8], context: &str) -> Result<Secret, Error> {
        Secret::from_utf8(self.unseal_bytes(sealed, context)?).ok_or(Error::NotText)
    }

    /// Whether a sealed value is this text, so that sealing it again would change nothing.
    pub fn is_sealed(&self, sealed: Option<&[u8]>, plaintext: &Secret, context: &str) -> bool {
        let known = sealed.and_then(|sealed| self.unseal(sealed, context).ok());
        known.is_some_and(|known| known.expose().as_bytes().ct_eq(plaintext.expose().as_bytes()).into())
    }

    /// As [`Vault::unseal`], for bytes that need not be text. The caller has to wipe them.
    ///
    /// # Errors
    ///
    /// [`Error::NotSealed`], [`Error::UnknownKey`], [`Error::DoesNotOpen`].
    pub fn unseal_bytes(&self, sealed: &[u8], context: &str) -> Result<Vec<u8>, Error> {
        match self.ring().open(sealed, context) {
            Err(Error::UnknownKey(_) | Error::DoesNotOpen) if self.refresh() => {
                self.ring().open(sealed, context)
            }
            opened => opened,
        }
    }

    /// A new key for the contents of a company, sealed under its id. Like [`Vault::seal`], under a [`Vault::hold`].
    pub fn new_data_key(&self, id: Uuid) -> Vec<u8> {
        self.seal(&*DataKey::generate(), &context::data_key(id))
    }

    /// Opens a key that [`Vault::new_data_key`] made.
    ///
    /// # Errors
    ///
    /// As for [`Vault::unseal_bytes`].
    pub fn open_data_key(&self, id: Uuid, sealed: &[u8]) -> Result<DataKey, Error> {
        let key = Zeroizing::new(self.unseal_bytes(sealed, &context::data_key(id))?);
        DataKey::new(id, &key).ok_or(Error::NotSealed)
    }

    /// Makes a rotation that begins from now on wait for values that are sealed while this is held.
    pub fn hold(&self) -> Hold {
        self.file.as_ref().map_or(Hold::none(), |file| Hold::of(&file.path))
    }

    /// The id of the key that seals.
    pub fn current_key(&self) -> KeyId {
        self.refresh();
        self.ring().current().id
    }

    /// The ids of the keys that only open values that were sealed before, latest first.
    pub fn previous_keys(&self) -> Vec<KeyId> {
        self.refresh();
        self.ring().previous().iter().map(|sealer| sealer.id).collect()
    }

    /// The file with the current key; `None` when the key is configured.
    pub fn key_file(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| &*file.path)
    }

    /// The keys of the key file other than the current one, latest first.
    ///
    /// # Errors
    ///
    /// [`Error::Configured`] and those of [`Vault::open`].
    pub fn former_keys(&self) -> Result<Vec<KeyId>, Error> {
        let file = self.file.as_ref().ok_or(Error::Configured)?;
        let keys = key_file::read(&file.path)?.unwrap_or_default();
        Ok(keys.iter().skip(1).map(KeyId::of).collect())
    }

    /// Adds a new current key. Returns when it is on the disk and no more values are written that were sealed
    /// with the former key.
    ///
    /// # Errors
    ///
    /// [`Error::Configured`], [`Error::Busy`] and those of [`Vault::open`].
    pub async fn add_key(&self) -> Result<KeyId, Error> {
        let file = self.file.as_ref().ok_or(Error::Configured)?;
        key_file::replace(&file.path, |keys| keys.insert(0, key_file::generate())).await?;
        Ok(self.current_key())
    }

    /// Removes a key from the key file, unless it is the current one.
    ///
    /// # Errors
    ///
    /// [`Error::Configured`], [`Error::Busy`] and those of [`Vault::open`].
    pub async fn discard_key(&self, id: KeyId) -> Result<(), Error> {
        let file = self.file.as_ref().ok_or(Error::Configured)?;
        key_file::replace(&file.path, |keys| {
            let mut position = 0;
            keys.retain(|key| {
                position += 1;
                position == 1 || KeyId::of(key) != id
            });
        })
        .await?;
        self.refresh();
        Ok(())
    }

    fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.ring.read())
    }

    /// Reads the key file again if it changed, and returns whether it did. If the file cannot be read, the
    /// present keys stay, and still open everything that they opened.
    fn refresh(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let mut seen = file.seen.lock();
        let now = Stamp::of(&file.path);
        if now.is_none() || now == *seen {
            return false;
        }
        *seen = now;
        let keys = match key_file::read(&file.path) {
            Ok(keys) => keys.unwrap_or_default(),
            Err(error) => {
                tracing::error!(%error, "cannot read the changed key file, the former keys stay in use");
                return false;
            }
        };
        let Some(new) = ring(&keys, &self.configured) else { return false };
        let mut ring = self.ring.write();
        if new.current().id != ring.current().id {
            tracing::info!(key = %new.current().id, "the sealing key changed, new values are sealed with \
                 the new key");
        }
        *ring = Arc::new(new.instead_of(&ring));
        true
    }
}

/// A ring in which the first of `keys` seals; `None` without keys.
fn ring(keys: &[SealingKey], configured: &[SealingKey]) -> Option<Ring> {
    let (current, previous) = keys.split_first()?;
    Some(Ring::new(current, previous.iter().chain(configured)))
}

/// The beginning of every value that was sealed with this key; see [`Vault::seal`].
pub fn beginning(key: KeyId) -> Vec<u8> {
    [&[ring::WITH_ID], key.as_slice()].concat()
}

/// The first byte of a value that was sealed before keys had ids.
pub const BEFORE_IDS: u8 = ring::WITHOUT_ID;

/// A new verify token for a channel's webhook handshake: 64 random hex digits.
pub fn new_verify_token() -> Secret {
    Secret::new(hex::encode(rand::random::<[u8; 32]>()))
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(…)")
    }
}
