//! Files that people sent: looked up by their id, and downloaded within the five minutes for which their address is valid.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use tokio::time::timeout;

use super::lenient::Text;
use super::{CloudApi, INVALID, failure};
use crate::Error;
use crate::file_store::{ArrivingFile, StoreFault};

#[derive(Deserialize)]
struct MediaFields<'a> {
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow, default)]
    sha256: Text<'a>,
    #[serde(borrow, default)]
    file_size: Text<'a>,
}

/// Where a file is, as the provider says.
pub struct FoundMedia {
    url: Url,
    /// The SHA-256 of its content, in hexadecimal or base64.
    pub sha256: Option<String>,
    /// Its length.
    pub size: Option<u64>,
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
        // The token goes to this address.
        if url.scheme() != "https" && url.scheme() != self.number.scheme() {
            return Err(MediaFault::Failed("the address of the file is not encrypted".to_owned()));
        }
        let size = fields.file_size.whole().and_then(|size| u64::try_from(size).ok());
        Ok(FoundMedia { url, sha256: fields.sha256.get().map(str::to_owned), size })
    }

    /// Downloads a file of at most `most` bytes. It has to arrive within `whole`, with no longer pause than `stall`.
    ///
    /// # Errors
    ///
    /// Any [`MediaFault`]; what has arrived is of no use then.
    pub async fn download(
        &self,
        media: &FoundMedia,
        into: &mut ArrivingFile,
        most: u64,
        (stall, whole): (Duration, Duration),
    ) -> Result<(), MediaFault> {
        let broken = |error: reqwest::Error| MediaFault::Failed(failure(&error).sentence);
        let request = self.client.get(media.url.clone()).header(AUTHORIZATION, self.authorization.clone());
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
