//! Files that people sent: looked up by their id, and downloaded within the five minutes for which their address is valid.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use tokio::time::timeout;

use super::lenient::fields;
use super::{CloudApi, INVALID, failure};
use crate::file_store::{ArrivingFile, StoreFault};
use crate::guard::{self, Guard, Lookup, Networks, System};
use crate::{Error, http};

fields! {
    MediaFields {
        needs url;
        texts sha256, file_size;
    }
}

/// Where a file is, as the provider says.
pub struct FoundMedia {
    pub(super) url: Url,
    /// The SHA-256 of its content, in hexadecimal or base64.
    pub sha256: Option<String>,
    /// Its length.
    pub size: Option<u64>,
}

/// The hosts from which files are downloaded. The provider names them in its answers, so they are guarded like links:
/// another server that answers in its place cannot make this process read from the operator's network.
#[derive(Clone)]
pub struct FileHosts {
    client: Client,
    networks: Arc<Networks>,
}

impl FileHosts {
    /// The hosts to which links may lead by these options. A proxy resolves their names by itself, and has rules of its
    /// own: then only hosts that are IP addresses are checked here.
    ///
    /// # Errors
    ///
    /// When the TLS library finds no root certificates, or the proxy's address cannot be used.
    pub fn new(options: &config::Media, network: &config::Network) -> Result<Self, Error> {
        Self::with_lookup(options, network, Arc::new(System))
    }

    /// The same, with `lookup` for the addresses of host names and of this machine.
    ///
    /// # Errors
    ///
    /// As for [`FileHosts::new`].
    pub fn with_lookup(
        options: &config::Media,
        network: &config::Network,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, Error> {
        let guard = Guard::new(lookup, &options.allow, &options.refuse);
        let networks = guard.networks();
        let client = match network.proxy {
            None => guard::client(guard),
            Some(_) => http::outward(network)?
                .user_agent(concat!("pombo/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none()),
        };
        let client = client.connect_timeout(options.connect_timeout).build();
        let client = client.map_err(|error| Error::NoAnswer(format!("cannot make a client: {error}")))?;
        Ok(Self { client, networks })
    }

    /// The client for this address. The channel's token goes with the request, so the way there is encrypted.
    fn admit(&self, url: &Url) -> Result<&Client, MediaFault> {
        let is_admitted = url.host().is_some_and(|host| self.networks.admit_host(&host));
        if url.scheme() == "https" && is_admitted { Ok(&self.client) } else { Err(MediaFault::NotAllowed) }
    }
}

/// Why a file did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum MediaFault {
    /// The provider does not have it, or its address has expired.
    #[error("the provider does not have the file")]
    Gone,
    /// It is larger than it may be.
    #[error("the file is too large")]
    TooLarge,
    /// The provider names an address to which no request goes.
    #[error(
        "the address of the file that the provider names is not encrypted, or leads to a network that media.allow \
         does not list"
    )]
    NotAllowed,
    /// The directory for arriving files cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// Another attempt may succeed.
    #[error("{0}")]
    Failed(String),
}

impl CloudApi {
    /// Looks up a file by the id that a webhook gave.
    ///
    /// # Errors
    ///
    /// [`MediaFault::Gone`] when the provider knows no such file of this number, [`MediaFault::Failed`] otherwise.
    pub async fn find_media(&self, id: &str) -> Result<FoundMedia, MediaFault> {
        let mut url = self.number.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop().push(id);
        }
        let query = [("phone_number_id", self.objects.phone_number_id.as_str())];
        let answer = self.ask(url, &query).await.map_err(|error| match error {
            Error::Refused(_, failure) if failure.code == Some(INVALID) => MediaFault::Gone,
            error => MediaFault::Failed(error.to_string()),
        })?;
        let unreadable = || MediaFault::Failed("the provider does not say where the file is".to_owned());
        let fields: MediaFields<'_> = serde_json::from_slice(&answer).map_err(|_| unreadable())?;
        let url = Url::parse(fields.url.get().unwrap_or_default()).map_err(|_| unreadable())?;
        let size = fields.file_size.whole().and_then(|size| u64::try_from(size).ok());
        Ok(FoundMedia { url, sha256: fields.sha256.get().map(str::to_owned), size })
    }

    /// Downloads a file of at most `most` bytes, from the provider's own host or one of `hosts`. It has to arrive within
    /// `whole`, with no longer pause than `stall`.
    ///
    /// # Errors
    ///
    /// Any [`MediaFault`]; what has arrived is of no use then.
    pub async fn download(
        &self,
        media: &FoundMedia,
        hosts: &FileHosts,
        into: &mut ArrivingFile,
        most: u64,
        (stall, whole): (Duration, Duration),
    ) -> Result<(), MediaFault> {
        let broken = |error: reqwest::Error| {
            if guard::was_refused(&error) {
                return MediaFault::NotAllowed;
            }
            MediaFault::Failed(failure(&error).sentence)
        };
        // The operator configured the provider's own host.
        let is_own = media.url.origin() == self.number.origin();
        let client = if is_own { &self.client } else { hosts.admit(&media.url)? };
        let request = client.get(media.url.clone()).header(AUTHORIZATION, self.authorization.clone());
        let mut response = request.timeout(whole).send().await.map_err(broken)?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Err(MediaFault::Gone),
            status => {
                let sentence = format!("the provider answers the download with {}", status.as_u16());
                return Err(MediaFault::Failed(sentence));
            }
        }
        if response.content_length().is_some_and(|length| length > most) {
            return Err(MediaFault::TooLarge);
        }
        let slow = || MediaFault::Failed("the file arrives too slowly".to_owned());
        while let Some(piece) = timeout(stall, response.chunk()).await.map_err(|_| slow())?.map_err(broken)? {
            if into.bytes().saturating_add(piece.len() as u64) > most {
                return Err(MediaFault::TooLarge);
            }
            into.write(piece).await?;
        }
        if into.bytes() == 0 {
            return Err(MediaFault::Failed("the file that the provider delivers is empty".to_owned()));
        }
        Ok(())
    }
}
