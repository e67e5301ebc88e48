//! What nodes say to each other, sealed: who publishes on NATS without the cluster's sealing key is not believed, and
//! who reads there learns nothing.
//!
//! A sealed message is bound to its kind (question, answer or wake-up), the subjects' beginning, which has the cluster's
//! name, the shard and the name; an answer also to the id of its question. A question names the
//! [epoch](super::fresh::Epochs) of the owner that it is for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

use clock::Timestamp;
use vault::{KeyId, MESSAGE_OVERHEAD, Vault};

/// The longest body of a question or an answer: what a NATS server takes unless it is told otherwise, 1 MiB, less the
/// envelope. Longer messages are not opened.
pub(super) const MOST_BYTES: usize = 1024 * 1024 - MESSAGE_OVERHEAD - HEAD;
/// The longest head: an epoch and an id.
const HEAD: usize = 2 * ID;
const ID: usize = 16;
/// How often a refusal of one kind is logged: anybody at NATS can cause refusals.
const SAID_EACH: Duration = Duration::from_secs(60);

/// A question, as it travels.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The owner's epoch that the question is for; nil in a request for the epoch itself.
    pub(super) epoch: Uuid,
    /// The question's own id, which its answer is bound to.
    pub(super) id: Uuid,
    pub(super) body: Vec<u8>,
}

/// An answer, as it travels, with the epoch for further questions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) epoch: Uuid,
    pub(super) said: Said,
}

/// What an owner answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The answer.
    Body(Vec<u8>),
    /// There is none.
    Failed,
    /// The question was for another epoch, and was not looked at.
    OtherEpoch,
    /// The node takes no more questions for this shard, and did not look at this one.
    NotHere,
}

/// A wake-up, as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wake {
    /// When it was sent, by the sender's clock.
    pub(super) at: Timestamp,
    pub(super) id: Uuid,
}

/// Why a message is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is not in the format of sealed messages: somebody else's, or of another version.
    NotSealed,
    /// It was sealed with a key that this node does not have.
    UnknownKey,
    /// It was made up, altered, or taken from another place.
    Forged,
    /// It is longer than any message.
    TooLong,
    /// The same message came before.
    Repeated,
    /// It was sent too long ago, or by a clock that is wrong.
    Old,
}

impl Refused {
    const ALL: [Self; 6] =
        [Self::NotSealed, Self::UnknownKey, Self::Forged, Self::TooLong, Self::Repeated, Self::Old];

    const fn as_str(self) -> &'static str {
        match self {
            Self::NotSealed => "not_sealed",
            Self::UnknownKey => "unknown_key",
            Self::Forged => "forged",
            Self::TooLong => "too_long",
            Self::Repeated => "repeated",
            Self::Old => "old",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::NotSealed => {
                "it is not sealed: somebody else publishes there, or a node of another version"
            }
            Self::UnknownKey => {
                "it is sealed with a key that this node does not have: give all nodes the same keys"
            }
            Self::Forged => "it was made up or altered: somebody else publishes there",
            Self::TooLong => "it is longer than any message of a node: somebody else publishes there",
            Self::Repeated => "the same message came before: somebody repeats messages of nodes",
            Self::Old => {
                "it was sent too long ago: somebody repeats messages of nodes, or a node's clock is wrong"
            }
        }
    }
}

/// Seals and opens messages; clones share it.
#[derive(Clone)]
pub(super) struct Envelope {
    vault: Arc<Vault>,
    base: Arc<str>,
    /// When a refusal of each kind was last logged.
    said: Arc<Mutex<[Option<Instant>; Refused::ALL.len()]>>,
}

/// The kind of a message, which its seal is bound to.
#[derive(Clone, Copy)]
enum Kind {
    Question,
    Answer,
    Wake,
}

impl Envelope {
    /// For the messages below this subject.
    pub(super) fn new(vault: Arc<Vault>, base: &str) -> Self {
        Self { vault, base: base.into(), said: Arc::default() }
    }

    pub(super) fn seal_question(&self, shard: Uuid, name: &str, question: &Question) -> Vec<u8> {
        let Question { epoch, id, body } = question;
        let content = [epoch.as_bytes(), &id.as_bytes()[..], body].concat();
        self.vault.seal_message(&content, &self.context(Kind::Question, shard, name, Uuid::nil()))
    }

