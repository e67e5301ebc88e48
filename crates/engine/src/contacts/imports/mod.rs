//! Imports of contacts from uploaded files.
//!
//! An upload is stored in pieces and parsed while it arrives ([`upload`]); a workbook is converted behind it
//! ([`convert`](mod@convert)). Its rows are written by one [`runner`], which companies share in turns and which continues
//! after a restart. A preview shows how the beginning of a file would be imported ([`show`]).

mod convert;
mod reader;
mod recipients;
mod runner;
mod show;
mod upload;

pub use self::recipients::{ListedRecipients, MOST_RECIPIENT_BYTES, RecipientColumns, WantedRows};
pub(crate) use self::runner::Runner;
pub use self::show::{Shown, ShownTag};
pub use self::upload::{NewSeparator, NewUpload, Upload};

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use uuid::Uuid;

use self::upload::guessed_separator;
use crate::{Engine, Error};
use domain::error::{Code, Refusal};
use domain::phone::Country;
use import::{Column, Field, Settings};
use store::Names;
use store::changes::Who;
use store::imports::{Import, State};

/// What uploads and the runner share.
pub(crate) struct Imports {
    /// The largest file, in bytes.
    max_bytes: usize,
    /// Wakes the runner.
    wake: Notify,
    /// Uploads that broke off.
    abandoned: Mutex<Vec<Uuid>>,
    /// The one place for a workbook that is converted; the thread that converts it holds it.
    converting: Arc<Semaphore>,
}

/// A change of an import before it begins; `None` leaves a setting as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportChange {
    /// The columns that a person or a program maps; the others keep the fields of their names.
    pub columns: Option<Vec<Column>>,
    /// The fields that a form sends for the columns at these places, changed or not, as it showed them before the change.
    pub chosen: Option<Vec<(usize, Field)>>,
    /// Names of tags that every contact of the file gets.
    pub tags: Option<Vec<String>>,
    /// The file's encoding.
    pub encoding: Option<String>,
    /// The country by whose rules numbers without a plus sign are read; `Some(None)` reads them as international.
    pub country: Option<Option<Country>>,
    /// Whether a name that looks wrongly decoded replaces a good one.
    pub replaces_names: Option<bool>,
    /// What separates the tags of a cell, one of [`import::TAG_SEPARATORS`]. If a form leaves it as it was and changes the
    /// columns with tags, it is guessed.
    pub tag_separator: Option<char>,
}

impl Imports {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let converting = Arc::new(Semaphore::new(1));
        Self { max_bytes, wake: Notify::new(), abandoned: Mutex::default(), converting }
    }

    fn abandon(&self, import: Uuid) {
        self.abandoned.lock().push(import);
        self.wake.notify_one();
    }

    /// Wakes the runner.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    fn take_abandoned(&self) -> Vec<Uuid> {
        std::mem::take(&mut self.abandoned.lock())
    }
}

/// Imports of contacts from files.
#[derive(Clone, Copy)]
pub struct ContactImports<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Imports of contacts from files.
    pub const fn imports(&self) -> ContactImports<'_> {
        ContactImports { engine: self }
    }
}

