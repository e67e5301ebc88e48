//! One business account: its templates, its restriction, and the budget of its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use actix_web::http::header::HeaderValue;
use parking_lot::RwLock;

use super::budget::{Budget, calm_business_usage};
use super::catalogue::Catalogue;
use super::error::GraphError;

/// A WhatsApp business account.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) waba_id: String,
    /// Its templates. Accounts that are created on first use share one catalogue.
    pub(super) catalogue: Arc<RwLock<Catalogue>>,
    pub(super) budget: Budget,
    calm_usage: HeaderValue,
    restriction: AtomicU32,
    listings: AtomicU64,
    is_subscribed: AtomicBool,
}

impl Account {
    pub(super) fn new(waba_id: String, catalogue: Arc<RwLock<Catalogue>>) -> Self {
        Self {
            calm_usage: calm_business_usage(&waba_id),
            waba_id,
            catalogue,
            budget: Budget::default(),
            restriction: AtomicU32::new(0),
            listings: AtomicU64::new(0),
            is_subscribed: AtomicBool::new(true),
        }
    }

    /// The code with which every send is refused (368, 131031, 131042 …), if any.
    pub(super) fn restriction(&self) -> Option<u32> {
        let code = self.restriction.load(Ordering::Relaxed);
        (code != 0).then_some(code)
    }

    pub(super) fn restrict(&self, code: Option<u32>) {
        self.restriction.store(code.unwrap_or(0), Ordering::Relaxed);
    }

    /// Counts a request for its list of templates.
    pub(super) fn count_listing(&self) {
        self.listings.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of requests for its list of templates.
    pub(super) fn listings(&self) -> u64 {
        self.listings.load(Ordering::Relaxed)
    }

    /// Whether it sends its webhooks to the app.
    pub(super) fn is_subscribed(&self) -> bool {
        self.is_subscribed.load(Ordering::Relaxed)
    }

    pub(super) fn subscribe(&self, is_subscribed: bool) {
        self.is_subscribed.store(is_subscribed, Ordering::Relaxed);
    }

    /// Refuses a call with code 80007 while the budget is spent.
    pub(super) fn spare(&self, now: u64) -> Result<(), GraphError> {
        if self.budget.is_spent(now) { Err(GraphError::over_budget(80_007)) } else { Ok(()) }
    }

    /// `X-Business-Use-Case-Usage`.
    pub(super) fn usage(&self, now: u64) -> HeaderValue {
        self.budget.business_usage(&self.waba_id, &self.calm_usage, now)
    }
}
