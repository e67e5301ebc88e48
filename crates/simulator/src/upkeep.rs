//! The settings of a number: its profile, its greetings, and blocked people.

use std::collections::BTreeMap;

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Map, Value, json};

use super::body::{RecipientKind, length, recipient};
use super::error::GraphError;
use super::graph::{Parameters, selected};
use super::person;
use super::qr_code::QrCodes;
use super::reply::{Verdict, about_number};
use super::world::World;

/// The most people that a number can block, as at the provider.
const MOST_BLOCKED: usize = 64_000;
/// The most people in one request.
const MOST_AT_ONCE: usize = 1_000;
/// The texts of a profile, with the most characters of each.
const PROFILE_TEXTS: [(&str, usize); 6] = [
    ("about", 139),
    ("address", 256),
    ("description", 512),
    ("email", 128),
    ("vertical", 64),
    ("profile_picture_handle", 4_096),
];
const PROFILE_FIELDS: &str = "about,address,description,email,messaging_product,vertical,websites";

#[derive(Debug)]
pub(super) struct Upkeep {
    profile: Map<String, Value>,
    /// The value of `conversational_automation`; `None` before it is set.
    pub(super) automation: Option<Value>,
    /// The callback of the number's own, which its node shows.
    pub(super) callback: Option<String>,
    /// Its QR codes.
    pub(super) qr_codes: QrCodes,
    /// Whether its catalogue is shown, and its cart.
    is_catalog_visible: bool,
    is_cart_enabled: bool,
    /// The people that the number blocked, by their address, each with the id that the client gave.
    blocked: BTreeMap<String, Value>,
}

impl Default for Upkeep {
    fn default() -> Self {
        // The only field that every profile has.
        let profile = Map::from_iter([("vertical".to_owned(), json!("UNDEFINED"))]);
        Self {
            profile,
            automation: None,
            callback: None,
            qr_codes: QrCodes::default(),
            is_catalog_visible: false,
            is_cart_enabled: true,
            blocked: BTreeMap::new(),
        }
    }
}

impl Upkeep {
    /// Whether the number blocked this person.
    pub(super) fn has_blocked(&self, address: &str) -> bool {
        !self.blocked.is_empty() && self.blocked.contains_key(&person::user_id(address))
    }
}

