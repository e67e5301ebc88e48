//! Meta's Cloud API: requests for one business phone number over HTTPS.
//!
//! <https://developers.facebook.com/docs/whatsapp/cloud-api>. One request sends one message. There is no bulk
//! request and no idempotency key, so the outcome of an attempt without an answer is unknown.

mod answer;
mod authoring;
mod body;
mod component;
mod disposition;
mod hint;
mod lenient;
mod library;
mod media;
mod number;
mod passing;
pub mod reach;
mod setup;
mod template;
#[cfg(test)]
mod tests;
pub mod webhook;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Response, Url};
use serde_json::json;

pub use self::authoring::TakenTemplate;
pub use self::body::Rendered;
pub use self::disposition::known_codes;
pub use self::disposition::{ProviderCode, documented, meaning, refuses_credentials};
pub use self::library::LIBRARY;
pub use self::media::{FileHosts, FoundMedia, MediaFault};
pub use self::passing::{PassedAnswer, PassedRequest};
use super::{Disposition, Error, Health, Reply, http};
use domain::message::Failure;
use domain::secret::Secret;
use domain::template::ListedTemplate;

/// The longest answer, in bytes. The provider's answers are shorter.
const ANSWER_LIMIT: usize = 256 * 1024;
/// The word before a token, and that of uploads.
const BEARER: &str = "Bearer";
const OAUTH: &str = "OAuth";
/// The code of an invalid parameter, such as a field that does not exist.
const INVALID: i64 = 100;
/// Templates on one page of the provider's list.
const TEMPLATES_PER_PAGE: &str = "100";
/// The maximum number of pages: an account may have 6,000 templates.
const TEMPLATE_PAGES: usize = 200;

/// Connections to the provider. They are bound to the thread that opened them, so each thread needs its own.
#[derive(Debug, Clone)]
pub struct Connections(Client);

