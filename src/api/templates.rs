//! Templates, as the list shows them, and as programs write them.

pub(super) mod library;

use crate::engine::TemplateDesk;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::State;
use super::body::Body;
use super::envelope::Envelope;
use super::error::Error;
use super::list_query::Query;
use super::schema::{LibraryBodyInputs, LibraryButtonInput, TemplateParameterFormat, TemplatePart};
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::channel::Channel;
use crate::domain::template::{DraftFields, LIBRARY_NAME, LibraryFields};
use crate::engine::records::templates::{Filter, Record};
use crate::engine::{self, TemplateEdit, Who};
use crate::error::Code;

/// A template.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Template {
    /// The id, which a send gives as `template_id`.
    #[schema(example = 7)]
    pub(crate) id: i64,
    /// The name at the provider.
    #[schema(example = "order_shipped")]
    pub(crate) name: String,
    /// Its language.
    #[schema(example = "pt_BR")]
    pub(crate) language: String,
    /// The provider's category.
    #[schema(example = "UTILITY")]
    pub(crate) category: String,
    /// `APPROVED`, `PENDING` while the provider reviews it, `REJECTED`, `PAUSED`, `DISABLED`, or another word of the provider. Only
    /// approved ones can be sent, and are in the list.
    #[schema(example = "APPROVED")]
    pub(crate) status: String,
    /// Why the provider rejected it, in the provider's word; null when it did not.
    #[schema(example = "INVALID_FORMAT")]
    pub(crate) rejected_reason: Option<String>,
    /// How the provider rates it by what people do with its messages; null when unknown.
    #[schema(example = "GREEN")]
    pub(crate) quality_score: Option<String>,
    /// Whether a person archived it: the console does not offer it for new sends.
    pub(crate) archived: bool,
    /// How the template names its variables.
    #[schema(value_type = TemplateParameterFormat, example = "POSITIONAL")]
    pub(crate) parameter_format: &'static str,
    /// Header, body, footer and buttons as the provider gives them.
    #[schema(value_type = Vec<TemplatePart>)]
    pub(crate) components: Value,
    /// When Pombo first read the template.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) updated_at: Timestamp,
}

