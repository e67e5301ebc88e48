//! `{"webhook": {…}}`: a webhook on demand, signed and repeated like every other.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{account, number};
use crate::notice;
use crate::outbox::Notice;
use crate::span::duration;
use crate::timers::Action;
use crate::world::World;
use crate::written::PersonMessage;

/// The content of a webhook, its delay, and the number of copies: the provider may deliver a webhook twice.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct WebhookSwitch {
    #[serde(default, deserialize_with = "duration")]
    after: Duration,
    #[serde(default = "one")]
    copies: usize,
    #[serde(flatten)]
    said: Said,
}

fn one() -> usize {
    1
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// Something happened to the account: the event, and the object that comes with it.
    AccountUpdate(AccountUpdate),
    /// Limits of the account changed; the value's fields as they are.
    BusinessCapabilityUpdate(Capability),
    /// A recipient stopped or resumed marketing messages.
    UserPreferences(Preference),
    /// A person wrote, or the business did on its own phone.
    Inbound(Inbound),
    /// An error of the number, not about a single message.
    Errors(Errors),
    /// Any other field with any value.
    Change(Change),
}

#[derive(Debug, Clone, Deserialize)]
struct AccountUpdate {
    waba_id: String,
    event: String,
    /// Such as `ban_info`, `restriction_info`, `disconnection_info`.
    #[serde(flatten)]
    object: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct Capability {
    waba_id: String,
    #[serde(flatten)]
    value: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preference {
    phone_number_id: String,
    wa_id: String,
    /// `stop` or `resume`.
    value: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Inbound {
    phone_number_id: String,
    #[serde(flatten)]
    message: PersonMessage,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors {
    phone_number_id: String,
    code: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    waba_id: Option<String>,
    phone_number_id: Option<String>,
    field: String,
    value: Value,
}

impl WebhookSwitch {
    pub(super) fn check(&self, world: &World) -> Result<(), String> {
        match &self.said {
            Said::Inbound(Inbound { phone_number_id, message }) => {
                number::find(world, phone_number_id)?;
                message.fault().map_or(Ok(()), Err)
            }
            _ => self.notices(world).map(|_| ()),
        }
    }

    pub(super) fn turn(&self, world: &World) {
        for notice in self.notices(world).unwrap_or_default() {
            for _ in 0..self.copies {
                if self.after.is_zero() {
                    world.outbox.notify(notice.clone());
                } else {
                    world.timers.add(self.after, Action::Notify(notice.clone()));
                }
            }
        }
    }

    fn notices(&self, world: &World) -> Result<Vec<Notice>, String> {
        let about_account = |waba_id: &str, field: &str, value: &Value| {
            let account = account::find(world, waba_id)?;
            Ok(world.notices(&account, None, field, value))
        };
        let about_number = |id: &str, field: &str, value: &dyn Fn(&_) -> Value| {
            let number = number::find(world, id)?;
            Ok(world.notices(&number.account, Some(&number), field, &value(&number)))
        };
        match &self.said {
            Said::AccountUpdate(AccountUpdate { waba_id, event, object }) => {
                let mut value = object.clone();
                value.insert("event".to_owned(), json!(event));
                about_account(waba_id, "account_update", &Value::Object(value))
            }
            Said::BusinessCapabilityUpdate(Capability { waba_id, value }) => {
                about_account(waba_id, "business_capability_update", &Value::Object(value.clone()))
            }
            Said::UserPreferences(Preference { phone_number_id, wa_id, value }) => {
                about_number(phone_number_id, "user_preferences", &|number| {
                    notice::preference(number, wa_id, value)
                })
            }
            // The person wrote now, also when the webhook about it is late.
            Said::Inbound(Inbound { phone_number_id, message }) => {
                let number = number::find(world, phone_number_id)?;
                Ok(world.write(&number, message).1)
            }
            Said::Errors(Errors { phone_number_id, code }) => {
                about_number(phone_number_id, "messages", &|number| notice::error(number, *code))
            }
            Said::Change(Change { waba_id, phone_number_id, field, value }) => {
                match (phone_number_id, waba_id) {
                    (Some(id), _) => about_number(id, field, &|_| value.clone()),
                    (None, Some(waba_id)) => about_account(waba_id, field, value),
                    (None, None) => Err("a change needs a waba_id or a phone_number_id".to_owned()),
                }
            }
        }
    }
}
