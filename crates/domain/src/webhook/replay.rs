//! Replays: events that a person wants an endpoint to get once more.

use uuid::Uuid;

use crate::error::{Code, Refusal};
use crate::event::Type;
use clock::Timestamp;

crate::worded! {
    /// Which events are sent once more.
    #[derive(Default)]
    pub enum ReplayOf {
        /// All that the endpoint gets.
        #[default]
        All = "all",
        /// Those that were given up or wait for another attempt.
        Failed = "failed",
    }
}

/// What a person wants to be sent once more, of the events that the endpoint gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplayRequest {
    /// Which of them.
    pub of: ReplayOf,
    /// Only these types; all that the endpoint gets when there are none.
    pub types: Vec<Type>,
    /// Not those that were written to the log before; `None` from the beginning of the log.
    pub since: Option<Timestamp>,
    /// Not those that were written to the log later; `None` up to now.
    pub until: Option<Timestamp>,
}

impl ReplayRequest {
    /// Checks the request.
    ///
    /// # Errors
    ///
    /// `invalid_field` for an end that is not after the beginning.
    pub fn checked(mut self) -> Result<Self, Refusal> {
        if let (Some(since), Some(until)) = (self.since, self.until)
            && until <= since
        {
            return Err(Refusal::of("until", Code::InvalidField, "must be after since"));
        }
        self.types.sort_unstable();
        self.types.dedup();
        Ok(self)
    }

    /// Whether events of this type belong to it.
    pub fn wants_type(&self, r#type: Type) -> bool {
        self.types.is_empty() || self.types.contains(&r#type)
    }
}

/// A replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Time-ordered id.
    pub id: Uuid,
    /// What a person asked for.
    pub request: ReplayRequest,
    /// When a person asked for it.
    pub started_at: Timestamp,
    /// When the last of its events was on its way; `None` before.
    pub finished_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_ends_after_it_begins_and_names_each_type_once() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let request = |since, until| ReplayRequest { since, until, ..ReplayRequest::default() };
        for (since, until) in [(None, None), (at(1), None), (None, at(1)), (at(1), at(2))] {
            assert!(request(since, until).checked().is_ok(), "{since:?} {until:?}");
        }
        for (since, until) in [(at(2), at(2)), (at(3), at(2))] {
            assert_eq!(request(since, until).checked().unwrap_err().param.as_deref(), Some("until"));
        }
        let types = vec![Type::SendFinished, Type::MessageFailed, Type::SendFinished];
        let checked = ReplayRequest { types, ..ReplayRequest::default() }.checked().unwrap();
        assert_eq!(checked.types.len(), 2);
        assert!(checked.wants_type(Type::MessageFailed) && !checked.wants_type(Type::MessageRead));
    }
}
