//! Fetches one file: it arrives, is compared with what was announced, recognised, scanned, and kept.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::{FetchAttempt, Obstacle};
use crate::media::Library;
use clock::Timestamp;
use connectors::cloud_api::{CloudApi, MediaFault};
use connectors::file_store::{ArrivingFile, Bytes, ContentDigest, StoreFault};
use connectors::media::{SeenFile, Taken, WHOLE, clean_name};
use connectors::scanner::Scanned;
use domain::inbound::{InboundMedia, MissingFile, bytes_of_base64};
use domain::media::Kind;
use driver::{FetchError, MediaKind, SealedFile, Session};
use store::inbound_files::{FileHold, KeptFile};
use vault::context;

/// How long a content may take to be stored.
const STORED_WITHIN: Duration = Duration::from_secs(300);
/// How long its name is held for that: longer, so that it is never deleted while it is being stored.
const HELD_FOR: Duration = Duration::from_secs(600);

/// Where a file comes from.
#[derive(Clone)]
pub(super) enum FileSource {
    Business(Arc<CloudApi>),
    Web(Arc<dyn Session>),
}

/// A file that has arrived.
struct ArrivedFile {
    file: ArrivingFile,
    digest: ContentDigest,
}

impl FetchAttempt {
    /// Fetches the file and keeps it.
    pub(super) async fn make(&self, source: &FileSource) -> Result<(), Obstacle> {
        let announced = self.announced().await?;
        let kind = self.file.kind.parse().unwrap_or(Kind::Document);
        let most = self.options.limit(kind) as u64;
        let size = announced.size.unwrap_or_default();
        if size > most {
            return Err(Obstacle::Final(MissingFile::TooLarge));
        }
        self.check_room(size).await?;
        let mut arrived = match source {
            FileSource::Business(connector) => self.download(connector, &announced, most).await?,
            FileSource::Web(session) => self.fetch(&**session, &announced, kind, most).await?,
        };
        let seen = self.see(&mut arrived.file).await?;
        if self.options.incoming_refuse.iter().any(|refused| refused.eq_ignore_ascii_case(seen.mime_type)) {
            return Err(Obstacle::Final(MissingFile::RefusedType));
        }
        self.scan(&arrived.file).await?;
        self.keep(arrived, seen, announced.file_name.as_deref()).await
    }

    fn library(&self) -> &Library {
        &self.shared.media
    }

    /// What the message says of its file.
    async fn announced(&self) -> Result<InboundMedia, Obstacle> {
        let context = context::inbound_file(self.file.message_id);
        let opened =
            self.shared.contents.open(&self.file.source, &context).await.map_err(|error| not_now(&error))?;
        // Without the key, nobody can fetch it any more.
        let opened = opened.and_then(|json| serde_json::from_slice(&json).ok());
        opened.ok_or(Obstacle::Final(MissingFile::Gone))
    }

    /// Whether the company has room for so many bytes more.
    async fn check_room(&self, bytes: u64) -> Result<(), Obstacle> {
        let files = self.shared.store.of(self.file.company_id).inbound_files();
        let kept = files.bytes().await.map_err(|error| not_now(&error))?;
        let is_full = kept.saturating_add(bytes) > self.options.incoming_max_bytes as u64;
        if is_full { Err(Obstacle::Again(Some(MissingFile::NoRoom))) } else { Ok(()) }
    }

    async fn memory(&self, bytes: u64) -> Result<Taken, Obstacle> {
        let memory = self.library().fetcher().memory(self.file.company_id, bytes, None).await;
        memory.map_err(|_| Obstacle::NotNow)
    }

    /// Downloads the file of a business account.
    async fn download(
        &self,
        connector: &CloudApi,
        announced: &InboundMedia,
        most: u64,
    ) -> Result<ArrivedFile, Obstacle> {
        let id = announced.id.as_deref().ok_or(Obstacle::Final(MissingFile::Gone))?;
        let found = connector.find_media(id).await.map_err(|fault| self.faulty(&fault))?;
        if found.size.is_some_and(|size| size > most) {
            return Err(Obstacle::Final(MissingFile::TooLarge));
        }
        self.check_room(found.size.unwrap_or_default()).await?;
        let mut file = self.library().files().begin().await.map_err(|fault| stored_badly(&fault))?;
        let patience = (self.options.stall_timeout, self.options.timeout);
        let downloading = connector.download(&found, &self.hosts, &mut file, most, patience);
        downloading.await.map_err(|fault| self.faulty(&fault))?;
        self.arrived(file, &[announced.sha256.as_deref(), found.sha256.as_deref()])
    }

