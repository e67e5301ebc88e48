//! HTTP requests: uploading files, fetching data that a phone synchronises, and finding WhatsApp's newest
//! version.

use std::fmt;

use async_trait::async_trait;
use reqwest::{Client, Method, Response};
use url::Url;
use whatsapp_rust::anyhow::{Context as _, Result};
use whatsapp_rust::http::{HttpClient, HttpRequest, HttpResponse};

use super::Options;

/// The timeout of connecting.
const CONNECT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

tokio::task_local! {
    /// The longest answer to a request of the running work, in bytes, if it is less than that of the options.
    pub(super) static MOST_BYTES: usize;
}

/// An answer has more bytes than it may have.
#[derive(Debug)]
pub(super) struct LongAnswer(usize);

impl fmt::Display for LongAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer has more than {} bytes", self.0)
    }
}

impl std::error::Error for LongAnswer {}

/// Clones share connections.
#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    base: Option<Url>,
    most_answer_bytes: usize,
}

impl Http {
    pub(super) fn new(options: &Options) -> reqwest::Result<Self> {
        let client = Client::builder()
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(options.http_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()?;
        Ok(Self { client, base: options.http_base.clone(), most_answer_bytes: options.most_answer_bytes })
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>> {
        let most = MOST_BYTES.try_with(|most| *most).unwrap_or(usize::MAX).min(self.most_answer_bytes);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
            if body.len() + chunk.len() > most {
                return Err(LongAnswer(most).into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

#[async_trait]
impl HttpClient for Http {
    async fn execute(&self, request: HttpRequest) -> Result<HttpResponse> {
        let url = Url::parse(&request.url).context("a request has an invalid address")?;
        let url = self.base.as_ref().map_or(url.clone(), |base| rebased(&url, base));
        let method = Method::from_bytes(request.method.as_bytes())?;
        let mut building = self.client.request(method, url);
        for (name, value) in request.headers {
            building = building.header(name, value);
        }
        if let Some(body) = request.body {
            building = building.body(body);
        }
        // Addresses contain tokens, which errors would show.
        let response = building.send().await.map_err(reqwest::Error::without_url)?;
        let status_code = response.status().as_u16();
        Ok(HttpResponse { status_code, body: self.body(response).await? })
    }
}

/// The same path and query on another host.
fn rebased(url: &Url, base: &Url) -> Url {
    let mut rebased = base.clone();
    rebased.set_path(url.path());
    rebased.set_query(url.query());
    rebased
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_to_the_base_with_its_own_path_and_query() {
        let url: Url = "https://media.example/mms/image/a_b-c?auth=x%2F&token=y".parse().unwrap();
        let base = "http://127.0.0.1:1234".parse().unwrap();
        assert_eq!(rebased(&url, &base).as_str(), "http://127.0.0.1:1234/mms/image/a_b-c?auth=x%2F&token=y");
    }
}
