//! Linking a web session to a phone.
//!
//! Answers contain secrets of the device that is being linked, which are only for the person with the phone: no
//! cache or log may keep them.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CacheControl, CacheDirective};
use actix_web::web::Data;
use qrcode::QrCode;
use qrcode::render::svg;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::own_channel;
use crate::api::State;
use crate::api::auth::Company;
use crate::api::body::Body;
use crate::api::channels::StatusReason;
use crate::api::error::{Error, ErrorBody, MessageBody};
use crate::api::path_id::Id;
use crate::api::schema::{ChannelStatus, PairingState};
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::domain::channel::Channel;
use crate::domain::phone::PhoneNumber;
use crate::domain::request::Number;
use crate::engine::web_session::{Pairing as Progress, Passkey, Shown, Stage};
use crate::error::Code;

bodies! {
    /// How to link a phone.
    pub(crate) struct PairingStart of Value {
        /// The phone's number, to get a code to type into the phone. Without it there are only QR codes.
        #[schema(example = "5511988887777")]
        phone_number: Option<Number>,
    }
}

/// The state of a channel's pairing with a phone.
#[derive(Serialize, ToSchema)]
pub(crate) struct Pairing {
    /// `unlinked`: no phone is linked, and no pairing has begun; `status_reason` says how the last attempt
    /// ended. `starting`: a code will follow. `waiting`: the service waits for the phone. `passkey_required`:
    /// the phone accepted the code, and WhatsApp asks for a passkey of the account. `passkey_confirm`: the
    /// phone shows a code, which has to be compared. `linking`: the phone accepted the device. `linked`: a
    /// phone is linked.
    #[schema(value_type = PairingState, example = "waiting")]
    state: &'static str,
    /// A sentence for the person: what the phone shows, and what to do now.
    instruction: &'static str,
    /// The QR code to scan; only the newest code is valid. Null when there is nothing to scan.
    qr: Option<Qr>,
    /// The code to type into the phone, if one was requested.
    pairing_code: Option<PairingCode>,
    /// Why there is no such code although one was requested.
    pairing_code_failure: Option<String>,
    /// The passkey gate, while the state is `passkey_required` or `passkey_confirm`; null otherwise.
    passkey: Option<PairingPasskey>,
    /// The number of the phone that is, or was, linked.
    #[schema(example = "+5511988887777")]
    phone_number: Option<String>,
    /// The status of the channel.
    #[schema(value_type = ChannelStatus, example = "pairing")]
    status: &'static str,
    /// Why the channel is not connected, or is connected with restrictions; null otherwise.
    status_reason: Option<StatusReason>,
}

/// A QR code. It is a secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct Qr {
    /// The text of the code.
    payload: String,
    /// The code as an SVG image.
    svg: String,
    /// When another code replaces it.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// A code to be typed. It is a secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct PairingCode {
    /// Eight characters.
    #[schema(example = "K7XQ2M9P")]
    code: String,
    /// Until when it is valid.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// The passkey gate of a pairing. The challenge is at the path of the pairing followed by `/passkey`.
#[derive(Serialize, ToSchema)]
pub(crate) struct PairingPasskey {
    /// Eight characters that the phone shows too, while the state is `passkey_confirm`. It is a secret.
    #[schema(example = "ABCD-1234")]
    code: Option<String>,
    /// Until when WhatsApp waits.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// Whether this step is answered, so that the rest happens on the phone.
    waits_for_phone: bool,
}

/// Show the pairing
///
/// The state of the pairing, with the code that the person has to scan or type. Poll it about once a second
/// while a person looks at it: a QR code is valid for 20 seconds.
#[utoipa::path(
    get,
    path = "/api/v1/web-chat/{id}/pairing",
    operation_id = "showPairing",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "The state of the pairing", body = Pairing),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 501, description = "`feature_unavailable`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(company: Company, id: Id, state: Data<State>) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    let progress = state.engine.phones().pairing(channel.id).await?;
    answer(&state, &channel, progress, HttpResponse::Ok()).await
}

