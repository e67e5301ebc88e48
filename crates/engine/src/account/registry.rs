//! The accounts in use. Each has one machine in the process, however many channels it has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::DashMap;
use uuid::Uuid;

use super::apps::{Apps, ThrottledApp};
use super::machine::{Answer, Effect, Input, Machine};
use super::member::Member;
use super::open::{Account, Outbox};
use crate::contacts::people::{People, PeopleOf};
use crate::machine::Moment;
use clock::Timestamp;
use domain::channel::{Channel, Kind};

/// The accounts that channels use, by their ids at the provider.
#[derive(Default)]
pub(crate) struct Accounts {
    open: DashMap<Arc<str>, Arc<Account>>,
    apps: Arc<Apps>,
    outbox: Arc<Outbox>,
    /// The interval of scheduled template listings; zero for none.
    interval: Duration,
    people: Arc<People>,
    /// When the templates that a company keeps of an account were last listed by this process.
    listed: DashMap<(Uuid, Arc<str>), Timestamp>,
}

impl Accounts {
    /// No accounts yet. Their templates are listed once in each `interval`; when that is zero, only on request.
    /// The recipients of templates are `people`, whichever of their numbers a template goes to.
    pub(crate) fn new(interval: Duration, people: Arc<People>) -> Self {
        Self { interval, people, ..Self::default() }
    }

    /// The account of the channel, which uses it until the member is dropped. A web session has none.
    pub(crate) fn member(&self, channel: &Channel, at: Moment) -> Member {
        let account = (channel.kind == Kind::BusinessAccount).then(|| {
            let waba_id = channel.waba_id.as_deref().unwrap_or_default();
            self.with(waba_id, at, |account| {
                account.feed(Input::Joined, at);
                Arc::clone(account)
            })
        });
        let people = PeopleOf::new(Arc::clone(&self.people), channel.company_id);
        Member::new(account, Arc::clone(&self.apps), channel, people)
    }

    /// The templates of the channel's account may have changed, or will have `after` this.
    pub(crate) fn want_templates(&self, channel: &Channel, after: Duration, at: Moment) {
        let Some(waba_id) = channel.waba_id.as_deref() else { return };
        let wanted = Input::TemplatesWanted { company: channel.company_id, after };
        self.with(waba_id, at, |account| account.feed(wanted, at));
    }

    /// The templates that the company keeps of the account were listed now.
    pub(crate) fn note_listing(&self, company: Uuid, account: &Arc<str>, at: Timestamp) {
        self.listed.insert((company, Arc::clone(account)), at);
    }

    /// When they were last listed by this process.
    pub(crate) fn listed_at(&self, company: Uuid, account: &str) -> Option<Timestamp> {
        self.listed.get(&(company, Arc::from(account))).map(|at| *at)
    }

    /// Passes the account to `with` before another thread can drop it; opens it if it is not in use.
    fn with<T>(&self, waba_id: &str, at: Moment, with: impl FnOnce(&Arc<Account>) -> T) -> T {
        if let Some(known) = self.open.get(waba_id) {
            return with(&known);
        }
        let id: Arc<str> = waba_id.into();
        let new = || {
            let outbox = Arc::clone(&self.outbox);
            Arc::new(Account::new(Arc::clone(&id), Machine::new(self.interval), outbox, at))
        };
        with(&self.open.entry(Arc::clone(&id)).or_insert_with(new))
    }

    /// Passes an account an input, unless it is not in use any more.
    pub(crate) fn feed(&self, account: &str, input: Input, at: Moment) -> Option<Answer> {
        let account = self.open.get(account).map(|account| Arc::clone(&account))?;
        account.feed(input, at)
    }

    /// The apps that were throttled here since the last call, for other nodes.
    pub(crate) fn take_throttled_apps(&self) -> Vec<ThrottledApp> {
        self.apps.take_news((Instant::now(), Timestamp::now()))
    }

    /// Returns when other nodes have to be told of a throttled app.
    pub(crate) async fn wait_for_throttled_apps(&self) {
        self.apps.wait_for_news().await;
    }

    /// Telling the other nodes of these apps failed: they are told again.
    pub(crate) fn tell_of_apps_again(&self, told: &[ThrottledApp]) {
        self.apps.tell_again(told);
    }

    /// Another node reports that an app is throttled.
    pub(crate) fn hear_of_app(&self, told: &ThrottledApp) {
        self.apps.hear(told, (Instant::now(), Timestamp::now()));
    }

    /// The wall clock was set back.
    pub(crate) fn clock_went_back(&self, at: Moment) {
        for account in &self.open {
            account.feed(Input::ClockWentBack, at);
        }
    }

    /// The effects of the machines, each with its account, in their order.
    pub(crate) fn take_effects(&self) -> Vec<(Arc<str>, Effect)> {
        self.outbox.take()
    }

    /// Returns when there are effects.
    pub(crate) async fn wait(&self) {
        self.outbox.wait().await;
    }

    /// Drops an account unless it is in use again.
    pub(crate) fn forget(&self, account: &str) {
        self.open.remove_if(account, |_, account| !account.is_used());
    }

    /// How many accounts are in use.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}
