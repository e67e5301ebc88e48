//! Webhooks of the provider: trouble with a number or its account, or a change of the number.

use std::time::Duration;

use super::world::World;
use crate::channel::machine::{Input, Troubled};
use connectors::Disposition;
use domain::message::Failure;

/// The kinds of webhooks.
const TOLD: [Option<Disposition>; 9] = [
    None,
    None,
    Some(Disposition::SlowNumber),
    Some(Disposition::SlowAccount),
    Some(Disposition::SlowApp),
    Some(Disposition::Maintenance),
    Some(Disposition::Disconnect),
    Some(Disposition::Block),
    Some(Disposition::Restrict),
];

impl World {
    /// The provider sends a channel a webhook, which tells the truth.
    pub(super) fn tell_by_webhook(&mut self) {
        let channel = usize::try_from(self.dice.below(self.channels.len() as u64)).unwrap_or(0);
        let Some(told) = self.dice.pick(&TOLD).copied() else { return };
        let Some(disposition) = told else {
            self.inform_runner(channel, Input::Recheck);
            return;
        };
        let until = self.clock.elapsed() + self.dice.time(Duration::from_secs(1), Duration::from_secs(20));
        let record = &self.channels[channel];
        let waba_id = record.waba_id.as_deref().unwrap_or_default();
        self.provider.begin(disposition, channel, waba_id, record.company_id.as_u128(), until);
        let failure = Failure { code: Some(368), sentence: "it is told".to_owned() };
        let is_of_message = self.dice.happens(500);
        let troubled = Troubled { disposition, failure, is_of_message, taken_at: None };
        self.inform_runner(channel, Input::Troubled(troubled));
    }
}
