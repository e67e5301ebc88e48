//! The parts of a webhook that are written one after the other.

use uuid::Uuid;

use crate::conversations::HeardMessage;
use clock::Timestamp;
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::suppression::Suppression;
use store::ledger::Receipt;
use store::persons::users::Statement;
use store::suppressions::{Says, Word};

/// The receipts, opt-outs and inbound messages of one part: as many updates as the provider puts in one webhook. Other
/// companies' sends wait for the same commit of receipts and messages; [opt-outs](super::opt_outs) take several.
const AT_ONCE: usize = 1_000;

/// What a webhook says about a recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) key: Option<Key>,
    /// The recipient's number at the provider, which may differ from the number written to.
    pub(super) recipient: Option<PhoneNumber>,
    /// The recipient's id within the business.
    pub(super) user: Option<String>,
    pub(super) scope: Suppression,
    pub(super) said_at: Timestamp,
    pub(super) says: Says,
}

/// A part of a webhook, which is written before the next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) receipts: Vec<Receipt>,
    pub(super) refused: Vec<Refused>,
    /// Messages from people.
    pub(super) heard: Vec<HeardMessage>,
}

/// All rows, in parts of bounded size.
pub(super) fn parts(receipts: Vec<Receipt>, refused: Vec<Refused>, heard: Vec<HeardMessage>) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut receipts, mut refused, mut heard) =
        (receipts.into_iter(), refused.into_iter(), heard.into_iter());
    loop {
        let part = Part {
            receipts: receipts.by_ref().take(AT_ONCE).collect(),
            refused: refused.by_ref().take(AT_ONCE).collect(),
            heard: heard.by_ref().take(AT_ONCE).collect(),
        };
        if part == Part::default() {
            return parts;
        }
        parts.push(part);
    }
}

impl Part {
    /// The messages whose recipients are needed.
    pub(super) fn keys(&self) -> Vec<Key> {
        self.refused.iter().filter_map(|refused| refused.key).collect()
    }

    /// The people of whom only their ids are known.
    pub(super) fn users(&self) -> Vec<&str> {
        let unnamed = self.refused.iter().filter(|refused| refused.is_unnamed());
        unnamed.filter_map(|refused| refused.user.as_deref()).collect()
    }

    /// The opt-outs of the company's recipients, in the order of arrival. `written_to` has the numbers that the
    /// messages went to, `number_of` those of people by their ids.
    pub(super) fn words(
        &self,
        company_id: Uuid,
        written_to: impl Fn(Key) -> Option<PhoneNumber>,
        number_of: impl Fn(&str) -> Option<PhoneNumber>,
    ) -> Vec<Word> {
        let word = |refused: &Refused| {
            let Refused { key, recipient, ref user, scope, said_at, says } = *refused;
            let by_id = || user.as_deref().and_then(&number_of);
            let recipient = key.and_then(&written_to).or(recipient).or_else(by_id)?;
            Some(Word { company_id, recipient, scope, said_at, says })
        };
        self.refused.iter().filter_map(word).collect()
    }

    /// The statements of people whose numbers are not known.
    pub(super) fn statements(&self, number_of: impl Fn(&str) -> Option<PhoneNumber>) -> Vec<Statement> {
        let statement = |refused: &Refused| {
            let user_id = refused.user.clone().filter(|user| number_of(user).is_none())?;
            let Refused { scope, said_at, says, .. } = *refused;
            Some(Statement { user_id, scope, says, said_at })
        };
        self.refused.iter().filter(|refused| refused.is_unnamed()).filter_map(statement).collect()
    }
}

impl Refused {
    /// Whether no number is known.
    const fn is_unnamed(&self) -> bool {
        self.key.is_none() && self.recipient.is_none()
    }
}
