//! Bodies in the form of Meta's webhooks: one item in each, with the contact that it is about.
//!
//! An event that has no form there, or that the receiver cannot know, has no body.

mod message;
mod names;
mod status;

use serde_json::{Value, json};

pub(super) use self::names::GraphNames;
use self::names::NamedChannel;
pub(super) use self::status::{TO_WRITE_DOWN, held_until, is_outrun};
use super::context::DeliveryContext;
use domain::event::{ChannelData, Data, Event, NoticeData, TemplateData, Type};
use domain::graph::hook::{in_ascii, seconds};
use domain::graph::{GraphIdKind, template_id};
use domain::template::LOCAL_ACCOUNT;
use domain::webhook::{WebhookProfile, is_example};

/// The provider's name of what people want to get.
const PREFERENCES: &str = "user_preferences";
/// The provider's word for a missing reason.
const NO_REASON: &str = "NONE";

/// The body of a request with this event; `None` for an event that such a receiver is not told of.
pub(super) async fn body(
    context: &DeliveryContext,
    profile: WebhookProfile,
    event: &Event,
) -> store::Result<Option<Vec<u8>>> {
    if !profile.types().contains(&event.r#type) {
        return Ok(None);
    }
    let entry = match &event.data {
        Data::Template(template) => template_entry(context, event, template).await?,
        Data::Message(data) => match channel(context, event).await? {
            Some(channel) => Some(status::entry_of(context, event, data, &channel).await?),
            None => None,
        },
        Data::Inbound(data) => match channel(context, event).await? {
            Some(channel) => message::entry_of(context, profile, event, data, &channel).await?,
            None => None,
        },
        Data::Channel(data) => {
            channel(context, event).await?.map(|channel| account_entry(event, data, &channel))
        }
        Data::Notice(data) => {
            channel(context, event).await?.map(|channel| notice_entry(event, data, &channel))
        }
        Data::Send(data) => match channel(context, event).await? {
            Some(channel) => status::entry_of_send(context, event, data, &channel).await?,
            None => None,
        },
        Data::Conversation(_)
        | Data::Contact(_)
        | Data::Quota(_)
        | Data::Key(_)
        | Data::WebhookDisabled(_)
        | Data::WebhookRecovered(_)
        | Data::Lost(_) => None,
    };
    let body = entry.map(|entry| json!({ "object": "whatsapp_business_account", "entry": [entry] }));
    Ok(body.map(|body| in_ascii(body.to_string()).into_bytes()))
}

/// The channel of an event; `None` when it is gone.
async fn channel(
    context: &DeliveryContext,
    event: &Event,
) -> store::Result<Option<std::sync::Arc<NamedChannel>>> {
    let Some(id) = event.channel_id else { return Ok(None) };
    // The channel of an example does not exist.
    if is_example(&event.id) {
        // The values that Meta's own examples have.
        let example = NamedChannel {
            number_id: "106540352242922".to_owned(),
            digits: "15550783881".to_owned(),
            account: "102290129340398".to_owned(),
        };
        return Ok(Some(example.into()));
    }
    context.names.channel(&context.store, event.company_id, id).await
}

/// An entry with one change, of an account.
fn entry(account: &str, event: &Event, field: &str, value: &Value) -> Value {
    let change = json!({ "value": value, "field": field });
    json!({ "id": account, "time": event.at.millis().div_euclid(1_000), "changes": [change] })
}

/// The fields that every change about a number has.
fn of_number(channel: &NamedChannel) -> Value {
    let metadata = json!({ "display_phone_number": channel.digits, "phone_number_id": channel.number_id });
    json!({ "messaging_product": "whatsapp", "metadata": metadata })
}

/// A person with everything that is known of them. Programs find the name in the profile.
fn contact(name: Option<&str>, number: Option<&str>, user_id: Option<&str>) -> Value {
    let shown = name.or(number).or(user_id).unwrap_or_default();
    let mut contact = json!({ "profile": { "name": shown } });
    for (field, id) in [("wa_id", number), ("user_id", user_id)] {
        if let Some(id) = id {
            contact[field] = json!(id);
        }
    }
    contact
}

/// What the provider changed of a template.
async fn template_entry(
    context: &DeliveryContext,
    event: &Event,
    template: &TemplateData,
) -> store::Result<Option<Value>> {
    let own = context.store.of(event.company_id);
    let (id, account) = if is_example(&event.id) {
        ("594425479261596".to_owned(), template.waba_id.clone())
    } else if template.waba_id == LOCAL_ACCOUNT {
        let account = own.graph_ids().of(GraphIdKind::Account, event.company_id).await?;
        (template_id(template.template_id), account.to_string())
    } else {
        let Some(found) = own.templates().find(template.template_id).await? else { return Ok(None) };
        (found.provider_id, template.waba_id.clone())
    };
    let TemplateData { template_id: _, waba_id: _, name, language, old, new, reason } = template;
    // Meta writes it as a number, which it always is there.
    let id = id.parse::<u64>().map_or_else(|_| json!(id), |number| json!(number));
    let mut value = json!({
        "message_template_id": id,
        "message_template_name": name,
        "message_template_language": language,
    });
    let old = old.as_deref().unwrap_or("UNKNOWN");
    let field = match event.r#type {
        Type::TemplateCategoryChanged => {
            value["previous_category"] = json!(old);
            value["new_category"] = json!(new);
            "template_category_update"
        }
        Type::TemplateQualityChanged => {
            value["previous_quality_score"] = json!(old);
            value["new_quality_score"] = json!(new);
            "message_template_quality_update"
        }
        _ => {
            value["event"] = json!(new);
            value["reason"] = json!(reason.as_deref().unwrap_or(NO_REASON));
            "message_template_status_update"
        }
    };
    Ok(Some(entry(&account, event, field, &value)))
}

/// What the provider said, as it was. What it says of a person names the number, too.
fn notice_entry(event: &Event, data: &NoticeData, channel: &NamedChannel) -> Value {
    let NoticeData { field, value } = data;
    let mut value = value.clone();
    if field == PREFERENCES
        && let (Value::Object(said), Value::Object(number)) = (&mut value, of_number(channel))
    {
        said.extend(number);
    }
    entry(&channel.account, event, field, &value)
}

/// That a channel can send again, or cannot.
fn account_entry(event: &Event, data: &ChannelData, channel: &NamedChannel) -> Value {
    let mut value = json!({ "phone_number": channel.digits });
    let reason = data.reason.as_ref().map(|reason| reason.sentence.as_str());
    match event.r#type {
        Type::ChannelBlocked => {
            value["event"] = json!("DISABLED_UPDATE");
            value["ban_info"] = json!({ "waba_ban_state": "DISABLE", "waba_ban_date": event.at.to_string() });
        }
        Type::ChannelDisconnected => {
            value["event"] = json!("ACCOUNT_OFFBOARDED");
            value["disconnection_info"] = json!({ "reason": reason.unwrap_or(NO_REASON) });
        }
        _ => value["event"] = json!("ACCOUNT_RECONNECTED"),
    }
    entry(&channel.account, event, "account_update", &value)
}

/// A time as bodies have it.
fn timestamp(event: &Event) -> String {
    seconds(event.at)
}
