//! The rule of events: programs that read them see the states of each message, in their order.

use super::super::model::Model;
use super::Watch;
use domain::event::is_told;
use domain::message::{Key, State};

pub(super) const RULE: &str = "the events of a message are its states, in their order";

impl Watch {
    /// A batch that may have moved this message became durable.
    pub(super) fn compare_events(&mut self, model: &Model, key: Key) {
        if let Some(what) = differing(model, key) {
            self.break_(RULE, what);
        }
    }
}

/// How the events of a message differ from its states, in words.
pub(super) fn differing(model: &Model, key: Key) -> Option<String> {
    let (row, told) = (model.message(key)?, model.told_of(key));
    let is_missing = is_told(row.state) && told.last() != Some(&row.state);
    // A message with an unknown outcome may go again, and be unknown again.
    let is_forward = |pair: &[State]| pair[0].is_open() || pair[0].advanced_by(pair[1]) != pair[0];
    let is_ordered = told.windows(2).all(is_forward);
    (is_missing || !is_ordered).then(|| format!("{key}: {told:?}, and the message is {:?}", row.state))
}
