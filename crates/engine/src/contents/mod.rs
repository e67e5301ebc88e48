//! What conversations need in memory: the keys of their contents, and answers that they do not know yet.

mod answers;
mod keys;
mod values;

pub(crate) use self::answers::Answers;
pub(crate) use self::keys::{ContentKeys, is_of_the_database};
pub(crate) use self::values::{StoredValues, values_from};
