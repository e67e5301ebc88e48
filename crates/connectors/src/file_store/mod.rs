//! The store of files: the content of media, named by company and digest.
//!
//! It is a directory, or a bucket of an S3-compatible service. A file arrives in a temporary one of the directory, where it
//! is hashed and can be looked at, and gets its name when it is whole: an upload that breaks off, or a disk that is full,
//! leaves nothing under a name. The store knows names and bytes; what they are and who may read them is in the database.
//! Called by the engine, for files that companies upload and for files that people send.

mod s3;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;
use uuid::Uuid;

pub use bytes::Bytes;

/// Below the directory: files that are arriving.
const ARRIVING: &str = "arriving";
/// A file in [`ARRIVING`] that did not change for this long is left over from a process that was killed.
const LEFT_OVER: Duration = Duration::from_secs(24 * 60 * 60);
/// The parts in which a large file is sent to a bucket, in bytes.
const PART: usize = 16 << 20;
/// The most bytes of a piece that is read.
pub const PIECE: u64 = 1 << 20;

/// The digest of a file's content (SHA-256).
pub type ContentDigest = [u8; 32];

/// Why a file is not written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// The disk has no room.
    #[error("the disk of the directory {} is full", .0.display())]
    Full(PathBuf),
    /// The directory cannot be used.
    #[error("cannot use the directory {}: {source}", .directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The store has no such file.
    #[error("the store has no file {0}")]
    Missing(String),
    /// The store does not answer, or refuses.
    #[error("the store of files fails: {0}")]
    Failed(String),
}

/// The store of files.
pub struct FileStore {
    directory: Arc<Path>,
    /// `None` when the directory keeps the files.
    bucket: Option<Arc<dyn ObjectStore>>,
    /// The directory as a store. It is made for the first file: most services keep none.
    local: OnceLock<LocalFileSystem>,
}

/// A file that is arriving. It is deleted when this is dropped.
pub struct ArrivingFile {
    parts: Option<(NamedTempFile, Sha256)>,
    bytes: u64,
    directory: Arc<Path>,
}

impl FileStore {
    /// The store that the options describe.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Failed`] when the bucket's options cannot be used.
    pub fn open(options: &config::Media, data_dir: &Path) -> Result<Self, StoreFault> {
        let bucket = match options.s3_bucket.is_empty() {
            true => None,
            false => Some(s3::bucket(options)?),
        };
        Ok(Self { directory: Arc::from(options.directory(data_dir)), bucket, local: OnceLock::new() })
    }

    /// The directory as a store.
    fn local(&self) -> Result<&LocalFileSystem, StoreFault> {
        if let Some(local) = self.local.get() {
            return Ok(local);
        }
        files::create_directory(&self.directory).map_err(|error| fault(&self.directory, error))?;
        let local = LocalFileSystem::new_with_prefix(&self.directory).map_err(failed)?;
        Ok(self.local.get_or_init(|| local))
    }

    fn store(&self) -> Result<&dyn ObjectStore, StoreFault> {
        match &self.bucket {
            Some(bucket) => Ok(&**bucket),
            None => Ok(self.local()?),
        }
    }

    /// Begins a file. Files that never arrived, because their process was killed, are deleted.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Full`], [`StoreFault::Directory`].
    pub async fn begin(&self) -> Result<ArrivingFile, StoreFault> {
        let directory = Arc::clone(&self.directory);
        let arriving = directory.join(ARRIVING);
        let made = blocking(&directory, move || {
            files::create_directory(&arriving)?;
            remove_left_over(&arriving)?;
            NamedTempFile::new_in(arriving)
        });
        Ok(ArrivingFile {
            parts: Some((made.await?, Sha256::new())),
            bytes: 0,
            directory: Arc::clone(&directory),
        })
    }

    /// Gives a file that is whole its name. A file that has the name already has the same content.
    ///
    /// # Errors
    ///
    /// Any fault; then nothing has the name.
    pub async fn keep(
        &self,
        company: Uuid,
        digest: &ContentDigest,
        mut arrived: ArrivingFile,
    ) -> Result<(), StoreFault> {
        let name = name(company, digest);
        let (file, _) = arrived.take()?;
        if let Some(bucket) = &self.bucket {
            return self.send(&**bucket, &name, file).await;
        }
        let place = self.local()?.path_to_filesystem(&name).map_err(failed)?;
        let (directory, top) = (Arc::clone(&self.directory), Arc::clone(&self.directory));
        blocking(&directory, move || {
            let folder = place.parent().unwrap_or(&top);
            files::create_directory(folder)?;
            file.as_file().sync_all()?;
            file.persist(&place).map_err(|error| error.error)?;
            files::sync_directory(folder)?;
            files::sync_directory(&top)
        })
        .await
    }

