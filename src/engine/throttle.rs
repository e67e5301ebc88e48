//! Throttles: what the provider refuses to a whole app or to a whole business account.
//!
//! An app's budget of calls (code 4) is shared by all channels of the app, a business account's (code 80007) by
//! all of its numbers. So what one channel's actor is told, all of them keep: this is shared by their threads.
//! It is asked before every message and costs one atomic read while nothing is throttled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use sha2::{Digest as _, Sha256};

/// The first pause, doubled with every refusal in a row up to the longest.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The provider's own estimate is believed up to here.
const LONGEST_HINT: Duration = Duration::from_secs(60 * 60);

/// A pause that was over for so long is forgotten, with the refusals before it.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 60);

/// What shares one budget at the provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// The channels of one app; see [`Scope::app`].
    App([u8; 32]),
    /// The channels of one business account, by its id at the provider.
    Account(Arc<str>),
}

/// Which kind of scope holds a message up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// See [`Scope::App`].
    App,
    /// See [`Scope::Account`].
    Account,
}

impl Scope {
    /// The app of a channel: those with the same app secret are of one app, and without a secret those with
    /// the same token. Only a hash of it is kept.
    pub(crate) fn app(secret_or_token: &[u8]) -> Self {
        Self::App(Sha256::digest(secret_or_token).into())
    }

    /// The business account of this id.
    pub(crate) fn account(waba_id: &str) -> Self {
        Self::Account(waba_id.into())
    }

    const fn kind(&self) -> ScopeKind {
        match self {
            Self::App(_) => ScopeKind::App,
            Self::Account(_) => ScopeKind::Account,
        }
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Throttles {
    pauses: DashMap<Scope, Pause>,
    /// How many there are: while none is, nobody looks into the map.
    count: AtomicUsize,
}

#[derive(Clone, Copy)]
struct Pause {
    until: Instant,
    /// Refusals in a row.
    times: u32,
}

impl Throttles {
    /// The provider refused because of this scope; `hint` is its own estimate of when it takes messages again.
    /// Until when nothing of the scope may go. Answers that come within a pause are of the same refusal: they
    /// make it longer only by a longer estimate.
    pub(crate) fn refused(&self, scope: &Scope, hint: Option<Duration>, now: Instant) -> Instant {
        self.forget(now);
        let hinted = now + hint.unwrap_or_default().min(LONGEST_HINT);
        match self.pauses.entry(scope.clone()) {
            Entry::Occupied(mut pause) => {
                let pause = pause.get_mut();
                if pause.until <= now {
                    pause.times = pause.times.saturating_add(1);
                    pause.until = now + length(pause.times);
                }
                pause.until = pause.until.max(hinted);
                pause.until
            }
            Entry::Vacant(vacant) => {
                let until = hinted.max(now + length(1));
                vacant.insert(Pause { until, times: 1 });
                self.count.fetch_add(1, Ordering::Release);
                until
            }
        }
    }

    /// The provider took a message of these scopes: the next refusal is a first one again. A pause that lasts
    /// still lasts, because answers of messages in flight come in any order.
    pub(crate) fn accepted(&self, scopes: &[Scope], now: Instant) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        for scope in scopes {
            if self.pauses.remove_if(scope, |_, pause| pause.until <= now).is_some() {
                self.count.fetch_sub(1, Ordering::Release);
            }
        }
    }

    /// The longest pause of these scopes; `None` when a message may go.
    pub(crate) fn until(&self, scopes: &[Scope], now: Instant) -> Option<(ScopeKind, Instant)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let pauses = scopes.iter().filter_map(|scope| Some((scope.kind(), self.pauses.get(scope)?.until)));
        pauses.filter(|(_, until)| *until > now).max_by_key(|(_, until)| *until)
    }

    /// Forgets scopes of which nothing was heard for long: their channels may be gone.
    fn forget(&self, now: Instant) {
        self.pauses.retain(|_, pause| {
            let kept = pause.until + FORGOTTEN_AFTER > now;
            if !kept {
                self.count.fetch_sub(1, Ordering::Release);
            }
            kept
        });
    }
}

/// How long the pause after so many refusals in a row is.
fn length(times: u32) -> Duration {
    FIRST.saturating_mul(1 << times.saturating_sub(1).min(10)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn pauses_double_up_to_a_minute_and_begin_anew_after_a_success() {
        let (throttles, app) = (Throttles::default(), Scope::app(b"secret"));
        let mut now = Instant::now();
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            let until = now + seconds(pause);
            assert_eq!(throttles.refused(&app, None, now), until);
            now = until;
        }
        throttles.accepted(std::slice::from_ref(&app), now);
        assert_eq!(throttles.refused(&app, None, now), now + seconds(1));
    }

    #[test]
    fn the_answers_within_a_pause_neither_lengthen_nor_end_it() {
        let (throttles, scopes) = (Throttles::default(), [Scope::account("7")]);
        let now = Instant::now();
        let until = throttles.refused(&scopes[0], None, now);
        for _ in 0..64 {
            assert_eq!(throttles.refused(&scopes[0], None, now), until);
            throttles.accepted(&scopes, now);
        }
        assert_eq!(throttles.until(&scopes, now), Some((ScopeKind::Account, until)));
        assert_eq!(throttles.until(&scopes, until), None);
        assert_eq!(throttles.refused(&scopes[0], None, until), until + seconds(2));
    }

    #[test]
    fn the_provider_s_own_estimate_is_kept_when_it_is_longer_and_never_beyond_an_hour() {
        let throttles = Throttles::default();
        let now = Instant::now();
        for (account, hint, pause) in [("1", 0, 1), ("2", 300, 300), ("3", 100_000, 3600)] {
            let account = Scope::account(account);
            assert_eq!(throttles.refused(&account, Some(seconds(hint)), now), now + seconds(pause));
        }
        let longer = throttles.refused(&Scope::account("1"), Some(seconds(30)), now);
        assert_eq!(longer, now + seconds(30), "a later answer knows better");
    }

    #[test]
    fn the_longest_pause_of_a_channel_holds_it_and_no_other_channel() {
        let throttles = Throttles::default();
        let now = Instant::now();
        let (app, account) = (Scope::app(b"secret"), Scope::account("7"));
        assert_eq!(Scope::app(b"secret"), app);
        assert_ne!(Scope::app(b"other"), app);
        throttles.refused(&app, None, now);
        let until = throttles.refused(&account, Some(seconds(10)), now);
        let held = throttles.until(&[app.clone(), account], now);
        assert_eq!(held, Some((ScopeKind::Account, until)));
        let held = throttles.until(&[app, Scope::account("8")], now);
        assert_eq!(held, Some((ScopeKind::App, now + seconds(1))));
        assert_eq!(throttles.until(&[Scope::app(b"other"), Scope::account("8")], now), None);
    }

    #[test]
    fn what_is_over_is_forgotten_and_nobody_looks_it_up_any_more() {
        let throttles = Throttles::default();
        let now = Instant::now();
        for nth in 0..100 {
            throttles.refused(&Scope::account(&nth.to_string()), None, now);
        }
        let later = now + FORGOTTEN_AFTER + seconds(1);
        let scopes = [Scope::account("last")];
        let until = throttles.refused(&scopes[0], None, later);
        assert_eq!((throttles.pauses.len(), throttles.count.load(Ordering::Relaxed)), (1, 1));
        throttles.accepted(&scopes, until);
        assert_eq!((throttles.pauses.len(), throttles.count.load(Ordering::Relaxed)), (0, 0));
    }
}
