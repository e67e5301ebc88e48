//! Templates that people and programs write: passed to the provider and stored as it took them, or kept here as texts where a web
//! session sends them. The [profile] of a business account's number is read and written in the same way.

mod declined;
mod library;
mod profile;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use uuid::Uuid;

pub use self::declined::Declined;
use crate::{Engine, Error, Who};
use clock::Timestamp;
use connectors::cloud_api::CloudApi;
use domain::channel::Channel;
use domain::error::{Code, Refusal};
use domain::link::{file_id, file_link};
use domain::secret::Secret;
use domain::template::{DraftFields, LOCAL_ACCOUNT, ListedTemplate, MOST_LOCAL, Status, TemplateDraft};
use store::templates::{Record, WrittenTemplate};

/// What the provider said shortly before it was asked counts as older than its answer.
const DRIFT: Duration = Duration::from_secs(1);
/// The largest sample, in bytes: what the provider takes as a video.
const SAMPLE_BYTES: u64 = 16 * 1024 * 1024;

/// Other words for a template; `None` keeps what it has.
#[derive(Debug, Clone, Copy, Default)]
pub struct TemplateEdit<'a> {
    /// The category, in any case.
    pub category: Option<&'a str>,
    /// All parts in the provider's form.
    pub components: Option<&'a Value>,
}

/// The templates of a channel's account, as they are written.
#[derive(Clone, Copy)]
pub struct TemplateDesk<'e> {
    engine: &'e Engine,
    channel: &'e Channel,
}

impl<'e> TemplateDesk<'e> {
    /// The templates of a channel's account, to be written; those of a web session are those of all web sessions of its company.
    pub const fn of(engine: &'e Engine, channel: &'e Channel) -> Self {
        Self { engine, channel }
    }
}

