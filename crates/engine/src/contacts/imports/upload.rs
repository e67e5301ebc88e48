//! Uploads of files.

use uuid::Uuid;

use super::convert::{Converted, convert};
use super::recipients::MOST_RECIPIENT_BYTES;
use super::show::LOOKED_UP;
use super::{ContactImports, Import, no_such_import, refused};
use crate::{Engine, Error};
use domain::contact::MOST_TAGS;
use domain::error::{Code, Refusal};
use domain::phone::Country;
use import::{GUESSED, Inspected, Inspection, Settings};
use store::imports::MOST_OPEN;

/// Bytes of one stored piece: few enough that the writer is held for some milliseconds, many enough that a large file
/// has some thousand pieces.
pub(super) const PIECE: usize = 256 * 1024;

/// The settings of a file before its upload.
#[derive(Debug, Clone, Default)]
pub struct NewUpload {
    /// The client's name for the file.
    pub file_name: String,
    /// Its encoding; without one, the file is UTF-8 or has a byte order mark; `auto` guesses.
    pub encoding: Option<String>,
    /// Names of tags that every contact of the file gets.
    pub tags: Vec<String>,
    /// The country by whose rules numbers without a plus sign are read; without one, they are international.
    pub country: Option<Country>,
    /// What separates the tags of a cell.
    pub tag_separator: NewSeparator,
}

/// What separates the tags of a cell of a new file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NewSeparator {
    /// A semicolon.
    #[default]
    Usual,
    /// What the first rows of the file show.
    Guessed,
    /// This, one of [`import::TAG_SEPARATORS`].
    Given(char),
}

/// An upload under way. One that is dropped before it is finished leaves nothing.
pub struct Upload {
    engine: Engine,
    company: Uuid,
    import: Uuid,
    tags: Vec<String>,
    country: Option<Country>,
    tag_separator: NewSeparator,
    /// The check of a file of text; none for a workbook.
    inspection: Option<Inspection>,
    /// The bytes that are not stored yet.
    piece: Vec<u8>,
    pieces: u64,
    bytes: usize,
    /// The first piece, for the header.
    beginning: Vec<u8>,
    /// Whether the file has the recipients of a new send.
    is_of_recipients: bool,
    is_finished: bool,
}

impl ContactImports<'_> {
    /// Begins an upload.
    ///
    /// # Errors
    ///
    /// `invalid_file` for an unknown encoding, `too_many_tags`, and `too_many_imports` when the company has as many
    /// unfinished imports as it may have.
    pub async fn begin_upload(&self, company: Uuid, new: NewUpload) -> Result<Upload, Error> {
        let NewUpload { file_name, encoding, tags, country, tag_separator } = new;
        if tags.len() > MOST_TAGS {
            return Err(invalid(&import::Error::TooManyTags { found: tags.len() }).into());
        }
        let records = self.engine.records_of(company).await?;
        let likely = records.of(company).country().await?.likely();
        let inspection =
            Inspection::new(encoding.as_deref(), country.or(likely)).map_err(|error| invalid(&error))?;
        let begun = records.of(company).imports().begin_upload(&file_name).await?;
        drop(records);
        let import = begun.ok_or_else(|| {
            let sentence = format!(
                "this company has {MOST_OPEN} imports that are not over: wait for one to end, or cancel one"
            );
            Refusal::new(Code::TooManyImports, sentence)
        })?;
        Ok(Upload {
            engine: self.engine.clone(),
            company,
            import,
            tags,
            country,
            tag_separator,
            inspection: Some(inspection),
            piece: Vec::new(),
            pieces: 0,
            bytes: 0,
            beginning: Vec::new(),
            is_of_recipients: false,
            is_finished: false,
        })
    }

    /// Begins the upload of a file with the recipients of a new send, of at most [`ContactImports::largest_of_recipients`]
    /// bytes. The company's oldest such file makes room.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub async fn begin_recipients(&self, company: Uuid, file_name: &str) -> Result<Upload, Error> {
        let records = self.engine.records_of(company).await?;
        let likely = records.of(company).country().await?.likely();
        let inspection = Inspection::new(Some(GUESSED), likely).map_err(|error| invalid(&error))?;
        let import = records.of(company).imports().begin_recipients(file_name).await?;
        drop(records);
        Ok(Upload {
            engine: self.engine.clone(),
            company,
            import,
            tags: Vec::new(),
            country: None,
            tag_separator: NewSeparator::Guessed,
            inspection: Some(inspection),
            piece: Vec::new(),
            pieces: 0,
            bytes: 0,
            beginning: Vec::new(),
            is_of_recipients: true,
            is_finished: false,
        })
    }
}

