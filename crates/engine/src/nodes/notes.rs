//! Notes: messages between nodes through the database, and how the owner of a channel acts on them.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::heard::{Mark, marked};
use crate::Engine;
use crate::account::ThrottledApp;
use crate::channel::{Heard, Look, Recheck, Release, Troubled};
use crate::shared::Shared;
use connectors::Disposition;
use domain::channel::Channel;
use domain::message::Failure;
use domain::phone::PhoneNumber;
use domain::send;
use domain::suppression::Suppression;
use store::nodes::{Note, NoteOfSend};
use store::suppressions::Word;

/// How long the caller waits for the owner of a channel to act, and how often it checks.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);
/// Notes may become readable in another order than they are numbered, but no later than this.
const STRAGGLING: Duration = Duration::from_secs(15);

/// The content of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// Release a send, which is paused or over in the store.
    Release {
        /// The send.
        send: Uuid,
        /// The state of a send that is over.
        over: Option<i16>,
    },
    /// A send in the store may go now.
    Look,
    /// The number changed at the provider: probe it.
    Recheck,
    /// The provider reported trouble with the number or its account.
    Troubled {
        /// One of [`TROUBLES`].
        disposition: String,
        /// The provider's code.
        code: Option<i64>,
        /// The provider's sentence.
        sentence: String,
        /// Whether a message failed because of it.
        is_of_message: bool,
    },
    /// The templates may have changed.
    Templates,
    /// Receipts of these messages are durable.
    Heard(Vec<Mark>),
    /// To all nodes: the channel was removed.
    Removed(Uuid),
    /// To all nodes: the suppressions of these recipients changed.
    Suppressions(Vec<(Uuid, i64, i16)>),
    /// To all nodes: the provider throttles these apps.
    Apps(Vec<ThrottledApp>),
}

/// The kinds of trouble in notes, and their words.
const TROUBLES: [(&str, Disposition); 7] = [
    ("slow_number", Disposition::SlowNumber),
    ("slow_account", Disposition::SlowAccount),
    ("slow_app", Disposition::SlowApp),
    ("maintenance", Disposition::Maintenance),
    ("disconnect", Disposition::Disconnect),
    ("block", Disposition::Block),
    ("restrict", Disposition::Restrict),
];

impl Told {
    /// A note about trouble; a disposition that is no trouble of the number makes the owner probe it.
    pub(crate) fn troubled(disposition: Disposition, failure: &Failure, is_of_message: bool) -> Self {
        let Some((word, _)) = TROUBLES.iter().find(|(_, known)| *known == disposition) else {
            return Self::Recheck;
        };
        let Failure { code, sentence } = failure.clone();
        Self::Troubled { disposition: (*word).to_owned(), code, sentence, is_of_message }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Release { .. } => "release",
            Self::Look => "look",
            Self::Recheck => "recheck",
            Self::Troubled { .. } => "troubled",
            Self::Templates => "templates",
            Self::Heard(_) => "heard",
            Self::Removed(_) => "removed",
            Self::Suppressions(_) => "suppressions",
            Self::Apps(_) => "apps",
        }
    }

    /// The JSON of a note.
    fn body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<&Release> for Told {
    fn from(release: &Release) -> Self {
        Self::Release { send: release.send_id, over: release.over.map(send::State::as_i16) }
    }
}

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

/// Tells the other nodes that the suppressions of these recipients changed.
pub(crate) async fn share_suppressions(shared: &Shared, said: &[Word]) -> store::Result<()> {
    if shared.cluster.is_alone() || said.is_empty() {
        return Ok(());
    }
    let subject = |word: &Word| (word.company_id, word.recipient.as_i64(), word.scope.as_i16());
    let told = Told::Suppressions(said.iter().map(subject).collect());
    shared.store.notes().add(None, told.name(), &told.body()).await.map(drop)
}

impl Engine {
    /// Tells the other nodes that a channel was removed.
    pub(crate) async fn tell_of_removal(&self, channel: Uuid) -> store::Result<()> {
        if self.0.shared.cluster.is_alone() {
            return Ok(());
        }
        let told = Told::Removed(channel);
        self.store().notes().add(None, told.name(), &told.body()).await.map(drop)
    }

    /// Tells the other nodes which apps the provider throttles.
    pub(super) async fn share_throttled_apps(&self) -> store::Result<()> {
        let apps = self.0.shared.accounts.take_throttled_apps();
        if apps.is_empty() {
            return Ok(());
        }
        let told = Told::Apps(apps.clone());
        let written = self.store().notes().add(None, told.name(), &told.body()).await;
        match &written {
            Ok(_) => self.0.shared.cluster.wake_all(),
            Err(_) => self.0.shared.accounts.tell_of_apps_again(&apps),
        }
        written.map(drop)
    }

    /// Tells the owner of a channel, if it is another node. Returns the note's id, or `None`.
    pub(crate) async fn tell_owner(&self, channel: &Channel, told: &Told) -> store::Result<Option<i64>> {
        let cluster = &self.0.shared.cluster;
        if cluster.owns(channel) {
            return Ok(None);
        }
        let note = self.store().notes().add(Some(channel.id), told.name(), &told.body()).await?;
        cluster.wake(channel);
        Ok(Some(note))
    }

