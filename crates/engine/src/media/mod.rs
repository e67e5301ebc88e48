//! The library of media: files that companies keep, to send them.
//!
//! What a file is stands in the database, its content in the store of files (`connectors::file_store`). An [upload] is recognised by
//! its content, and refused unless a business account can send it. A send names a file by a link of its own form. When its
//! message goes, a provider gets an [address](links) that is signed and expires; a web session gets the file itself, not
//! through an address. A removed file is hidden at once; [leaving](leaving) deletes its content. Files that people send are
//! [given out](incoming) at the same addresses.

mod incoming;
mod leaving;
mod links;
mod upload;

pub(crate) use self::incoming::FILE_LIFE;
pub use self::upload::MediaUpload;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use url::Url;
use uuid::Uuid;

use crate::{Engine, Error, StartError, Who};
use clock::Timestamp;
use config::Config;
use connectors::file_store::{Bytes, FileStore, PIECE, StoreFault};
use connectors::media::{Fetcher, Media};
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::link::file_id;
use domain::media::{self, Kind};
use domain::page::{Page, PageRequest};
use store::Store;
use store::media::{LibraryFile, MediaTotals};
use vault::Vault;

/// The files that sends name by links, of the library and behind links to other places.
pub(crate) struct Library {
    fetcher: Fetcher,
    files: FileStore,
    store: Store,
    vault: Arc<Vault>,
    /// Where a provider fetches files; `None` when it cannot.
    address: Option<Url>,
    most: MediaTotals,
    keep: Option<Duration>,
    /// How long files that people send are kept; zero for not at all.
    incoming_keep: Duration,
}

impl Library {
    /// The library that the configuration describes.
    pub(crate) fn new(config: &Config, store: Store, vault: Arc<Vault>) -> Result<Self, StartError> {
        Ok(Self {
            fetcher: Fetcher::new(&config.media)?,
            files: FileStore::open(&config.media, &config.data.dir)?,
            store,
            vault,
            address: links::address(config),
            most: MediaTotals {
                files: config.media.company_max_files.into(),
                bytes: config.media.company_max_bytes as u64,
            },
            keep: config.media.keep,
            incoming_keep: config.media.incoming_keep,
        })
    }

    /// The file that a new message of a web session names by its link.
    ///
    /// # Errors
    ///
    /// `media_unavailable` for a file that the library does not have, and those of [`Library::fetch`].
    pub(crate) async fn fetch_new(&self, company: Uuid, link: &str, kind: Kind) -> Result<Media, Error> {
        if let Some(id) = file_id(link) {
            self.store.of(company).media().used(id).await?.ok_or_else(not_found_by_link)?;
        }
        Ok(self.fetch(company, link, kind).await?)
    }

    /// The file that a message of a web session names by its link. A file of the library may have been removed since.
    ///
    /// # Errors
    ///
    /// `invalid_link`, and those of [`Fetcher::fetch`].
    pub(crate) async fn fetch(&self, company: Uuid, link: &str, kind: Kind) -> Result<Media, Refusal> {
        let Some(id) = file_id(link) else {
            let link = Url::parse(link).map_err(|_| {
                Refusal::of("link", Code::InvalidLink, "is not an absolute http or https address")
            })?;
            return self.fetcher.fetch(company, &link, kind).await;
        };
        let found = self.store.media().find(id).await.map_err(|error| {
            tracing::warn!(%error, "cannot read what a file of the library is");
            unavailable()
        })?;
        let file = found.filter(|file| file.company_id == company).ok_or_else(not_found_by_link)?;
        let memory = self.fetcher.memory(company, file.bytes, Some(kind)).await?;
        let bytes = self.whole(&file).await?;
        self.fetcher.prepare(company, (bytes, file.name), memory, kind).await
    }

    /// A whole file, in memory: its length must be bounded by the caller.
    pub(crate) async fn whole(&self, file: &LibraryFile) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or_default());
        while (bytes.len() as u64) < file.bytes {
            bytes.extend_from_slice(&self.piece(file, bytes.len() as u64..file.bytes).await?);
        }
        Ok(bytes)
    }

    /// The beginning of a part of a file, which is not empty.
    async fn piece(&self, file: &LibraryFile, range: Range<u64>) -> Result<Bytes, Refusal> {
        let end = range.end.min(range.start + PIECE);
        match self.files.read(file.company_id, &file.digest, range.start..end).await {
            Ok(piece) if !piece.is_empty() => Ok(piece),
            Ok(_) => Err(stored_badly(&StoreFault::Failed("a file is shorter than it was".to_owned()))),
            Err(fault) => Err(stored_badly(&fault)),
        }
    }

    /// Checks the library's files in the content of a new send through a business account, notes that they are used, and
    /// names documents after them.
    ///
    /// # Errors
    ///
    /// `no_public_address`, and `media_unavailable` when the company has no such file, or it cannot be sent as this kind.
    pub(crate) async fn admit(&self, company: Uuid, content: &mut Content) -> Result<(), Error> {
        for (id, kind) in media::files_of(content) {
            if !self.is_reachable() {
                return Err(no_public_address().into());
            }
            let file = self.store.of(company).media().used(id).await?.ok_or_else(not_found_by_link)?;
            if !kind.takes(file.kind) {
                let (name, known, wanted) = (&file.name, file.kind.noun(), kind.noun());
                let or = if file.kind == Kind::Document { "" } else { ", or as a document" };
                let sentence = format!(
                    "the file `{name}` of the library is {known} and cannot be sent as {wanted}: send it as {known}{or}"
                );
                return Err(Refusal::new(Code::MediaUnavailable, sentence).about("link").into());
            }
            media::name_documents(content, id, &file.name);
        }
        Ok(())
    }

    /// Whether a provider can fetch files.
    pub(crate) const fn is_reachable(&self) -> bool {
        self.address.is_some()
    }
}