    /// Fetches the file of a web session.
    async fn fetch(
        &self,
        session: &dyn Session,
        announced: &InboundMedia,
        kind: Kind,
        most: u64,
    ) -> Result<ArrivedFile, Obstacle> {
        let keys = announced.keys.clone().ok_or(Obstacle::Final(MissingFile::Gone))?;
        // A file that does not say its length may have the largest.
        let size = announced.size.filter(|size| *size > 0).unwrap_or(most);
        let _memory = self.memory(size).await?;
        let kind = match kind {
            Kind::Image => MediaKind::Image,
            Kind::Video => MediaKind::Video,
            Kind::Audio => MediaKind::Audio { is_voice: announced.voice },
            Kind::Document => MediaKind::Document,
            Kind::Sticker => MediaKind::Sticker { is_animated: announced.animated },
        };
        let sealed = SealedFile { kind, keys, sha256: announced.sha256.clone(), size };
        let fetched = session.fetch(sealed).await.map_err(|error| {
            tracing::debug!(channel.id = %self.file.channel_id, %error, "cannot fetch a file that a person sent");
            match error {
                FetchError::NotConnected => Obstacle::NotNow,
                FetchError::Gone => Obstacle::Doubtful(MissingFile::Gone),
                FetchError::Damaged => Obstacle::Doubtful(MissingFile::Damaged),
                FetchError::Failed(_) => Obstacle::Again(None),
            }
        })?;
        if fetched.len() as u64 > most {
            return Err(Obstacle::Final(MissingFile::TooLarge));
        }
        let mut file = self.library().files().begin().await.map_err(|fault| stored_badly(&fault))?;
        file.write(Bytes::from(fetched)).await.map_err(|fault| stored_badly(&fault))?;
        self.arrived(file, &[announced.sha256.as_deref()])
    }

    /// Compares what arrived with the digests that were announced.
    fn arrived(&self, file: ArrivingFile, announced: &[Option<&str>]) -> Result<ArrivedFile, Obstacle> {
        let digest = file.digest().map_err(|fault| stored_badly(&fault))?;
        let other = |announced: &&str| digest_of(announced).is_some_and(|announced| announced != digest);
        if announced.iter().flatten().any(other) {
            tracing::debug!(channel.id = %self.file.channel_id, "a file that a person sent arrived damaged");
            return Err(Obstacle::Doubtful(MissingFile::Damaged));
        }
        Ok(ArrivedFile { file, digest })
    }

    /// What the file is by its content.
    async fn see(&self, file: &mut ArrivingFile) -> Result<SeenFile, Obstacle> {
        let bytes = file.bytes();
        let _memory = self.memory(bytes.min(WHOLE as u64)).await?;
        let beginning = file.beginning(WHOLE).await.map_err(|fault| stored_badly(&fault))?;
        Ok(self.library().fetcher().see(self.file.company_id, beginning, bytes).await)
    }

    async fn scan(&self, file: &ArrivingFile) -> Result<(), Obstacle> {
        let Some(scanner) = &self.scanner else { return Ok(()) };
        let path = file.path().map_err(|fault| stored_badly(&fault))?;
        match scanner.look_at(path).await {
            Scanned::Clean => Ok(()),
            Scanned::Refused => {
                tracing::info!(channel.id = %self.file.channel_id, "the scanner refused a file that a person sent");
                Err(Obstacle::Final(MissingFile::Infected))
            }
            Scanned::Unknown(why) => {
                tracing::error!(
                    why,
                    "the command of media.scanner does not look at files, they are not kept"
                );
                Err(Obstacle::Again(Some(MissingFile::NotScanned)))
            }
        }
    }

