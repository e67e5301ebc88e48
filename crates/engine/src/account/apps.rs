//! Apps: throttling by the provider of all channels of one app, whatever their accounts.
//!
//! An app's channels share its budget of calls (code 4), an account's numbers share the account's (code 80007). So a
//! refusal that one channel gets holds all of them, on every node of a cluster.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dashmap::DashMap;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;

use super::machine::{Pause, Throttle};
use clock::Timestamp;

/// The kind of scope that is throttled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// The app of the channel.
    App,
    /// The business account of the channel.
    Account,
}

/// The app of a channel: channels with the same app secret, or without a secret with the same token, have the same app.
/// Only a hash is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AppId([u8; 32]);

impl AppId {
    /// The app with this secret or token.
    pub(crate) fn of(secret_or_token: &[u8]) -> Self {
        Self(Sha256::digest(secret_or_token).into())
    }
}

/// A throttled app, as the nodes of a cluster tell each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThrottledApp {
    /// The app's id in hex digits.
    app: String,
    /// In Unix milliseconds.
    until: i64,
    /// Refusals in a row.
    times: u32,
}

impl ThrottledApp {
    /// The app's id; `None` when it cannot be parsed.
    fn id(&self) -> Option<AppId> {
        let mut id = [0; 32];
        hex::decode_to_slice(&self.app, &mut id).ok().map(|()| AppId(id))
    }
}

/// An app that channels use. It is dropped with the last of them.
pub(super) struct App {
    id: AppId,
    throttle: Mutex<Throttle>,
    /// Whether the throttle has a refusal. While it has none, it does not have to be asked.
    is_throttled: AtomicBool,
    /// Whether other nodes have to be told of a refusal.
    has_news: AtomicBool,
    apps: Arc<Apps>,
}

/// All apps that channels use.
#[derive(Default)]
pub(super) struct Apps {
    open: DashMap<AppId, Weak<App>>,
    /// Throttles that other nodes reported, while they last: a channel may begin to use the app later.
    heard: DashMap<AppId, Throttle>,
    /// Whether other nodes have to be told of one of them.
    has_news: AtomicBool,
    /// Notified when other nodes have to be told.
    rung: Notify,
}

impl Apps {
    /// The app of this id.
    pub(super) fn app(self: &Arc<Self>, id: AppId) -> Arc<App> {
        let mut place = self.open.entry(id).or_default();
        if let Some(app) = place.upgrade() {
            return app;
        }
        let throttle = self.heard.remove(&id).map(|(_, throttle)| throttle).unwrap_or_default();
        let app = Arc::new(App {
            id,
            is_throttled: AtomicBool::new(throttle.is_known()),
            throttle: Mutex::new(throttle),
            has_news: AtomicBool::new(false),
            apps: Arc::clone(self),
        });
        *place = Arc::downgrade(&app);
        app
    }

    /// The apps that were throttled here since the last call, and still are.
    pub(super) fn take_news(&self, (now, wall): (Instant, Timestamp)) -> Vec<ThrottledApp> {
        if !self.has_news.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        // Held until all are found: an app that is dropped removes itself from the map.
        let open: Vec<_> = self.open.iter().filter_map(|app| app.upgrade()).collect();
        let changed = open.iter().filter(|app| app.has_news.swap(false, Ordering::AcqRel));
        let told = changed.filter_map(|app| {
            let Pause { until, times } = app.throttle.lock().pause(now)?;
            let until = wall.plus(until.saturating_duration_since(now)).millis();
            Some(ThrottledApp { app: hex::encode(app.id.0), until, times })
        });
        told.collect()
    }

    /// Returns when other nodes have to be told of a throttled app.
    pub(super) async fn wait_for_news(&self) {
        self.rung.notified().await;
    }

    /// Telling the other nodes failed: they have to be told again.
    pub(super) fn tell_again(&self, told: &[ThrottledApp]) {
        for app in told.iter().filter_map(|told| self.find(told.id()?)) {
            app.has_news.store(true, Ordering::Release);
        }
        self.has_news.store(true, Ordering::Release);
    }

    /// Another node reports that an app is throttled. The report holds for channels that use the app now, and for those
    /// that will while it lasts.
    pub(super) fn hear(&self, told: &ThrottledApp, (now, wall): (Instant, Timestamp)) {
        let Some(id) = told.id() else { return };
        let until = now + Timestamp::from_millis(told.until).from_now(wall);
        let heard = Pause { until, times: told.times };
        self.heard.entry(id).or_default().hear(heard, now);
        self.heard.retain(|_, throttle| throttle.until(now).is_some());
        // An app that is opened from here on finds the report.
        if let Some(app) = self.find(id) {
            app.change(|throttle| throttle.hear(heard, now));
        }
    }

