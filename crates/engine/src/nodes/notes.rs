//! Notes: messages between nodes through the database, and how the owner of a channel acts on them.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::asking::Owners;
use crate::channel::{Input, Release, Troubled};
use crate::nodes::NodeRounds;
use crate::notices::{TROUBLES, Told, marked};
use clock::Timestamp;
use domain::message::Failure;
use domain::phone::PhoneNumber;
use domain::send;
use domain::suppression::Suppression;
use store::nodes::Note;

/// How long the caller waits for the owner of a channel to act, and how often it checks.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);
/// Notes may become readable in another order than they are numbered, but no later than this.
const STRAGGLING: Duration = Duration::from_secs(15);

/// The notes to all nodes that this one has read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The greatest ids read, with their times; the oldest first.
    greatest: VecDeque<(Instant, i64)>,
    /// All notes up to this id were read, and no late one will come.
    behind: i64,
    read: HashSet<i64>,
}

impl Read {
    /// Whether the note is new.
    fn add(&mut self, id: i64) -> bool {
        id > self.behind && self.read.insert(id)
    }

    /// Drops entries that are so old that no late note comes before them.
    fn forget(&mut self, now: Instant) {
        if let Some(greatest) = self.read.iter().max() {
            self.greatest.push_back((now, *greatest));
        }
        while let Some((at, id)) = self.greatest.front().copied()
            && now.saturating_duration_since(at) >= STRAGGLING
        {
            self.behind = id;
            self.greatest.pop_front();
        }
        self.read.retain(|id| *id > self.behind);
    }
}

impl NodeRounds<'_> {
    /// Tells the other nodes which apps the provider throttles.
    pub(super) async fn share_throttled_apps(&self) -> store::Result<()> {
        let apps = self.engine.0.shared.accounts.take_throttled_apps();
        if apps.is_empty() {
            return Ok(());
        }
        let told = Told::Apps(apps.clone());
        let written = self.engine.store().notes().add(None, told.name(), &told.body()).await;
        match &written {
            Ok(_) => self.engine.0.shared.cluster.wake_all(),
            Err(_) => self.engine.0.shared.accounts.tell_of_apps_again(&apps),
        }
        written.map(drop)
    }

    /// Acts on the notes that concern this node.
    pub(super) async fn read_notes(&self, read: &mut Read) -> store::Result<()> {
        let notes = self.engine.store().notes().after(read.behind).await?;
        for note in notes {
            match note.channel {
                Some(channel) => self.act(channel, note).await?,
                None if read.add(note.id) => self.take_in_note(&note).await?,
                None => {}
            }
        }
        read.forget(Instant::now());
        Ok(())
    }

    async fn act(&self, channel_id: Uuid, note: Note) -> store::Result<()> {
        let cluster = &self.engine.0.shared.cluster;
        let Some(channel) = self.engine.directory().find(channel_id).await? else { return Ok(()) };
        if !cluster.owns(&channel) {
            // The channel may have no owner: then the note waits for the proposed node.
            cluster.want(std::iter::once(&*channel));
            return Ok(());
        }
        let directory = self.engine.directory();
        match serde_json::from_str(&note.body) {
            Ok(Told::Release { send: send_id, over }) => {
                let over = over.and_then(send::State::from_i16);
                directory.ask(channel_id, Release { send_id, over }).await;
            }
            Ok(Told::Look) => {
                directory.wake(&channel);
                directory.ask(channel_id, Input::Look).await;
            }
            Ok(Told::Recheck) => {
                directory.wake(&channel);
                directory.ask(channel_id, Input::Recheck).await;
            }
            Ok(Told::Troubled { disposition, code, sentence, is_of_message, taken_at }) => {
                directory.wake(&channel);
                match TROUBLES.iter().find(|(word, _)| *word == disposition) {
                    Some((_, disposition)) => {
                        let (disposition, failure) = (*disposition, Failure { code, sentence });
                        let taken_at = taken_at.map(Timestamp::from_millis);
                        let troubled = Troubled { disposition, failure, is_of_message, taken_at };
                        directory.ask(channel_id, Input::Troubled(troubled)).await;
                    }
                    None => {
                        directory.ask(channel_id, Input::Recheck).await;
                    }
                }
            }
            Ok(Told::Templates) => {
                directory.wake(&channel);
                self.engine.list_templates_soon(&channel);
            }
            Ok(Told::Heard(messages)) => {
                // A channel that does not run reads the ledger when it starts.
                directory.ask(channel_id, Input::Heard(marked(messages))).await;
            }
            Ok(Told::Removed(_) | Told::Suppressions(_) | Told::Apps(_)) => {}
            // A newer version may write notes that this one cannot read.
            Err(error) => tracing::warn!(note = note.name, %error, "cannot read a note of another node"),
        }
        cluster.remove_note(&channel, note.id).await.map(drop)
    }

    async fn take_in_note(&self, note: &Note) -> store::Result<()> {
        let said = match serde_json::from_str(&note.body) {
            Ok(Told::Suppressions(said)) => said,
            Ok(Told::Removed(channel)) => {
                self.engine.directory().hide(channel).remove().await;
                return Ok(());
            }
            Ok(Told::Apps(apps)) => {
                apps.iter().for_each(|app| self.engine.0.shared.accounts.hear_of_app(app));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let subject = |(company, number, scope): (Uuid, i64, i16)| {
            Some((company, PhoneNumber::from_i64(number)?, Suppression::from_i16(scope)?))
        };
        let subjects: Vec<_> = said.into_iter().filter_map(subject).collect();
        self.engine.0.shared.suppressions.refresh(self.engine.store(), &subjects).await
    }
}

impl Owners<'_> {
    /// Makes a channel release a send, on whichever node the channel runs. Waits for that, within a limit. `note` was
    /// written for the channel's owner.
    pub(crate) async fn release(
        &self,
        channel_id: Uuid,
        release: Release,
        note: Option<i64>,
    ) -> store::Result<()> {
        let (send, told) = (release.send_id, Told::from(&release));
        self.engine.directory().ask(channel_id, release).await;
        let cluster = &self.engine.0.shared.cluster;
        if cluster.is_alone() {
            return Ok(());
        }
        let Some(channel) = self.engine.directory().find(channel_id).await? else { return Ok(()) };
        // A channel that runs nowhere reads the store when it starts, and one that runs here was asked.
        if cluster.owner(&channel).await?.is_none() {
            return match note {
                Some(note) => self.engine.store().notes().remove(note).await,
                None => Ok(()),
            };
        }
        let note = match note {
            Some(note) => note,
            None => self.engine.store().notes().add(Some(channel.id), told.name(), &told.body()).await?,
        };
        cluster.wake(&channel);
        let deadline = Instant::now() + PATIENCE;
        while self.engine.store().notes().has(note).await? {
            if Instant::now() >= deadline {
                tracing::warn!(channel.id = %channel_id, send.id = %send, "the owner of the channel has not released the send yet");
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_once_and_one_that_becomes_readable_late_counts_too() {
        let (mut read, start) = (Read::default(), Instant::now());
        assert!(read.add(5) && !read.add(5));
        read.forget(start);
        assert!(read.add(4), "it was numbered before and written later");
        read.forget(start + STRAGGLING / 2);
        assert_eq!(read.behind, 0);
        read.forget(start + STRAGGLING);
        assert_eq!(read.behind, 5);
        assert!(!read.add(5) && !read.add(3) && read.add(6));
    }
}
