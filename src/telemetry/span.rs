//! A span: something that was done for a send, from when to when.

use std::time::SystemTime;

use uuid::Uuid;

use super::origin::Caller;

/// A part of a send's trace.
#[derive(Debug, Clone)]
pub struct Span {
    /// The send, whose id is the trace's.
    pub send_id: Uuid,
    /// Its own id, never zero.
    pub id: u64,
    /// The span that it is a part of; `None` for the root.
    pub parent: Option<u64>,
    /// What was done, in one word.
    pub name: &'static str,
    /// Which side of an exchange it is.
    pub side: Side,
    /// When it began.
    pub start: SystemTime,
    /// When it ended.
    pub end: SystemTime,
    /// What else is known, under the names that the log has.
    pub attributes: Vec<(&'static str, Value)>,
    /// Why it did not succeed, in a word; `None` when it did.
    pub fault: Option<&'static str>,
    /// The span of the caller's own trace in which it asked.
    pub caller: Option<Caller>,
}

/// Which side of an exchange a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The span answers a request from outside.
    Server,
    /// The span is a request to another service.
    Client,
    /// Neither.
    Internal,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A word that is always the same.
    Word(&'static str),
    /// A number; those beyond the largest are the largest.
    Number(i64),
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Uuid> for Value {
    fn from(id: Uuid) -> Self {
        Self::Text(id.to_string())
    }
}

/// The id of the root span of a send's trace: the same in every process.
///
/// The span's id is the last half of the send's id. Two bits of that are the id's variant, so that it is never zero.
pub(super) const fn root_of(send_id: Uuid) -> u64 {
    send_id.as_u64_pair().1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_s_id_is_the_send_s_and_not_zero() {
        let send_id = Uuid::parse_str("0190a0c4-7c1b-7f00-8000-000000000000").unwrap();
        assert_eq!(root_of(send_id), 0x8000_0000_0000_0000);
        assert_ne!(root_of(Uuid::now_v7()), root_of(Uuid::now_v7()));
    }
}
