//! Files that are uploaded, read piece by piece.

use std::time::Duration;

use actix_web::web::Bytes;
use utoipa::ToSchema;

use super::body::Body;
use super::error::Error;
use crate::error::Code;
use crate::surface::body::{Fault, Pieces};
use crate::surface::multipart::Multipart;

/// What a form may have around its file, in bytes.
const AROUND: usize = 64 * 1024;

/// The file, as it is.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct AnyFile(String);

/// A form with the file.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct FileForm {
    /// The file. Other parts of the form have no effect.
    #[schema(value_type = String, format = Binary)]
    file: String,
}

/// A file that arrives: as the body, or as a part of a form.
pub(super) enum UploadedFile {
    Body(Pieces),
    Part(Multipart),
}

impl UploadedFile {
    /// The file of a body, of at most `most` bytes, and its name if a form gives one.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a form without the part `file`, and those of reading a body.
    pub(super) async fn of(body: Body, most: usize) -> Result<(Self, Option<String>), Error> {
        if !Multipart::is(&body) {
            return Ok((Self::Body(body.pieces(most)?), None));
        }
        let mut parts = Multipart::new(body, most + AROUND)?;
        while let Some(part) = parts.next().await? {
            if part.name == "file" {
                let name = part.file_name.filter(|name| !name.trim().is_empty());
                return Ok((Self::Part(parts), name));
            }
        }
        Err(Error::of("file", Code::InvalidField, "is no part of the form: give the file there"))
    }

    /// The next piece; `None` at the end of the body.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        match self {
            Self::Body(pieces) => pieces.next().await,
            Self::Part(parts) => {
                let piece = parts.piece().await?;
                if piece.is_none() {
                    // A form that breaks off after the file may have broken off in the file.
                    while parts.next().await?.is_some() {}
                }
                Ok(piece)
            }
        }
    }

    /// Must be called with the time that storing a piece took: see [`Pieces::stored`].
    pub(super) fn stored(&mut self, took: Duration) {
        match self {
            Self::Body(pieces) => pieces.stored(took),
            Self::Part(parts) => parts.stored(took),
        }
    }

    /// Reads and discards the rest for a moment, so that the client gets the refusal.
    pub(super) async fn pass_over(&mut self) {
        match self {
            Self::Body(pieces) => pieces.pass_over().await,
            Self::Part(parts) => parts.pass_over().await,
        }
    }
}