    /// Opens a question. The key is for its answer.
    pub(super) fn open_question(
        &self,
        shard: Uuid,
        name: &str,
        sealed: &[u8],
    ) -> Result<(Question, KeyId), Refused> {
        let (content, key) = self.open(sealed, &self.context(Kind::Question, shard, name, Uuid::nil()))?;
        let (epoch, rest) = id_of(&content)?;
        let (id, body) = id_of(rest)?;
        Ok((Question { epoch, id, body: body.to_vec() }, key))
    }

    /// Seals the answer to the question of this id, with the key of the question.
    pub(super) fn seal_answer(
        &self,
        (shard, name): (Uuid, &str),
        (question, key): (Uuid, KeyId),
        answer: &Answer,
    ) -> Vec<u8> {
        let (kind, body): (u8, &[u8]) = match &answer.said {
            Said::Body(body) => (0, body),
            Said::Failed => (1, &[]),
            Said::OtherEpoch => (2, &[]),
            Said::NotHere => (3, &[]),
        };
        let content = [answer.epoch.as_bytes(), &[kind][..], body].concat();
        self.vault.seal_answer(key, &content, &self.context(Kind::Answer, shard, name, question))
    }

    pub(super) fn open_answer(
        &self,
        shard: Uuid,
        name: &str,
        question: Uuid,
        sealed: &[u8],
    ) -> Result<Answer, Refused> {
        let (content, _) = self.open(sealed, &self.context(Kind::Answer, shard, name, question))?;
        let (epoch, rest) = id_of(&content)?;
        let said = match rest.split_first() {
            Some((0, body)) => Said::Body(body.to_vec()),
            Some((1, [])) => Said::Failed,
            Some((2, [])) => Said::OtherEpoch,
            Some((3, [])) => Said::NotHere,
            _ => return Err(Refused::NotSealed),
        };
        Ok(Answer { epoch, said })
    }

    pub(super) fn seal_wake(&self, shard: Uuid, wake: Wake) -> Vec<u8> {
        let content = [&wake.at.millis().to_be_bytes()[..], wake.id.as_bytes()].concat();
        self.vault.seal_message(&content, &self.context(Kind::Wake, shard, "", Uuid::nil()))
    }

    pub(super) fn open_wake(&self, shard: Uuid, sealed: &[u8]) -> Result<Wake, Refused> {
        let (content, _) = self.open(sealed, &self.context(Kind::Wake, shard, "", Uuid::nil()))?;
        let (at, rest) = content.split_first_chunk().ok_or(Refused::NotSealed)?;
        let (id, _) = id_of(rest)?;
        Ok(Wake { at: Timestamp::from_millis(i64::from_be_bytes(*at)), id })
    }

