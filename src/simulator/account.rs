//! One business account: its templates, its restriction, and the usage header of its answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use actix_web::http::header::HeaderValue;
use serde_json::json;

use super::catalogue::Catalogue;
use super::lock::Shared;

/// A WhatsApp business account.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) waba_id: String,
    /// Its templates; accounts that came into being on first use share one catalogue.
    pub(super) catalogue: Arc<Shared<Catalogue>>,
    /// `X-Business-Use-Case-Usage`, which never changes: the simulator has no hourly budget.
    pub(super) usage: HeaderValue,
    restriction: AtomicU32,
}

impl Account {
    pub(super) fn new(waba_id: String, catalogue: Arc<Shared<Catalogue>>) -> Self {
        let share = |kind: &str| {
            json!({
                "type": kind, "call_count": 1, "total_cputime": 1, "total_time": 1,
                "estimated_time_to_regain_access": 0,
            })
        };
        let usage = json!({ waba_id.as_str(): [share("whatsapp_business_management"), share("whatsapp")] });
        let usage = HeaderValue::from_str(&usage.to_string());
        Self {
            waba_id,
            catalogue,
            usage: usage.unwrap_or_else(|_| HeaderValue::from_static("{}")),
            restriction: AtomicU32::new(0),
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
}
