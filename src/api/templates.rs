//! Templates, as the list shows them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::State;
use super::envelope::Envelope;
use super::error::Error;
use super::list_query::Query;
use super::schema::{TemplateParameterFormat, TemplatePart};
use crate::clock::Timestamp;
use crate::domain::channel::Channel;
use crate::engine::records::templates::{Filter, Record};

/// An approved template.
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
    /// `APPROVED`.
    #[schema(example = "APPROVED")]
    pub(crate) status: String,
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
            parameter_format: record.parameter_format.as_str(),
            components,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
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
