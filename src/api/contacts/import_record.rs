//! Imports as a company sees them, and its requests to change them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::schema::{ImportAction, ImportState};
use crate::clock::Timestamp;
use crate::engine::records::imports::{self, Counts};
use crate::engine::{Shown, import_settings};
use crate::import::{Column, WrongBytes};

/// An import of contacts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Import {
    /// The id of the import.
    id: Uuid,
    /// The name that the client gave the file.
    #[schema(example = "contacts.csv")]
    file_name: String,
    /// `uploading`: the file is arriving. `ready`: a client has to start the import. `running`: its rows are
    /// written, or wait for their turn. Or `finished`, `failed` (see `error`), `canceled`.
    #[schema(value_type = ImportState, example = "running")]
    state: &'static str,
    /// The size of the file in bytes.
    bytes: u64,
    /// The bytes of the file whose rows are written.
    bytes_read: u64,
    /// Rows that were read.
    rows: u64,
    /// Rows that created a contact.
    created: u64,
    /// Rows that updated a contact.
    updated: u64,
    /// Rows that changed nothing.
    unchanged: u64,
    /// Rows that were rejected.
    rejected: u64,
    /// The rejected rows that can be downloaded.
    rejected_kept: u64,
    /// The created, updated and unchanged rows that have no valid phone number.
    without_number: u64,
    /// The rows whose names look wrongly decoded, so that the contacts kept theirs; see `replaces_names`.
    names_kept: u64,
    /// The rows with a malformed e-mail address: their contacts were written without it.
    emails_left_out: u64,
    /// Why the import failed.
    error: Option<String>,
    /// The file's encoding.
    #[schema(example = "UTF-8")]
    encoding: String,
    /// The bytes that are not valid in that encoding; their rows are rejected.
    wrong_bytes: Option<ImportWrongBytes>,
    /// Two letters: numbers without a plus sign are read as numbers of this country. Null: they are international.
    #[schema(example = "BR")]
    country: Option<String>,
    /// Whether a name that looks wrongly decoded replaces a good one.
    replaces_names: bool,
    /// What separates the tags of a cell, beside `;`. Null: nothing else.
    #[schema(example = ",")]
    tag_separator: Option<String>,
    /// The name of the sheet that was read, if the file is an Excel file. `bytes` are then those of its rows as CSV.
    sheet: Option<String>,
    /// The file's columns, each with its field; null for a column that is not imported.
    columns: Vec<ImportColumn>,
    /// Names of tags that every contact of the file gets.
    tags: Vec<String>,
    /// When the upload began.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When the import last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// When the import was started.
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    /// When the import ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// The beginning of the file, while the import is `ready` and shown alone.
    pub(super) preview: Option<ImportPreview>,
}

/// Bytes of a file that are not valid in its encoding.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportWrongBytes {
    /// How many there are.
    count: u64,
    /// The line of the first one.
    line: u64,
    /// The place of the first one in the file, from 0.
    offset: u64,
}

/// A column of a file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportColumn {
    /// The column's name in the header.
    #[schema(example = "Telefone")]
    column: String,
    /// The field of the column; `fields.KEY` for an own field.
    #[schema(example = "phone_number")]
    field: Option<String>,
}

/// The beginning of a file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportPreview {
    /// The first rows, divided into cells.
    rows: Vec<Vec<String>>,
    /// How many rows were checked; the counts are of these rows.
    looked_at: u64,
    /// Whether these are all rows of the file.
    is_whole: bool,
    /// Rows that would create a contact.
    created: u64,
    /// Rows that would update a contact.
    updated: u64,
    /// Rows that would change nothing.
    unchanged: u64,
    /// Rows that would be rejected.
    rejected: u64,
    /// Rows whose names look wrongly decoded, so that contacts would keep theirs.
    names_kept: u64,
    /// Rows with a malformed e-mail address: their contacts would be written without it.
    emails_left_out: u64,
    /// Rows whose numbers would be others inside the company's country: see `country`.
    national: u64,
    /// Why the import cannot be started without a change.
    problem: Option<String>,
}