impl Connections {
    /// An empty pool: connections are opened when they are needed.
    ///
    /// # Errors
    ///
    /// When the TLS library finds no root certificates, or the proxy's address cannot be used.
    pub fn new(options: &config::CloudApi, network: &config::Network) -> Result<Self, Error> {
        let client = http::outward(network)?
            .user_agent(concat!("pombo/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.connect_timeout)
            .timeout(options.request_timeout)
            .pool_max_idle_per_host(options.idle_connections)
            .pool_idle_timeout(options.idle_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build();
        client.map(Self).map_err(|error| Error::NoAnswer(format!("cannot make a client: {error}")))
    }
}

/// The ids in this connector's requests.
#[derive(Debug, Clone)]
struct Objects {
    phone_number_id: String,
    waba_id: String,
}

impl Objects {
    fn contain(&self, id: &str) -> bool {
        self.phone_number_id == id || self.waba_id == id
    }
}

/// One business phone number of one business account.
#[derive(Debug, Clone)]
pub struct CloudApi {
    client: Client,
    objects: Objects,
    authorization: HeaderValue,
    messages: Url,
    number: Url,
    templates: Url,
    numbers: Url,
    subscriptions: Url,
    token: Url,
}

impl CloudApi {
    /// A connector for `phone_number_id` of the business account `waba_id`.
    ///
    /// # Errors
    ///
    /// When the ids or the base address do not form a URL, or the token is not visible ASCII.
    pub fn new(
        connections: Connections,
        options: &config::CloudApi,
        phone_number_id: &str,
        waba_id: &str,
        token: &Secret,
    ) -> Result<Self, Error> {
        let address = |path: &[&str]| address(options, path);
        let authorization = authorization(BEARER, token)?;
        Ok(Self {
            client: connections.0,
            objects: Objects { phone_number_id: phone_number_id.to_owned(), waba_id: waba_id.to_owned() },
            authorization,
            messages: address(&[phone_number_id, "messages"])?,
            number: address(&[phone_number_id])?,
            templates: address(&[waba_id, "message_templates"])?,
            numbers: address(&[waba_id, "phone_numbers"])?,
            subscriptions: address(&[waba_id, "subscribed_apps"])?,
            token: address(&["debug_token"])?,
        })
    }

    /// Sends one message.
    pub async fn send(&self, body: Vec<u8>) -> Reply {
        let request = self
            .client
            .post(self.messages.clone())
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        match request.send().await {
            Ok(response) => answer::to_send(response, &self.objects).await,
            Err(error) if error.is_connect() && http::lacks_socket(&error) => {
                Reply::NoSocket(failure(&error))
            }
            Err(error) if error.is_connect() || error.is_builder() => Reply::NotSent(failure(&error)),
            Err(error) => Reply::Uncertain(failure(&error)),
        }
    }

    /// Tells the writer of a message that it and all earlier ones were read; with `is_typing`, also that somebody types an
    /// answer, which the provider shows for 25 seconds or until there is one.
    ///
    /// # Errors
    ///
    /// When the provider refuses the request, such as for a message that it does not know, or does not answer.
    pub async fn mark_read(&self, message_id: &str, is_typing: bool) -> Result<(), Error> {
        let body = read_mark(message_id, is_typing);
        let request =
            self.client.post(self.messages.clone()).header(AUTHORIZATION, self.authorization.clone());
        let response = request.json(&body).send().await;
        let response = response.map_err(|error| Error::NoAnswer(failure(&error).sentence))?;
        answer::to_question(response, &self.objects).await.map(drop)
    }

    /// Probes whether the number can send, and how fast.
    pub async fn health(&self) -> Health {
        let mut answer = self.ask(self.number.clone(), &[("fields", number::FIELDS)]).await;
        if matches!(&answer, Err(Error::Refused(Disposition::Fail, failure)) if failure.code == Some(INVALID))
        {
            // Older versions refuse fields that they do not have. Then the default fields are requested.
            answer = self.ask(self.number.clone(), &[]).await;
        }
        match answer {
            Ok(bytes) => number::to_health(&bytes),
            Err(Error::Refused(disposition, failure)) => Health::Refused(disposition, failure),
            Err(Error::NoAnswer(sentence)) => Health::Unknown(Failure { code: None, sentence }),
        }
    }

    /// All templates of the business account, every page.
    ///
    /// # Errors
    ///
    /// When a page cannot be fetched. Nothing is returned then, so that no template seems to be deleted.
    pub async fn templates(&self) -> Result<Vec<ListedTemplate>, Error> {
        let mut all = Vec::new();
        let mut after = String::new();
        for _ in 0..TEMPLATE_PAGES {
            let mut query = vec![("fields", template::FIELDS), ("limit", TEMPLATES_PER_PAGE)];
            if !after.is_empty() {
                query.push(("after", &after));
            }
            let page = template::read_page(&self.ask(self.templates.clone(), &query).await?)?;
            all.extend(page.templates);
            match page.after {
                Some(next) => after = next,
                None => return Ok(all),
            }
        }
        Err(Error::NoAnswer(format!("more than {TEMPLATE_PAGES} pages of templates")))
    }

    /// Checks whether the business account exists and the token may use it.
    ///
    /// # Errors
    ///
    /// When the provider refuses the request or does not answer.
    pub async fn has_account(&self) -> Result<(), Error> {
        let page = self.ask(self.templates.clone(), &[("fields", template::FIELDS), ("limit", "1")]).await?;
        template::read_page(&page).map(drop)
    }

    async fn ask(&self, url: Url, query: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
        let request = self.client.get(url).query(query).header(AUTHORIZATION, self.authorization.clone());
        let response = request.send().await.map_err(|error| Error::NoAnswer(failure(&error).sentence))?;
        answer::to_question(response, &self.objects).await
    }
}

/// The address of this path under the version that is used.
fn address(options: &config::CloudApi, path: &[&str]) -> Result<Url, Error> {
    let mut url = Url::parse(&options.base_url)
        .map_err(|error| Error::NoAnswer(format!("cloud_api.base_url is not a URL: {error}")))?;
    url.path_segments_mut()
        .map_err(|()| Error::NoAnswer("cloud_api.base_url cannot carry a path".to_owned()))?
        .pop_if_empty()
        .push(&options.version)
        .extend(path);
    Ok(url)
}

/// The header with a token, after the word that the provider wants there.
fn authorization(scheme: &str, token: &Secret) -> Result<HeaderValue, Error> {
    let mut authorization = HeaderValue::from_str(&format!("{scheme} {}", token.expose())).map_err(|_| {
        Error::NoAnswer("the access token has characters that are not visible ASCII".to_owned())
    })?;
    authorization.set_sensitive(true);
    Ok(authorization)
}

/// The body that marks a message as read.
fn read_mark(message_id: &str, is_typing: bool) -> serde_json::Value {
    let mut body = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": message_id });
    if is_typing {
        body["typing_indicator"] = json!({ "type": "text" });
    }
    body
}

/// The failure of a request, without the address (which would be repeated for every message of a send).
fn failure(error: &reqwest::Error) -> Failure {
    let mut causes = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        causes.push(inner.to_string());
        cause = inner.source();
    }
    let what = if error.is_connect() {
        "cannot connect to the provider"
    } else if error.is_timeout() {
        "the provider did not answer in time"
    } else {
        "the connection to the provider broke off"
    };
    let why = causes.pop().map_or_else(String::new, |cause| format!(": {cause}"));
    Failure { code: None, sentence: answer::plain(&format!("{what}{why}")) }
}

/// The body of an answer, up to [`ANSWER_LIMIT`] bytes.
async fn read(response: Response) -> Result<Vec<u8>, Failure> {
    read_most(response, ANSWER_LIMIT).await
}

/// The body of an answer, up to `most` bytes.
async fn read_most(mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        if bytes.len() + chunk.len() > most {
            let sentence = format!("the provider's answer is longer than {most} bytes");
            return Err(Failure { code: None, sentence });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
