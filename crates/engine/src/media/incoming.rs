//! Files that people sent, as they are told and given out. They are fetched elsewhere, into the same store of files.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::{Library, OpenedFile};
use crate::Error;
use clock::Timestamp;
use connectors::file_store::FileStore;
use connectors::media::Fetcher;
use domain::error::{Code, Refusal};
use domain::inbound::{InboundBody, InboundFile, MissingFile};
use store::inbound_files::{FileStanding, KeptFile, SentFile};
use store::media::LibraryFile;

/// How long WhatsApp has a file after its message.
pub(crate) const FILE_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Library {
    /// Whether files that people send are fetched.
    pub(crate) const fn keeps_incoming(&self) -> bool {
        !self.incoming_keep.is_zero()
    }

    /// How long they are kept.
    pub(crate) const fn incoming_keep(&self) -> Duration {
        self.incoming_keep
    }

    /// Recognises files, and has the memory for them.
    pub(crate) const fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    /// Where contents are.
    pub(crate) const fn files(&self) -> &FileStore {
        &self.files
    }

    /// Adds the states of their files to messages, each with our id of it. While the database does not answer, none is added.
    pub(crate) async fn tell_files(&self, bodies: Vec<(Uuid, &mut InboundBody)>) {
        let bodies: Vec<_> = bodies.into_iter().filter(|(_, body)| body.content.media().is_some()).collect();
        if bodies.is_empty() {
            return;
        }
        let ids: Vec<_> = bodies.iter().map(|(id, _)| *id).collect();
        let found = match self.store.inbound_files().of_messages(&ids).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the states of the files of messages cannot be read now");
                return;
            }
        };
        let mut found: HashMap<_, _> =
            found.into_iter().map(|file| (file.message_id, file.standing)).collect();
        let now = Timestamp::now();
        for (id, body) in bodies {
            body.set_file(self.told(id, found.remove(&id), now));
        }
    }

    fn told(&self, id: Uuid, standing: Option<FileStanding>, now: Timestamp) -> InboundFile {
        match standing {
            None => InboundFile::missing(MissingFile::NotKept),
            Some(FileStanding::Missing(reason) | FileStanding::Waiting { reason: Some(reason), .. }) => {
                InboundFile::missing(reason)
            }
            Some(FileStanding::Waiting { received_at, .. }) if received_at.plus(FILE_LIFE) <= now => {
                InboundFile::missing(MissingFile::Gone)
            }
            Some(FileStanding::Waiting { .. }) => {
                InboundFile::Fetching { path: self.path(id, now), url: self.address_of(id, now) }
            }
            Some(FileStanding::Kept(file)) => InboundFile::Kept {
                path: self.path(id, now),
                url: self.address_of(id, now),
                kind: file.kind.as_str().to_owned(),
                mime_type: file.mime_type,
                size: file.bytes,
                name: file.name,
                has_thumbnail: file.has_thumbnail,
            },
        }
    }

    /// The file of this message; `None` when there is none.
    ///
    /// # Errors
    ///
    /// `service_unavailable` while it is being fetched.
    pub(crate) async fn open_incoming(self: &Arc<Self>, message: Uuid) -> Result<Option<OpenedFile>, Error> {
        let Some(SentFile { message_id, company_id, standing }) =
            self.store.inbound_files().find(message).await?
        else {
            return Ok(None);
        };
        match standing {
            FileStanding::Kept(file) => {
                let file = as_library_file((message_id, company_id), file);
                Ok(Some(OpenedFile { file, library: Arc::clone(self) }))
            }
            FileStanding::Waiting { received_at, .. } if received_at.plus(FILE_LIFE) > Timestamp::now() => {
                let sentence =
                    "the file is being fetched from WhatsApp: try again after the seconds of Retry-After";
                Err(Refusal::new(Code::ServiceUnavailable, sentence).into())
            }
            FileStanding::Waiting { .. } | FileStanding::Missing(_) => Ok(None),
        }
    }
}

/// A file that a person sent, as the door gives out files.
fn as_library_file((id, company_id): (Uuid, Uuid), file: KeptFile) -> LibraryFile {
    let KeptFile { digest, kind, mime_type, bytes, name, has_thumbnail, received_at } = file;
    LibraryFile {
        id,
        company_id,
        digest,
        kind,
        mime_type,
        bytes,
        name,
        has_thumbnail,
        uploaded_by: String::new(),
        created_at: received_at,
        used_at: None,
    }
}
