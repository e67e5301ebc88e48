//! Files by their ids: those of the library, and those of messages.

use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::GraphDoor;
use crate::Error;
use domain::error::Code;
use store::media::LibraryFile;

/// How long a program waits for a file that is being fetched: it asks for the file as soon as it has the message, once.
const FETCHED_WITHIN: Duration = Duration::from_secs(5);
/// How often the door looks for it meanwhile.
const LOOKED_FOR_EVERY: Duration = Duration::from_millis(200);

impl GraphDoor<'_> {
    /// The file of the company with this id: of its library, or of a message that a person wrote to one of the channels.
    ///
    /// # Errors
    ///
    /// `service_unavailable` when the file of a message is being fetched, and has not come within five seconds.
    pub async fn file(&self, id: Uuid) -> Result<Option<LibraryFile>, Error> {
        match self.engine.media().find(self.company, id).await {
            Ok(file) => return Ok(Some(file)),
            Err(Error::Refused(refusal)) if refusal.code == Code::MediaNotFound => {}
            Err(error) => return Err(error),
        }
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).conversations().message(id).await?;
        drop(records);
        let Some((_, _, channel)) = found else { return Ok(None) };
        if self.bound.as_ref().is_some_and(|bound| !bound.contains(&channel)) {
            return Ok(None);
        }
        let until = Instant::now() + FETCHED_WITHIN;
        loop {
            match self.engine.0.shared.media.open_incoming(id).await {
                Err(Error::Refused(refusal))
                    if refusal.code == Code::ServiceUnavailable && Instant::now() < until =>
                {
                    tokio::time::sleep(LOOKED_FOR_EVERY).await;
                }
                opened => return Ok(opened?.map(|opened| opened.file)),
            }
        }
    }
}
