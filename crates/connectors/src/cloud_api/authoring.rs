//! Templates that we create, change and delete at the provider, with the samples of their headers; and the profile of a number.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Url};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::lenient::{Text, fields, without_nul};
use super::{CloudApi, OAUTH, answer, authorization, failure, template};
use crate::Error;
use domain::secret::Secret;
use domain::template::{Category, ListedTemplate, Status};

/// How long the upload of a sample may take.
const UPLOAD: Duration = Duration::from_secs(120);
/// The fields of a profile.
const PROFILE: &str = "about,address,description,email,profile_picture_url,websites,vertical";

/// A template as the provider took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenTemplate {
    /// The provider's id.
    pub provider_id: String,
    /// Usually [`Status::Pending`]: the provider reviews it.
    pub status: Status,
    /// The category, which the provider may have changed; `None` when it does not say.
    pub category: Option<Category>,
}

fields! {
    CreatedTemplate {
        needs id;
        texts status, category;
    }
    OpenedSession { needs id; }
    UploadedSample { needs h; }
}

#[derive(Deserialize)]
struct InspectedApp<'a> {
    #[serde(borrow)]
    data: AppOfToken<'a>,
}

fields! {
    AppOfToken { texts app_id; }
}

#[derive(Deserialize)]
struct Profiles {
    data: Vec<Map<String, Value>>,
}

impl CloudApi {
    /// Asks for a new template: `name`, `language`, `category`, and `parameter_format` and `components` or what is about one of
    /// the library.
    ///
    /// # Errors
    ///
    /// When the provider refuses it or does not answer.
    pub async fn create_template(&self, fields: &Value) -> Result<TakenTemplate, Error> {
        let bytes = self.told(self.client.post(self.templates.clone()).json(fields)).await?;
        let created: CreatedTemplate<'_> = read(&bytes)?;
        let word = |text: &Text<'_>| text.get().map(str::to_ascii_uppercase);
        Ok(TakenTemplate {
            provider_id: created.id.get().map(without_nul).ok_or_else(|| no_id("template"))?,
            status: word(&created.status).map_or(Status::Pending, |word| word.as_str().into()),
            category: word(&created.category).map(|word| word.as_str().into()),
        })
    }

    /// Asks for other `components` or another `category` of a template.
    ///
    /// # Errors
    ///
    /// When the provider refuses it or does not answer.
    pub async fn edit_template(&self, provider_id: &str, fields: &Value) -> Result<(), Error> {
        self.told(self.client.post(self.beside(provider_id)).json(fields)).await.map(drop)
    }

    /// Deletes a template: this one, or every language of its name.
    ///
    /// # Errors
    ///
    /// When the provider refuses it or does not answer.
    pub async fn delete_template(&self, name: &str, provider_id: Option<&str>) -> Result<(), Error> {
        let mut query = vec![("name", name)];
        query.extend(provider_id.map(|id| ("hsm_id", id)));
        self.told(self.client.delete(self.templates.clone()).query(&query)).await.map(drop)
    }

    /// A template by the provider's id.
    ///
    /// # Errors
    ///
    /// When the provider does not know it or does not answer.
    pub async fn template(&self, provider_id: &str) -> Result<ListedTemplate, Error> {
        template::read_one(&self.ask(self.beside(provider_id), &[("fields", template::FIELDS)]).await?)
    }

    /// Uploads a sample of a template's header, or a picture of a profile, and returns the handle that names it. The token is the
    /// connector's: its app is where samples go.
    ///
    /// # Errors
    ///
    /// When the provider refuses it or does not answer.
    pub async fn upload_sample(
        &self,
        token: &Secret,
        bytes: Vec<u8>,
        mime_type: &str,
    ) -> Result<String, Error> {
        let inspected = self.ask(self.token.clone(), &[("input_token", token.expose())]).await?;
        let inspected: InspectedApp<'_> = read(&inspected)?;
        let app = inspected.data.app_id.get().ok_or_else(|| no_id("app of the token"))?;
        let mut uploads = self.beside(app);
        if let Ok(mut path) = uploads.path_segments_mut() {
            path.push("uploads");
        }
        let length = bytes.len().to_string();
        let query = [("file_length", length.as_str()), ("file_type", mime_type)];
        let opened = self.told(self.client.post(uploads).query(&query)).await?;
        let opened: OpenedSession<'_> = read(&opened)?;
        let session = opened.id.get().ok_or_else(|| no_id("upload"))?;
        // The id has a query of its own: the signature of the session.
        let (name, signature) =
            session.split_once('?').map_or((session, None), |(name, rest)| (name, Some(rest)));
        let mut address = self.beside(name);
        address.set_query(signature);
        let oauth = authorization(OAUTH, token)?;
        let request = self.client.post(address).header(AUTHORIZATION, oauth).header("file_offset", "0");
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        let response = request.timeout(UPLOAD).body(bytes).send().await;
        let response = response.map_err(|error| Error::NoAnswer(failure(&error).sentence))?;
        let uploaded = answer::to_question(response, &self.objects).await?;
        let uploaded: UploadedSample<'_> = read(&uploaded)?;
        uploaded.h.get().map(str::to_owned).ok_or_else(|| no_id("uploaded sample"))
    }

    /// The profile of the number, as the provider gives it.
    ///
    /// # Errors
    ///
    /// When the provider refuses the question or does not answer.
    pub async fn profile(&self) -> Result<Map<String, Value>, Error> {
        let bytes = self.ask(self.profile_address(), &[("fields", PROFILE)]).await?;
        let profiles: Profiles = read(&bytes)?;
        Ok(profiles.data.into_iter().next().unwrap_or_default())
    }

    /// Changes these fields of the profile of the number.
    ///
    /// # Errors
    ///
    /// When the provider refuses it or does not answer.
    pub async fn set_profile(&self, fields: &Map<String, Value>) -> Result<(), Error> {
        let mut body = json!({ "messaging_product": "whatsapp" });
        for (name, value) in fields {
            body[name] = value.clone();
        }
        self.told(self.client.post(self.profile_address()).json(&body)).await.map(drop)
    }

    fn profile_address(&self) -> Url {
        let mut url = self.number.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.push("whatsapp_business_profile");
        }
        url
    }

    /// The address of another object.
    pub(super) fn beside(&self, id: &str) -> Url {
        let mut url = self.number.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop().push(id);
        }
        url
    }

    /// The provider's answer to a request that changes something.
    async fn told(&self, request: RequestBuilder) -> Result<Vec<u8>, Error> {
        let response = request.header(AUTHORIZATION, self.authorization.clone()).send().await;
        let response = response.map_err(|error| Error::NoAnswer(failure(&error).sentence))?;
        answer::to_question(response, &self.objects).await
    }
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::NoAnswer(format!("the provider's answer cannot be read: {error}")))
}

fn no_id(of: &str) -> Error {
    Error::NoAnswer(format!("the provider does not name the {of}"))
}