/// A change of an import.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ImportSteering {
    /// The columns whose fields differ from those that their names or the last import suggest. The columns that are
    /// given for a field are the only ones of that field; of several, the first that holds a usable value counts.
    #[schema(max_items = 500)]
    pub(super) columns: Option<Vec<ColumnChoice>>,
    /// Names of tags that every contact of the file gets.
    #[schema(max_items = 100)]
    pub(super) tags: Option<Vec<String>>,
    /// Another encoding for the file, such as `windows-1252`.
    pub(super) encoding: Option<String>,
    /// Two letters, such as `BR`: numbers without a plus sign are read as numbers of this country. An empty text: they
    /// are international.
    pub(super) country: Option<String>,
    /// Whether a name that looks wrongly decoded replaces a good one, `JoÃ£o` in place of `João`. Without it, the
    /// contact keeps its name.
    pub(super) replaces_names: Option<bool>,
    /// `;`, `,` or `|`: it separates the tags of a cell. `;` always does.
    pub(super) tag_separator: Option<String>,
    /// `start` starts the import after these changes; `cancel` cancels it and keeps the rows that are
    /// written. Without an action, the import is only changed.
    #[schema(value_type = Option<ImportAction>, example = "start")]
    pub(super) action: Option<String>,
}

/// The field of a column.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ColumnChoice {
    /// The column's name in the header, or `#` and its number, such as `#3` for the third column.
    #[schema(example = "Telefone")]
    column: String,
    /// `first_name`, `middle_name`, `last_name`, `name`, `organization`, `email`, `phone_number`, `phone_number_lid`,
    /// `profile_picture` or `tags`; `fields.KEY` for an own field. `ignored`: the column is not imported.
    #[schema(example = "phone_number")]
    field: String,
}

impl From<ColumnChoice> for Column {
    fn from(ColumnChoice { column, field }: ColumnChoice) -> Self {
        Self { column, field }
    }
}

impl From<imports::Import> for Import {
    fn from(import: imports::Import) -> Self {
        let settings = import_settings(&import);
        let fields = settings.fields().into_iter().map(|field| field.map(|field| field.word().into_owned()));
        let columns = settings.header.iter().zip(fields);
        let Counts {
            created,
            updated,
            unchanged,
            rejected,
            rejected_kept,
            without_number,
            names_kept,
            emails_left_out,
        } = import.counts;
        let wrong = |WrongBytes { count, line, offset }| ImportWrongBytes { count, line, offset };
        Self {
            id: import.id,
            file_name: import.file_name,
            state: import.state.as_str(),
            bytes: import.bytes,
            bytes_read: import.bytes_read,
            rows: import.counts.rows(),
            created,
            updated,
            unchanged,
            rejected,
            rejected_kept,
            without_number,
            names_kept,
            emails_left_out,
            error: import.failure,
            columns: columns.map(|(column, field)| ImportColumn { column: column.clone(), field }).collect(),
            encoding: settings.encoding,
            wrong_bytes: settings.wrong_bytes.map(wrong),
            country: settings.country,
            tag_separator: settings.tag_separator.map(String::from),
            sheet: settings.sheet.map(|sheet| sheet.name),
            replaces_names: settings.replaces_names,
            tags: settings.tags,
            created_at: import.created_at,
            updated_at: import.updated_at,
            started_at: import.started_at,
            finished_at: import.finished_at,
            preview: None,
        }
    }
}

impl From<Shown> for ImportPreview {
    fn from(shown: Shown) -> Self {
        let Counts { created, updated, unchanged, rejected, names_kept, emails_left_out, .. } = shown.counts;
        Self {
            looked_at: shown.counts.rows(),
            rows: shown.preview.rows,
            is_whole: shown.preview.is_whole,
            created,
            updated,
            unchanged,
            rejected,
            names_kept,
            emails_left_out,
            national: shown.national,
            problem: shown.preview.problem,
        }
    }
}
