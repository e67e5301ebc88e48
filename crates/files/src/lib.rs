//! Files and directories that only their owner may read, because they contain people's data or secrets.
//!
//! On systems without Unix permissions the system's own defaults apply.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file; fails when the path exists.
pub fn create_new(path: &Path) -> io::Result<File> {
    private().write(true).create_new(true).open(path)
}

/// Creates an empty file, and replaces an existing one.
pub fn create(path: &Path) -> io::Result<File> {
    let file = private().write(true).create(true).truncate(true).open(path)?;
    // The mode above applies only to a new file.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// Opens an existing file with its content, or creates one.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    private().write(true).create(true).truncate(false).open(path)
}

/// Creates a directory, with its parents, that only its owner may enter. An existing directory keeps its
/// permissions.
pub fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether users other than the owner may read the file, or list or enter the directory.
pub fn is_exposed(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Whether every user of this machine may read the file.
pub fn is_public(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o007 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Writes the names in a directory to the disk. Without this, a new name may be lost in a power cut.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