    /// The note to write with a change of a send; `None` when this node is alone.
    pub(crate) fn note(&self, told: &Told) -> Option<NoteOfSend> {
        let is_alone = self.0.shared.cluster.is_alone();
        (!is_alone).then(|| NoteOfSend { name: told.name(), body: told.body() })
    }

    /// Wakes the owner of a channel to read a note. If this node owns the channel, the note is removed instead.
    pub(crate) async fn pass_on(&self, channel: &Channel, note: Option<i64>) -> store::Result<()> {
        let Some(note) = note else { return Ok(()) };
        let cluster = &self.0.shared.cluster;
        if !cluster.owns(channel) || !cluster.remove_note(channel, note).await? {
            cluster.wake(channel);
        }
        Ok(())
    }

    /// Makes a channel release a send, on whichever node the channel runs. Waits for that, within a limit. `note` was
    /// written for the channel's owner.
    pub(crate) async fn release(
        &self,
        channel_id: Uuid,
        release: Release,
        note: Option<i64>,
    ) -> store::Result<()> {
        let (send, told) = (release.send_id, Told::from(&release));
        self.directory().ask(channel_id, release).await;
        let cluster = &self.0.shared.cluster;
        if cluster.is_alone() {
            return Ok(());
        }
        let Some(channel) = self.directory().find(channel_id).await? else { return Ok(()) };
        // A channel that runs nowhere reads the store when it starts, and one that runs here was asked.
        if cluster.owner(&channel).await?.is_none() {
            return match note {
                Some(note) => self.store().notes().remove(note).await,
                None => Ok(()),
            };
        }
        let note = match note {
            Some(note) => note,
            None => self.store().notes().add(Some(channel.id), told.name(), &told.body()).await?,
        };
        cluster.wake(&channel);
        let deadline = Instant::now() + PATIENCE;
        while self.store().notes().has(note).await? {
            if Instant::now() >= deadline {
                tracing::warn!(channel.id = %channel_id, send.id = %send, "the owner of the channel has not released the send yet");
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Acts on the notes that concern this node.
    pub(super) async fn read_notes(&self, read: &mut Read) -> store::Result<()> {
        let notes = self.store().notes().after(read.behind).await?;
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
        let cluster = &self.0.shared.cluster;
        let Some(channel) = self.directory().find(channel_id).await? else { return Ok(()) };
        if !cluster.owns(&channel) {
            // The channel may have no owner: then the note waits for the proposed node.
            cluster.want(std::iter::once(&*channel));
            return Ok(());
        }
        let directory = self.directory();
        match serde_json::from_str(&note.body) {
            Ok(Told::Release { send: send_id, over }) => {
                let over = over.and_then(send::State::from_i16);
                directory.ask(channel_id, Release { send_id, over }).await;
            }
            Ok(Told::Look) => {
                directory.wake(&channel);
                directory.ask(channel_id, Look).await;
            }
            Ok(Told::Recheck) => {
                directory.wake(&channel);
                directory.ask(channel_id, Recheck).await;
            }
            Ok(Told::Troubled { disposition, code, sentence, is_of_message }) => {
                directory.wake(&channel);
                match TROUBLES.iter().find(|(word, _)| *word == disposition) {
                    Some((_, disposition)) => {
                        let (disposition, failure) = (*disposition, Failure { code, sentence });
                        directory.ask(channel_id, Troubled { disposition, failure, is_of_message }).await;
                    }
                    None => {
                        directory.ask(channel_id, Recheck).await;
                    }
                }
            }
            Ok(Told::Templates) => {
                directory.wake(&channel);
                self.list_templates_soon(&channel);
            }
            Ok(Told::Heard(messages)) => {
                // A channel that does not run reads the ledger when it starts.
                directory.ask(channel_id, Heard(marked(messages))).await;
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
                self.directory().hide(channel).remove().await;
                return Ok(());
            }
            Ok(Told::Apps(apps)) => {
                apps.iter().for_each(|app| self.0.shared.accounts.hear_of_app(app));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let subject = |(company, number, scope): (Uuid, i64, i16)| {
            Some((company, PhoneNumber::from_i64(number)?, Suppression::from_i16(scope)?))
        };
        let subjects: Vec<_> = said.into_iter().filter_map(subject).collect();
        self.0.shared.suppressions.refresh(self.store(), &subjects).await
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

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let all = [
            Told::Release { send: Uuid::from_u128(1), over: Some(3) },
            Told::Look,
            Told::troubled(
                Disposition::Restrict,
                &Failure { code: Some(368), sentence: "no".to_owned() },
                true,
            ),
            Told::Heard(vec![(Uuid::from_u128(3), 7, 4)]),
            Told::Suppressions(vec![(Uuid::from_u128(2), 5_511_900_000_000, 1)]),
        ];
        for told in all {
            assert_eq!(serde_json::from_str::<Told>(&told.body()).unwrap(), told);
        }
    }
}
