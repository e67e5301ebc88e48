//! `{"account": {…}}` and `{"app": {…}}`: restrictions, and the calls that are left.

use std::sync::Arc;

use serde::Deserialize;

use super::given;
use crate::account::Account;
use crate::budget::Budget;
use crate::span::Span;
use crate::world::World;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountSwitch {
    waba_id: String,
    /// The code that every send is refused with (368, 131031, 131042); `null` lifts it.
    #[serde(default, deserialize_with = "given")]
    restriction: Option<Option<u32>>,
    /// Everything of the account is answered with 80007 for this long.
    throttled_for: Option<Span>,
    /// The share of its calls that the header says are used, in percent.
    usage: Option<u32>,
    /// The wait that the header reports while the account is throttled, in minutes; otherwise the real time,
    /// rounded up.
    regain_minutes: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AppSwitch {
    /// Everything is answered with code 4 for this long.
    throttled_for: Option<Span>,
    /// The share of its calls that the header says are used, in percent.
    usage: Option<u32>,
}

/// The account of this id, created now if every id is accepted; or a sentence.
pub(super) fn find(world: &World, waba_id: &str) -> Result<Arc<Account>, String> {
    let known = world.directory.read().account(waba_id).cloned();
    let found = known.or_else(|| world.account_on_first_use(waba_id));
    found.ok_or_else(|| format!("there is no account {waba_id}"))
}

fn spend(world: &World, budget: &Budget, throttled_for: Option<Span>, usage: Option<u32>) {
    if let Some(span) = throttled_for {
        budget.spend_until(world.until(span.0));
    }
    if let Some(percent) = usage {
        budget.set_percent(percent);
    }
}

impl AccountSwitch {
    pub(super) fn check(&self, world: &World) -> Result<(), String> {
        find(world, &self.waba_id).map(|_| ())
    }

    pub(super) fn turn(&self, world: &World) {
        let Ok(account) = find(world, &self.waba_id) else { return };
        if let Some(restriction) = self.restriction {
            account.restrict(restriction);
        }
        if let Some(minutes) = self.regain_minutes {
            account.budget.set_estimate(minutes);
        }
        spend(world, &account.budget, self.throttled_for, self.usage);
    }
}

impl AppSwitch {
    pub(super) fn turn(&self, world: &World) {
        spend(world, &world.app, self.throttled_for, self.usage);
    }
}
