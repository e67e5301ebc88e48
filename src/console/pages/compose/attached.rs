//! The recipients of a file, which join the request when it is checked and when it is accepted: not before, so that a form that
//! is sent twice finds its send although the file is gone.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::choice::Choice;
use super::columns::FROM;
use super::list;
use crate::console::State;
use crate::console::pages::send::origin::OriginFile;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::content::Content;
use crate::domain::phone::Country;
use crate::domain::request::{BusinessRequest, OnSkipped, Personal};
use crate::domain::template::contact_field::values_of;
use crate::engine::{self, ListedRecipients, RecipientColumns, WantedRows, import_settings};
use crate::import::{TableRow, check_tag, value_names};

/// The first rows that the check shows.
const SHOWN_ROWS: u64 = 20;

/// A request to a business account, the files in it, and the file of its recipients.
pub(super) struct BulkRequest {
    pub(super) request: BusinessRequest,
    pub(super) files: Vec<Content>,
    pub(super) attached: Option<Attached>,
}

/// The file of a request.
pub(super) struct Attached {
    pub(super) file: Uuid,
    columns: RecipientColumns,
    /// The tag of the contacts that its people become.
    tag: Option<String>,
    template: i64,
    /// The columns of the template's fields.
    fields: BTreeMap<String, String>,
}

/// Which columns hold what, by the names of their values: as it is remembered for a template.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RecipientMapping {
    pub(super) phone: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) country: Option<String>,
    /// The columns of the template's fields.
    pub(super) fields: BTreeMap<String, String>,
}

/// What was found in a file.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    pub(super) header: Vec<String>,
    /// The names of the columns' values.
    pub(super) names: Vec<String>,
    pub(super) phone: usize,
    pub(super) country: Option<Country>,
    /// The first rows, each with its place.
    pub(super) rows: Vec<(u64, TableRow)>,
    /// All rows, and those that repeat others in everything.
    pub(super) given: u64,
    pub(super) repeated: u64,
}

/// The template whose columns are remembered; 0 for messages without one.
pub(super) fn template_of(choice: &Choice) -> i64 {
    choice.filled().map_or(0, |template| template.id)
}

impl Attached {
    /// The file that the form names. `texts` are those of the message, which say which values it needs.
    pub(super) fn of<'a>(
        choice: &Choice,
        words: &Words,
        texts: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let file = list::named(words)?;
        let mut needed = HashSet::new();
        for text in texts {
            needed.extend(values_of(text).into_iter().map(|(name, _)| name.to_owned()));
        }
        let columns = RecipientColumns {
            phone: list::place(words, list::PHONE)?,
            reference: list::place(words, list::REFERENCE),
            country: list::country(words),
            needed,
        };
        let fields = words.iter().filter_map(|(name, column)| {
            let field = name.strip_prefix(FROM).filter(|_| !column.is_empty())?;
            Some((field.to_owned(), column.to_owned()))
        });
        let fields = fields.collect();
        let tag = check_tag(words.one(list::TAG)).ok();
        Some(Self { file, columns, tag, template: template_of(choice), fields })
    }

    /// Reads the file into the request.
    ///
    /// # Errors
    ///
    /// `import_not_found` for a file that is gone, `invalid_file` for one that cannot be read.
    pub(super) async fn attach(
        &self,
        state: &State,
        company: Uuid,
        request: &mut BusinessRequest,
    ) -> Result<Looked, engine::Error> {
        let imports = state.engine.imports();
        let file = imports.recipients(company, self.file).await?.ok_or_else(engine::no_such_import)?;
        let settings = import_settings(&file);
        let listed = imports.listed(company, self.file, self.columns.clone()).await?;
        let ListedRecipients { rows, skipped, repeated } = listed;
        let first = imports.recipient_rows(company, self.file, WantedRows::First(SHOWN_ROWS)).await?;
        let names = value_names(&settings.header);
        let looked = Looked {
            header: settings.header.clone(),
            names: names.clone(),
            phone: self.columns.phone,
            country: self.columns.country,
            rows: first,
            given: rows.given(),
            repeated,
        };
        let shared = OriginFile::of(&settings, names, self.columns.phone).values();
        request.audience.skipped.extend(skipped);
        request.audience.personal =
            Some(Personal { rows: Arc::new(rows), shared, on_skipped: OnSkipped::Send });
        Ok(looked)
    }

    /// Remembers the columns, and removes the file of a send that was accepted, or imports its people if the form says so.
    pub(super) async fn used(self, viewer: &Viewer, state: &State) {
        let company = viewer.company.id;
        let done = async {
            let imports = state.engine.imports();
            let Some(file) = imports.recipients(company, self.file).await? else { return Ok(()) };
            let names = value_names(&import_settings(&file).header);
            let name = |place: Option<usize>| place.and_then(|place| names.get(place).cloned());
            let mapping = RecipientMapping {
                phone: name(Some(self.columns.phone)),
                reference: name(self.columns.reference),
                country: self.columns.country.map(|country| country.code().to_owned()),
                fields: self.fields,
            };
            let written = serde_json::to_string(&mapping).map_err(|_| engine::Error::Internal)?;
            imports.remember_recipients(company, self.template, &written).await?;
            match self.tag {
                Some(tag) => {
                    let columns = (self.columns.phone, self.columns.country);
                    imports.import_recipients(&viewer.who(), company, self.file, columns, tag).await
                }
                None => imports.discard_recipients(company, self.file).await,
            }
        };
        if let Err(error) = done.await {
            tracing::warn!(%error, "the file of a send's recipients could not be put away");
        }
    }
}
