//! A channel's view of its account.
//!
//! Sending needs no call: the channel reads flags, and its granted people. It talks to the account when it marks
//! messages, some at a time. People are counted by the number under which they are known: the provider counts a person
//! once, whichever form of the number a template goes to.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::apps::{App, AppId, Apps, ScopeKind};
use super::machine::{Answer, Ask, Granted, Input, Reserved};
use super::open::Account;
use crate::contacts::people::PeopleOf;
use crate::machine::Moment;
use clock::Timestamp;
use domain::channel::Channel;
use domain::phone::PhoneNumber;
use domain::tier::Quota;

/// A channel's membership in its account, which ends when this is dropped.
pub(crate) struct Member {
    /// `None` for a web session.
    account: Option<Arc<Account>>,
    apps: Arc<Apps>,
    app: Option<Arc<App>>,
    company: Uuid,
    channel: Uuid,
    /// Who has which number.
    known: PeopleOf,
    /// The people granted to the channel: it may send templates to them.
    held: HashSet<PhoneNumber>,
    /// The people it wrote to, not yet reported to the account.
    sent: Vec<(PhoneNumber, Timestamp)>,
    /// People began to count since the last call of [`Member::take_arrivals`].
    has_arrivals: bool,
    /// The account's count of void grants as this channel last read it. When it changes, the channel returns all held
    /// people.
    voids: u64,
}

/// The people who count, for a search for messages to them.
pub(crate) struct People {
    account: Option<Arc<Account>>,
    known: PeopleOf,
}

impl Member {
    /// The membership in an account that the channel joined.
    pub(super) fn new(
        account: Option<Arc<Account>>,
        apps: Arc<Apps>,
        channel: &Channel,
        known: PeopleOf,
    ) -> Self {
        Self {
            account,
            apps,
            app: None,
            company: channel.company_id,
            channel: channel.id,
            known,
            held: HashSet::new(),
            sent: Vec::new(),
            has_arrivals: false,
            voids: 0,
        }
    }

    fn feed(&self, input: Input, at: Moment) -> Option<Answer> {
        self.account.as_ref()?.feed(input, at)
    }

    /// The templates can be listed through the channel from now on, or cannot any more.
    pub(crate) fn follow_templates(&self, is_connected: bool, at: Moment) {
        let Self { company, channel, .. } = *self;
        self.feed(Input::Followed { company, channel, is_connected }, at);
    }

    /// The templates may have changed, or will have `after` this.
    pub(crate) fn want_templates(&self, after: Duration, at: Moment) {
        self.feed(Input::TemplatesWanted { company: self.company, after }, at);
    }

    /// Whether the channel may probe its number at once; otherwise it is told when it may.
    pub(crate) fn want_question(&self, at: Moment) -> bool {
        let answer = self.feed(Input::QuestionWanted { channel: self.channel }, at);
        !matches!(answer, Some(Answer::MayAsk(false)))
    }

    /// The channel's probe ended, or is not needed any more.
    pub(crate) fn end_question(&self, at: Moment) {
        self.feed(Input::QuestionEnded { channel: self.channel }, at);
    }

    /// The channel uses this app from now on.
    pub(crate) fn speak_for(&mut self, app: AppId) {
        // The new app is opened first: if it is the same one, it is not dropped.
        self.app = Some(self.apps.app(app));
    }

    /// The longer of the pauses of app and account; `None` when a message may go.
    pub(crate) fn throttled(&self, now: Instant) -> Option<(ScopeKind, Instant)> {
        let app = self.app.as_ref().and_then(|app| app.throttled_until(now));
        let account = self.account.as_ref().and_then(|account| account.throttled_until(now));
        let pauses = [(ScopeKind::App, app), (ScopeKind::Account, account)];
        pauses.into_iter().filter_map(|(kind, until)| Some((kind, until?))).max_by_key(|(_, until)| *until)
    }