impl ContactImports<'_> {
    /// The largest file of contacts that is taken, in bytes.
    pub fn largest(&self) -> usize {
        self.engine.0.imports.max_bytes
    }

    /// The largest file with the recipients of a send that is taken, in bytes.
    pub fn largest_of_recipients(&self) -> usize {
        self.largest().min(MOST_RECIPIENT_BYTES)
    }
}

impl Upload {
    /// Takes the next bytes of the file.
    ///
    /// # Errors
    ///
    /// `body_too_large`, and `invalid_file` when the bytes cannot be read as text.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        let imports = self.engine.imports();
        let most = if self.is_of_recipients { imports.largest_of_recipients() } else { imports.largest() };
        if self.bytes > most {
            let sentence = format!("the file is larger than {most} bytes (`imports.max_bytes`): split it");
            return Err(Refusal::new(Code::BodyTooLarge, sentence).into());
        }
        while !bytes.is_empty() {
            let (fits, rest) = bytes.split_at(bytes.len().min(PIECE - self.piece.len()));
            self.piece.extend_from_slice(fits);
            bytes = rest;
            if self.piece.len() == PIECE {
                self.store().await?;
            }
        }
        Ok(())
    }

    async fn store(&mut self) -> Result<(), Error> {
        let piece = std::mem::take(&mut self.piece);
        if self.pieces == 0 && import::is_workbook(&piece) {
            self.inspection = None;
        }
        if let Some(inspection) = &mut self.inspection {
            inspection.feed(&piece).map_err(|error| invalid(&error))?;
        }
        if self.pieces == 0 {
            self.beginning.clone_from(&piece);
        }
        let ordinal = self.pieces;
        self.pieces += 1;
        let records = self.engine.records_of(self.company).await?;
        Ok(records.imports().add_chunk(self.import, ordinal, piece).await?)
    }

    /// Ends the upload of a complete file.
    ///
    /// # Errors
    ///
    /// `invalid_file` when its header cannot be read, or part of the file is not in its encoding, or it is no workbook
    /// that can be read; `too_many_columns`.
    pub async fn finish(mut self) -> Result<Import, Error> {
        if !self.piece.is_empty() {
            self.store().await?;
        }
        let mut settings = Settings {
            tags: self.tags.clone(),
            country: self.country.map(|country| country.code().to_owned()),
            own: self.engine.records_of(self.company).await?.of(self.company).fields().all().await?,
            ..Settings::default()
        };
        if let Some(inspection) = self.inspection.take() {
            let Inspected { encoding, wrong } = inspection.finish().map_err(|error| invalid(&error))?;
            (settings.encoding, settings.wrong_bytes) = (encoding.to_owned(), wrong);
        } else {
            let (bytes, first) = (self.bytes as u64, self.pieces);
            let Converted { sheet, beginning, pieces } =
                convert(&self.engine, self.company, self.import, bytes, first).await?;
            (self.beginning, self.pieces) = (beginning, pieces);
            (settings.encoding, settings.sheet, settings.first_piece) =
                ("UTF-8".to_owned(), Some(sheet), first);
        }
        let is_all = self.pieces <= 1;
        let read = import::preview(&self.beginning, is_all, &settings, 1).map_err(|error| invalid(&error))?;
        settings.delimiter = Some(read.delimiter);
        settings.header = read.columns.into_iter().map(|(name, _)| name).collect();
        let records = self.engine.records_of(self.company).await?;
        settings.recall(&self.engine.imports().remembered(self.company, &records).await?);
        settings.tag_separator = match self.tag_separator {
            NewSeparator::Usual => None,
            NewSeparator::Guessed => guessed_separator(&self.beginning, is_all, &settings)?,
            NewSeparator::Given(separator) => Some(separator),
        };
        let written = serde_json::to_string(&settings).map_err(|_| Error::Internal)?;
        records.imports().finish_upload(self.import, &written).await?;
        self.is_finished = true;
        let imports = records.of(self.company).imports();
        let found = match self.is_of_recipients {
            true => imports.find_recipients(self.import).await?,
            false => imports.find(self.import).await?,
        };
        Ok(found.ok_or_else(no_such_import)?)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.is_finished {
            self.engine.0.imports.abandon(self.import);
        }
    }
}

/// What the first rows of a file show between the tags of a cell.
pub(super) fn guessed_separator(
    beginning: &[u8],
    is_all: bool,
    settings: &Settings,
) -> Result<Option<char>, Error> {
    let read = import::preview(beginning, is_all, settings, LOOKED_UP).map_err(|error| invalid(&error))?;
    Ok(read.tag_separator)
}

fn invalid(error: &import::Error) -> Refusal {
    refused(error, Code::InvalidFile)
}
