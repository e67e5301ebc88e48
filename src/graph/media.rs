//! Files: uploaded to be sent, described with an address to read them at, and deleted.
//!
//! A file's id is made of the id in the company's library, or of the message that brought it. The address is signed: it can be
//! read with the key or without, until it expires.

use std::time::Instant;

use actix_web::HttpResponse;
use serde_json::json;
use uuid::Uuid;

use super::call::Call;
use super::form::UploadForm;
use super::refusal::DoorRefusal;
use crate::domain::graph::media_id;
use crate::engine;
use crate::engine::records::media::LibraryFile;
use crate::error::Code;

/// Takes a file for one of the channels; every channel of the company can send it.
pub(super) async fn upload(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    call.number(call.path.at(0)).await?;
    let most = call.state.engine.media().largest();
    let form = call.form(most).await?.ok_or_else(|| {
        DoorRefusal::because(100, "give the file as the part `file` of a form (multipart/form-data)")
    })?;
    let UploadForm { mut parts, file, .. } = form;
    let name = file
        .ok_or_else(|| DoorRefusal::because(131_008, "`file` is no part of the form: give the file there"))?;
    let mut upload = match call.state.engine.media().begin_upload(call.caller.company_id).await {
        Ok(upload) => upload,
        Err(error) => {
            parts.pass_over().await;
            return Err(error.into());
        }
    };
    while let Some(piece) = parts.piece().await? {
        let began = Instant::now();
        if let Err(error) = upload.write(piece).await {
            drop(upload);
            parts.pass_over().await;
            return Err(error.into());
        }
        parts.stored(began.elapsed());
    }
    // A form that breaks off after the file may have broken off in the file.
    while parts.next().await?.is_some() {}
    let kept = upload.finish(&call.who(), name.as_deref(), None).await?;
    Ok(HttpResponse::Ok().json(json!({ "id": media_id(kept.id) })))
}

/// Describes a file.
pub(super) async fn show(call: &Call, id: Uuid) -> Result<HttpResponse, DoorRefusal> {
    let file = call.door().file(id).await?.ok_or_else(|| lost(call))?;
    let LibraryFile { id, mime_type, bytes, digest, .. } = file;
    Ok(HttpResponse::Ok().json(json!({
        "messaging_product": "whatsapp",
        "url": format!("{}{}", call.base(), call.state.engine.media().signed_path(id)),
        "mime_type": mime_type,
        "sha256": hex::encode(digest),
        "file_size": bytes,
        "id": media_id(id),
    })))
}

/// Deletes a file of the library. A key that is for some channels deletes only files that came with it: the same content has one
/// id in the company, and others may send it.
pub(super) async fn delete(call: &Call, id: Uuid) -> Result<HttpResponse, DoorRefusal> {
    let (company, who, media) = (call.caller.company_id, call.who(), call.state.engine.media());
    let refused = |error| match error {
        engine::Error::Refused(refusal) if refusal.code == Code::MediaNotFound => lost(call),
        error => error.into(),
    };
    if call.caller.channels.is_some() {
        let file = media.find(company, id).await.map_err(refused)?;
        if file.uploaded_by != who.to_string() {
            let details = "this file did not come with this key alone: a key for some channels deletes only files that did";
            return Err(DoorRefusal::because(10, details));
        }
    }
    media.remove(&who, company, id).await.map_err(refused)?;
    Ok(HttpResponse::Ok().json(json!({ "success": true })))
}

/// A file that is not there, or not any more: programs stop asking for it, and go on with their key.
fn lost(call: &Call) -> DoorRefusal {
    call.unsupported().with_status(404)
}