impl TemplateDesk<'_> {
    /// The account's template of this id.
    ///
    /// # Errors
    ///
    /// `template_not_found`, also for a deleted one.
    pub async fn one(&self, id: i64) -> Result<Record, Error> {
        let records = self.engine.records_of(self.company()).await?;
        let found = records.of(self.company()).templates().find(id).await?;
        let is_its = |found: &Record| {
            found.waba_id == self.channel.template_account() && found.status != Status::Deleted
        };
        Ok(found.filter(is_its).ok_or_else(no_such_template)?)
    }

    /// Asks the provider for a new template; a web session has it at once. Files of the library in the place of handles are
    /// uploaded as samples.
    ///
    /// # Errors
    ///
    /// `invalid_template`, with the part at fault; `media_not_found`, `media_too_large`; `template_name_taken` and
    /// `too_many_templates` for web sessions; `provider_refused`, `provider_unavailable`.
    pub async fn create(&self, who: &Who, given: DraftFields<'_>) -> Result<Record, Declined> {
        let mut draft = TemplateDraft::new(given, self.is_local())?;
        if self.is_local() {
            return self.keep(who, (&local(&draft)?, true), Timestamp::now()).await;
        }
        let (connector, token) = self.connector().await?;
        self.upload_samples(&connector, &token, &mut draft.components).await?;
        self.submit(who, &connector, &draft.fields(), local(&draft)?).await
    }

    /// Asks the provider for other words; a web session has them at once.
    ///
    /// # Errors
    ///
    /// `template_not_found`, and as [`TemplateDesk::create`].
    pub async fn change(&self, who: &Who, id: i64, edit: TemplateEdit<'_>) -> Result<Record, Declined> {
        let before = self.one(id).await?;
        let (category, form) = (before.category.to_string(), before.parameter_format.as_str());
        let given = DraftFields {
            name: &before.name,
            language: &before.language,
            category: edit.category.unwrap_or(&category),
            // Other words may have another form of variables.
            parameter_format: edit.components.is_none().then_some(form),
            components: edit.components.unwrap_or(&before.components),
            options: None,
        };
        if self.is_local() {
            let draft = TemplateDraft::new(given, true)?;
            return self.keep(who, (&local(&draft)?, false), Timestamp::now()).await;
        }
        let mut fields = Map::new();
        if let Some(category) = edit.category {
            fields.insert("category".to_owned(), category.trim().to_ascii_uppercase().into());
        }
        let (connector, token) = self.connector().await?;
        if edit.components.is_some() {
            let mut draft = TemplateDraft::new(given, false)?;
            self.upload_samples(&connector, &token, &mut draft.components).await?;
            fields.insert("parameter_format".to_owned(), draft.parameter_format.as_str().into());
            fields.insert("components".to_owned(), draft.components);
        }
        if fields.is_empty() {
            return Ok(before);
        }
        connector.edit_template(&before.provider_id, &Value::Object(fields)).await?;
        self.engine.list_templates_soon(self.channel);
        // Newer than any list from before the edit; what the provider says meanwhile is in the list that comes soon.
        let as_of = Timestamp::now();
        let listed = connector.template(&before.provider_id).await?;
        self.keep(who, (&listed, false), as_of).await
    }

    /// Deletes a template at the provider, and here: this one, or with `all` every language of its name.
    ///
    /// # Errors
    ///
    /// `provider_refused`, `provider_unavailable`.
    pub async fn delete(&self, who: &Who, template: &Record, all: bool) -> Result<(), Declined> {
        let store = self.engine.store().of(self.company());
        let ids = if all {
            let found = store.templates().languages_of(&template.waba_id, &template.name).await?;
            found.into_iter().map(|found| found.id).collect()
        } else {
            vec![template.id]
        };
        if !self.is_local() {
            let (connector, _) = self.connector().await?;
            let only = (!all).then_some(template.provider_id.as_str());
            connector.delete_template(&template.name, only).await?;
            self.engine.list_templates_soon(self.channel);
        }
        Ok(store.templates().retire(who, &ids).await?)
    }

    /// Archives a template, so that new sends do not offer it, or offers it again.
    ///
    /// # Errors
    ///
    /// `template_not_found`.
    pub async fn archive(&self, who: &Who, id: i64, is_archived: bool) -> Result<Record, Error> {
        self.one(id).await?;
        let archived =
            self.engine.store().of(self.company()).templates().archive(who, id, is_archived).await?;
        Ok(archived.ok_or_else(no_such_template)?)
    }

    fn company(&self) -> Uuid {
        self.channel.company_id
    }

    fn is_local(&self) -> bool {
        self.channel.template_account() == LOCAL_ACCOUNT
    }

    /// Asks the provider for a template and stores it as the provider has it. When that cannot be read, it is stored as it was
    /// `asked` for, with what the provider said.
    async fn submit(
        &self,
        who: &Who,
        connector: &CloudApi,
        fields: &Value,
        asked: ListedTemplate,
    ) -> Result<Record, Declined> {
        let as_of = Timestamp::now().minus(DRIFT);
        let taken = connector.create_template(fields).await?;
        // Whatever follows fails, the next list has it.
        self.engine.list_templates_soon(self.channel);
        let listed = match connector.template(&taken.provider_id).await {
            Ok(listed) => listed,
            Err(error) => {
                tracing::debug!(%error, "cannot read a template that was just created");
                ListedTemplate {
                    provider_id: taken.provider_id,
                    status: taken.status,
                    category: taken.category.unwrap_or(asked.category),
                    ..asked
                }
            }
        };
        self.keep(who, (&listed, true), as_of).await
    }

    /// Stores a template as it is now.
    async fn keep(
        &self,
        who: &Who,
        written: (&ListedTemplate, bool),
        as_of: Timestamp,
    ) -> Result<Record, Declined> {
        let templates = self.engine.store().of(self.company()).templates();
        match templates.write(who, self.channel.template_account(), written, as_of).await? {
            WrittenTemplate::Written(record) => Ok(*record),
            WrittenTemplate::Taken => {
                let sentence = "there is a template of this name in this language: choose another name, or change that one";
                Err(Refusal::new(Code::TemplateNameTaken, sentence).about("name").into())
            }
            WrittenTemplate::Full => {
                let sentence = format!(
                    "the web sessions of this company have {MOST_LOCAL} templates, and none more: delete one"
                );
                Err(Refusal::new(Code::TooManyTemplates, sentence).into())
            }
        }
    }

    /// The channel's token.
    pub(crate) async fn token(&self) -> Result<Secret, Declined> {
        let sealed = self.engine.store().channels().secrets(self.channel.id).await?;
        let sentence = "the channel has no access token: reconnect it with one";
        let token = sealed.and_then(|sealed| sealed.token);
        let token = token.ok_or_else(|| Refusal::new(Code::ReconnectWaba, sentence))?;
        let token = self.engine.0.shared.vault.unseal(&token, &vault::context::token(self.channel.id));
        Ok(token.map_err(|error| self.unusable(&error))?)
    }

    fn unusable(&self, error: &dyn std::fmt::Display) -> Error {
        tracing::warn!(channel.id = %self.channel.id, channel.name = %self.channel.name, %error, "cannot ask the provider with the channel's token");
        Error::Internal
    }

    /// A connector of the channel's own, and its token.
    async fn connector(&self) -> Result<(CloudApi, Secret), Declined> {
        let (Some(number), Some(account)) = (&self.channel.phone_number_id, &self.channel.waba_id) else {
            let sentence = "a web session has no templates and no profile at the provider";
            return Err(Refusal::new(Code::InvalidType, sentence).into());
        };
        let (token, options) = (self.token().await?, &self.engine.0.shared.cloud_api);
        let connections = self.engine.0.connections.here(options).map_err(|e| self.unusable(&e))?;
        let connector = CloudApi::new(connections, options, number, account, &token);
        Ok((connector.map_err(|error| self.unusable(&error))?, token))
    }

    /// Uploads the files of the library that are named as samples, and puts their handles in their place.
    async fn upload_samples(
        &self,
        connector: &CloudApi,
        token: &Secret,
        components: &mut Value,
    ) -> Result<(), Declined> {
        let mut named = Vec::new();
        each_sample(components, &mut |sample| named.extend(file_id(sample)));
        named.sort();
        named.dedup();
        let mut handles = HashMap::with_capacity(named.len());
        for file in named {
            handles.insert(file_link(file), self.upload_sample(connector, token, file).await?);
        }
        each_sample(components, &mut |sample| {
            if let Some(handle) = handles.get(sample.as_str()) {
                sample.clone_from(handle);
            }
        });
        Ok(())
    }

    async fn upload_sample(
        &self,
        connector: &CloudApi,
        token: &Secret,
        file: Uuid,
    ) -> Result<String, Declined> {
        let found = self.engine.media().find(self.company(), file).await?;
        if found.bytes > SAMPLE_BYTES {
            let sentence =
                format!("the file `{}` is larger than 16 MiB, which a sample may be at most", found.name);
            return Err(Refusal::new(Code::MediaTooLarge, sentence).into());
        }
        let bytes = self.engine.0.shared.media.whole(&found).await?;
        Ok(connector.upload_sample(token, bytes, &found.mime_type).await?)
    }
}