impl From<Record> for Template {
    fn from(record: Record) -> Self {
        // The provider may leave the components out.
        let components =
            if record.components.is_array() { record.components } else { Value::Array(Vec::new()) };
        Self {
            id: record.id,
            name: record.name,
            language: record.language,
            category: record.category.to_string(),
            status: record.status.to_string(),
            rejected_reason: record.rejected_reason,
            quality_score: record.quality_score,
            archived: record.archived_at.is_some(),
            parameter_format: record.parameter_format.as_str(),
            components,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}

bodies! {
    /// A template to create.
    pub(crate) struct TemplateWords of Value {
        /// 1 to 512 lower-case letters, digits and underscores. An account has one template of a name in each language.
        #[schema(example = "order_shipped")]
        name: String,
        /// Its language.
        #[schema(example = "pt_BR")]
        language: String,
        /// `MARKETING`, `UTILITY` or `AUTHENTICATION`.
        #[schema(example = "UTILITY")]
        category: String,
        /// When absent, the variables show it.
        parameter_format: Option<TemplateParameterFormat>,
        /// Header, body, footer and buttons in the provider's form, with an example of each variable. The sample of a header with
        /// a file is `example.header_handle`: an array with the `link` of a file of the library (`POST /api/v1/media`). Required
        /// unless there is a `library_template_name`.
        components: Option<Vec<TemplatePart>>,
        /// The name of a template of the provider's library, in place of `components`: the account gets a copy of it, which the
        /// provider usually approves at once. For business accounts alone.
        #[schema(example = "delivery_update_1")]
        library_template_name: Option<String>,
        /// Where the buttons of a template of the library lead to: an entry for each button that opens a page, calls a number or
        /// copies a code, in their order.
        library_template_button_inputs: Option<Vec<LibraryButtonInput>>,
        /// What is added to the text of a template of the library.
        library_template_body_inputs: Option<LibraryBodyInputs>,
    }

    /// A change of a template. Fields that are left out are kept. The provider reviews a changed text again.
    pub(crate) struct TemplatePatch of Value {
        /// Another category, which an approved template cannot have.
        #[schema(example = "UTILITY")]
        category: Option<String>,
        /// All parts, in place of those that it has.
        components: Option<Vec<TemplatePart>>,
        /// Whether the console leaves it out of new sends.
        archived: Option<bool>,
    }
}

/// Creates a template of a channel's account.
pub(super) async fn create(
    state: &State,
    channel: &Channel,
    who: &Who,
    body: Body,
) -> Result<HttpResponse, Error> {
    let (given, _room) = body.fields::<TemplateWords>(&state.options).await?;
    let TemplateWords {
        name,
        language,
        category,
        parameter_format,
        components,
        library_template_name,
        library_template_button_inputs,
        library_template_body_inputs,
    } = given;
    let (name, language, category) = (name.required()?, language.required()?, category.required()?);
    let desk = TemplateDesk::of(&state.engine, channel);
    let own = components.given().filter(|components| !components.is_null());
    let created = match library_template_name.text()? {
        None => {
            let draft = DraftFields {
                name,
                language,
                category,
                parameter_format: parameter_format.text()?,
                components: own.ok_or_else(|| components.missing())?,
                options: None,
            };
            desk.create(who, draft).await
        }
        Some(_) if own.is_some() => {
            let what = "is given with `components`: give one of them";
            return Err(library_template_name.refuse(Code::InvalidTemplate, what).into());
        }
        Some(in_library) => {
            let mut given = Map::from_iter([(LIBRARY_NAME.to_owned(), Value::from(in_library))]);
            let inputs = [
                ("library_template_button_inputs", library_template_button_inputs.given()),
                ("library_template_body_inputs", library_template_body_inputs.given()),
            ];
            for (field, value) in inputs {
                given.extend(value.map(|value| (field.to_owned(), value.clone())));
            }
            let asked = LibraryFields { name, language, category, given: &given };
            desk.create_from_library(who, asked).await
        }
    };
    let created = created.map_err(engine::Error::from)?;
    Ok(HttpResponse::Created().json(Template::from(created)))
}

/// Shows the template of the path, whatever its status.
pub(super) async fn show(state: &State, channel: &Channel, request: &HttpRequest) -> Result<Template, Error> {
    Ok(TemplateDesk::of(&state.engine, channel).one(id(request)).await?.into())
}

/// Changes the template of the path.
pub(super) async fn change(
    state: &State,
    channel: &Channel,
    (who, request): (&Who, &HttpRequest),
    body: Body,
) -> Result<Template, Error> {
    let (given, _room) = body.fields::<TemplatePatch>(&state.options).await?;
    let TemplatePatch { category, components, archived } = given;
    let (category, archived) = (category.text()?, archived.choice()?);
    let components = components.given().filter(|components| !components.is_null());
    let (desk, id) = (TemplateDesk::of(&state.engine, channel), id(request));
    let mut template = desk.one(id).await?;
    if category.is_some() || components.is_some() {
        let edit = TemplateEdit { category, components };
        template = desk.change(who, id, edit).await.map_err(engine::Error::from)?;
    }
    if let Some(archived) = archived {
        template = desk.archive(who, id, archived).await?;
    }
    Ok(template.into())
}

/// Deletes the template of the path.
pub(super) async fn delete(
    state: &State,
    channel: &Channel,
    who: &Who,
    request: &HttpRequest,
) -> Result<HttpResponse, Error> {
    let desk = TemplateDesk::of(&state.engine, channel);
    let template = desk.one(id(request)).await?;
    desk.delete(who, &template, false).await.map_err(engine::Error::from)?;
    Ok(HttpResponse::NoContent().finish())
}

/// The id of the template in the path, or 0, which no template has.
fn id(request: &HttpRequest) -> i64 {
    request.match_info().get("template").and_then(|id| id.parse().ok()).unwrap_or_default()
}

/// A page of the approved templates that a channel can send.
pub(super) async fn list(
    state: &State,
    channel: &Channel,
    query: &Query,
) -> Result<Envelope<Template>, Error> {
    let page = query.page()?;
    let (search, language, category) = (query.search()?, query.text("language")?, query.text("category")?);
    let filter = Filter {
        search: search.as_deref(),
        language: language.as_deref(),
        category: category.as_deref(),
        is_offered: false,
    };
    let records = state.engine.company(channel.company_id).await?;
    let templates = records.templates().approved(channel.template_account(), page, filter).await?;
    Ok(Envelope::new(page, templates))
}
