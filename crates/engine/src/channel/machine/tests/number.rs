//! Probes of a number, and the provider's answers.

use super::*;
use connectors::Health;
use domain::channel::Number;

const MILLI: Duration = Duration::from_millis(1);

pub(super) fn healthy() -> Health {
    Health::Healthy(Number { level: Some(Level::Standard), ..Number::default() })
}

pub(super) fn saved(revision: i64) -> Input {
    Input::ConnectionSaved(Saved::Done { revision })
}

impl World {
    /// The provider refused the channel in its answer to message 10; message 11 waits.
    pub(super) fn refused_with(disposition: Disposition) -> Self {
        let mut world = Self::ready(1);
        world.start(10);
        world.accept(11);
        world.flush();
        world.attempts.truncate(1);
        world.answer(refused(disposition));
        world.flush();
        world.feed(saved(2));
        world
    }

    pub(super) fn status(&self) -> Status {
        self.machine.link.status()
    }

    /// The provider answers a probe.
    pub(super) fn probed(&mut self, health: Health) -> Vec<&'static str> {
        let generation = self.machine.link.generation();
        self.feed(Input::Probed { generation, health })
    }

    /// How long until the next probe.
    pub(super) fn asks_in(&self) -> Duration {
        self.machine.link.probe_at().unwrap().saturating_duration_since(self.at.monotonic)
    }

    /// Lets time pass until the next probe. Returns how long that took.
    pub(super) fn until_asked(&mut self) -> Duration {
        let asked = self.count("probe");
        let wait = self.asks_in();
        self.pass(wait - MILLI);
        assert_eq!(self.count("probe"), asked, "not before");
        self.pass(MILLI);
        assert_eq!(self.count("probe"), asked + 1, "{:?}", self.log.last());
        wait
    }

    pub(super) fn troubled(&mut self, disposition: Disposition, is_of_message: bool) {
        let troubled = Troubled { disposition, failure: failure(), is_of_message, taken_at: None };
        self.feed(Input::Troubled(troubled));
    }
}

/// Whether a wait is `whole` or up to a quarter less, which keeps channels from asking together.
pub(super) fn is_about(wait: Duration, whole: Duration) -> bool {
    wait <= whole + MILLI && wait + 2 * MILLI >= whole * 3 / 4
}
