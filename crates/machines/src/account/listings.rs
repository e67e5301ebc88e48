//! Listings of the account's templates: when they happen, and through which channel.
//!
//! Each company with channels of the account keeps templates of its own, and has one schedule, however many channels it
//! has and however often they connect. A listing goes through a connected channel.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::schedule::{Distances, Schedule};

/// The listings of one account.
#[derive(Debug)]
pub(super) struct Listings {
    distances: Distances,
    /// One for each company; hardly ever more than one.
    companies: Vec<Followed>,
}

/// A company whose templates are kept.
#[derive(Debug)]
struct Followed {
    company: Uuid,
    schedule: Schedule,
    /// The connected channels.
    channels: Vec<Uuid>,
}

impl Listings {
    /// One listing for each company in each `interval`; when that is zero, only on request.
    pub(super) fn new(interval: Duration) -> Self {
        Self { distances: Distances::new(interval), companies: Vec::new() }
    }

    /// The templates can be listed through the channel from now on, or cannot any more.
    pub(super) fn follow(&mut self, company: Uuid, channel: Uuid, is_connected: bool, now: Instant) {
        let followed = self.followed(company, now);
        followed.channels.retain(|id| *id != channel);
        if is_connected {
            followed.channels.push(channel);
        }
    }

    /// The company's templates may have changed, or will have `after` this.
    pub(super) fn want(&mut self, company: Uuid, after: Duration, now: Instant) {
        self.followed(company, now).schedule.want(now + after);
    }

    /// The channel is gone.
    pub(super) fn leave(&mut self, channel: Uuid) {
        for followed in &mut self.companies {
            followed.channels.retain(|id| *id != channel);
        }
    }

    /// Begins the listings that are due: passes the company and the channel of each to `begin`.
    pub(super) fn begin(&mut self, now: Instant, mut begin: impl FnMut(Uuid, Uuid)) {
        for Followed { company, schedule, channels } in &mut self.companies {
            if channels.is_empty() || schedule.due().is_none_or(|due| due > now) {
                continue;
            }
            schedule.begin(now);
            // After a failure, another channel's token may work.
            let turn = schedule.failures() as usize % channels.len();
            begin(*company, channels[turn]);
        }
    }

    /// When the next listing begins.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let listed = self.companies.iter().filter(|followed| !followed.channels.is_empty());
        listed.filter_map(|followed| followed.schedule.due()).min()
    }

    /// A listing ended.
    pub(super) fn end(&mut self, company: Uuid, is_success: bool, now: Instant) {
        if let Some(followed) = self.companies.iter_mut().find(|followed| followed.company == company) {
            followed.schedule.end(is_success, now);
        }
    }

    /// Whether a listing is under way, or requested for when a channel is connected.
    pub(super) fn is_busy(&self) -> bool {
        self.companies.iter().any(|followed| followed.schedule.is_busy())
    }

    fn followed(&mut self, company: Uuid, now: Instant) -> &mut Followed {
        let known = self.companies.iter().position(|followed| followed.company == company);
        let place = known.unwrap_or_else(|| {
            let schedule = Schedule::new(self.distances, now);
            // Most accounts have one company and one channel: room for four of each would be most of their memory.
            self.companies.reserve_exact(1);
            self.companies.push(Followed { company, schedule, channels: Vec::with_capacity(1) });
            self.companies.len() - 1
        });
        &mut self.companies[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    const COMPANY: Uuid = Uuid::nil();

    /// An account whose listings take no time.
    struct Run {
        account: Listings,
        begun: Instant,
        now: Instant,
        /// This many of the first listings fail.
        failing: usize,
        /// The minutes of the listings, and the channels that they went through.
        listings: Vec<(u64, u128)>,
    }

    impl Run {
        fn new(failing: usize) -> Self {
            let (account, begun) = (Listings::new(30 * MINUTE), Instant::now());
            Self { account, begun, now: begun, failing, listings: Vec::new() }
        }

        fn connect(&mut self, channel: u128, is_connected: bool) {
            self.account.follow(COMPANY, Uuid::from_u128(channel), is_connected, self.now);
        }

        fn want(&mut self) {
            self.account.want(COMPANY, Duration::ZERO, self.now);
        }

        fn pass(&mut self, span: Duration) {
            let end = self.now + span;
            loop {
                let (mut begun, minute) = (Vec::new(), (self.now - self.begun).as_secs() / 60);
                self.account.begin(self.now, |_, channel| begun.push((minute, channel.as_u128())));
                for listing in &begun {
                    self.listings.push(*listing);
                    self.account.end(COMPANY, self.listings.len() > self.failing, self.now);
                }
                match self.account.next_at() {
                    _ if !begun.is_empty() => {}
                    Some(at) if at < end => self.now = at,
                    _ => break,
                }
            }
            self.now = end;
        }
    }

    #[test]
    fn an_account_has_one_schedule_for_all_its_channels_however_often_they_are_connected() {
        let mut run = Run::new(0);
        for _ in 0..9 {
            for channel in [1, 2] {
                run.connect(channel, false);
                run.connect(channel, true);
            }
            run.pass(7 * MINUTE);
        }
        assert_eq!(run.listings.iter().map(|(minute, _)| *minute).collect::<Vec<_>>(), [0, 30, 60]);
    }

    #[test]
    fn a_dozen_requests_within_a_minute_are_one_later_listing() {
        let mut run = Run::new(0);
        run.connect(1, true);
        run.pass(Duration::from_secs(1));
        for _ in 0..12 {
            run.want();
            run.pass(Duration::from_secs(3));
        }
        run.pass(20 * MINUTE);
        assert_eq!(run.listings, [(0, 1), (1, 1)]);
    }

    #[test]
    fn a_failed_listing_is_retried_soon_and_through_another_channel() {
        let mut run = Run::new(2);
        run.connect(1, true);
        run.connect(2, true);
        run.pass(32 * MINUTE);
        assert_eq!(run.listings, [(0, 1), (1, 2), (3, 1)]);
    }

    #[test]
    fn a_due_listing_waits_for_a_connected_channel() {
        let mut run = Run::new(0);
        run.want();
        run.pass(5 * MINUTE);
        run.connect(1, true);
        run.pass(MINUTE);
        run.connect(1, false);
        run.pass(90 * MINUTE);
        assert_eq!(run.listings, [(5, 1)]);
    }

    #[test]
    fn a_request_outlives_the_last_channel_and_the_schedule_alone_does_not() {
        let mut run = Run::new(0);
        run.connect(1, true);
        run.pass(MINUTE);
        run.account.leave(Uuid::from_u128(1));
        assert!(!run.account.is_busy());
        run.want();
        assert!(run.account.is_busy());
        run.connect(2, true);
        run.pass(MINUTE);
        assert_eq!((run.listings.as_slice(), run.account.is_busy()), ([(0, 1), (1, 2)].as_slice(), false));
    }
}
