//! A person's profile picture, looked up through a web session.

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::own_channel;
use super::pairing::{no_object, number};
use crate::api::State;
use crate::api::auth::Company;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{ErrorBody, MessageBody};
use crate::api::path_id::Id;
use crate::domain::bodies;
use crate::domain::request::Number;
use crate::error::Code;

bodies! {
    /// The number whose picture is requested.
    pub(crate) struct PictureOf of Value {
        /// The person's number, with its country code.
        #[schema(example = "5511988887777")]
        phone_number: Number,
    }
}

/// The address of a person's picture.
#[derive(Serialize, ToSchema)]
#[schema(as = ProfilePicture)]
pub(crate) struct Picture {
    /// The number.
    #[schema(example = "5511988887777")]
    phone_number: String,
    /// The address of the picture, valid for some days; null when the person has none or hides it.
    profile_picture: Option<String>,
}

/// Ask for a profile picture
///
/// Looks up the address of a person's picture at WhatsApp, and stores it in the company's contacts with this
/// number.
#[utoipa::path(
    post,
    path = "/api/v1/web-chat/{id}/profile-picture",
    operation_id = "askForProfilePicture",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = PictureOf,
    responses(
        (status = 200, description = "Where it is", body = Picture),
        (status = 404, description = "No such channel in this company", body = MessageBody),
        (status = 409, description = "`session_disconnected`", body = ErrorBody),
        (status = 422, description = "`not_on_whatsapp`", body = ErrorBody),
        (status = 500, description = "An internal failure; the body has no details", body = MessageBody),
    ),
)]
pub(crate) async fn ask(company: Company, id: Id, body: Body, state: Data<State>) -> Answer<Picture> {
    let channel = own_channel(&state, company, id).await?;
    let (PictureOf { phone_number }, _room) =
        body.optional_fields(&state.options).await.map_err(no_object)?;
    let missing = || phone_number.refuse(Code::MissingPhoneNumber, "is missing: give a number");
    let number = number(&phone_number)?.ok_or_else(missing)?;
    let profile_picture = state.engine.web_sends().profile_picture(&channel, number).await?;
    Ok(Json(Picture { phone_number: number.to_string(), profile_picture }))
}