    /// The provider refused a message because of app or account; `hint` is its own estimate of when it accepts messages
    /// again. Returns until when no message of the scope may go; `None` for a channel without an account.
    pub(crate) fn refused(&self, by: ScopeKind, hint: Option<Duration>, at: Moment) -> Option<Instant> {
        match by {
            ScopeKind::App => Some(self.app.as_ref()?.refused(hint, at.monotonic)),
            ScopeKind::Account => match self.feed(Input::Refused { hint }, at)? {
                Answer::Until(until) => Some(until),
                _ => None,
            },
        }
    }

    /// The provider accepted a message of app and account.
    pub(crate) fn accepted(&self, at: Moment) {
        if let Some(app) = &self.app {
            app.accepted(at.monotonic);
        }
        if let Some(account) = self.account.as_ref().filter(|account| account.is_throttled()) {
            account.feed(Input::Accepted, at);
        }
    }

    /// The channel has a quota. Returns whether the people who were written to before are known; otherwise the channel
    /// is told once they are.
    pub(crate) fn want_people(&self, at: Moment) -> bool {
        let answer = self.feed(Input::PeopleWanted { channel: self.channel }, at);
        !matches!(answer, Some(Answer::IsKnown(false)))
    }

    /// Whether the people who were written to before are known.
    pub(crate) fn knows_people(&self) -> bool {
        self.account.as_ref().is_none_or(|account| account.look(|machine| machine.window().is_complete()))
    }

