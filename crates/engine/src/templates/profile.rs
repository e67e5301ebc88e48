//! The profile of a business account's number, which people see who look at it in WhatsApp.

use serde_json::{Map, Value};

use super::{Declined, TemplateDesk};
use crate::Who;
use domain::error::{Code, Refusal};
use domain::link::file_id;

/// The field with the handle of a picture, or a file of the library in its place.
const PICTURE: &str = "profile_picture_handle";
/// The texts of a profile that can be written, with the most characters of each.
const PROFILE: [(&str, usize); 6] = [
    ("about", 139),
    ("address", 256),
    ("description", 512),
    ("email", 128),
    ("vertical", 64),
    (PICTURE, 4_096),
];
/// The most addresses of websites, and the most bytes of each.
const WEBSITES: (usize, usize) = (2, 256);

impl TemplateDesk<'_> {
    /// The profile of the channel's number, as the provider gives it.
    ///
    /// # Errors
    ///
    /// `provider_refused`, `provider_unavailable`.
    pub async fn profile(&self) -> Result<Map<String, Value>, Declined> {
        let (connector, _) = self.connector().await?;
        Ok(connector.profile().await?)
    }

    /// Changes fields of the profile of the channel's number. A file of the library in the place of the picture's handle is
    /// uploaded.
    ///
    /// # Errors
    ///
    /// `invalid_field`; `media_not_found`, `media_too_large`; `provider_refused`, `provider_unavailable`.
    pub async fn set_profile(&self, who: &Who, given: &Map<String, Value>) -> Result<(), Declined> {
        let mut fields = checked(given)?;
        let (connector, token) = self.connector().await?;
        if let Some(Value::String(handle)) = fields.get_mut(PICTURE)
            && let Some(file) = file_id(handle)
        {
            *handle = self.upload_sample(&connector, &token, file).await?;
        }
        connector.set_profile(&fields).await?;
        let names: Vec<_> = fields.keys().map(String::as_str).collect();
        Ok(self.engine.store().channels().record_profile(who, self.channel.id, &names).await?)
    }
}

/// The known fields of a profile, of which there is at least one.
fn checked(given: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let mut fields = Map::new();
    for (name, most) in PROFILE {
        match given.get(name).filter(|value| !value.is_null()) {
            None => {}
            Some(Value::String(text)) if text.chars().count() <= most => {
                fields.insert(name.to_owned(), text.as_str().into());
            }
            Some(_) => {
                let what = format_args!("must be a text of at most {most} characters");
                return Err(Refusal::of(name, Code::InvalidField, what));
            }
        }
    }
    if let Some(websites) = given.get("websites").filter(|value| !value.is_null()) {
        let (most, bytes) = WEBSITES;
        let is_site = |site: &Value| site.as_str().is_some_and(|site| site.len() <= bytes);
        if !websites.as_array().is_some_and(|sites| sites.len() <= most && sites.iter().all(is_site)) {
            let what = format_args!("must be a list of at most {most} addresses of {bytes} characters");
            return Err(Refusal::of("websites", Code::InvalidField, what));
        }
        fields.insert("websites".to_owned(), websites.clone());
    }
    if fields.is_empty() {
        let sentence =
            "give at least one field of the profile: about, address, description, email, vertical, websites";
        return Err(Refusal::new(Code::InvalidField, sentence));
    }
    Ok(fields)
}