    /// Counts a message that is not believed, and logs it once in a while.
    pub(super) fn note(&self, refused: Refused, name: &str) {
        metrics::counter!("pombo_nats_refused_total", "reason" => refused.as_str()).increment(1);
        let place = Refused::ALL.iter().position(|known| *known == refused).unwrap_or_default();
        let mut said = self.said.lock();
        let last = &mut said[place];
        if last.is_none_or(|last| last.elapsed() >= SAID_EACH) {
            *last = Some(Instant::now());
            drop(said);
            // The name is anybody's: only words of nodes are repeated.
            let name = Some(name).filter(|name| {
                name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            });
            tracing::warn!(
                name,
                reason = refused.as_str(),
                "ignored a message between nodes on NATS: {}",
                refused.sentence()
            );
        }
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Result<(Vec<u8>, KeyId), Refused> {
        if sealed.len() > MOST_BYTES + HEAD + MESSAGE_OVERHEAD {
            return Err(Refused::TooLong);
        }
        match self.vault.open_message(sealed, context) {
            Ok(opened) => Ok((opened.content, opened.key)),
            Err(vault::Error::NotSealed) => Err(Refused::NotSealed),
            Err(vault::Error::UnknownKey(_)) => Err(Refused::UnknownKey),
            Err(_) => Err(Refused::Forged),
        }
    }

    /// What the seal of a message is bound to: each part with its length, so that no two places are alike.
    fn context(&self, kind: Kind, shard: Uuid, name: &str, question: Uuid) -> Vec<u8> {
        let kind: &[u8] = match kind {
            Kind::Question => b"question",
            Kind::Answer => b"answer",
            Kind::Wake => b"wake",
        };
        let parts = [kind, self.base.as_bytes(), shard.as_bytes(), name.as_bytes(), question.as_bytes()];
        parts.iter().flat_map(|part| [&(part.len() as u64).to_le_bytes()[..], part].concat()).collect()
    }
}

/// The id at the beginning, and the rest.
fn id_of(bytes: &[u8]) -> Result<(Uuid, &[u8]), Refused> {
    let (id, rest) = bytes.split_first_chunk::<ID>().ok_or(Refused::NotSealed)?;
    Ok((Uuid::from_bytes(*id), rest))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use config::Secrets;
    use domain::secret::SealingKey;

    const SHARD: Uuid = Uuid::from_u128(1);

    fn envelope(key: u8, base: &str) -> Envelope {
        let secrets =
            Secrets { key: Some(SealingKey::new([key; 32])), previous_keys: Vec::new(), key_file: None };
        Envelope::new(Arc::new(Vault::open(&secrets, Path::new("/nowhere")).unwrap().0), base)
    }

    fn question() -> Question {
        Question { epoch: Uuid::from_u128(5), id: Uuid::from_u128(6), body: b"{}".to_vec() }
    }

    #[test]
    fn a_question_opens_only_where_it_was_asked() {
        let here = envelope(1, "pombo.south");
        let sealed = here.seal_question(SHARD, "limits", &question());
        assert_eq!(here.open_question(SHARD, "limits", &sealed).unwrap().0, question());
        for other in [
            here.open_question(SHARD, "unlink", &sealed),
            here.open_question(Uuid::from_u128(2), "limits", &sealed),
            envelope(1, "pombo.north").open_question(SHARD, "limits", &sealed),
        ] {
            assert_eq!(other.unwrap_err(), Refused::Forged);
        }
        let stranger = envelope(2, "pombo.south").open_question(SHARD, "limits", &sealed);
        assert_eq!(stranger.unwrap_err(), Refused::UnknownKey);
        for plain in [&b"{\"channel\":1}"[..], b"", &[3; 40]] {
            assert!(here.open_question(SHARD, "limits", plain).is_err());
        }
        let long = vec![3; MOST_BYTES + HEAD + MESSAGE_OVERHEAD + 1];
        assert_eq!(here.open_question(SHARD, "limits", &long).unwrap_err(), Refused::TooLong);
    }

    #[test]
    fn an_answer_opens_only_for_its_question_and_never_as_one() {
        let here = envelope(1, "pombo.south");
        let sealed = here.seal_question(SHARD, "limits", &question());
        let (asked, key) = here.open_question(SHARD, "limits", &sealed).unwrap();
        let empty = [Said::Failed, Said::OtherEpoch, Said::NotHere];
        let bodies = [b"[]".to_vec(), Vec::new()].map(Said::Body);
        for said in bodies.into_iter().chain(empty) {
            let answer = Answer { epoch: Uuid::from_u128(7), said };
            let sealed = here.seal_answer((SHARD, "limits"), (asked.id, key), &answer);
            assert_eq!(here.open_answer(SHARD, "limits", asked.id, &sealed).unwrap(), answer);
            let other = here.open_answer(SHARD, "limits", Uuid::from_u128(9), &sealed);
            assert_eq!(other.unwrap_err(), Refused::Forged);
            assert_eq!(here.open_question(SHARD, "limits", &sealed).unwrap_err(), Refused::Forged);
        }
        assert_eq!(here.open_answer(SHARD, "limits", asked.id, &sealed).unwrap_err(), Refused::Forged);
    }

    #[test]
    fn a_wake_up_opens_only_for_its_shard() {
        let here = envelope(1, "pombo.south");
        let wake = Wake { at: Timestamp::from_millis(77), id: Uuid::from_u128(8) };
        let sealed = here.seal_wake(SHARD, wake);
        assert_eq!(here.open_wake(SHARD, &sealed).unwrap(), wake);
        assert_eq!(here.open_wake(Uuid::from_u128(2), &sealed).unwrap_err(), Refused::Forged);
        assert_eq!(here.open_question(SHARD, "", &sealed).unwrap_err(), Refused::Forged);
    }
}
