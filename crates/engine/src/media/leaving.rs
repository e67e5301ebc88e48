//! Files that leave: removed because nobody used them for long, and their content deleted.

use std::time::Duration;

use uuid::Uuid;

use super::Library;
use clock::Timestamp;
use store::Lease;
use store::retention::Step;

/// How long the content of a removed file stays at least: the provider fetches the files of a message some time after it
/// accepted the message.
const FETCHED_WITHIN: Duration = Duration::from_secs(3_600);
/// How long the content of a file may take to be stored. One that takes longer is left over from a process that was killed.
const STORED_WITHIN: Duration = Duration::from_secs(24 * 3_600);
/// So many files that are not deleted in one step end the round: a store of files that is away lets each of them wait.
const MOST_FAULTS: u32 = 3;

impl Library {
    /// Removes files, at most `limit`, that were not used for as long as files are kept.
    pub(crate) async fn remove_unused(
        &self,
        lease: &Lease,
        now: Timestamp,
        limit: u32,
    ) -> store::Result<Step> {
        let Some(keep) = self.keep else { return Ok(Step::default()) };
        let others = self.store.media().remove_unused(lease, now.minus(keep), limit).await?;
        Ok(Step { others, more: others >= u64::from(limit), ..Step::default() })
    }

    /// Deletes the content of removed files that no unfinished send needs: of at most `limit` files after `after`, which moves
    /// on. A file that the store of files does not delete is tried again in the next round.
    pub(crate) async fn delete_removed(
        &self,
        lease: &Lease,
        now: Timestamp,
        after: &mut Uuid,
        limit: u32,
    ) -> store::Result<Step> {
        let before = (now.minus(FETCHED_WITHIN), now.minus(STORED_WITHIN));
        let leaving = self.store.media().claim_leaving(lease, before, *after, limit).await?;
        let (mut others, mut faults) = (0, 0);
        for (id, company, digest) in leaving.files {
            match self.files.delete(company, &digest).await {
                Ok(()) => {
                    self.store.media().forget(id).await?;
                    others += 1;
                }
                Err(fault) => {
                    tracing::warn!(%fault, "a removed file cannot be deleted yet");
                    faults += 1;
                    if faults >= MOST_FAULTS {
                        return Ok(Step { others, ..Step::default() });
                    }
                }
            }
        }
        *after = leaving.last.unwrap_or(*after);
        Ok(Step { others, more: leaving.last.is_some(), ..Step::default() })
    }
}
