//! Files behind a request's `link`, fetched for web sessions, and files that companies [keep](kept) and that [strangers](strange)
//! sent, recognised.
//!
//! A link is not trusted, and it is fetched from inside the operator's network. So it may lead only to the
//! open Internet. It is checked at every redirect ([`destination`]) and by the addresses that are connected to
//! ([`crate::guard`]). The download is bounded in time, size and memory ([`download`], [`room`]), and the file's
//! type is determined from its content ([`format`]). This module never puts a host's answer into a log or a
//! refusal. It is called for each web-session send of a file, before the file goes to the session.

mod destination;
mod download;
mod file_name;
mod format;
mod kept;
mod movie;
mod picture;
mod refusal;
mod room;
mod sound;
mod sticker;
mod strange;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

use self::download::Download;
use self::format::Format;
pub use self::kept::{Recognised, WHOLE, clean_name};
use self::room::Room;
pub use self::room::Taken;
pub use self::strange::SeenFile;
use super::Error;
pub use crate::guard::Lookup;
use crate::guard::{self, Guard, Networks, System};
use domain::error::{Code, Refusal};
pub use domain::media::Kind;

/// The formats that can be sent as a kind, for sentences.
const fn formats(kind: Kind) -> &'static str {
    match kind {
        Kind::Image => "a JPEG, PNG or WebP file",
        Kind::Video => "an MP4 or 3GP file",
        Kind::Audio => "an Ogg file with Opus, or an MP3, M4A, AAC, AMR or WAV file",
        Kind::Document => "any file",
        Kind::Sticker => "a WebP file",
    }
}

/// The size of a picture or a film as it is shown, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// A file that is ready to be sent. Its reserved memory is released when it is dropped.
pub struct Media {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Its metadata.
    pub details: Details,
    /// The name that the recipient of a document sees; `None` for other kinds.
    pub file_name: Option<String>,
    /// Whether an audio can be played as a voice message: Ogg with Opus.
    pub is_voice_note: bool,
    _memory: Taken,
}

impl fmt::Debug for Media {
    /// Never the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({}, {} bytes)", self.details.mime_type, self.bytes.len())
    }
}

/// The metadata of a file.
#[derive(Default)]
pub struct Details {
    /// The type by the content, such as `image/jpeg` or `audio/ogg; codecs=opus`.
    pub mime_type: &'static str,
    /// The usual extension of such a file.
    pub extension: Option<&'static str>,
    /// The size of an image or a video, if the file contains it.
    pub dimensions: Option<Dimensions>,
    /// The length of an audio or a video, if the file contains it.
    pub duration: Option<Duration>,
    /// The thumbnail of an image: a JPEG of some 2 KiB, at most 96 pixels wide and high.
    pub thumbnail: Option<Vec<u8>>,
    /// Whether a sticker moves.
    pub is_animated: bool,
}

/// Fetches the files behind links. The process has one fetcher, which bounds the memory of all files
/// together.
pub struct Fetcher {
    client: Client,
    networks: Arc<Networks>,
    room: Room,
    options: config::Media,
}

impl Fetcher {
    /// A fetcher that resolves host names with the system's resolver.
    ///
    /// # Errors
    ///
    /// When the TLS library finds no root certificates.
    pub fn new(options: &config::Media) -> Result<Self, Error> {
        Self::with_lookup(options, Arc::new(System))
    }

    /// A fetcher that asks `lookup` for the addresses of host names and of this machine.
    ///
    /// # Errors
    ///
    /// When the TLS library finds no root certificates.
    pub fn with_lookup(options: &config::Media, lookup: Arc<dyn Lookup>) -> Result<Self, Error> {
        let guard = Guard::new(lookup, &options.allow, &options.refuse);
        let networks = guard.networks();
        let client = guard::client(guard)
            // Each request makes its own connection, to an address that was checked for it.
            .pool_max_idle_per_host(0)
            .connect_timeout(options.connect_timeout)
            .build()
            .map_err(|error| Error::NoAnswer(format!("cannot make a client: {error}")))?;
        let room = Room::new(options.concurrency, options.memory, options.stall_timeout);
        Ok(Self { client, networks, room, options: options.clone() })
    }

