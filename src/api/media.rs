//! The library of media: files that a company keeps, to send them.

mod serving;

use std::time::Instant;

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

pub(super) use self::serving::{__path_serve, serve};
use super::State;
use super::auth::{Author, Company};
use super::body::Body;
use super::envelope::{Answer, Envelope};
use super::error::{Error, ErrorBody};
use super::list_query::Query;
use super::path_id::Id;
use super::schema::MediaKind;
use super::uploaded::{AnyFile, FileForm, UploadedFile};
use crate::clock::Timestamp;
use crate::domain::link::file_link;
use crate::domain::media::Kind;
use crate::engine::records::media::LibraryFile;
use crate::error::Code;

/// A file of the library.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MediaFile {
    /// The id of the file.
    id: Uuid,
    /// What names the file where a send has the link of a file. It is no address.
    #[schema(example = "media:0190a0c4-7c1b-7f00-8f4e-2a9f54b2c001")]
    link: String,
    /// The type of message that it is sent as. Any file can also be sent as a `document`.
    #[schema(value_type = MediaKind)]
    kind: &'static str,
    /// Its type, by its content.
    #[schema(example = "image/jpeg")]
    mime_type: String,
    /// Its length in bytes.
    size: u64,
    /// Its name, which the recipient of a document sees.
    #[schema(example = "menu.pdf")]
    name: String,
    /// Its author: `key:` and the name of an API key, or `user:` and an e-mail.
    uploaded_by: String,
    /// When it was uploaded last.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When a send with it was last checked or accepted, to an hour; null when none was.
    #[schema(value_type = Option<String>, format = DateTime)]
    used_at: Option<Timestamp>,
    /// Where the file can be read without a key for a week, as a path below the address of this service.
    path: String,
}

impl MediaFile {
    fn new(state: &State, file: LibraryFile) -> Self {
        let LibraryFile {
            id,
            company_id: _,
            digest: _,
            kind,
            mime_type,
            bytes,
            name,
            has_thumbnail: _,
            uploaded_by,
            created_at,
            used_at,
        } = file;
        Self {
            id,
            link: file_link(id),
            kind: kind.as_str(),
            mime_type,
            size: bytes,
            name,
            uploaded_by,
            created_at,
            used_at,
            path: state.engine.media().signed_path(id),
        }
    }
}

/// List files
///
/// The files of the company's library, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/media",
    operation_id = "listMedia",
    params(
        ("page" = Option<u64>, Query, minimum = 1, description = "From 1; 1 when absent"),
        ("limit" = Option<u64>, Query, minimum = 1, description = "Records on a page; 10 when absent"),
        ("kind" = Option<MediaKind>, Query, description = "Only files that can be sent as this type of message"),
    ),
    responses((status = 200, description = "A page of files", body = Envelope<MediaFile>)),
)]
pub(super) async fn list(company: Company, state: Data<State>, query: Query) -> Answer<Envelope<MediaFile>> {
    let (page, kind) = (query.page()?, kind(&query)?);
    let files = state.engine.media().page(company.id, kind, page).await?;
    Ok(Json(Envelope::new(page, files.map(|file| MediaFile::new(&state, file)))))
}

/// Upload a file
///
/// The body is the file. As `multipart/form-data` it is the part `file`. Its type is determined from its content, and the type
/// of message from that: JPEG and PNG of at most 5 MiB are an `image`, MP4 and 3GP of at most 16 MiB a `video`, AAC, AMR, MP3,
/// M4A and Ogg with Opus of at most 16 MiB an `audio`, and WebP of 512 by 512 pixels and at most 500 KiB (100 KiB if it does not
/// move) a `sticker`. Any other file, and with `kind=document` any file, is a `document` of at most 100 MiB. A file with the same
/// content as one of the company is that file.
///
/// The `link` of the answer is given where a send has the link of a file. An upload that breaks off leaves nothing.
#[utoipa::path(
    post,
    path = "/api/v1/media",
    operation_id = "uploadMedia",
    params(
        ("name" = Option<String>, Query, description = "The name of the file; when absent, the name that a form gives, or one \
             that is made of the type. Folders and deceptive characters are left out, and 120 characters are kept"),
        ("kind" = Option<MediaKind>, Query, description = "The type of message that the file has to fit"),
    ),
    request_body(
        content((inline(AnyFile) = "application/octet-stream"), (FileForm = "multipart/form-data")),
        description = "The file",
    ),
    responses(
        (status = 201, description = "The file", body = MediaFile),
        (status = 409, description = "`media_library_full`", body = ErrorBody),
    ),
)]
pub(super) async fn upload(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    query: Query,
) -> Result<HttpResponse, Error> {
    let (name, kind) = (query.text("name")?, kind(&query)?);
    let (mut file, named) = UploadedFile::of(body, state.engine.media().largest()).await?;
    let mut upload = match state.engine.media().begin_upload(company.id).await {
        Ok(upload) => upload,
        Err(error) => {
            file.pass_over().await;
            return Err(error.into());
        }
    };
    while let Some(piece) = file.next().await? {
        let began = Instant::now();
        if let Err(error) = upload.write(piece).await {
            drop(upload);
            file.pass_over().await;
            return Err(error.into());
        }
        file.stored(began.elapsed());
    }
    let kept = upload.finish(&who, name.or(named).as_deref(), kind).await?;
    Ok(HttpResponse::Created().json(MediaFile::new(&state, kept)))
}

/// Show a file
///
/// What a file of the library is.
#[utoipa::path(
    get,
    path = "/api/v1/media/{id}",
    operation_id = "showMedia",
    params(("id" = Uuid, Path, description = "The file")),
    responses(
        (status = 200, description = "The file", body = MediaFile),
        (status = 404, description = "`media_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn show(company: Company, state: Data<State>, id: Id) -> Answer<MediaFile> {
    let file = state.engine.media().find(company.id, id.or_nil()).await?;
    Ok(Json(MediaFile::new(&state, file)))
}

/// Delete a file
///
/// No new send can use the file. Sends that were accepted before still have it: its content is deleted when they are over, an hour
/// later at the earliest.
#[utoipa::path(
    delete,
    path = "/api/v1/media/{id}",
    operation_id = "deleteMedia",
    params(("id" = Uuid, Path, description = "The file")),
    responses(
        (status = 204, description = "It is deleted"),
        (status = 404, description = "`media_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    state.engine.media().remove(&who, company.id, id.or_nil()).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `kind`, if it is given.
fn kind(query: &Query) -> Result<Option<Kind>, Error> {
    let word = query.text("kind")?;
    let kind = word.map(|word| word.parse::<Kind>()).transpose();
    kind.map_err(|_| {
        Error::of("kind", Code::InvalidField, "must be image, video, audio, document or sticker")
    })
}