/// The library of media.
#[derive(Clone, Copy)]
pub struct MediaLibrary<'e> {
    engine: &'e Engine,
}

impl Engine {
    /// The library of media.
    pub const fn media(&self) -> MediaLibrary<'_> {
        MediaLibrary { engine: self }
    }
}

/// A file that somebody with a signed address reads.
pub struct OpenedFile {
    /// The file.
    pub file: LibraryFile,
    library: Arc<Library>,
}

impl OpenedFile {
    /// The beginning of a part of the file; `None` for an empty part.
    ///
    /// # Errors
    ///
    /// `service_unavailable` when the store of files fails.
    pub async fn read(&self, range: Range<u64>) -> Result<Option<Bytes>, Refusal> {
        match range.is_empty() {
            true => Ok(None),
            false => self.library.piece(&self.file, range).await.map(Some),
        }
    }
}

impl MediaLibrary<'_> {
    fn library(&self) -> &Arc<Library> {
        &self.engine.0.shared.media
    }

    /// Whether a provider can fetch files; otherwise only web sessions can send them.
    pub fn is_reachable(&self) -> bool {
        self.library().is_reachable()
    }

    /// The most files, and bytes, of a company.
    pub fn most(&self) -> MediaTotals {
        self.library().most
    }

    /// A page of the company's files, newest first; with `kind`, those that can be sent as it.
    pub async fn page(
        &self,
        company: Uuid,
        kind: Option<Kind>,
        page: PageRequest,
    ) -> Result<Page<LibraryFile>, Error> {
        Ok(self.engine.records_of(company).await?.of(company).media().page(kind, page).await?)
    }

    /// How many files the company has, and their bytes.
    pub async fn totals(&self, company: Uuid) -> Result<MediaTotals, Error> {
        Ok(self.engine.records_of(company).await?.of(company).media().totals().await?)
    }

    /// A file of the company.
    ///
    /// # Errors
    ///
    /// `media_not_found`.
    pub async fn find(&self, company: Uuid, id: Uuid) -> Result<LibraryFile, Error> {
        let found = self.engine.records_of(company).await?.of(company).media().find(id).await?;
        Ok(found.ok_or_else(no_such_file)?)
    }

    /// The thumbnail of a picture of the company, a JPEG; the id is that of a file, or of a message with a picture.
    ///
    /// # Errors
    ///
    /// `media_not_found`, also for a file without one.
    pub async fn thumbnail(&self, company: Uuid, id: Uuid) -> Result<Vec<u8>, Error> {
        let records = self.engine.records_of(company).await?;
        let found = match records.of(company).media().thumbnail(id).await? {
            Some(found) => Some(found),
            None => records.of(company).inbound_files().thumbnail(id).await?,
        };
        Ok(found.ok_or_else(no_such_file)?)
    }

    /// Removes a file. Sends that were accepted with it still have it; then its content is deleted, an hour later at the
    /// earliest.
    ///
    /// # Errors
    ///
    /// `media_not_found`.
    pub async fn remove(&self, who: &Who, company: Uuid, id: Uuid) -> Result<(), Error> {
        match self.engine.records_of(company).await?.of(company).media().remove(who, id).await? {
            true => Ok(()),
            false => Err(no_such_file().into()),
        }
    }

    /// The path and query of an address at which anybody can read the file, or that of the message with this id, for a week at
    /// least.
    pub fn signed_path(&self, id: Uuid) -> String {
        self.library().path(id, Timestamp::now())
    }

    /// The file at such an address; `None` when it is not signed or has expired, or the file is gone.
    ///
    /// # Errors
    ///
    /// `service_unavailable` while the file of a message is being fetched.
    pub async fn open(&self, id: Uuid, until: i64, signature: &[u8]) -> Result<Option<OpenedFile>, Error> {
        let library = self.library();
        if !library.opens(id, until, signature, Timestamp::now()) {
            return Ok(None);
        }
        match library.store.media().find(id).await? {
            Some(file) => Ok(Some(OpenedFile { file, library: Arc::clone(library) })),
            None => library.open_incoming(id).await,
        }
    }
}

/// The refusal for a file that the company does not have.
fn no_such_file() -> Refusal {
    let sentence = "this company's library has no such file: GET /api/v1/media lists those that it has";
    Refusal::new(Code::MediaNotFound, sentence)
}

/// The refusal of a link to a file that the company does not have.
fn not_found_by_link() -> Refusal {
    let sentence =
        "this company's library has no file with this link: GET /api/v1/media lists those that it has";
    Refusal::new(Code::MediaUnavailable, sentence).about("link")
}

/// The refusal of a message whose files the provider cannot fetch.
pub(crate) fn no_public_address() -> Refusal {
    let sentence = "the provider cannot fetch files of the library, because this service has no public address: ask the \
                    operator to set server.public_url, or give a link to the file elsewhere";
    Refusal::new(Code::NoPublicAddress, sentence).about("link")
}

/// The refusal while the store of files fails, which is logged.
fn stored_badly(fault: &StoreFault) -> Refusal {
    match fault {
        StoreFault::Full(_) => {
            tracing::error!(%fault, "a file cannot be kept");
            let sentence =
                "the disk for media is full, and nothing of the file was kept: ask the operator to make room";
            Refusal::new(Code::ServiceUnavailable, sentence)
        }
        fault => {
            tracing::error!(%fault, "the store of files fails");
            unavailable()
        }
    }
}

fn unavailable() -> Refusal {
    let sentence = "the store of files cannot be used now: try again after the seconds of Retry-After";
    Refusal::new(Code::ServiceUnavailable, sentence)
}
