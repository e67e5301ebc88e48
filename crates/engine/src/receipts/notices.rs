//! Notices to channels about their number or account, each once, however often a webhook repeats it.

use std::collections::{HashMap, HashSet};

use super::family::Whom;
use clock::Timestamp;
use connectors::Disposition;
use domain::message::{Failure, Key};
use domain::phone::PhoneNumber;

/// When a webhook names more changed numbers than this, every number of the account is probed.
const MOST_NUMBERS: usize = 1_000;

/// A notice to a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    /// Something is wrong with the number or its account.
    Trouble {
        disposition: Disposition,
        failure: Failure,
        /// When it happened.
        at: Timestamp,
        of: Of,
    },
    /// These numbers changed: probe them.
    Recheck(Numbers),
}

/// What met the trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// The number or its account.
    Number,
    /// A message failed because of it; its key, if the provider named it.
    Message(Option<Key>),
}

impl Of {
    pub(super) const fn is_message(self) -> bool {
        matches!(self, Self::Message(_))
    }
}

/// Numbers of an account as people know them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Numbers {
    All,
    These(HashSet<PhoneNumber>),
}

impl Numbers {
    /// Whether this number may be among them; one that is not known may be.
    pub(super) fn may_be(&self, number: Option<PhoneNumber>) -> bool {
        match (self, number) {
            (Self::All, _) | (_, None) => true,
            (Self::These(numbers), Some(number)) => numbers.contains(&number),
        }
    }

    fn add(&mut self, number: Option<PhoneNumber>) {
        let Self::These(numbers) = self else { return };
        match number {
            Some(number) if numbers.len() < MOST_NUMBERS => {
                numbers.insert(number);
            }
            Some(number) if numbers.contains(&number) => {}
            _ => *self = Self::All,
        }
    }
}

/// The subject of a notice: of several notices to the same channels on one subject, one is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    Trouble(Disposition),
    News,
}

#[derive(Debug, Default)]
pub(super) struct Notices {
    /// The notices, each with its turn. Of notices on the same subject, the last one counts, in its own turn.
    known: HashMap<(Whom, About), (usize, Notice)>,
    turns: usize,
}

impl Notices {
    /// Adds trouble. Of many messages that met the same trouble, the last one counts.
    pub(super) fn trouble(
        &mut self,
        whom: Whom,
        (disposition, failure): (Disposition, Failure),
        at: Timestamp,
        of: Of,
    ) {
        let notice = Notice::Trouble { disposition, failure, at, of };
        let turn = self.turn();
        self.known.insert((whom, About::Trouble(disposition)), (turn, notice));
    }

    /// Adds that the number changed, or all numbers.
    pub(super) fn recheck(&mut self, whom: Whom, number: Option<PhoneNumber>) {
        let turn = self.turn();
        let none = || (turn, Notice::Recheck(Numbers::These(HashSet::new())));
        let (last, notice) = self.known.entry((whom, About::News)).or_insert_with(none);
        *last = turn;
        if let Notice::Recheck(numbers) = notice {
            numbers.add(number);
        }
    }

    /// All notices, in the order of their last occurrence.
    pub(super) fn in_order(self) -> Vec<(Whom, Notice)> {
        let mut notices: Vec<_> =
            self.known.into_iter().map(|((whom, _), (turn, notice))| (turn, whom, notice)).collect();
        notices.sort_unstable_by_key(|(turn, ..)| *turn);
        notices.into_iter().map(|(_, whom, notice)| (whom, notice)).collect()
    }

    const fn turn(&mut self) -> usize {
        self.turns += 1;
        self.turns
    }
}
