//! The business accounts whose templates are kept, each with its schedule and the channels that it is listed through.
//! Plain: who asks says what time it is, and carries out.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::schedule::{Distances, Schedule};

/// A company's business account, by its id at the provider.
pub(super) type Account = (Uuid, String);

/// See the module.
pub(super) struct Accounts {
    distances: Distances,
    followed: HashMap<Account, Followed>,
}

/// An account whose templates are kept.
struct Followed {
    schedule: Schedule,
    /// Its connected channels: a listing goes through one of them.
    channels: Vec<Uuid>,
}

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next {
    /// Listings that begin now, each through this channel.
    pub(super) begin: Vec<(Account, Uuid)>,
    /// When there is more to begin.
    pub(super) at: Option<Instant>,
}

impl Accounts {
    /// No accounts yet. A listing for each in each `interval`; none but those that are wanted when that is zero.
    pub(super) fn new(interval: Duration) -> Self {
        Self { distances: Distances::new(interval), followed: HashMap::new() }
    }

    /// The account's templates can be listed through the channel from now on, or cannot any more.
    pub(super) fn follow(&mut self, account: Account, channel: Uuid, is_connected: bool, now: Instant) {
        let followed = self.followed(account, now);
        followed.channels.retain(|id| *id != channel);
        if is_connected {
            followed.channels.push(channel);
        }
    }

    /// The account's templates may have changed, or will have `after` this.
    pub(super) fn want(&mut self, account: Account, after: Duration, now: Instant) {
        self.followed(account, now).schedule.want(now + after);
    }

    /// Begins the listings that are due.
    pub(super) fn begin(&mut self, now: Instant) -> Next {
        let mut next = Next { begin: Vec::new(), at: None };
        for (account, Followed { schedule, channels }) in &mut self.followed {
            match schedule.due().filter(|_| !channels.is_empty()) {
                Some(due) if due <= now => {
                    schedule.begin(now);
                    // After a failure another channel's token may do.
                    let turn = schedule.failures() as usize % channels.len();
                    next.begin.push((account.clone(), channels[turn]));
                }
                Some(due) => next.at = Some(next.at.map_or(due, |at| at.min(due))),
                None => {}
            }
        }
        next
    }

    /// A listing ended.
    pub(super) fn end(&mut self, account: &Account, is_success: bool, now: Instant) {
        if let Some(followed) = self.followed.get_mut(account) {
            followed.schedule.end(is_success, now);
        }
    }

    fn followed(&mut self, account: Account, now: Instant) -> &mut Followed {
        let distances = self.distances;
        let new = || Followed { schedule: Schedule::new(distances, now), channels: Vec::new() };
        self.followed.entry(account).or_insert_with(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn account() -> Account {
        (Uuid::nil(), "7".to_owned())
    }

    /// An account under the eyes of a task, whose listings take no time.
    struct Run {
        accounts: Accounts,
        begun: Instant,
        now: Instant,
        /// So many of the first listings fail.
        failing: usize,
        /// The minutes of the listings, and the channels that they went through.
        listings: Vec<(u64, u128)>,
    }

    impl Run {
        fn new(failing: usize) -> Self {
            let (accounts, begun) = (Accounts::new(30 * MINUTE), Instant::now());
            Self { accounts, begun, now: begun, failing, listings: Vec::new() }
        }

        fn connect(&mut self, channel: u128, is_connected: bool) {
            self.accounts.follow(account(), Uuid::from_u128(channel), is_connected, self.now);
        }

        fn want(&mut self) {
            self.accounts.want(account(), Duration::ZERO, self.now);
        }

        fn pass(&mut self, span: Duration) {
            let end = self.now + span;
            loop {
                let Next { begin, at } = self.accounts.begin(self.now);
                for (account, channel) in &begin {
                    let minute = (self.now - self.begun).as_secs() / 60;
                    self.listings.push((minute, channel.as_u128()));
                    self.accounts.end(account, self.listings.len() > self.failing, self.now);
                }
                match at {
                    _ if !begin.is_empty() => {}
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
    fn a_dozen_pieces_of_news_within_a_minute_are_one_later_listing() {
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
    fn a_failed_listing_is_tried_again_soon_and_through_another_channel() {
        let mut run = Run::new(2);
        run.connect(1, true);
        run.connect(2, true);
        run.pass(32 * MINUTE);
        assert_eq!(run.listings, [(0, 1), (1, 2), (3, 1)]);
    }

    #[test]
    fn what_is_due_while_no_channel_is_connected_waits_for_one() {
        let mut run = Run::new(0);
        run.want();
        run.pass(5 * MINUTE);
        run.connect(1, true);
        run.pass(MINUTE);
        run.connect(1, false);
        run.pass(90 * MINUTE);
        assert_eq!(run.listings, [(5, 1)]);
    }
}