    /// Keeps the file under its digest.
    async fn keep(&self, arrived: ArrivedFile, seen: SeenFile, name: Option<&str>) -> Result<(), Obstacle> {
        let ArrivedFile { file, digest } = arrived;
        let SeenFile { kind, mime_type, extension, thumbnail } = seen;
        let (files, bytes) = (self.shared.store.inbound_files(), file.bytes());
        // Its length may have been said wrongly.
        self.check_room(bytes).await?;
        let until = Timestamp::now().plus(HELD_FOR);
        match files.hold(&self.file, &digest, bytes, until).await.map_err(|error| not_now(&error))? {
            FileHold::Over => return Ok(()),
            // It may take an hour, and each attempt is a whole download: they become rarer.
            FileHold::Busy => return Err(Obstacle::Again(None)),
            FileHold::Known => {}
            FileHold::New => {
                let keeping = self.library().files().keep(self.file.company_id, &digest, file);
                match tokio::time::timeout(STORED_WITHIN, keeping).await {
                    Ok(kept) => kept.map_err(|fault| stored_badly(&fault))?,
                    Err(_) => return Err(Obstacle::Again(None)),
                }
            }
        }
        let unnamed = || extension.map_or_else(|| kind.to_string(), |ending| format!("{kind}.{ending}"));
        let kept = KeptFile {
            digest,
            kind,
            mime_type: mime_type.to_owned(),
            bytes,
            name: name.and_then(clean_name).unwrap_or_else(unnamed),
            has_thumbnail: thumbnail.is_some(),
            received_at: self.file.received_at,
        };
        // One that is not wanted any more leaves with its content.
        files.finish(self.file.message_id, &kept, thumbnail).await.map_err(|error| not_now(&error))?;
        Ok(())
    }

    fn faulty(&self, fault: &MediaFault) -> Obstacle {
        tracing::debug!(channel.id = %self.file.channel_id, %fault, "cannot fetch a file that a person sent");
        match fault {
            MediaFault::Gone => Obstacle::Doubtful(MissingFile::Gone),
            MediaFault::TooLarge => Obstacle::Final(MissingFile::TooLarge),
            MediaFault::Store(fault) => stored_badly(fault),
            MediaFault::NotAllowed => {
                tracing::warn!(channel.id = %self.file.channel_id, %fault, "a file that a person sent is not fetched");
                Obstacle::Again(None)
            }
            MediaFault::Failed(_) => Obstacle::Again(None),
        }
    }
}

/// A digest in hexadecimal or in base64; `None` for anything else.
fn digest_of(text: &str) -> Option<ContentDigest> {
    let text = text.trim();
    let bytes = hex::decode(text).ok().or_else(|| bytes_of_base64(text))?;
    bytes.try_into().ok()
}

/// The database does not answer.
fn not_now(error: &store::Error) -> Obstacle {
    tracing::debug!(%error, "cannot fetch a file that a person sent now");
    Obstacle::NotNow
}

fn stored_badly(fault: &StoreFault) -> Obstacle {
    tracing::error!(%fault, "a file that a person sent cannot be kept, it is fetched again later");
    match fault {
        StoreFault::Full(_) => Obstacle::Again(Some(MissingFile::DiskFull)),
        StoreFault::Directory { .. } | StoreFault::Missing(_) | StoreFault::Failed(_) => {
            Obstacle::Again(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_and_another_attempt_follows() {
        let full = stored_badly(&StoreFault::Full("/media".into()));
        assert_eq!(full, Obstacle::Again(Some(MissingFile::DiskFull)));
        assert_eq!(stored_badly(&StoreFault::Failed("away".to_owned())), Obstacle::Again(None));
    }

    #[test]
    fn a_digest_is_read_in_both_of_its_forms() {
        let digest = [7_u8; 32];
        assert_eq!(digest_of(&hex::encode(digest)), Some(digest));
        assert_eq!(digest_of(&domain::inbound::base64_of(&digest)), Some(digest));
        for other in ["", "hash", "0707", "{{sha256}}"] {
            assert_eq!(digest_of(other), None, "{other}");
        }
    }
}