    /// Whether people are granted to the channel.
    pub(crate) fn has_people(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the person is granted to the channel.
    pub(crate) fn holds(&self, recipient: PhoneNumber) -> bool {
        self.held.contains(&self.known.person(recipient))
    }

    /// Reports the people the channel wrote to, returns everybody who is not `promised` a message, and asks for these
    /// people.
    pub(crate) fn ask(
        &mut self,
        quota: Quota,
        promised: &HashSet<PhoneNumber>,
        wanted: impl IntoIterator<Item = PhoneNumber>,
        at: Moment,
    ) -> Granted {
        self.drop_void(quota, at);
        let promised: HashSet<_> = promised.iter().map(|number| self.known.person(*number)).collect();
        let returned = self.held.extract_if(|held| !promised.contains(held)).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let people = wanted.iter().map(|number| self.known.person(*number));
        let people = people.filter(|person| !self.held.contains(person)).collect();
        let mut granted = self.exchange(quota, returned, people, at);
        if !granted.refused.is_empty() {
            // In the caller's numbers.
            let refused: HashSet<_> = granted.refused.into_iter().collect();
            let is_refused = |number: &PhoneNumber| refused.contains(&self.known.person(*number));
            granted.refused = wanted.into_iter().filter(is_refused).collect();
        }
        granted
    }

    /// Asks for one person. Returns whether the channel may write to them.
    pub(crate) fn ask_for(&mut self, recipient: PhoneNumber, quota: Quota, at: Moment) -> bool {
        self.drop_void(quota, at);
        self.holds(recipient) || {
            let granted = self.exchange(quota, Vec::new(), vec![self.known.person(recipient)], at);
            granted.refused.is_empty()
        }
    }

    /// Returns everybody if grants became void since: the channel's own may be among them.
    fn drop_void(&mut self, quota: Quota, at: Moment) {
        let voids = self.account.as_ref().map_or(0, |account| account.voids());
        if voids != self.voids {
            self.voids = voids;
            self.give_back_all(quota, at);
        }
    }

    /// Reports the people the channel wrote to.
    pub(crate) fn tell(&mut self, quota: Quota, at: Moment) {
        self.exchange(quota, Vec::new(), Vec::new(), at);
    }

    /// Returns all granted people.
    pub(crate) fn give_back_all(&mut self, quota: Quota, at: Moment) {
        let returned = self.held.drain().collect();
        self.exchange(quota, returned, Vec::new(), at);
    }

    fn exchange(
        &mut self,
        quota: Quota,
        returned: Vec<PhoneNumber>,
        wanted: Vec<PhoneNumber>,
        at: Moment,
    ) -> Granted {
        let nothing = Granted { refused: Vec::new(), has_arrivals: false, is_known: true };
        if returned.is_empty() && wanted.is_empty() && self.sent.is_empty() {
            return nothing;
        }
        let Some(account) = &self.account else { return nothing };
        self.held.extend(&wanted);
        let sent = std::mem::take(&mut self.sent);
        let asked = Ask { channel: self.channel, quota, sent, returned, wanted };
        let Some(Answer::Granted(granted)) = account.feed(Input::Asked(asked), at) else { return nothing };
        for refused in &granted.refused {
            self.held.remove(refused);
        }
        self.has_arrivals |= granted.has_arrivals;
        granted
    }

    /// Whether the channel's reports made new people count since the last call.
    pub(crate) const fn take_arrivals(&mut self) -> bool {
        std::mem::replace(&mut self.has_arrivals, false)
    }

    /// Counts the recipient of a template that goes now. For a channel with a quota, only granted people count at once;
    /// for others the account is asked.
    pub(crate) fn count(&mut self, recipient: PhoneNumber, quota: Quota, at: Moment) -> Reserved {
        let recipient = self.known.person(recipient);
        let Some(account) = &self.account else { return Reserved::Uncounted };
        if quota == Quota::Unlimited {
            if !account.is_counting() {
                return Reserved::Uncounted;
            }
            return match account.feed(Input::Counted { recipient }, at) {
                Some(Answer::Counted(counted)) => counted,
                _ => Reserved::Uncounted,
            };
        }
        self.drop_void(quota, at);
        if !self.held.contains(&recipient) {
            let granted = self.exchange(quota, Vec::new(), vec![recipient], at);
            if !granted.is_known {
                return Reserved::Unread;
            }
            if !granted.refused.is_empty() {
                return Reserved::Full { until: self.next_slot(quota, at.wall).unwrap_or(at.wall) };
            }
        }
        self.sent.push((recipient, at.wall));
        Reserved::New { at: at.wall }
    }

    /// Takes back the count of `counted_at`, because the provider refused the message. When another message to the
    /// recipient was counted since, the recipient still counts.
    pub(crate) fn release(&mut self, recipient: PhoneNumber, counted_at: Timestamp, at: Moment) {
        let recipient = self.known.person(recipient);
        let untold = self.sent.iter().position(|sent| *sent == (recipient, counted_at));
        if let Some(place) = untold {
            self.sent.swap_remove(place);
        } else {
            self.feed(Input::Released { recipient, at: counted_at }, at);
        }
    }

    /// Whether a template to this person takes no slot.
    pub(crate) fn counts(&self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> bool {
        self.holds(recipient) || self.people().counts(recipient, quota, now)
    }

    /// The people who count.
    pub(crate) fn people(&self) -> People {
        People { account: self.account.clone(), known: self.known.clone() }
    }

    /// Slots of the quota that are taken.
    pub(crate) fn used(&self, now: Timestamp) -> u64 {
        self.account.as_ref().map_or(0, |account| account.look(|machine| machine.used(now)))
    }

    /// When there is room for another recipient; `None` when there is room now.
    pub(crate) fn next_slot(&self, quota: Quota, now: Timestamp) -> Option<Timestamp> {
        self.account.as_ref()?.look(|machine| machine.window().next_slot(quota, now))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let Some(account) = &self.account else { return };
        if !self.sent.is_empty() {
            let sent = std::mem::take(&mut self.sent);
            let (returned, wanted) = (Vec::new(), Vec::new());
            let told = Ask { channel: self.channel, quota: Quota::Unlimited, sent, returned, wanted };
            account.feed_at_last(Input::Asked(told));
        }
        account.feed_at_last(Input::Left { channel: self.channel });
    }
}

impl People {
    /// Whether a template to this person takes no slot.
    pub(crate) fn counts(&self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> bool {
        let Some(account) = &self.account else { return false };
        let recipient = self.known.person(recipient);
        account.look(|machine| machine.window().counts(recipient, quota, now))
    }

    /// The number of times that a person began to count: while it is unchanged, nobody else counts.
    pub(crate) fn arrivals(&self) -> u64 {
        self.account.as_ref().map_or(0, |account| account.look(|machine| machine.window().arrivals()))
    }
}
