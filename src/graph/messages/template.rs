//! Messages with an approved text.

use serde_json::{Map, Value, json};

use super::files::with_links;
use crate::domain::channel::Channel;
use crate::graph::call::Call;
use crate::graph::refusal::DoorRefusal;

/// The fields of a message with the template that its name and language say.
pub(super) async fn of(
    call: &Call,
    channel: &Channel,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, DoorRefusal> {
    let text = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty() && !text.contains('\0')).map(str::to_owned)
    };
    let name =
        text(given.get("name")).ok_or_else(|| DoorRefusal::because(131_008, "`template.name` is missing"))?;
    let language = given.get("language");
    let language = text(language.and_then(|language| language.get("code"))).or_else(|| text(language));
    let language = language.ok_or_else(|| {
        DoorRefusal::because(131_008, "`template.language.code` is missing: give one such as pt_BR")
    })?;
    let found = match &channel.waba_id {
        Some(waba) => {
            let records = call.state.engine.company(call.caller.company_id).await?;
            records.templates().named(waba, &name, &language.replace('-', "_")).await?
        }
        None => None,
    };
    let found = found.ok_or_else(|| {
        DoorRefusal::because(132_001, format!("template name ({name}) does not exist in {language}"))
    })?;
    let components = given.get("components").filter(|components| !components.is_null()).cloned();
    let components = with_links(components.unwrap_or_else(|| json!([])))?;
    let fields = [("template_id", json!(found.id)), ("components", components)];
    Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
