//! Recipient blocks: ascending numbers packed into bytes.
//!
//! A block keeps its first number whole and every later one as the distance from the number before, in
//! base-128 groups of seven bits, lowest first, the top bit of a byte meaning "more follows". Numbers of
//! one country lie close together, so that a recipient takes two to four bytes instead of eight.

use crate::phone::PhoneNumber;

/// Bytes that are not a block that we packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the recipient block is damaged")]
pub struct Damaged;

/// Packs strictly ascending `numbers`.
pub fn pack(numbers: &[PhoneNumber]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(numbers.len() * 3 + 8);
    let mut before = 0;
    for number in numbers {
        let mut distance = number.as_u64().wrapping_sub(before);
        before = number.as_u64();
        while distance >= 0x80 {
            packed.push((distance & 0x7f) as u8 | 0x80);
            distance >>= 7;
        }
        packed.push(distance as u8);
    }
    packed
}

/// The numbers of a block, in order.
///
/// # Errors
///
/// [`Damaged`] when the bytes end within a number or contain an invalid one.
pub fn unpack(packed: &[u8]) -> Result<Vec<PhoneNumber>, Damaged> {
    let mut numbers = Vec::with_capacity(packed.len() / 2);
    let (mut before, mut distance, mut shift) = (0_u64, 0_u64, 0_u32);
    for byte in packed {
        if shift > 56 {
            return Err(Damaged);
        }
        distance |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 != 0 {
            shift += 7;
            continue;
        }
        before = before.checked_add(distance).ok_or(Damaged)?;
        numbers.push(PhoneNumber::from_u64(before).ok_or(Damaged)?);
        (distance, shift) = (0, 0);
    }
    if shift == 0 { Ok(numbers) } else { Err(Damaged) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_unpacks_unchanged(values in prop::collection::btree_set(1_000_000_u64..=999_999_999_999_999, 0..600)) {
            let numbers: Vec<_> = values.iter().copied().filter_map(PhoneNumber::from_u64).collect();
            prop_assert_eq!(numbers.len(), values.len());
            prop_assert_eq!(unpack(&pack(&numbers)), Ok(numbers));
        }

        #[test]
        fn damaged_bytes_are_refused_not_guessed(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(numbers) = unpack(&bytes) {
                prop_assert!(numbers.iter().all(|number| PhoneNumber::from_u64(number.as_u64()).is_some()));
            }
        }
    }

    #[test]
    fn numbers_of_one_country_take_few_bytes() {
        let numbers: BTreeSet<_> = (0..4096_u64).map(|n| 5_511_900_000_000 + n * 997).collect();
        let numbers: Vec<_> = numbers.into_iter().filter_map(PhoneNumber::from_u64).collect();
        assert!(pack(&numbers).len() < numbers.len() * 2 + 8);
    }
}
