//! The file with the sealing keys. It is read if it exists, created exactly once if it does not, and replaced
//! as a whole when a key is added or removed.
//!
//! Each line has a key: the first key seals, the others only open values that were sealed before. A
//! replacement is a new file, which takes the name of the old one once it is on the disk, so that a reader
//! sees either the old or the new keys.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use chacha20poly1305::Key;
use chacha20poly1305::aead::Generate as _;
use zeroize::Zeroizing;

use super::{Error, KeyOrigin};
use domain::secret::SealingKey;

/// How long a replacement waits for another one, and for values that are being sealed with the former key.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it checks.
const LOOK: Duration = Duration::from_millis(10);

/// Identifies a version of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    file: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The version of the file with this name now; `None` if there is none or it cannot be read.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::from_metadata(&metadata))
    }

    fn of_open(file: &File) -> Option<Self> {
        file.metadata().ok().map(|metadata| Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let file = 0;
        Self { file, length: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// The keys in the file, or a new key, which is on the disk before this returns.
///
/// Processes that start at the same time all get the same key: each writes its own key under another name,
/// and only one of them can give its file the final name.
pub(super) fn read_or_create(path: PathBuf) -> Result<(Vec<SealingKey>, KeyOrigin), Error> {
    if let Some(keys) = read(&path)? {
        let exposed = files::is_exposed(&path);
        return Ok((keys, KeyOrigin::File { path, exposed }));
    }
    let new = generate();
    let created = create(&path, &new);
    match created {
        Ok(()) => Ok((vec![new], KeyOrigin::Created { path })),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let keys = read(&path)?.ok_or_else(|| failure("read", &path)(io::ErrorKind::NotFound.into()))?;
            Ok((keys, KeyOrigin::File { path, exposed: false }))
        }
        Err(error) => Err(failure("create", &path)(error)),
    }
}

/// The keys in the file, at least one; `None` when there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<SealingKey>>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure("read", path)(error)),
    };
    let malformed = || Error::MalformedKey(path.to_owned());
    let text = std::str::from_utf8(&bytes).map_err(|_| malformed())?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let keys = lines.map(SealingKey::parse).collect::<Result<Vec<_>, _>>().map_err(|_| malformed())?;
    if keys.is_empty() { Err(malformed()) } else { Ok(Some(keys)) }
}

pub(super) fn generate() -> SealingKey {
    SealingKey::new(Key::generate().into())
}

/// Replaces the file by one with the keys that `change` returns, and waits until no more values are written
/// that were sealed with the former keys; see [`Hold`]. If `change` keeps the keys, nothing is replaced.
pub(super) async fn replace(path: &Path, change: impl FnOnce(&mut Vec<SealingKey>)) -> Result<(), Error> {
    // A symbolic link stays, and its target is replaced.
    let path = &fs::canonicalize(path).map_err(failure("read", path))?;
    let directory = parent(path);
    let one_at_a_time = File::open(directory).map_err(failure("replace", path))?;
    wait_for(path, || one_at_a_time.try_lock()).await?;

    let former = File::open(path).map_err(failure("read", path))?;
    let before = read(path)?.ok_or_else(|| failure("read", path)(io::ErrorKind::NotFound.into()))?;
    let mut keys = before.clone();
    change(&mut keys);
    if keys == before {
        return Ok(());
    }
    let draft = draft(directory);
    let written = write(&draft, &keys, Some(&former)).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.and_then(|()| files::sync_directory(directory)).map_err(failure("replace", path))?;
    // Sealing that begins after this reads the new file; sealing that began before holds the old one.
    wait_for(path, || former.try_lock()).await
}

async fn wait_for(path: &Path, try_lock: impl Fn() -> Result<(), fs::TryLockError>) -> Result<(), Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(fs::TryLockError::Error(error)) => return Err(failure("lock", path)(error)),
            Err(fs::TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(Error::Busy(path.to_owned()));
            }
            Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(LOOK).await,
        }
    }
}

/// Makes a rotation wait: it looks for values under the former key only after the hold is dropped. Take it
/// before sealing, and drop it after the commit.
#[derive(Debug)]
#[must_use]
pub struct Hold(#[expect(dead_code, reason = "held for its lock")] Option<File>);

impl Hold {
    /// A hold of nothing: without a file, the keys of a running process do not change.
    pub(super) const fn none() -> Self {
        Self(None)
    }

    /// Holds the present version of the file. It never waits: only versions that have lost the name are
    /// locked.
    pub(super) fn of(path: &Path) -> Self {
        loop {
            let Ok(file) = File::open(path) else { return Self::none() };
            let locked = file.try_lock_shared();
            if Stamp::of_open(&file).map(|stamp| stamp.file) != Stamp::of(path).map(|stamp| stamp.file) {
                continue;
            }
            return match locked {
                Ok(()) => Self(Some(file)),
                Err(error) => {
                    tracing::debug!(%error, "cannot lock the key file, a key rotation will not wait for \
                         this value");
                    Self::none()
                }
            };
        }
    }
}

fn create(path: &Path, key: &SealingKey) -> io::Result<()> {
    let directory = parent(path);
    files::create_directory(directory)?;
    let draft = draft(directory);
    let linked = write(&draft, std::slice::from_ref(key), None).and_then(|()| fs::hard_link(&draft, path));
    let removed = fs::remove_file(&draft);
    linked.and(removed)?;
    files::sync_directory(directory)
}

/// Writes the keys to a new file with the owner and permissions of `like`.
fn write(path: &Path, keys: &[SealingKey], like: Option<&File>) -> io::Result<()> {
    let mut file = files::create_new(path)?;
    #[cfg(unix)]
    if let Some(like) = like {
        let like = like.metadata()?;
        let (user, group) =
            (std::os::unix::fs::MetadataExt::uid(&like), std::os::unix::fs::MetadataExt::gid(&like));
        let own = file.metadata()?;
        let own = (std::os::unix::fs::MetadataExt::uid(&own), std::os::unix::fs::MetadataExt::gid(&own));
        if own != (user, group) {
            std::os::unix::fs::fchown(&file, Some(user), Some(group))?;
        }
        file.set_permissions(like.permissions())?;
    }
    #[cfg(not(unix))]
    let _ = like;
    for key in keys {
        let text = Zeroizing::new(hex::encode(key.expose()));
        writeln!(file, "{}", *text)?;
    }
    file.sync_all()
}

fn draft(directory: &Path) -> PathBuf {
    directory.join(format!(".key-{}", hex::encode(rand::random::<[u8; 8]>())))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn failure(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::KeyFile { path, attempt, source }
}