impl ContactImports<'_> {
    /// Changes how a file is read, before it is imported.
    ///
    /// # Errors
    ///
    /// `import_not_found`, `import_has_begun`, `too_many_columns`, `too_many_mappings`, `too_many_tags`, and
    /// `invalid_mapping` when the change does not fit the file.
    pub async fn change(&self, company: Uuid, id: Uuid, change: ImportChange) -> Result<(), Error> {
        let ImportChange { columns, chosen, tags, encoding, country, replaces_names, tag_separator } = change;
        let mut settings = settings(&self.find(company, id).await?);
        let (tagged, is_form) = (settings.tag_columns(), chosen.is_some());
        if let Some(chosen) = chosen {
            // A form shows the columns as they are named in the encoding before the change.
            settings.choose(&chosen);
        }
        // A client may send back what it was shown.
        let is_changed = |new: &String| settings.sheet.is_none() || *new != settings.encoding;
        if let Some(encoding) = encoding.filter(is_changed) {
            self.change_encoding(company, id, &mut settings, encoding).await?;
        }
        if let Some(columns) = columns {
            settings.columns = columns;
        }
        if let Some(tags) = tags {
            settings.tags = tags;
        }
        if let Some(country) = country {
            settings.country = country.map(|country| country.code().to_owned());
        }
        if let Some(replaces_names) = replaces_names {
            settings.replaces_names = replaces_names;
        }
        let is_left = tag_separator.is_none() || tag_separator == settings.tag_separator;
        if let Some(separator) = tag_separator {
            settings.tag_separator = Some(separator);
        }
        settings.check().map_err(|wrong| refused(&wrong, Code::InvalidMapping))?;
        if is_form && is_left && settings.tag_columns() != tagged {
            let (beginning, is_all) = self.beginning(company, id, &settings).await?;
            settings.tag_separator = guessed_separator(&beginning, is_all, &settings)?;
        }
        let written = serde_json::to_string(&settings).map_err(|_| Error::Internal)?;
        match self.engine.records_of(company).await?.of(company).imports().set_settings(id, &written).await? {
            true => Ok(()),
            false => Err(has_begun().into()),
        }
    }

    /// Reads the header of a file in another encoding. Its columns keep their fields, and those are recalled whose names
    /// only this encoding shows.
    async fn change_encoding(
        &self,
        company: Uuid,
        id: Uuid,
        settings: &mut Settings,
        encoding: String,
    ) -> Result<(), Error> {
        if settings.sheet.is_some() {
            let sentence =
                "an Excel file says itself how its letters are written: it has no other `encoding`";
            return Err(Refusal::new(Code::InvalidMapping, sentence).into());
        }
        settings.encoding = encoding;
        settings.wrong_bytes = None;
        let (beginning, is_all) = self.beginning(company, id, settings).await?;
        let bare = Settings { columns: Vec::new(), recalled: Vec::new(), ..settings.clone() };
        let read = import::preview(&beginning, is_all, &bare, 1);
        let read = read.map_err(|error| refused(&error, Code::InvalidMapping))?;
        settings.delimiter = Some(read.delimiter);
        settings.rename(read.columns.into_iter().map(|(name, _)| name).collect());
        let records = self.engine.records_of(company).await?;
        settings.recall(&self.remembered(company, &records).await?);
        Ok(())
    }

    /// Begins an import.
    ///
    /// # Errors
    ///
    /// `import_not_found`, `import_has_begun`, and `invalid_mapping` when no column identifies contacts.
    pub async fn start(&self, who: &Who, company: Uuid, id: Uuid) -> Result<(), Error> {
        let found = self.find(company, id).await?;
        let settings = settings(&found);
        settings.check_complete().map_err(|wrong| refused(&wrong, Code::InvalidMapping))?;
        let records = self.engine.records_of(company).await?;
        let columns = settings.remember(self.remembered(company, &records).await?);
        let columns = serde_json::to_string(&columns).map_err(|_| Error::Internal)?;
        // The own fields as they are now.
        records.of(company).imports().set_settings(id, &found.settings).await?;
        if !records.of(company).imports().start(who, id, &columns).await? {
            return Err(has_begun().into());
        }
        self.engine.0.imports.wake.notify_one();
        Ok(())
    }

    /// Cancels an import; rows that are written stay. A finished import stays as it is.
    ///
    /// # Errors
    ///
    /// `import_not_found`.
    pub async fn cancel(&self, who: &Who, company: Uuid, id: Uuid) -> Result<(), Error> {
        self.find(company, id).await?;
        self.engine.records_of(company).await?.of(company).imports().cancel(who, id).await?;
        self.engine.0.imports.wake.notify_one();
        Ok(())
    }

    /// An import of the company. One that is not started yet knows the company's present own fields.
    ///
    /// # Errors
    ///
    /// `import_not_found`.
    pub async fn find(&self, company: Uuid, id: Uuid) -> Result<Import, Error> {
        let records = self.engine.records_of(company).await?;
        let found = records.of(company).imports().find(id).await?;
        let mut found = found.ok_or_else(no_such_import)?;
        if found.state == State::Ready {
            let mut settings = settings(&found);
            settings.own = records.of(company).fields().all().await?;
            found.settings = serde_json::to_string(&settings).map_err(|_| Error::Internal)?;
        }
        Ok(found)
    }

    async fn remembered(
        &self,
        company: Uuid,
        records: &crate::records::Records,
    ) -> Result<Vec<Column>, Error> {
        let remembered = records.of(company).imports().remembered_columns().await?;
        Ok(remembered.and_then(|columns| serde_json::from_str(&columns).ok()).unwrap_or_default())
    }
}

/// How a file is read.
pub fn settings(import: &Import) -> Settings {
    serde_json::from_str(&import.settings).unwrap_or_default()
}

/// What becomes of names that look wrongly decoded.
fn names(settings: &Settings) -> Names {
    if settings.replaces_names { Names::Replace } else { Names::KeepGood }
}

/// The refusal of a file, or of the way in which it is to be read; with the code `otherwise` for a fault that has none of
/// its own.
fn refused(error: &import::Error, otherwise: Code) -> Refusal {
    let code = match error {
        import::Error::TooManyColumns { .. } => Code::TooManyColumns,
        import::Error::TooManyMappings { .. } => Code::TooManyMappings,
        import::Error::TooManyTags { .. } => Code::TooManyTags,
        import::Error::NoKnownColumn { .. } => {
            let sentence =
                "no column is known to hold a phone number or an e-mail address: say which one does";
            return Refusal::new(otherwise, sentence);
        }
        _ => otherwise,
    };
    Refusal::new(code, error.to_string())
}

/// The refusal for an import that the company does not have.
pub fn no_such_import() -> Refusal {
    Refusal::new(
        Code::ImportNotFound,
        "this company has no such import: GET /api/v1/contacts/imports lists them",
    )
}

fn has_begun() -> Refusal {
    Refusal::new(
        Code::ImportHasBegun,
        "this import has begun, or is over: it can only be canceled, if at all",
    )
}