    /// Fetches the file behind `link` for a company, to be sent as `wanted`.
    ///
    /// # Errors
    ///
    /// `link_not_allowed`: the link, its host name or a redirect leads to an address that is not allowed.
    /// `media_unavailable`: there is no usable file, or it does not arrive in time.
    /// `media_too_large`: the file is larger than `wanted` may be.
    /// `service_unavailable`: too many other files are being fetched, by all companies or by this one.
    pub async fn fetch(&self, company: Uuid, link: &Url, wanted: Kind) -> Result<Media, Refusal> {
        let fetched = self.fetch_unlogged(company, link, wanted).await;
        if let Err(refusal) = &fetched {
            let host = link.host_str().unwrap_or_default();
            if refusal.code == Code::LinkNotAllowed {
                tracing::info!(host, "refused to fetch a link to an address that is not allowed");
            } else {
                tracing::debug!(host, code = refusal.code.as_str(), "a link could not be fetched");
            }
        }
        fetched
    }

    async fn fetch_unlogged(&self, company: Uuid, link: &Url, wanted: Kind) -> Result<Media, Refusal> {
        let place = self.room.place(company).await?;
        let download = guard::in_place(place, self.download(company, link, wanted));
        let download =
            timeout(self.options.timeout, download).await.unwrap_or_else(|_| Err(refusal::too_slow()))?;
        self.ready(company, download, wanted).await
    }

    /// Reads the metadata of a whole file.
    async fn ready(&self, company: Uuid, download: Download, wanted: Kind) -> Result<Media, Refusal> {
        let Download { bytes, name, memory } = download;
        // Without a permit for decoding, the picture is sent without a thumbnail.
        let turn = if wanted == Kind::Image { self.room.decoder(company).await } else { None };
        let has_turn = turn.is_some();
        let looked_at = tokio::task::spawn_blocking(move || (details(&bytes, wanted, has_turn), bytes));
        // A file that makes a parser panic is not sent.
        let (details, bytes) = looked_at.await.map_err(|_| refusal::damaged(wanted))?;
        let details = details?;
        let unnamed =
            || details.extension.map_or_else(|| "document".to_owned(), |ending| format!("document.{ending}"));
        Ok(Media {
            bytes,
            file_name: (wanted == Kind::Document).then(|| name.unwrap_or_else(unnamed)),
            is_voice_note: wanted == Kind::Audio && details.mime_type == format::OPUS,
            details,
            _memory: memory,
        })
    }
}

/// Reads the metadata of a file. This blocks the thread, for up to about a second for the thumbnail of a
/// large picture.
///
/// # Errors
///
/// `media_unavailable` when the file cannot be sent as the wanted kind; `media_too_large` for a sticker that is still and
/// larger than such a one may be.
pub fn details(bytes: &[u8], wanted: Kind, with_thumbnail: bool) -> Result<Details, Refusal> {
    let format = Format::of(bytes);
    format.judge(wanted)?;
    let Format { mime_type, extension, movie } = format;
    let details = Details { mime_type, extension, ..Details::default() };
    let movie = movie.unwrap_or_default();
    Ok(match wanted {
        Kind::Document => details,
        Kind::Video => Details { dimensions: movie.dimensions, duration: movie.duration, ..details },
        Kind::Audio => {
            Details { duration: movie.duration.or_else(|| sound::duration(bytes, mime_type)), ..details }
        }
        Kind::Image => {
            let picture = picture::read(bytes, mime_type, with_thumbnail);
            let picture = picture.ok_or_else(|| refusal::damaged(wanted))?;
            Details { dimensions: Some(picture.dimensions), thumbnail: picture.thumbnail, ..details }
        }
        Kind::Sticker => {
            let sticker = sticker::read(bytes, mime_type)?;
            Details { dimensions: Some(sticker.dimensions), is_animated: sticker.is_animated, ..details }
        }
    })
}
