//! The file that keeps the sealing key: read when it is there, made exactly once when it is not.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use chacha20poly1305::Key;
use chacha20poly1305::aead::Generate as _;
use zeroize::Zeroizing;

use super::{Error, KeyOrigin};
use crate::domain::secret::SealingKey;
use crate::files;

/// The key in the file, or a new one that is on the disk before this returns.
///
/// Processes that start at the same moment all end with the same key: each writes its own under another name,
/// and only one of them can give it the final name.
pub(super) fn read_or_create(path: PathBuf) -> Result<(SealingKey, KeyOrigin), Error> {
    if let Some(key) = read(&path)? {
        let exposed = files::is_exposed(&path);
        return Ok((key, KeyOrigin::File { path, exposed }));
    }
    let new = SealingKey::new(Key::generate().into());
    let created = create(&path, &new);
    match created {
        Ok(()) => Ok((new, KeyOrigin::Created { path })),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let key = read(&path)?.ok_or_else(|| failure("read", &path)(io::ErrorKind::NotFound.into()))?;
            Ok((key, KeyOrigin::File { path, exposed: false }))
        }
        Err(error) => Err(failure("create", &path)(error)),
    }
}

fn read(path: &Path) -> Result<Option<SealingKey>, Error> {
    match fs::read(path).map(Zeroizing::new) {
        Ok(bytes) => std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| SealingKey::parse(text).ok())
            .map(Some)
            .ok_or_else(|| Error::MalformedKey(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure("read", path)(error)),
    }
}

fn create(path: &Path, key: &SealingKey) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files::create_directory(directory)?;
    let draft = directory.join(format!(".key-{}", hex::encode(rand::random::<[u8; 8]>())));
    let linked = write(&draft, key).and_then(|()| fs::hard_link(&draft, path));
    let removed = fs::remove_file(&draft);
    linked.and(removed)?;
    // Without this the name may be gone after a power cut, and with it everything sealed since.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

fn write(path: &Path, key: &SealingKey) -> io::Result<()> {
    let mut file = files::create_new(path)?;
    let text = Zeroizing::new(hex::encode(key.expose()));
    writeln!(file, "{}", *text)?;
    file.sync_all()
}

fn failure(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::KeyFile { path, attempt, source }
}
