//! The profile of a business account's number: what people see who look at it in WhatsApp.

use crate::engine::TemplateDesk;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::own_channel;
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::domain::bodies;
use crate::domain::channel::Channel;
use crate::domain::link::file_id;
use crate::engine;
use crate::error::Code;

/// The profile of a number. What the provider does not have is null.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BusinessProfile {
    /// One line about the business.
    #[schema(example = "Open till nine")]
    about: Option<String>,
    /// Where it is.
    #[schema(example = "Rua das Flores 7, Porto Alegre")]
    address: Option<String>,
    /// What it does.
    #[schema(example = "Bread and cake since 1987")]
    description: Option<String>,
    /// Its e-mail.
    #[schema(example = "shop@example.com")]
    email: Option<String>,
    /// The trade, in the provider's word.
    #[schema(example = "RETAIL")]
    vertical: Option<String>,
    /// Its websites.
    websites: Vec<String>,
    /// The address of its picture at the provider, which ends after some time.
    picture_url: Option<String>,
}

bodies! {
    /// Fields of a profile to change. Fields that are left out are kept. An empty text removes one where the provider
    /// allows that.
    pub(crate) struct ProfilePatch of Value {
        /// At most 139 characters.
        #[schema(example = "Open till nine")]
        about: Option<String>,
        /// At most 256 characters.
        #[schema(example = "Rua das Flores 7, Porto Alegre")]
        address: Option<String>,
        /// At most 512 characters.
        #[schema(example = "Bread and cake since 1987")]
        description: Option<String>,
        /// At most 128 characters.
        #[schema(example = "shop@example.com")]
        email: Option<String>,
        /// The trade, in the provider's word.
        #[schema(example = "RETAIL")]
        vertical: Option<String>,
        /// Two at most, of 256 characters.
        websites: Option<Vec<String>>,
        /// The `link` of a picture of the library (`POST /api/v1/media`).
        picture: Option<String>,
    }
}

impl From<Map<String, Value>> for BusinessProfile {
    fn from(given: Map<String, Value>) -> Self {
        let text = |name: &str| {
            let text = given.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let websites = given.get("websites").and_then(Value::as_array).into_iter().flatten();
        Self {
            about: text("about"),
            address: text("address"),
            description: text("description"),
            email: text("email"),
            vertical: text("vertical"),
            websites: websites.filter_map(Value::as_str).map(str::to_owned).collect(),
            picture_url: text("profile_picture_url"),
        }
    }
}

/// Show the profile of a number
///
/// The provider is asked each time.
#[utoipa::path(
    get,
    path = "/api/v1/chat/{id}/profile",
    operation_id = "showProfile",
    params(("id" = Uuid, Path, description = "The channel")),
    responses(
        (status = 200, description = "The profile", body = BusinessProfile),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`", body = ErrorBody),
        (status = 422, description = "`provider_refused`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(company: Company, id: Id, state: Data<State>) -> Answer<BusinessProfile> {
    let channel = own_channel(&state, company, id).await?;
    read(&state, &channel).await.map(Json)
}

/// Change the profile of a number
///
/// The fields are passed to the provider, with the picture itself in place of its link.
#[utoipa::path(
    patch,
    path = "/api/v1/chat/{id}/profile",
    operation_id = "changeProfile",
    params(("id" = Uuid, Path, description = "The channel")),
    request_body = ProfilePatch,
    responses(
        (status = 200, description = "The profile, changed", body = BusinessProfile),
        (status = 403, description = "`credential_resource_mismatch`", body = ErrorBody),
        (status = 404, description = "`channel_not_found`, `media_not_found`", body = ErrorBody),
        (status = 422, description = "`provider_refused`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
) -> Answer<BusinessProfile> {
    let channel = own_channel(&state, company, id).await?;
    let (given, _room) = body.fields::<ProfilePatch>(&state.options).await?;
    let ProfilePatch { about, address, description, email, vertical, websites, picture } = given;
    let mut fields = Map::new();
    for (name, value) in [
        ("about", about.given()),
        ("address", address.given()),
        ("description", description.given()),
        ("email", email.given()),
        ("vertical", vertical.given()),
        ("websites", websites.given()),
    ] {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(link) = picture.text()? {
        if file_id(link).is_none() {
            let what = "must be the `link` of a file of the library: upload it with POST /api/v1/media";
            return Err(picture.refuse(Code::InvalidField, what).into());
        }
        fields.insert("profile_picture_handle".to_owned(), link.into());
    }
    let desk = TemplateDesk::of(&state.engine, &channel);
    desk.set_profile(&who, &fields).await.map_err(engine::Error::from)?;
    read(&state, &channel).await.map(Json)
}

async fn read(state: &State, channel: &Channel) -> Result<BusinessProfile, Error> {
    let profile = TemplateDesk::of(&state.engine, channel).profile().await.map_err(engine::Error::from)?;
    Ok(profile.into())
}