/// A handler: what it judges by is the settings of the number that the path names, the number's id, the query and the body.
macro_rules! handler {
    ($(#[$doc:meta])* $name:ident, $judge:expr) => {
        $(#[$doc])*
        pub(super) async fn $name(
            world: Data<World>,
            path: Path<(String, String)>,
            query: Parameters,
            request: HttpRequest,
            body: Bytes,
        ) -> HttpResponse {
            let judge: fn(&mut Upkeep, &str, &Parameters, &[u8]) -> Verdict = $judge;
            let (_, id) = path.into_inner();
            about_number(&world, &id, &request, |number| {
                number.account.spare(world.now())?;
                judge(&mut number.upkeep(), &id, &query, &body)
            })
        }
    };
}

handler!(
    /// `GET /{phone_number_id}/whatsapp_business_profile`.
    show_profile, |upkeep, _, query, _| profile(upkeep, query.get("fields").map(String::as_str))
);
handler!(
    /// `POST /{phone_number_id}/whatsapp_business_profile`.
    set_profile, |upkeep, _, _, body| set(upkeep, &fields(body)?)
);
handler!(
    /// `POST /{phone_number_id}/conversational_automation`.
    set_automation, |upkeep, id, _, body| automate(upkeep, id, &fields(body)?)
);
handler!(
    /// `GET /{phone_number_id}/block_users`.
    show_blocked, |upkeep, _, query, _| Ok(blocked(upkeep, query))
);
handler!(
    /// `POST /{phone_number_id}/block_users`.
    block, |upkeep, _, _, body| change_blocked(upkeep, &fields(body)?, true)
);
handler!(
    /// `DELETE /{phone_number_id}/block_users`.
    unblock, |upkeep, _, _, body| change_blocked(upkeep, &fields(body)?, false)
);
handler!(
    /// `GET /{phone_number_id}/whatsapp_commerce_settings`.
    show_commerce, |upkeep, id, _, _| Ok(commerce(upkeep, id))
);
handler!(
    /// `POST /{phone_number_id}/whatsapp_commerce_settings`.
    set_commerce, |upkeep, _, query, body| set_up_commerce(upkeep, query, body)
);

fn fields(body: &[u8]) -> Result<Map<String, Value>, GraphError> {
    serde_json::from_slice(body).map_err(|_| GraphError::because(100, "the body is not a JSON object"))
}

fn is_for_whatsapp(fields: &Map<String, Value>) -> Result<(), GraphError> {
    if fields.get("messaging_product").and_then(Value::as_str) == Some("whatsapp") {
        return Ok(());
    }
    Err(GraphError::because(100, "messaging_product is required and must be whatsapp"))
}

fn profile(upkeep: &Upkeep, fields: Option<&str>) -> Verdict {
    let mut node = json!({ "messaging_product": "whatsapp" });
    for (name, value) in &upkeep.profile {
        node[name] = value.clone();
    }
    let profile = selected(node, fields, PROFILE_FIELDS)?;
    Ok(json!({ "data": [profile] }))
}

fn set(upkeep: &mut Upkeep, fields: &Map<String, Value>) -> Verdict {
    is_for_whatsapp(fields)?;
    let mut profile = upkeep.profile.clone();
    for (name, most) in PROFILE_TEXTS {
        let Some(value) = fields.get(name).filter(|value| !value.is_null()) else { continue };
        let Some(text) = value.as_str() else {
            return Err(GraphError::because(100, format!("{name} must be text")));
        };
        length(name, text, most)?;
        match name {
            "about" if text.is_empty() => return Err(GraphError::because(100, "about must not be empty")),
            "profile_picture_handle" => {
                let picture = format!("https://example.com/profile-pictures/{}", person::user_id(text));
                profile.insert("profile_picture_url".to_owned(), picture.into())
            }
            _ => profile.insert(name.to_owned(), value.clone()),
        };
    }
    if let Some(websites) = fields.get("websites").filter(|websites| !websites.is_null()) {
        let is_website = |site: &Value| {
            let site = site.as_str().unwrap_or_default();
            site.len() <= 256 && (site.starts_with("http://") || site.starts_with("https://"))
        };
        if !websites.as_array().is_some_and(|sites| sites.len() <= 2 && sites.iter().all(is_website)) {
            return Err(GraphError::because(100, "websites must be at most two addresses of 256 characters"));
        }
        profile.insert("websites".to_owned(), websites.clone());
    }
    upkeep.profile = profile;
    Ok(json!({ "success": true }))
}

fn commerce(upkeep: &Upkeep, id: &str) -> Value {
    let Upkeep { is_catalog_visible, is_cart_enabled, .. } = upkeep;
    json!({ "data": [{ "id": id, "is_catalog_visible": is_catalog_visible, "is_cart_enabled": is_cart_enabled }] })
}

/// Clients write the settings into the query or into the body.
fn set_up_commerce(upkeep: &mut Upkeep, query: &Parameters, body: &[u8]) -> Verdict {
    let fields: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let given = |name: &str| {
        let written = query.get(name).map(|text| Value::String(text.clone()));
        match written.as_ref().or_else(|| fields.get(name)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(is_on)) => Ok(Some(*is_on)),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(Some(text == "true")),
            Some(_) => Err(GraphError::because(100, format!("{name} must be true or false"))),
        }
    };
    let (catalog, cart) = (given("is_catalog_visible")?, given("is_cart_enabled")?);
    upkeep.is_catalog_visible = catalog.unwrap_or(upkeep.is_catalog_visible);
    upkeep.is_cart_enabled = cart.unwrap_or(upkeep.is_cart_enabled);
    Ok(json!({ "success": true }))
}

fn automate(upkeep: &mut Upkeep, id: &str, fields: &Map<String, Value>) -> Verdict {
    let mut automation = upkeep.automation.clone().unwrap_or_else(|| json!({ "id": id }));
    if let Some(greets) = fields.get("enable_welcome_message") {
        automation["enable_welcome_message"] = greets.as_bool().unwrap_or(greets == "true").into();
    }
    if let Some(prompts) = list(fields, "prompts")? {
        if prompts.len() > 4 || prompts.iter().any(|prompt| !prompt.is_string()) {
            return Err(GraphError::because(100, "prompts must be at most four texts"));
        }
        for prompt in &prompts {
            length("prompt", prompt.as_str().unwrap_or_default(), 80)?;
        }
        automation["prompts"] = prompts.into();
    }
    if let Some(commands) = list(fields, "commands")? {
        if commands.len() > 30 {
            return Err(GraphError::because(100, "commands must be at most 30"));
        }
        for command in &commands {
            for (name, most) in [("command_name", 32), ("command_description", 256)] {
                length(name, super::body::required(command, "command", name)?, most)?;
            }
        }
        automation["commands"] = commands.into();
    }
    upkeep.automation = Some(automation);
    Ok(json!({ "success": true }))
}

/// An array, or one that is written as text, as some clients do.
fn list(fields: &Map<String, Value>, name: &str) -> Result<Option<Vec<Value>>, GraphError> {
    let value = match fields.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(value) => value.clone(),
    };
    match value {
        Value::Array(items) => Ok(Some(items)),
        _ => Err(GraphError::because(100, format!("{name} must be an array"))),
    }
}

