//! Messages with an approved text, and the texts that templates of web sessions become.

use serde_json::{Map, Value, json};

use super::files::with_links;
use crate::domain::channel::Channel;
use crate::domain::template::{Component, Status, Template, parse_components};
use crate::engine::records::templates::Record;
use crate::graph::call::Call;
use crate::graph::refusal::DoorRefusal;

/// The fields of a message with the template that its name and language say.
pub(super) async fn of(
    call: &Call,
    channel: &Channel,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, DoorRefusal> {
    let found = Template::from(named(call, channel, given).await?);
    let components = values(given)?;
    checked(&found, &components)?;
    let fields = [("template_id", json!(found.id)), ("components", components)];
    Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The fields of the text that a template of web sessions becomes.
pub(super) async fn as_text(
    call: &Call,
    channel: &Channel,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, DoorRefusal> {
    let found = Template::from(named(call, channel, given).await?);
    let text = found.text_with(&checked(&found, &values(given)?)?)?;
    Ok(Map::from_iter([("message".to_owned(), text.into())]))
}

/// The values of a template. What the provider has numbers of its own for is refused here, everything else with the message.
fn checked(template: &Template, values: &Value) -> Result<Vec<Component>, DoorRefusal> {
    let stopped = match template.status {
        Status::Paused => Some(132_015),
        Status::Disabled => Some(132_016),
        _ => None,
    };
    if let Some(number) = stopped {
        let Template { name, language, status, .. } = template;
        return Err(DoorRefusal::because(number, format!("the template {name} in {language} is {status}")));
    }
    let given = parse_components(values)?;
    if template.is_approved()
        && template.is_miscounted(&given)
        && let Err(refusal) = template.check_components(&given)
    {
        return Err(DoorRefusal::because(132_000, refusal.sentence));
    }
    Ok(given)
}

/// The values of the variables.
fn values(given: &Map<String, Value>) -> Result<Value, DoorRefusal> {
    let components = given.get("components").filter(|components| !components.is_null()).cloned();
    with_links(components.unwrap_or_else(|| json!([])))
}

/// The template that a message names.
async fn named(call: &Call, channel: &Channel, given: &Map<String, Value>) -> Result<Record, DoorRefusal> {
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
    let records = call.state.engine.company(call.caller.company_id).await?;
    let account = channel.template_account();
    let found = records.templates().named(account, &name, &language.replace('-', "_")).await?;
    found.ok_or_else(|| {
        DoorRefusal::because(132_001, format!("template name ({name}) does not exist in {language}"))
    })
}
