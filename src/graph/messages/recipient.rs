//! Whom a message goes to.

use serde_json::{Map, Value};

use crate::domain::channel::{Channel, Kind};
use crate::domain::request::GROUP_SUFFIX;
use crate::graph::call::Call;
use crate::graph::refusal::DoorRefusal;

/// More than the longest id of a person within a business, in bytes.
const LONGEST_ID: usize = 200;

/// The person or group of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipient {
    /// As the program gave it.
    pub(super) input: String,
    /// Digits of a number, or the id of a group.
    pub(super) address: String,
    pub(super) is_group: bool,
}

impl Recipient {
    /// Reads `to`, or `recipient`: the id of a person within the business, whose number has to be known here.
    pub(super) async fn read(
        call: &Call,
        body: &Map<String, Value>,
        channel: &Channel,
    ) -> Result<Self, DoorRefusal> {
        let given = |name: &str| match body.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let kind = given("recipient_type");
        let is_group = match kind.as_deref() {
            None | Some("individual") => false,
            Some("group") => true,
            Some(_) => {
                return Err(DoorRefusal::because(100, "`recipient_type` must be individual or group"));
            }
        };
        let input = given("to").or_else(|| given("recipient")).ok_or_else(|| {
            DoorRefusal::because(
                131_008,
                "`to` is missing: give the number of the person, such as 5511988887777",
            )
        })?;
        let is_group = is_group || channel.kind == Kind::WebSession && input.ends_with(GROUP_SUFFIX);
        if is_group {
            if channel.kind == Kind::BusinessAccount {
                return Err(DoorRefusal::because(
                    130_501,
                    "groups can be written to through web sessions alone",
                ));
            }
            return Ok(Self { address: input.clone(), input, is_group });
        }
        if input.chars().any(|c| c.is_ascii_alphabetic()) {
            let is_id = input.len() <= LONGEST_ID && input.bytes().all(|byte| byte.is_ascii_graphic());
            let known = if is_id { call.door().number_of_user(&input).await? } else { None };
            let number = known.ok_or_else(|| {
                let details = "messages go to numbers, and that of the person with this id is not known: give it as `to`";
                DoorRefusal::because(131_062, details)
            })?;
            return Ok(Self { input, address: number.to_string(), is_group });
        }
        let address: String = input.chars().filter(char::is_ascii_digit).collect();
        Ok(Self { input, address, is_group })
    }

    /// The id at WhatsApp: the digits of a number.
    pub(super) fn wa_id(&self) -> &str {
        self.address.strip_suffix(GROUP_SUFFIX).unwrap_or(&self.address)
    }
}