    fn find(&self, id: AppId) -> Option<Arc<App>> {
        self.open.get(&id).and_then(|app| app.upgrade())
    }
}

impl App {
    /// The provider refused a message because of the app. Returns until when no message of the app may go.
    pub(super) fn refused(&self, hint: Option<Duration>, now: Instant) -> Instant {
        let (before, until) = self.change(|throttle| (throttle.until(now), throttle.refused(hint, now)));
        if before.is_none_or(|before| before < until) {
            self.has_news.store(true, Ordering::Release);
            self.apps.has_news.store(true, Ordering::Release);
            self.apps.rung.notify_one();
        }
        until
    }

    /// The provider accepted a message of the app.
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
        self.throttle.lock().until(now)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Throttle) -> T) -> T {
        let mut throttle = self.throttle.lock();
        let result = change(&mut throttle);
        self.is_throttled.store(throttle.is_known(), Ordering::Release);
        result
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // Another app of the same id may have replaced this one.
        self.apps.open.remove_if(&self.id, |_, app| app.strong_count() == 0);
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
        assert_eq!(apps.open.len(), 1);
        drop(same);
        assert!(apps.open.is_empty());
    }

    #[test]
    fn a_refusal_because_of_an_app_holds_on_all_nodes_and_is_told_once() {
        let [here, there] = [(); 2].map(|()| Arc::new(Apps::default()));
        let (now, wall) = (Instant::now(), Timestamp::from_millis(1_800_000_000_000));
        let id = |secret: &str| AppId::of(secret.as_bytes());
        let (refused, same, other) = (here.app(id("a")), there.app(id("a")), there.app(id("b")));
        assert!(here.take_news((now, wall)).is_empty());
        let until = refused.refused(Some(Duration::from_secs(30)), now);
        assert_eq!(refused.refused(None, now), until, "an answer within the pause is not told");
        // A second on the way does not make the pause longer.
        let told = here.take_news((now, wall));
        let told = serde_json::from_str::<Vec<ThrottledApp>>(&serde_json::to_string(&told).unwrap()).unwrap();
        assert_eq!(told.len(), 1);
        let second = Duration::from_secs(1);
        there.hear(&told[0], (now + second, wall.plus(second)));
        assert_eq!((same.throttled_until(now + second), other.throttled_until(now)), (Some(until), None));
        assert!(here.take_news((now, wall)).is_empty() && there.take_news((now, wall)).is_empty(), "no echo");
        // The other node counts it as the second refusal in a row.
        assert_eq!(same.refused(None, until), until + Duration::from_secs(2));
        assert_eq!(there.take_news((until, wall)).len(), 1);
        // A pause that is over when it is read, and an id of no app, change nothing.
        there.hear(&told[0], (until, wall.plus(Duration::from_secs(30))));
        there.hear(&ThrottledApp { app: "nonsense".to_owned(), ..told[0].clone() }, (now, wall));
        assert_eq!((there.open.len(), there.heard.len()), (2, 0));
    }

    #[test]
    fn a_report_about_an_app_holds_a_channel_that_uses_it_later() {
        let [here, there] = [(); 2].map(|()| Arc::new(Apps::default()));
        let (now, wall) = (Instant::now(), Timestamp::from_millis(1_800_000_000_000));
        let until = here.app(AppId::of(b"a")).refused(None, now);
        assert!(here.take_news((now, wall)).is_empty(), "the app is gone with its channel");
        let refused = here.app(AppId::of(b"a"));
        assert_eq!(refused.refused(None, now), until);
        let told = here.take_news((now, wall));
        there.hear(&told[0], (now, wall));
        let later = there.app(AppId::of(b"a"));
        assert_eq!(later.throttled_until(now), Some(until));
        drop(later);
        assert_eq!(there.app(AppId::of(b"b")).throttled_until(now), None);
    }

    #[test]
    fn a_report_that_could_not_be_sent_is_sent_again() {
        let (apps, now, wall) = (Arc::new(Apps::default()), Instant::now(), Timestamp::from_millis(0));
        let app = apps.app(AppId::of(b"a"));
        app.refused(None, now);
        let told = apps.take_news((now, wall));
        assert!(apps.take_news((now, wall)).is_empty());
        apps.tell_again(&told);
        assert_eq!(apps.take_news((now, wall)), told);
    }
}