/// Begin the pairing
///
/// Begins to link a phone. While a pairing is in progress, the request does nothing more. For a channel that is
/// linked, it only opens the session again if that had ended. With a `phone_number`, a code to type is
/// requested in addition to the QR codes, unless there is one for this number. WhatsApp gives a number only a
/// few such codes in an hour.
#[utoipa::path(
    post,
    path = "/api/v1/web-chat/{id}/pairing",
    operation_id = "beginPairing",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body(content = Option<PairingStart>, description = "May be left out"),
    responses(
        (status = 202, description = "The pairing has begun, or was in progress", body = Pairing),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 501, description = "`feature_unavailable`", body = ErrorBody),
        (status = 500, description = "An internal failure; the body has no details", body = MessageBody),
    ),
)]
pub(crate) async fn begin(
    company: Company,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    let (PairingStart { phone_number }, _room) =
        body.optional_fields(&state.options).await.map_err(no_object)?;
    let number = number(&phone_number)?;
    let progress = state.engine.phones().pair(&channel, number).await?;
    answer(&state, &channel, progress, HttpResponse::Accepted()).await
}

/// Unlink the phone
///
/// Removes the device from the phone's list, if there is a connection, and deletes all its keys. Ends a pairing
/// that is in progress. Does nothing to a channel without a phone. The request may take some seconds.
#[utoipa::path(
    delete,
    path = "/api/v1/web-chat/{id}/pairing",
    operation_id = "unlink",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 204, description = "No phone is linked any more"),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 501, description = "`feature_unavailable`", body = ErrorBody),
    ),
)]
pub(crate) async fn end(company: Company, id: Id, state: Data<State>) -> Result<HttpResponse, Error> {
    let channel = own_channel(&state, company, id).await?;
    state.engine.phones().unlink(&channel).await?;
    Ok(HttpResponse::NoContent().insert_header(no_store()).finish())
}

async fn answer(
    state: &State,
    channel: &Channel,
    progress: Progress,
    mut answer: actix_web::HttpResponseBuilder,
) -> Result<HttpResponse, Error> {
    // Cached copies of the channel may be slightly out of date.
    let newest = state.engine.company(channel.company_id).await?.channels().find(channel.id).await?;
    let newest = newest.ok_or(Error::UnknownChannel)?;
    let instruction = progress.instruction();
    let Progress { stage, qr, code, code_failure, passkey } = progress;
    let qr = qr.map(|Shown { secret, expires_at }| {
        let drawn = QrCode::new(secret.expose()).map_err(|error| {
            tracing::error!(%error, "the pairing code does not fit into a QR code");
            Error::Internal
        })?;
        let svg = drawn.render::<svg::Color<'_>>().min_dimensions(256, 256).build();
        Ok::<_, Error>(Qr { payload: secret.expose().to_owned(), svg, expires_at })
    });
    let pairing = Pairing {
        state: stage.as_str(),
        instruction,
        qr: qr.transpose()?.filter(|_| stage == Stage::Waiting),
        pairing_code: code
            .map(|Shown { secret, expires_at }| PairingCode { code: secret.expose().to_owned(), expires_at }),
        pairing_code_failure: code_failure,
        passkey: passkey.map(|Passkey { challenge: _, code, expires_at, waits_for_phone }| PairingPasskey {
            code: code.map(|code| code.expose().to_owned()),
            expires_at,
            waits_for_phone,
        }),
        phone_number: newest.phone_number,
        status: newest.connection.status.as_str(),
        status_reason: newest.connection.reason.map(StatusReason::from),
    };
    Ok(answer.insert_header(no_store()).json(pairing))
}

pub(super) fn no_store() -> (actix_web::http::header::HeaderName, CacheControl) {
    (CACHE_CONTROL, CacheControl(vec![CacheDirective::NoStore]))
}

/// A body that may be left out says so when it is no object.
pub(super) fn no_object(error: Error) -> Error {
    match error {
        Error::Refused(refusal) if refusal.code == Code::InvalidBody => {
            Error::refused(Code::InvalidBody, "the body is not a JSON object: leave it out, or give one")
        }
        other => other,
    }
}

/// The number, if one was given.
pub(super) fn number<T>(field: &Field<Value, T>) -> Result<Option<PhoneNumber>, Error> {
    let wrong = |wrong| {
        let sentence = format!("{wrong}: give it with its country code");
        field.refuse(Code::InvalidPhoneNumber, sentence)
    };
    Ok(field.number()?.map(|text| PhoneNumber::parse(&text)).transpose().map_err(wrong)?)
}
