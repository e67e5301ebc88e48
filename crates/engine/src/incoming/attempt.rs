//! One attempt to fetch a file, and what follows from it.

use std::sync::Arc;
use std::time::Duration;

use super::IncomingFiles;
use crate::media::FILE_LIFE;
use crate::shared::Shared;
use clock::Timestamp;
use connectors::cloud_api::FileHosts;
use connectors::scanner::Scanner;
use domain::inbound::MissingFile;
use store::inbound_files::QueuedFile;

/// The delay after the first attempt that did not succeed; each further one is four times as long, up to the longest.
const FIRST_DELAY: Duration = Duration::from_secs(2);
const LONGEST_DELAY: Duration = Duration::from_secs(3_600);
/// The delay after an attempt that could not be made.
const NOT_NOW_DELAY: Duration = Duration::from_secs(5);
/// So many attempts have to agree that a file is gone or damaged: an address may just have expired, and a transfer may fail.
const AGREEING: u32 = 3;

/// An attempt to fetch a file.
pub(super) struct FetchAttempt {
    pub(super) shared: Arc<Shared>,
    pub(super) hosts: FileHosts,
    pub(super) options: Arc<config::Media>,
    pub(super) scanner: Option<Arc<Scanner>>,
    pub(super) file: QueuedFile,
}

/// Why a file was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// No other attempt can succeed.
    Final(MissingFile),
    /// No other attempt can succeed, if some more say the same.
    Doubtful(MissingFile),
    /// Another attempt may succeed while the provider has the file.
    Again(Option<MissingFile>),
    /// The attempt could not be made, and does not count.
    NotNow,
}

/// What follows from an obstacle.
#[derive(Debug, PartialEq, Eq)]
enum NextStep {
    GiveUp(MissingFile),
    PutOff { next: Timestamp, reason: Option<MissingFile>, counts: bool },
}

impl IncomingFiles {
    pub(super) fn attempt(&self, file: QueuedFile) -> FetchAttempt {
        FetchAttempt {
            shared: Arc::clone(&self.shared),
            hosts: self.hosts.clone(),
            options: Arc::clone(&self.options),
            scanner: self.scanner.clone(),
            file,
        }
    }
}

impl FetchAttempt {
    /// Writes what follows. While the database does not answer, the file stays due.
    pub(super) async fn settle(self, made: Result<(), Obstacle>) {
        let (files, message) = (self.shared.store.inbound_files(), self.file.message_id);
        let Err(obstacle) = made else {
            count("kept");
            return;
        };
        let written = match next_step(&self.file, obstacle, Timestamp::now()) {
            NextStep::GiveUp(reason) => {
                count(reason.as_str());
                tracing::debug!(channel.id = %self.file.channel_id, %reason, "a file that a person sent is missing");
                files.give_up(message, reason).await
            }
            NextStep::PutOff { next, reason, counts } => {
                if counts {
                    count("retried");
                }
                files.put_off(message, next, reason, counts).await
            }
        };
        if let Err(error) = written {
            tracing::debug!(%error, "cannot note the result of fetching a file that a person sent");
        }
    }
}

fn count(result: &'static str) {
    metrics::counter!("pombo_incoming_files_total", "result" => result).increment(1);
}

fn next_step(file: &QueuedFile, obstacle: Obstacle, now: Timestamp) -> NextStep {
    let delay = FIRST_DELAY * 4_u32.saturating_pow(file.attempts.min(10));
    let next = now.plus(delay.min(LONGEST_DELAY));
    let (next, reason, counts) = match obstacle {
        Obstacle::Final(reason) => return NextStep::GiveUp(reason),
        Obstacle::Doubtful(reason) if file.attempts + 1 >= AGREEING => return NextStep::GiveUp(reason),
        Obstacle::Doubtful(_) => (next, None, true),
        Obstacle::Again(reason) => (next, reason, true),
        Obstacle::NotNow => (now.plus(NOT_NOW_DELAY), None, false),
    };
    if next >= file.received_at.plus(FILE_LIFE) {
        return NextStep::GiveUp(reason.unwrap_or(MissingFile::Gone));
    }
    NextStep::PutOff { next, reason, counts }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_file_is_tried_again_ever_later_while_the_provider_has_it() {
        let received_at = Timestamp::from_millis(1_900_000_000_000);
        let file = |attempts| QueuedFile {
            message_id: Uuid::nil(),
            company_id: Uuid::nil(),
            channel_id: Uuid::nil(),
            kind: "image".to_owned(),
            source: Vec::new(),
            attempts,
            received_at,
        };
        let after = |attempts, obstacle, seconds| {
            next_step(&file(attempts), obstacle, received_at.plus(Duration::from_secs(seconds)))
        };
        let put_off = |seconds, reason, counts| NextStep::PutOff {
            next: received_at.plus(Duration::from_secs(seconds)),
            reason,
            counts,
        };
        let full = Some(MissingFile::DiskFull);
        for (attempts, delay) in [(0, 2), (1, 8), (2, 32), (6, 3_600), (4_000_000_000, 3_600)] {
            assert_eq!(after(attempts, Obstacle::Again(full), 10), put_off(10 + delay, full, true));
        }
        assert_eq!(after(9, Obstacle::NotNow, 0), put_off(5, None, false));
        let week = 7 * 24 * 3_600;
        assert_eq!(after(9, Obstacle::Again(full), week - 10), NextStep::GiveUp(MissingFile::DiskFull));
        assert_eq!(after(9, Obstacle::NotNow, week), NextStep::GiveUp(MissingFile::Gone));
        let gone = Obstacle::Doubtful(MissingFile::Gone);
        assert_eq!(after(1, gone, 0), put_off(8, None, true));
        assert_eq!(after(2, gone, 0), NextStep::GiveUp(MissingFile::Gone));
        let large = Obstacle::Final(MissingFile::TooLarge);
        assert_eq!(after(0, large, 0), NextStep::GiveUp(MissingFile::TooLarge));
    }
}