fn blocked(upkeep: &Upkeep, query: &Parameters) -> Value {
    let limit = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(MOST_AT_ONCE);
    let after = query.get("after").map_or("", String::as_str);
    let later = upkeep.blocked.iter().filter(|(id, _)| id.as_str() > after);
    let (ids, data): (Vec<_>, Vec<_>) =
        later.take(limit).map(|(id, user)| (id.as_str(), user.clone())).unzip();
    let mut page = json!({ "data": data });
    if let (Some(first), Some(last)) = (ids.first(), ids.last()) {
        page["paging"] = json!({ "cursors": { "before": first, "after": last } });
    }
    page
}

fn change_blocked(upkeep: &mut Upkeep, fields: &Map<String, Value>, is_blocked: bool) -> Verdict {
    is_for_whatsapp(fields)?;
    let users = fields.get("block_users").and_then(Value::as_array).filter(|users| !users.is_empty());
    let Some(users) = users.filter(|users| users.len() <= MOST_AT_ONCE) else {
        let details = format!("block_users must be an array of 1 to {MOST_AT_ONCE} users");
        return Err(GraphError::because(100, details));
    };
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for user in users {
        let text = |name: &str| user.get(name).and_then(Value::as_str);
        let input = text("user").or_else(|| text("user_id")).unwrap_or_default();
        let named = json!({ "to": text("user"), "recipient": text("user_id") });
        let person = recipient(named.as_object().unwrap_or(&Map::new())).ok();
        let Some(person) = person.filter(|person| person.kind != RecipientKind::Group) else {
            failed.push(json!({
                "input": input,
                "errors": [{ "message": "(#131009) Parameter value is not valid", "code": 131_009 }],
            }));
            continue;
        };
        let (id, mut answered) = (person::user_id(&person.known_as), json!({ "input": input }));
        let mut kept = json!({ "messaging_product": "whatsapp", "input": input, "user_id": id });
        if person.kind == RecipientKind::Phone {
            answered["wa_id"] = person.known_as.as_str().into();
            kept["wa_id"] = person.known_as.as_str().into();
        }
        answered["user_id"] = id.as_str().into();
        if !is_blocked {
            upkeep.blocked.remove(&id);
        } else if upkeep.blocked.len() < MOST_BLOCKED {
            upkeep.blocked.insert(id, kept);
        }
        done.push(answered);
    }
    let list = if is_blocked { "added_users" } else { "removed_users" };
    let mut told = json!({ "messaging_product": "whatsapp", "block_users": { list: done } });
    if !failed.is_empty() {
        told["block_users"]["failed_users"] = failed.into();
    }
    Ok(told)
}
