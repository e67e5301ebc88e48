//! What channels have to know of their number or account, each once, however often a webhook says it.

use std::collections::{HashMap, HashSet};

use super::family::Whom;
use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::domain::message::Failure;
use crate::domain::phone::PhoneNumber;

/// When a webhook has news of more numbers than this, every number of the account is asked about.
const MOST_NUMBERS: usize = 1_000;

/// What a channel has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    /// Something is wrong with the number or its account.
    Trouble {
        disposition: Disposition,
        failure: Failure,
        /// Since when.
        at: Timestamp,
        /// Whether a message failed for it, and not the provider alone says so.
        is_of_message: bool,
    },
    /// The provider has news of these numbers, to be asked for.
    Recheck(Numbers),
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

/// What makes two notices to the same channels one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    Trouble(Disposition),
    News,
}

#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Each with its turn: the last of the same counts, at its own place.
    known: HashMap<(Whom, About), (usize, Notice)>,
    turns: usize,
}

impl Notices {
    /// Of many messages that met the same trouble, one tells of it: the last.
    pub(super) fn trouble(
        &mut self,
        whom: Whom,
        (disposition, failure): (Disposition, Failure),
        at: Timestamp,
        is_of_message: bool,
    ) {
        let notice = Notice::Trouble { disposition, failure, at, is_of_message };
        let turn = self.turn();
        self.known.insert((whom, About::Trouble(disposition)), (turn, notice));
    }

    /// The provider has news of the number, or of all.
    pub(super) fn recheck(&mut self, whom: Whom, number: Option<PhoneNumber>) {
        let turn = self.turn();
        let none = || (turn, Notice::Recheck(Numbers::These(HashSet::new())));
        let (last, notice) = self.known.entry((whom, About::News)).or_insert_with(none);
        *last = turn;
        if let Notice::Recheck(numbers) = notice {
            numbers.add(number);
        }
    }

    /// All of them, in the order in which each was heard last.
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
