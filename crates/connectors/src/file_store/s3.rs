//! A bucket of an S3-compatible service, reached with our own HTTP client.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::aws::AmazonS3Builder;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ObjectStore, RetryConfig};
use reqwest::{Body, Client, Request, Url};

use super::{StoreFault, failed};
use crate::http;

/// The longest time without any data of an answer.
const STALL: Duration = Duration::from_secs(30);
/// How often, and for how long, a request is repeated that may succeed later. The client of an upload waits meanwhile.
const REPEATS: usize = 3;
const REPEATED_FOR: Duration = Duration::from_secs(20);

/// The bucket that the options describe.
///
/// # Errors
///
/// [`StoreFault::Failed`] when its address cannot be used.
pub(super) fn bucket(options: &config::Media) -> Result<Arc<dyn ObjectStore>, StoreFault> {
    let client = http::direct()
        .user_agent(concat!("pombo/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(options.connect_timeout)
        .read_timeout(STALL)
        .build()
        .map_err(|error| StoreFault::Failed(format!("cannot make a client: {error}")))?;
    let secret = options.s3_secret_key.as_ref().map(|secret| secret.expose()).unwrap_or_default();
    let retry = RetryConfig { max_retries: REPEATS, retry_timeout: REPEATED_FOR, ..RetryConfig::default() };
    let builder = AmazonS3Builder::new()
        .with_bucket_name(&options.s3_bucket)
        .with_region(&options.s3_region)
        .with_access_key_id(&options.s3_access_key)
        .with_secret_access_key(secret)
        .with_allow_http(options.s3_endpoint.starts_with("http://"))
        // Not every service knows the request that deletes several files.
        .with_disable_bulk_delete(true)
        .with_retry(retry)
        .with_http_connector(OwnClient(client));
    let builder = match options.s3_endpoint.as_str() {
        "" => builder,
        endpoint => builder.with_endpoint(endpoint.trim_end_matches('/')),
    };
    Ok(Arc::new(builder.build().map_err(failed)?))
}

/// Gives the store our client.
#[derive(Debug, Clone)]
struct OwnClient(Client);

impl HttpConnector for OwnClient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for OwnClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string());
        let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let mut asked = Request::new(parts.method, url);
        *asked.headers_mut() = parts.headers;
        *asked.body_mut() = Some(Body::wrap(body));
        let answer = self.0.execute(asked).await.map_err(unanswered)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        // Answers are small: files are read in pieces.
        let mut response =
            HttpResponse::new(HttpResponseBody::from(answer.bytes().await.map_err(unanswered)?));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

/// The store repeats requests of some kinds. The address is left out, which has the name of the bucket.
fn unanswered(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_decode() {
        HttpErrorKind::Decode
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}
