//! Imports of contacts from files.

use std::io;
use std::time::Instant;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Json};
use futures_util::Stream;
use futures_util::stream::try_unfold;
use uuid::Uuid;

use super::fields::{self, invalid, wrong_field};
use super::import_record::{Import, ImportSteering};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::Query;
use crate::api::path_id::Id;
use crate::api::uploaded::{AnyFile, FileForm, UploadedFile};
use crate::domain::phone::Country;
use crate::engine::records::imports::State as Stage;
use crate::engine::{Engine, ImportChange, NewSeparator, NewUpload, import_settings};
use crate::import::{Column, TAG_SEPARATORS, rejected_csv};

/// Characters of a file's name that are kept.
const LONGEST_NAME: usize = 200;
/// Rejected rows in each read and write.
const STRETCH: u32 = 500;
/// The columns that a file of rejected rows has before the columns of the uploaded file.
const REJECTED: [&str; 3] = ["line", "reason", "code"];

/// List imports
///
/// The company's imports, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/imports",
    operation_id = "listImports",
    params(
        ("page" = Option<u64>, Query, minimum = 1, description = "From 1; 1 when absent"),
        ("limit" = Option<u64>, Query, minimum = 1, description = "Records on a page; 10 when absent"),
    ),
    responses((status = 200, description = "A page of imports", body = Envelope<Import>)),
)]
pub(crate) async fn list(company: Company, state: Data<State>, query: Query) -> Answer<Envelope<Import>> {
    let page = query.page()?;
    let imports = state.engine.company(company.id).await?.imports().page(page).await?;
    Ok(Json(Envelope::new(page, imports)))
}

/// Upload a file of contacts
///
/// The body is a CSV file whose first line names at most 500 columns; lines with one text before it are titles. Or it is
/// an Excel file (`.xlsx`), of which the first sheet is read. As `multipart/form-data` it is the part `file`. The file is kept until the import is over. Unless
/// `start` is true, it is not imported yet: check the columns and the preview, then start the import. An upload
/// that breaks off leaves nothing. A company has at most five unfinished imports.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/imports",
    operation_id = "uploadContacts",
    params(
        ("file_name" = Option<String>, Query, description = "A name by which people recognise the file; when absent, \
             the name that a form gives, or `contacts.csv`"),
        ("encoding" = Option<String>, Query, description = "Such as `windows-1252`; without it, the file is \
             UTF-8 or begins with a byte order mark; `auto` guesses from the whole file, and a few bytes that are not \
             valid UTF-8 only reject their rows"),
        ("country" = Option<String>, Query, description = "Two letters, such as `BR`: numbers without a plus sign are \
             read as numbers of this country; without it, they are international"),
        ("tags" = Option<String>, Query, description = "Names of tags that every contact of the file gets, \
             separated by semicolons; with those in its row, at most 100"),
        ("tag_separator" = Option<String>, Query, description = "`,` or `|`: it separates the tags of a cell too; \
             without it, only `;` does"),
        ("start" = Option<bool>, Query, description = "Start the import as soon as the file is whole"),
    ),
    request_body(
        content((inline(AnyFile) = "text/csv"), (FileForm = "multipart/form-data")),
        description = "The file",
    ),
    responses(
        (status = 201, description = "The import", body = Import),
        (status = 409, description = "`too_many_imports`", body = ErrorBody),
    ),
)]
pub(crate) async fn upload(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    query: Query,
) -> Result<HttpResponse, Error> {
    let starts = query.flag("start")?;
    let (mut file, named) = UploadedFile::of(body, state.engine.imports().largest()).await?;
    let name = query.text("file_name")?.or(named).unwrap_or_else(|| "contacts.csv".to_owned());
    let tags = query.text("tags")?.unwrap_or_default();
    let tags = tags.split(';').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned);
    let new = NewUpload {
        file_name: name.chars().take(LONGEST_NAME).collect(),
        encoding: query.text("encoding")?,
        tags: fields::tags(&tags.collect::<Vec<_>>()).map_err(invalid("tags"))?,
        country: query
            .text("country")?
            .filter(|code| !code.is_empty())
            .map(|code| country(&code))
            .transpose()?,
        tag_separator: match query.text("tag_separator")? {
            Some(separator) => NewSeparator::Given(tag_separator(&separator)?),
            None => NewSeparator::Usual,
        },
    };
    let mut upload = state.engine.imports().begin_upload(company.id, new).await?;
    while let Some(piece) = file.next().await? {
        let began = Instant::now();
        if let Err(error) = upload.write(&piece).await {
            drop(upload);
            file.pass_over().await;
            return Err(error.into());
        }
        file.stored(began.elapsed());
    }
    let import = upload.finish().await?;
    if starts {
        state.engine.imports().start(&who, company.id, import.id).await?;
    }
    let shown = shown(&state, company, import.id).await?;
    Ok(HttpResponse::Created().json(shown))
}