    /// Sends a file to the bucket, a large one in parts.
    async fn send(
        &self,
        bucket: &dyn ObjectStore,
        name: &ObjectPath,
        file: NamedTempFile,
    ) -> Result<(), StoreFault> {
        let mut file = file.into_file();
        let part = |mut file: File| async move {
            blocking(&self.directory, move || {
                let mut part = Vec::new();
                Read::by_ref(&mut file).take(PART as u64).read_to_end(&mut part)?;
                Ok((file, part))
            })
            .await
        };
        file.rewind().map_err(|error| fault(&self.directory, error))?;
        let (rest, first) = part(file).await?;
        if first.len() < PART {
            bucket.put(name, PutPayload::from(first)).await.map_err(failed)?;
            return Ok(());
        }
        let mut upload = bucket.put_multipart(name).await.map_err(failed)?;
        let sent = async {
            let (mut rest, mut next) = (rest, first);
            while !next.is_empty() {
                upload.put_part(PutPayload::from(next)).await.map_err(failed)?;
                (rest, next) = part(rest).await?;
            }
            upload.complete().await.map_err(failed)
        };
        let sent = sent.await;
        if sent.is_err() {
            // What was sent would be kept, and paid for, under no name.
            let _ = upload.abort().await;
        }
        sent.map(drop)
    }

    /// A part of a file.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Missing`], [`StoreFault::Failed`].
    pub async fn read(
        &self,
        company: Uuid,
        digest: &ContentDigest,
        range: Range<u64>,
    ) -> Result<Bytes, StoreFault> {
        self.store()?.get_range(&name(company, digest), range).await.map_err(failed)
    }

    /// Deletes a file. One that is not there is deleted.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Failed`].
    pub async fn delete(&self, company: Uuid, digest: &ContentDigest) -> Result<(), StoreFault> {
        match self.store()?.delete(&name(company, digest)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

impl ArrivingFile {
    /// Adds a piece.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Full`], [`StoreFault::Directory`]. The file is deleted then.
    pub async fn write(&mut self, piece: Bytes) -> Result<(), StoreFault> {
        let (mut file, mut digest) = self.take()?;
        let length = piece.len() as u64;
        let written = blocking(&self.directory, move || {
            file.as_file_mut().write_all(&piece)?;
            digest.update(&piece);
            Ok((file, digest))
        });
        self.parts = Some(written.await?);
        self.bytes += length;
        Ok(())
    }

    /// Where it is while it arrives.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Failed`] when a piece could not be written before.
    pub fn path(&self) -> Result<&Path, StoreFault> {
        let (file, _) = self.parts.as_ref().ok_or_else(broken)?;
        Ok(file.path())
    }

    /// The bytes that have arrived.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The digest of these bytes.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Failed`] when a piece could not be written before.
    pub fn digest(&self) -> Result<ContentDigest, StoreFault> {
        let (_, digest) = self.parts.as_ref().ok_or_else(broken)?;
        Ok(digest.clone().finalize().into())
    }

    /// The first bytes, at most `most`.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Directory`].
    pub async fn beginning(&mut self, most: usize) -> Result<Vec<u8>, StoreFault> {
        let (mut file, digest) = self.take()?;
        let read = blocking(&self.directory, move || {
            let mut beginning = Vec::new();
            file.as_file_mut().rewind()?;
            Read::by_ref(file.as_file_mut()).take(most as u64).read_to_end(&mut beginning)?;
            file.as_file_mut().seek(SeekFrom::End(0))?;
            Ok((file, digest, beginning))
        });
        let (file, digest, beginning) = read.await?;
        self.parts = Some((file, digest));
        Ok(beginning)
    }

    fn take(&mut self) -> Result<(NamedTempFile, Sha256), StoreFault> {
        self.parts.take().ok_or_else(broken)
    }
}

fn broken() -> StoreFault {
    StoreFault::Failed("a piece of the file could not be written before".to_owned())
}

/// The name of a file: neither part has a character that is special anywhere.
fn name(company: Uuid, digest: &ContentDigest) -> ObjectPath {
    ObjectPath::from(format!("{}/{}", company.simple(), hex::encode(digest)))
}

fn failed(error: object_store::Error) -> StoreFault {
    match error {
        object_store::Error::NotFound { path, .. } => StoreFault::Missing(path),
        error => StoreFault::Failed(error.to_string()),
    }
}

fn fault(directory: &Path, source: io::Error) -> StoreFault {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreFault::Full(directory.to_owned()),
        _ => StoreFault::Directory { directory: directory.to_owned(), source },
    }
}

/// Runs work on the disk on a thread where it delays nobody.
async fn blocking<T: Send + 'static>(
    directory: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreFault> {
    let done = spawn_blocking(work).await;
    let done = done.map_err(|_| StoreFault::Failed("work on the disk was interrupted".to_owned()))?;
    done.map_err(|source| fault(directory, source))
}

/// Deletes files that a process that was killed left.
fn remove_left_over(arriving: &Path) -> io::Result<()> {
    for entry in fs::read_dir(arriving)? {
        let entry = entry?;
        let changed_at = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = changed_at.and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > LEFT_OVER) {
            // Another process may have deleted it.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
