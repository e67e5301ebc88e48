//! Apps: what the provider refuses to all channels of one app, of whichever account they are.
//!
//! An app's budget of calls (code 4) is shared by its channels, a business account's (code 80007) by its numbers. So
//! what one channel is told, all of them keep.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use sha2::{Digest as _, Sha256};

use super::machine::Throttle;

/// Which kind of scope holds a message up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// The app of the channel.
    App,
    /// The business account of the channel.
    Account,
}

/// The app of a channel: those with the same app secret are of one app, and without a secret those with the same
/// token. Only a hash of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AppId([u8; 32]);

impl AppId {
    /// The app of this secret, or token.
    pub(crate) fn of(secret_or_token: &[u8]) -> Self {
        Self(Sha256::digest(secret_or_token).into())
    }
}

/// An app that channels speak for. It is gone with the last of them.
pub(super) struct App {
    id: AppId,
    throttle: Mutex<Throttle>,
    /// Whether the throttle knows of a refusal: while it does not, nobody asks it.
    is_throttled: AtomicBool,
    apps: Arc<Apps>,
}

/// All apps that channels speak for.
#[derive(Default)]
pub(super) struct Apps(DashMap<AppId, Weak<App>>);

impl Apps {
    /// The app of this id.
    pub(super) fn app(self: &Arc<Self>, id: AppId) -> Arc<App> {
        let mut place = self.0.entry(id).or_default();
        if let Some(app) = place.upgrade() {
            return app;
        }
        let app = Arc::new(App {
            id,
            throttle: Mutex::default(),
            is_throttled: AtomicBool::new(false),
            apps: Arc::clone(self),
        });
        *place = Arc::downgrade(&app);
        app
    }
}

impl App {
    /// The provider refused a message because of the app: until when nothing of it may go.
    pub(super) fn refused(&self, hint: Option<Duration>, now: Instant) -> Instant {
        self.change(|throttle| throttle.refused(hint, now))
    }

    /// The provider took a message of the app.
    pub(super) fn accepted(&self, now: Instant) {
        if self.is_throttled.load(Ordering::Acquire) {
            self.change(|throttle| throttle.accepted(now));
        }
    }

    /// When messages of the app may go again; `None` when they may now.
    pub(super) fn throttled_until(&self, now: Instant) -> Option<Instant> {
        if !self.is_throttled.load(Ordering::Acquire) {
            return None;
        }
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner).until(now)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Throttle) -> T) -> T {
        let mut throttle = self.throttle.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut throttle);
        self.is_throttled.store(throttle.is_known(), Ordering::Release);
        result
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // Another of the same id may have taken the place.
        self.apps.0.remove_if(&self.id, |_, app| app.strong_count() == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channels_of_one_app_share_its_throttle_and_it_is_gone_with_the_last() {
        let (apps, now) = (Arc::new(Apps::default()), Instant::now());
        let [one, same, other] = [b"a", b"a", b"b"].map(|secret| apps.app(AppId::of(secret)));
        let until = one.refused(None, now);
        assert_eq!((same.throttled_until(now), other.throttled_until(now)), (Some(until), None));
        same.accepted(until);
        assert_eq!(one.throttled_until(now), None, "the next refusal is a first one again");
        drop((one, other));
        assert_eq!(apps.0.len(), 1);
        drop(same);
        assert!(apps.0.is_empty());
    }
}
