//! Notices: messages between nodes through the database, and how they are written. `nodes` reads them.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::account::ThrottledApp;
use crate::asking::Owners;
use crate::shared::Shared;
use clock::Timestamp;
use connectors::Disposition;
use domain::channel::Channel;
use domain::message::{Failure, Key, State};
use store::nodes::NoteOfSend;
use store::suppressions::Word;

/// A message with a receipt: its send, its ordinal and its state.
pub(crate) type Mark = (Uuid, u64, i16);

/// The messages, without those in a state that only a newer version knows.
pub(crate) fn marked(marks: Vec<Mark>) -> Vec<(Key, State)> {
    let message = |(send_id, ordinal, state)| Some((Key { send_id, ordinal }, State::from_i16(state)?));
    marks.into_iter().filter_map(message).collect()
}

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
        /// When the provider took that message, in Unix milliseconds, where that is known and decides.
        #[serde(default)]
        taken_at: Option<i64>,
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
pub(crate) const TROUBLES: [(&str, Disposition); 7] = [
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
    pub(crate) fn troubled(
        disposition: Disposition,
        failure: &Failure,
        is_of_message: bool,
        taken_at: Option<Timestamp>,
    ) -> Self {
        let Some((word, _)) = TROUBLES.iter().find(|(_, known)| *known == disposition) else {
            return Self::Recheck;
        };
        let Failure { code, sentence } = failure.clone();
        let taken_at = taken_at.map(Timestamp::millis);
        Self::Troubled { disposition: (*word).to_owned(), code, sentence, is_of_message, taken_at }
    }

    pub(crate) const fn name(&self) -> &'static str {
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
    pub(crate) fn body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
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

impl Owners<'_> {
    /// Tells the other nodes that a channel was removed.
    pub(crate) async fn tell_of_removal(&self, channel: Uuid) -> store::Result<()> {
        if self.engine.0.shared.cluster.is_alone() {
            return Ok(());
        }
        let told = Told::Removed(channel);
        self.engine.store().notes().add(None, told.name(), &told.body()).await.map(drop)
    }

    /// Tells the owner of a channel, if it is another node. Returns the note's id, or `None`.
    pub(crate) async fn tell(&self, channel: &Channel, told: &Told) -> store::Result<Option<i64>> {
        let cluster = &self.engine.0.shared.cluster;
        if cluster.owns(channel) {
            return Ok(None);
        }
        let note = self.engine.store().notes().add(Some(channel.id), told.name(), &told.body()).await?;
        cluster.wake(channel);
        Ok(Some(note))
    }

    /// The note to write with a change of a send; `None` when this node is alone.
    pub(crate) fn note(&self, told: &Told) -> Option<NoteOfSend> {
        let is_alone = self.engine.0.shared.cluster.is_alone();
        (!is_alone).then(|| NoteOfSend { name: told.name(), body: told.body() })
    }

    /// Wakes the owner of a channel to read a note. If this node owns the channel, the note is removed instead.
    pub(crate) async fn pass_on(&self, channel: &Channel, note: Option<i64>) -> store::Result<()> {
        let Some(note) = note else { return Ok(()) };
        let cluster = &self.engine.0.shared.cluster;
        if !cluster.owns(channel) || !cluster.remove_note(channel, note).await? {
            cluster.wake(channel);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let all = [
            Told::Release { send: Uuid::from_u128(1), over: Some(3) },
            Told::Look,
            Told::troubled(
                Disposition::Restrict,
                &Failure { code: Some(368), sentence: "no".to_owned() },
                true,
                Some(Timestamp::from_millis(7)),
            ),
            Told::Heard(vec![(Uuid::from_u128(3), 7, 4)]),
            Told::Suppressions(vec![(Uuid::from_u128(2), 5_511_900_000_000, 1)]),
        ];
        for told in all {
            assert_eq!(serde_json::from_str::<Told>(&told.body()).unwrap(), told);
        }
    }

    #[test]
    fn a_state_that_only_a_newer_version_knows_is_left_out() {
        let known = State::Delivered.as_i16();
        let messages = marked(vec![(Uuid::nil(), 0, i16::MAX), (Uuid::nil(), 1, known)]);
        assert_eq!(messages, [(Key { send_id: Uuid::nil(), ordinal: 1 }, State::Delivered)]);
    }
}
