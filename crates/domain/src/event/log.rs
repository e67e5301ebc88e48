//! The event log: what a company's readers are told, packed into blocks.
//!
//! A block has what one write changed, in the order of the changes. A message takes a few bytes: which one it is, the
//! state that it reached, and when. Everything else about it is in the ledger, where a reader of the log looks it up.
//! Rare events carry what they tell.

mod fact;

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::fact::{
    ChangedValue, ConversationFact, Fact, FactKind, SuppressionFact, TemplateFact, Why, WroteFact,
};
use crate::message::{Key, State};
use clock::Timestamp;

/// The most entries of a block, so that an entry's place in the log is a number: see [`Sequence`].
pub const MOST: usize = 1 << BITS;
const BITS: u32 = 16;
/// The version of the packed form.
const FORM: u8 = 1;
/// What a run of entries consists of.
const FACT: u8 = 0;
const MESSAGES: u8 = 1;

/// The place of an entry in the log: the number of its block, and its place in the block. It rises with each event of a
/// company. As JSON it is an integer that every program can hold (below 2^53).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sequence(i64);

impl Sequence {
    /// The entry at this place of this block.
    pub const fn new(block: i64, place: usize) -> Self {
        Self((block << BITS) + place as i64)
    }

    /// After all entries of this block.
    pub const fn end_of(block: i64) -> Self {
        Self::new(block, MOST - 1)
    }

