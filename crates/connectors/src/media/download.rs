//! Downloads a file: each redirect is checked, and time and size are bounded.

use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_ENCODING, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode};
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

use super::room::Taken;
use super::{Fetcher, Kind, destination, file_name, refusal, sticker};
use crate::guard;
use domain::error::Refusal;

/// The maximum number of redirects. Usual links need fewer: from http to https, to a host's full name, to
/// its storage.
const MAX_REDIRECTS: usize = 5;

/// A downloaded file.
pub(super) struct Download {
    pub(super) bytes: Vec<u8>,
    /// The name that its host or its address gives it.
    pub(super) name: Option<String>,
    pub(super) memory: Taken,
}

impl Fetcher {
    /// Follows the link and downloads the file.
    pub(super) async fn download(
        &self,
        company: Uuid,
        link: &Url,
        wanted: Kind,
    ) -> Result<Download, Refusal> {
        let response = self.follow(link).await?;
        if !matches!(response.status(), StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION) {
            return Err(refusal::status(response.status().as_u16()));
        }
        let is_plain =
            |coding: &HeaderValue| coding.is_empty() || coding.as_bytes().eq_ignore_ascii_case(b"identity");
        if !response.headers().get_all(CONTENT_ENCODING).iter().all(is_plain) {
            return Err(refusal::compressed());
        }
        let name = file_name::of(response.headers().get(CONTENT_DISPOSITION), link, response.url());
        let (bytes, memory) = self.read(company, response, wanted).await?;
        Ok(Download { bytes, name, memory })
    }

    /// The first answer that is no redirect.
    async fn follow(&self, link: &Url) -> Result<Response, Refusal> {
        let mut url = link.clone();
        for _ in 0..=MAX_REDIRECTS {
            destination::check(&url, &self.networks)?;
            let response = self.ask(&url).await?;
            match response.headers().get(LOCATION).filter(|_| leads_on(response.status())) {
                Some(location) => url = destination::next(&url, location.as_bytes())?,
                None => return Ok(response),
            }
        }
        Err(refusal::too_many_redirects(MAX_REDIRECTS))
    }

    async fn ask(&self, url: &Url) -> Result<Response, Refusal> {
        let request =
            self.client.get(url.clone()).header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let patience = self.options.connect_timeout + self.options.stall_timeout;
        let response = in_time(patience, request.send()).await?;
        // The address of the connection itself is checked last.
        match response.remote_addr() {
            Some(peer) if !self.networks.admit(peer.ip()) => Err(refusal::not_public()),
            _ => Ok(response),
        }
    }

    /// The body, up to the maximum size of `wanted`.
    async fn read(
        &self,
        company: Uuid,
        mut response: Response,
        wanted: Kind,
    ) -> Result<(Vec<u8>, Taken), Refusal> {
        let limit = self.limit(wanted);
        // Without an announced length, the body may have the maximum size. With one, the client reads no more
        // bytes than that.
        let announced =
            response.content_length().map_or(limit, |length| usize::try_from(length).unwrap_or(usize::MAX));
        if announced > limit {
            return Err(refusal::too_large(wanted, limit));
        }
        let mut memory = self.room.memory(company, announced).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = in_time(self.options.stall_timeout, response.chunk()).await? {
            let length = bytes.len() + chunk.len();
            if length > announced {
                return Err(refusal::too_large(wanted, limit));
            }
            if length > bytes.capacity() {
                // The buffer doubles, but never beyond the reserved memory.
                let capacity = length.max(2 * bytes.capacity()).min(announced);
                bytes.reserve_exact(capacity - bytes.len());
            }
            bytes.extend_from_slice(&chunk);
        }
        if bytes.is_empty() {
            return Err(refusal::empty());
        }
        memory.shrink(bytes.capacity());
        Ok((bytes, memory))
    }

    pub(super) fn limit(&self, wanted: Kind) -> usize {
        match wanted {
            Kind::Image => self.options.image_limit,
            Kind::Video => self.options.video_limit,
            Kind::Audio => self.options.audio_limit,
            Kind::Document => self.options.document_limit,
            Kind::Sticker => sticker::LARGEST,
        }
    }
}

fn leads_on(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

/// One step of an exchange, which has to complete within `patience`.
async fn in_time<T>(
    patience: Duration,
    step: impl Future<Output = Result<T, reqwest::Error>>,
) -> Result<T, Refusal> {
    match timeout(patience, step).await {
        Ok(done) => done.map_err(|error| refused(&error)),
        Err(_) => Err(refusal::too_slow()),
    }
}

/// The refusal for a failed exchange. The error's own text is not passed on, because it contains addresses.
fn refused(error: &reqwest::Error) -> Refusal {
    if guard::was_refused(error) {
        refusal::not_public()
    } else if error.is_timeout() {
        refusal::too_slow()
    } else if error.is_dns() {
        refusal::unknown_host()
    } else if error.is_connect() {
        refusal::no_connection()
    } else {
        refusal::broken_off()
    }
}
