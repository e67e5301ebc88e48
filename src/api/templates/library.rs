//! The provider's library of templates, as programs search it.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::State;
use crate::api::error::Error;
use crate::api::list_query::Query;
use crate::api::schema::TemplatePart;
use crate::domain::channel::Channel;
use crate::domain::template::{LibraryPage, LibraryQuery, LibraryTemplate};
use crate::engine::{self, TemplateDesk};
use crate::error::Code;

/// The most characters of a parameter.
const LONGEST: usize = 512;

/// A template of the provider's library, in one language.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LibraryEntry {
    /// Its name in the library: give it as `library_template_name`.
    #[schema(example = "delivery_update_1")]
    name: String,
    /// Its language.
    #[schema(example = "pt_BR")]
    language: String,
    /// Its category, which templates that are made of it have, too.
    #[schema(example = "UTILITY")]
    category: String,
    /// Its topic, in the provider's word; empty when the provider names none.
    #[schema(example = "ORDER_MANAGEMENT")]
    topic: String,
    /// The occasion for it, in the provider's word; empty when the provider names none.
    #[schema(example = "DELIVERY_UPDATE")]
    usecase: String,
    /// The trades that it suits, in the provider's words.
    #[schema(example = json!(["E_COMMERCE"]))]
    industries: Vec<String>,
    /// Header, body, footer and buttons as a template has them, with examples of the variables. The addresses and numbers of its
    /// buttons are examples, too: yours go into `library_template_button_inputs`.
    #[schema(value_type = Vec<TemplatePart>)]
    components: Value,
}

/// A part of the provider's library.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LibraryPart {
    /// The templates, each in one language.
    data: Vec<LibraryEntry>,
    /// The `cursor` of the templates that follow; absent when none do.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl From<LibraryTemplate> for LibraryEntry {
    fn from(template: LibraryTemplate) -> Self {
        let LibraryTemplate { name, language, category, topic, usecase, industries, components } = template;
        Self { name, language, category: category.to_string(), topic, usecase, industries, components }
    }
}

impl From<LibraryPage> for LibraryPart {
    fn from(LibraryPage { templates, after }: LibraryPage) -> Self {
        Self { data: templates.into_iter().map(Into::into).collect(), next_cursor: after }
    }
}

/// Searches the library with the token of a channel.
pub(in crate::api) async fn list(
    state: &State,
    channel: &Channel,
    query: &Query,
) -> Result<LibraryPart, Error> {
    let text = |name: &str| match query.text(name)? {
        Some(text) if text.chars().count() > LONGEST => {
            Err(Error::of(name, Code::InvalidField, format_args!("is over {LONGEST} characters")))
        }
        text => Ok(text),
    };
    let (search, name, language) = (query.search()?, text("name")?, text("language")?);
    let (topic, usecase, industry) = (text("topic")?, text("usecase")?, text("industry")?);
    let after = text("cursor")?;
    let asked = LibraryQuery {
        name: name.as_deref(),
        search: search.as_deref(),
        topic: topic.as_deref(),
        usecase: usecase.as_deref(),
        industry: industry.as_deref(),
        language: language.as_deref(),
        after: after.as_deref(),
    };
    let part = TemplateDesk::of(&state.engine, channel).library(&asked).await.map_err(engine::Error::from)?;
    Ok(part.into())
}
