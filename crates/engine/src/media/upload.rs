//! The upload of a file: it arrives, is recognised, and is kept once it is whole.

use std::sync::Arc;

use uuid::Uuid;

use super::{Library, MediaLibrary, no_such_file, stored_badly};
use crate::{Engine, Error, RETRY_AFTER, Who};
use connectors::file_store::{ArrivingFile, Bytes};
use connectors::media::{Recognised, WHOLE, clean_name};
use domain::error::{Code, Refusal};
use domain::media::Kind;
use store::media::{LibraryFile, MediaTotals, NewFile, Taking};

/// A file that is arriving. What has arrived is deleted when this is dropped.
pub struct MediaUpload {
    engine: Engine,
    company: Uuid,
    file: ArrivingFile,
}

impl MediaLibrary<'_> {
    /// Begins the upload of a file.
    ///
    /// # Errors
    ///
    /// `media_library_full`; `service_unavailable` when the disk is full or fails.
    pub async fn begin_upload(&self, company: Uuid) -> Result<MediaUpload, Error> {
        let (most, now) = (self.most(), self.totals(company).await?);
        if now.files >= most.files || now.bytes >= most.bytes {
            return Err(full(now, most).into());
        }
        let file = self.library().files.begin().await.map_err(|fault| stored_badly(&fault))?;
        Ok(MediaUpload { engine: self.engine.clone(), company, file })
    }

    /// The largest file, in bytes.
    pub fn largest(&self) -> usize {
        usize::try_from(Kind::Document.most_bytes()).unwrap_or(usize::MAX)
    }
}

impl MediaUpload {
    /// Adds a piece of the file.
    ///
    /// # Errors
    ///
    /// `media_too_large`; `service_unavailable` when the disk is full or fails.
    pub async fn write(&mut self, piece: Bytes) -> Result<(), Error> {
        if self.file.bytes().saturating_add(piece.len() as u64) > Kind::Document.most_bytes() {
            return Err(too_large().into());
        }
        Ok(self.file.write(piece).await.map_err(|fault| stored_badly(&fault))?)
    }

    /// Keeps the file, which is whole, under this name. With `wanted`, it has to be of this kind. A file that the company has
    /// already keeps its name.
    ///
    /// # Errors
    ///
    /// `media_unavailable` when the file is empty, damaged, or not of the wanted kind; `media_too_large`;
    /// `media_library_full`; `service_unavailable` when the disk is full or fails.
    pub async fn finish(
        self,
        who: &Who,
        name: Option<&str>,
        wanted: Option<Kind>,
    ) -> Result<LibraryFile, Error> {
        let Self { engine, company, mut file } = self;
        let (library, bytes) = (Arc::clone(engine.media().library()), file.bytes());
        if bytes == 0 {
            let sentence = "the file is empty: give one with content";
            return Err(Refusal::new(Code::MediaUnavailable, sentence).about("file").into());
        }
        let Recognised { kind, mime_type, extension, thumbnail } =
            recognised(&library, company, &mut file, wanted).await?;
        let unnamed = || extension.map_or_else(|| kind.to_string(), |ending| format!("{kind}.{ending}"));
        let new = NewFile {
            digest: file.digest().map_err(|fault| stored_badly(&fault))?,
            kind,
            mime_type: mime_type.to_owned(),
            bytes,
            name: name.and_then(clean_name).unwrap_or_else(unnamed),
            thumbnail,
        };
        let later = Error::Unavailable { retry_after: RETRY_AFTER };
        let taking =
            engine.records_of(company).await?.of(company).media().begin(who, &new, library.most).await?;
        let id = match taking {
            Taking::Known(id) => id,
            Taking::Full(now) => return Err(full(now, library.most).into()),
            Taking::Busy => return Err(later),
            Taking::Begun(id) => {
                let kept = library.files.keep(company, &new.digest, file).await;
                let records = engine.records_of(company).await?;
                let rows = records.of(company).media();
                if let Err(fault) = kept {
                    rows.give_up(id).await?;
                    return Err(stored_badly(&fault).into());
                }
                if !rows.finish(who, id).await? && rows.find(id).await?.is_none() {
                    return Err(later);
                }
                id
            }
        };
        let found = engine.records_of(company).await?.of(company).media().find(id).await?;
        Ok(found.ok_or_else(no_such_file)?)
    }
}

/// What the file is. Its beginning is read into the company's part of the memory for files.
async fn recognised(
    library: &Library,
    company: Uuid,
    file: &mut ArrivingFile,
    wanted: Option<Kind>,
) -> Result<Recognised, Error> {
    let bytes = file.bytes();
    let _memory = library.fetcher.memory(company, bytes.min(WHOLE as u64), None).await?;
    let beginning = file.beginning(WHOLE).await.map_err(|fault| stored_badly(&fault))?;
    Ok(library.fetcher.recognise(company, beginning, bytes, wanted).await?)
}

fn too_large() -> Refusal {
    let most = Kind::Document.most_bytes() >> 20;
    let sentence = format!("the file is larger than {most} MiB, the most for a document: give a smaller one");
    Refusal::new(Code::MediaTooLarge, sentence).about("file")
}

/// The refusal of a file for which the company has no room.
fn full(now: MediaTotals, most: MediaTotals) -> Refusal {
    let sentence = format!(
        "the company keeps {} files of {} bytes, and may keep {} files of {} bytes: delete files that are not needed, or ask \
         the operator to raise media.company_max_bytes or media.company_max_files",
        now.files, now.bytes, most.files, most.bytes
    );
    Refusal::new(Code::MediaLibraryFull, sentence)
}
