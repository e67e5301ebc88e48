//! Pages of the provider's list of templates.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::lenient::without_nul;
use crate::Error;
use domain::template::{ListedTemplate, ParameterFormat};

/// The requested fields; the provider leaves some of them out unless they are requested.
pub(super) const FIELDS: &str =
    "id,name,language,status,category,components,parameter_format,rejected_reason,quality_score";

/// One page, and the cursor of the next when there is one.
pub(super) struct TemplatePage {
    pub(super) templates: Vec<ListedTemplate>,
    pub(super) after: Option<String>,
}

#[derive(Deserialize)]
struct List {
    data: Vec<Item>,
    paging: Option<Paging>,
}

/// The last page has cursors, too: only `next` says that there are more pages.
#[derive(Deserialize)]
pub(super) struct Paging {
    next: Option<String>,
    cursors: Option<Cursors>,
}

#[derive(Deserialize)]
struct Cursors {
    after: Option<String>,
}

impl Paging {
    /// The cursor of the next part; `None` for the last one.
    pub(super) fn after(self) -> Option<String> {
        self.next.and(self.cursors).and_then(|cursors| cursors.after)
    }
}

#[derive(Deserialize)]
struct Item {
    id: Value,
    name: String,
    language: String,
    status: String,
    #[serde(default)]
    category: String,
    components: Option<Box<RawValue>>,
    parameter_format: Option<String>,
    rejected_reason: Option<String>,
    quality_score: Option<QualityScore>,
}

#[derive(Deserialize)]
struct QualityScore {
    score: Option<String>,
}

/// # Errors
///
/// When the bytes are not such a page.
pub(super) fn read_page(bytes: &[u8]) -> Result<TemplatePage, Error> {
    let list: List = serde_json::from_slice(bytes)
        .map_err(|error| Error::NoAnswer(format!("the list of templates cannot be read: {error}")))?;
    let after = list.paging.and_then(Paging::after);
    Ok(TemplatePage { templates: list.data.into_iter().map(Into::into).collect(), after })
}

/// # Errors
///
/// When the bytes are not one template.
pub(super) fn read_one(bytes: &[u8]) -> Result<ListedTemplate, Error> {
    let item: Item = serde_json::from_slice(bytes)
        .map_err(|error| Error::NoAnswer(format!("the template cannot be read: {error}")))?;
    Ok(item.into())
}

impl From<Item> for ListedTemplate {
    fn from(item: Item) -> Self {
        let components = item.components.unwrap_or_else(|| RawValue::NULL.to_owned());
        let shape = serde_json::from_str(components.get()).unwrap_or(Value::Null);
        Self {
            provider_id: match item.id {
                Value::String(id) => without_nul(&id),
                other => other.to_string(),
            },
            name: without_nul(&item.name),
            language: without_nul(&item.language).replace('-', "_"),
            category: without_nul(&item.category).to_ascii_uppercase().as_str().into(),
            status: without_nul(&item.status).to_ascii_uppercase().as_str().into(),
            parameter_format: ParameterFormat::read(item.parameter_format.as_deref(), &shape),
            components,
            rejected_reason: item
                .rejected_reason
                .filter(|reason| reason != "NONE")
                .as_deref()
                .map(without_nul),
            quality_score: item.quality_score.and_then(|quality| quality.score).as_deref().map(without_nul),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::template::Status;

    #[test]
    fn the_last_page_is_known_by_its_missing_next_not_by_its_cursors() {
        let page =
            |paging: &str| read_page(format!(r#"{{"data":[],"paging":{paging}}}"#).as_bytes()).unwrap();
        assert_eq!(page(r#"{"cursors":{"before":"a","after":"b"}}"#).after, None);
        assert_eq!(
            page(r#"{"cursors":{"after":"b"},"next":"https://x/?after=b"}"#).after,
            Some("b".to_owned())
        );
    }

    #[test]
    fn ids_and_languages_are_read_in_every_form() {
        let body = br#"{"data":[{"id":12,"name":"a","language":"en-US","status":"approved","rejected_reason":"NONE"}]}"#;
        let template = read_page(body).unwrap().templates.remove(0);
        assert_eq!(template.provider_id, "12");
        assert_eq!(template.language, "en_US");
        assert_eq!(template.status, Status::Approved);
        assert_eq!(template.rejected_reason, None);
    }
}
