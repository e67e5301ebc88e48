//! Decides which sends are traced, and which messages of a bulk send. The decision depends only on ids, so
//! that all code in every process makes the same one.

use uuid::Uuid;

#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    /// Sends whose ids end with 32 bits below this value are traced.
    below: u64,
    /// The messages of each send before this ordinal are traced, and some later ones.
    messages: u64,
}

impl Sampling {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the share is from 0 to 1")]
    pub(super) fn new(options: &config::Telemetry) -> Self {
        let below = (options.sample_sends * f64::from(u32::MAX)).ceil() as u64;
        // Includes the largest value of 32 bits.
        let below = if options.sample_sends < 1.0 { below } else { 1 << 32 };
        Self { below, messages: options.sample_attempts_per_send.max(1) }
    }

    /// Whether the send is traced. The last 32 bits of an id are random.
    pub(super) fn takes(self, send_id: Uuid) -> bool {
        (send_id.as_u64_pair().1 & u64::from(u32::MAX)) < self.below
    }

    /// Whether the attempts and receipts of this message are traced. They are for the first messages of a
    /// send, and then for one message each time the number has doubled, so that a trace covers a long send up
    /// to its end.
    pub(super) fn takes_message(self, send_id: Uuid, ordinal: u64) -> bool {
        let is_later =
            || ordinal.is_multiple_of(self.messages) && (ordinal / self.messages).is_power_of_two();
        self.takes(send_id) && (ordinal < self.messages || is_later())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(sends: f64, attempts: u64) -> Sampling {
        let telemetry = config::Config::default().telemetry;
        Sampling::new(&config::Telemetry {
            sample_sends: sends,
            sample_attempts_per_send: attempts,
            ..telemetry
        })
    }

    #[test]
    fn the_configured_share_of_the_sends_is_traced() {
        let ids: Vec<_> = (0..20_000).map(|_| Uuid::now_v7()).collect();
        let taken = |share| {
            let sampling = sampling(share, 1);
            ids.iter().filter(|id| sampling.takes(**id)).count()
        };
        assert_eq!((taken(0.0), taken(1.0)), (0, 20_000));
        assert!((1_700..2_300).contains(&taken(0.1)), "{}", taken(0.1));
        assert!(sampling(1.0, 1).takes(Uuid::max()));
    }

    #[test]
    fn a_send_of_a_million_has_some_messages_traced_from_its_first_to_its_last_half() {
        let (all, send_id) = (sampling(1.0, 8), Uuid::now_v7());
        let taken: Vec<_> = (0..1_000_000).filter(|ordinal| all.takes_message(send_id, *ordinal)).collect();
        assert_eq!(taken[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
        assert_eq!((taken.len(), taken.last()), (25, Some(&524_288)));
        assert!(!sampling(0.0, 8).takes_message(send_id, 0));
    }
}