    /// From its number.
    pub const fn from_i64(number: i64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn as_i64(self) -> i64 {
        self.0
    }

    /// The block.
    pub const fn block(self) -> i64 {
        self.0 >> BITS
    }
}

impl FromStr for Sequence {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number: u64 = text.parse()?;
        // A number that is no place in a log is after its end.
        Ok(Self(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEntry {
    /// A message reached a state.
    Message(Moved),
    /// Something else happened.
    Fact(Fact),
}

/// A message that reached a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// The message.
    pub key: Key,
    /// The state.
    pub state: State,
    /// When.
    pub at: Timestamp,
}

/// Packs at most [`MOST`] entries into a block.
pub fn pack(entries: &[LogEntry]) -> Vec<u8> {
    let mut packed = vec![FORM];
    let mut rest = entries;
    while let Some((first, others)) = rest.split_first() {
        match first {
            LogEntry::Fact(fact) => {
                // A fact holds nothing that JSON cannot; one without content is unreadable, and skipped as such.
                let json = serde_json::to_vec(fact).unwrap_or_default();
                packed.push(FACT);
                put(&mut packed, json.len() as u64);
                packed.extend_from_slice(&json);
                rest = others;
            }
            LogEntry::Message(Moved { key, .. }) => {
                let of_send = |entry: &LogEntry| match entry {
                    LogEntry::Message(moved) if moved.key.send_id == key.send_id => Some(*moved),
                    _ => None,
                };
                let run: Vec<_> = rest.iter().map_while(of_send).collect();
                packed.push(MESSAGES);
                packed.extend_from_slice(key.send_id.as_bytes());
                put(&mut packed, run.len() as u64);
                let (mut ordinal, mut at) = (0, 0);
                for moved in &run {
                    let step = zigzag(moved.key.ordinal.cast_signed().wrapping_sub(ordinal));
                    put_wide(
                        &mut packed,
                        u128::from(step) << 4 | u128::from(moved.state.as_i16().unsigned_abs()),
                    );
                    put(&mut packed, zigzag(moved.at.millis().wrapping_sub(at)));
                    (ordinal, at) = (moved.key.ordinal.cast_signed(), moved.at.millis());
                }
                rest = &rest[run.len()..];
            }
        }
    }
    packed
}

/// The entries of a block, each with its place; `None` for an entry that this program cannot read. A block that ends
/// unexpectedly, or is of a later form, has one such entry for what is left.
pub fn unpack(packed: &[u8]) -> Vec<Option<LogEntry>> {
    let mut entries = Vec::new();
    let Some((&FORM, mut rest)) = packed.split_first() else { return vec![None] };
    while !rest.is_empty() {
        if take_run(&mut rest, &mut entries).is_none() {
            entries.push(None);
            break;
        }
    }
    entries
}

fn take_run(rest: &mut &[u8], entries: &mut Vec<Option<LogEntry>>) -> Option<()> {
    match *rest.split_off_first()? {
        FACT => {
            let length = usize::try_from(take(rest)?).ok()?;
            let json = rest.split_off(..length)?;
            entries.push(serde_json::from_slice(json).ok().map(LogEntry::Fact));
        }
        MESSAGES => {
            let send_id = Uuid::from_slice(rest.split_off(..16)?).ok()?;
            let (mut ordinal, mut at) = (0_i64, 0_i64);
            for _ in 0..take(rest)? {
                let word = take_wide(rest)?;
                ordinal = ordinal.wrapping_add(unzigzag(u64::try_from(word >> 4).ok()?));
                at = at.wrapping_add(unzigzag(take(rest)?));
                let state = State::from_i16(i16::try_from(word & 15).ok()?);
                let key = Key { send_id, ordinal: ordinal.cast_unsigned() };
                let at = Timestamp::from_millis(at);
                entries.push(state.map(|state| LogEntry::Message(Moved { key, state, at })));
            }
        }
        _ => return None,
    }
    Some(())
}

/// A signed number as one that is small when its distance from zero is.
const fn zigzag(number: i64) -> u64 {
    (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()
}

const fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn put(packed: &mut Vec<u8>, number: u64) {
    put_wide(packed, u128::from(number));
}

fn put_wide(packed: &mut Vec<u8>, mut number: u128) {
    while number > 127 {
        packed.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    u64::try_from(take_wide(rest)?).ok()
}

fn take_wide(rest: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..126).step_by(7) {
        let byte = *rest.split_off_first()?;
        number |= u128::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::send;

    fn entry() -> impl Strategy<Value = LogEntry> {
        let moved = (0_u128..3, any::<u64>(), 0..State::ALL.len(), any::<i64>()).prop_map(
            |(send, ordinal, state, at)| {
                let key = Key { send_id: Uuid::from_u128(send), ordinal };
                LogEntry::Message(Moved { key, state: State::ALL[state], at: Timestamp::from_millis(at) })
            },
        );
        let fact =
            (any::<u128>(), any::<u64>(), 0_i64..4_000_000_000_000).prop_map(|(id, recipients, at)| {
                let (id, channel) = (Uuid::from_u128(id), Uuid::from_u128(3));
                let at = Timestamp::from_millis(at);
                LogEntry::Fact(Fact::of_send((id, channel), send::State::Finished, recipients, at))
            });
        prop_oneof![9 => moved, 1 => fact]
    }

    proptest! {
        #[test]
        fn a_block_has_what_was_packed(entries in proptest::collection::vec(entry(), 0..200)) {
            let unpacked: Option<Vec<_>> = unpack(&pack(&entries)).into_iter().collect();
            prop_assert_eq!(unpacked, Some(entries));
        }

        #[test]
        fn any_bytes_are_read_to_their_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(unpack(&bytes).len() <= MOST);
        }

        #[test]
        fn a_block_that_was_cut_ends_with_something_unreadable(
            entries in proptest::collection::vec(entry(), 1..20), cut in any::<prop::sample::Index>()
        ) {
            let packed = pack(&entries);
            let left = &packed[..cut.index(packed.len())];
            let read = unpack(left);
            prop_assert!(read.len() <= entries.len() + 1);
            for (read, entry) in read.iter().zip(&entries) {
                prop_assert!(read.as_ref().is_none_or(|read| read == entry));
            }
        }
    }

    #[test]
    fn an_event_of_a_message_takes_a_few_bytes() {
        let moved = |ordinal, state| {
            let key = Key { send_id: Uuid::from_u128(u128::MAX), ordinal };
            // Receipts of a large send, out of order within some seconds.
            let at = Timestamp::from_millis(1_700_000_000_000 + (ordinal.cast_signed() * 7_919) % 5_000);
            LogEntry::Message(Moved { key, state, at })
        };
        let both = |ordinal| [moved(ordinal, State::Delivered), moved(ordinal, State::Read)];
        let entries: Vec<_> = (900_000..900_500).flat_map(both).collect();
        let packed = pack(&entries);
        assert!(packed.len() < 4 * entries.len(), "{} bytes for {}", packed.len(), entries.len());
    }

    #[test]
    fn a_sequence_rises_with_blocks_and_places() {
        let all = [(1, 0), (1, 1), (1, MOST - 1), (2, 0)].map(|(block, place)| Sequence::new(block, place));
        assert!(all.is_sorted() && all.iter().all(|sequence| sequence.as_i64() < 1 << 53));
        assert_eq!((all[2], all[2].block(), all[3].block()), (Sequence::end_of(1), 1, 2));
        assert_eq!("65537".parse(), Ok(all[1]));
        assert!("99999999999999999999".parse::<Sequence>().is_err());
        assert_eq!(u64::MAX.to_string().parse(), Ok(Sequence::from_i64(i64::MAX)));
        assert!("-1".parse::<Sequence>().is_err());
    }
}