/// Passes each sample of a header in these parts to `take`.
fn each_sample(parts: &mut Value, take: &mut dyn FnMut(&mut String)) {
    match parts {
        Value::Array(items) => items.iter_mut().for_each(|item| each_sample(item, take)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Array(samples) if name == "header_handle" => {
                        for sample in samples {
                            if let Value::String(sample) = sample {
                                take(sample);
                            }
                        }
                    }
                    value => each_sample(value, take),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A template that nobody reviews.
fn local(draft: &TemplateDraft) -> Result<ListedTemplate, Error> {
    let TemplateDraft { name, language, category, parameter_format, components, options: _ } = draft;
    Ok(ListedTemplate {
        provider_id: String::new(),
        name: name.clone(),
        language: language.clone(),
        category: category.clone(),
        status: Status::Approved,
        parameter_format: *parameter_format,
        components: to_raw_value(components).map_err(|error| {
            tracing::error!(%error, "cannot write the parts of a template");
            Error::Internal
        })?,
        rejected_reason: None,
        quality_score: None,
    })
}

fn no_such_template() -> Refusal {
    let sentence = "the channel has no such template: GET …/templates lists those that can be sent";
    Refusal::new(Code::TemplateNotFound, sentence)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn samples_are_found_in_headers_and_on_cards_and_nowhere_else() {
        let header = |sample: &str| json!({"type": "HEADER", "format": "IMAGE", "example": {"header_handle": [sample]}});
        let mut parts = json!([
            header("a"), {"type": "BODY", "text": "media:x", "example": {"body_text": [["media:y"]]}},
            {"type": "CAROUSEL", "cards": [{"components": [header("b")]}]},
        ]);
        let mut found = Vec::new();
        each_sample(&mut parts, &mut |sample| {
            found.push(sample.clone());
            *sample = format!("4::{sample}");
        });
        assert_eq!(found, ["a", "b"]);
        assert_eq!(parts[2]["cards"][0]["components"][0]["example"]["header_handle"][0], "4::b");
    }
}
