//! A span: a step of a send, with its start and end.

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
    /// The parent span; `None` for the root.
    pub parent: Option<u64>,
    /// The name of the step, one word.
    pub name: &'static str,
    /// The side of an exchange.
    pub side: Side,
    /// When it began.
    pub start: SystemTime,
    /// When it ended.
    pub end: SystemTime,
    /// Further fields, with the same names as in the log.
    pub attributes: Vec<(&'static str, Value)>,
    /// Why the step failed, one word; `None` for a success.
    pub fault: Option<&'static str>,
    /// The caller's span in its own trace.
    pub caller: Option<Caller>,
}

/// The side of an exchange that a span represents.
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
    /// A number; larger values are cut to the maximum.
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