/// Show an import
///
/// The progress of the import; while it is `ready`, also the beginning of the file and the result for its
/// rows.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/imports/{id}",
    operation_id = "showImport",
    params(("id" = Uuid, Path, description = "The import")),
    responses(
        (status = 200, description = "The import", body = Import),
        (status = 404, description = "`import_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn one(company: Company, state: Data<State>, id: Id) -> Answer<Import> {
    Ok(Json(shown(&state, company, id.or_nil()).await?))
}

/// Change, start or cancel an import
///
/// The service runs the import in the background and continues it after a restart. The fields of the columns
/// are remembered for the next file. `too_many_columns` and `too_many_mappings` refuse more than 500.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/imports/{id}",
    operation_id = "steerImport",
    params(("id" = Uuid, Path, description = "The import")),
    request_body = ImportSteering,
    responses(
        (status = 200, description = "The import", body = Import),
        (status = 404, description = "`import_not_found`", body = ErrorBody),
        (status = 409, description = "`import_has_begun`", body = ErrorBody),
    ),
)]
pub(crate) async fn steer(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Import> {
    let id = id.or_nil();
    let (steering, _room) = fields::read(body, &state).await?;
    let ImportSteering { columns, tags, encoding, country: code, replaces_names, tag_separator, action } =
        steering;
    let action = action.filter(|action| !action.is_empty());
    let starts = match action.as_deref() {
        None => false,
        Some("start") => true,
        Some("cancel") => {
            state.engine.imports().cancel(&who, company.id, id).await?;
            return Ok(Json(shown(&state, company, id).await?));
        }
        Some(_) => return Err(wrong_field("action", "must be start or cancel")),
    };
    let tags = tags.as_deref().map(fields::tags).transpose().map_err(invalid("tags"))?;
    let encoding = encoding.filter(|encoding| !encoding.is_empty());
    let columns: Option<Vec<Column>> = columns.map(|columns| columns.into_iter().map(Into::into).collect());
    let has_nul = |column: &Column| column.column.contains('\0');
    if columns.iter().flatten().any(has_nul) {
        return Err(invalid("columns")("a name of `columns` holds a NUL".to_owned()));
    }
    let country = match code.as_deref() {
        None => None,
        Some("") => Some(None),
        Some(code) => Some(Some(country(code)?)),
    };
    let tag_separator = tag_separator.filter(|separator| !separator.is_empty());
    let tag_separator = tag_separator.map(|separator| self::tag_separator(&separator)).transpose()?;
    let change =
        ImportChange { columns, chosen: None, tags, encoding, country, replaces_names, tag_separator };
    if change != ImportChange::default() {
        state.engine.imports().change(company.id, id, change).await?;
    }
    if starts {
        state.engine.imports().start(&who, company.id, id).await?;
    }
    Ok(Json(shown(&state, company, id).await?))
}

/// Download rejected rows
///
/// At most the first 10,000 rejected rows as CSV, each with its line, the reason in English and a code. Correct
/// the rows, and the file can be uploaded again. The codes are `field_count`, `nul`, `too_long`,
/// `too_many_tags`, `picture_address`, `nobody`, `wrong_address`, `number_without_digits`, `number_too_short`, `number_too_long`,
/// `number_begins_with_zero`, `number_is_national`, `number_is_lid`, `number_is_id`, `number_is_address`,
/// `number_has_extension`, `several_numbers`, `number_is_date`, `number_has_letters`, `number_is_unclear`,
/// `number_rounded`, `lid_rounded`, `field_not_number`, `field_number_unclear`, `field_not_date`, `field_date_unclear`,
/// `wrong_byte`, `stray_quote`, `unclosed_quote` and `line_too_long`.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/imports/{id}/rejected",
    operation_id = "downloadRejectedRows",
    params(("id" = Uuid, Path, description = "The import")),
    responses(
        (status = 200, description = "The rows", body = String, content_type = "text/csv"),
        (status = 404, description = "`import_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn rejected(company: Company, state: Data<State>, id: Id) -> Result<HttpResponse, Error> {
    let import = state.engine.imports().find(company.id, id.or_nil()).await?;
    let rows = rows(state.engine.clone(), company.id, import.id, import_settings(&import).header);
    Ok(HttpResponse::Ok().content_type("text/csv; charset=utf-8").streaming(rows))
}

/// The country of these two letters.
fn country(code: &str) -> Result<Country, Error> {
    Country::parse(code)
        .ok_or_else(|| wrong_field("country", "must be the two letters of a country, such as BR"))
}

/// The separator of tags in this text.
fn tag_separator(text: &str) -> Result<char, Error> {
    let known = TAG_SEPARATORS.into_iter().find(|separator| text.chars().eq([*separator]));
    known.ok_or_else(|| wrong_field("tag_separator", "must be `;`, `,` or `|`"))
}

async fn shown(state: &State, company: Company, id: Uuid) -> Result<Import, Error> {
    let import = state.engine.imports().find(company.id, id).await?;
    let is_ready = import.state == Stage::Ready;
    let mut record = Import::from(import);
    if is_ready {
        let shown = state.engine.imports().show(company.id, id).await?;
        record.preview = Some(shown.into());
    }
    Ok(record)
}

/// Streams all kept rejected rows in parts; each part is read once the client has received the one before.
pub(crate) fn rows(
    engine: Engine,
    company_id: Uuid,
    import: Uuid,
    header: Vec<String>,
) -> impl Stream<Item = Result<Bytes, io::Error>> {
    try_unfold((0_u64, false), move |(from, is_over)| {
        let (engine, header) = (engine.clone(), header.clone());
        async move {
            if is_over {
                return Ok(None);
            }
            let broken = |error: &dyn std::fmt::Display| {
                tracing::error!(%error, "a list of rejected rows broke off");
                io::Error::other("the list broke off")
            };
            let records = engine.company(company_id).await.map_err(|error| broken(&error))?;
            let rows = records.imports().rejected(import, from, STRETCH).await;
            let rows = rows.map_err(|error| broken(&error))?;
            let header = (from == 0).then_some(header.as_slice());
            let written = rejected_csv(b',', REJECTED.map(str::to_owned), header, &rows, |row| {
                [row.line.to_string(), row.reason.clone(), row.code.clone().unwrap_or_default()]
            });
            let next = (from + rows.len() as u64, rows.len() < STRETCH as usize);
            Ok(Some((Bytes::from(written), next)))
        }
    })
}
