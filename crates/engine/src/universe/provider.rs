//! The provider, with Meta's habits: what it accepts, what it refuses, what it reports late or never.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::dice::Dice;
use super::plan::{Plan, Trouble};
use connectors::{Disposition, Health, Reply};
use domain::channel::{Level, Number};
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;
use domain::suppression::Suppression;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Provider {
    dice: Dice,
    trouble: Trouble,
    /// By channel.
    numbers: Vec<NumberState>,
    /// Business accounts, and apps, that are throttled until then.
    accounts: BTreeMap<String, Duration>,
    apps: BTreeMap<u128, Duration>,
    paused_templates: BTreeSet<i64>,
    /// People who opted out of marketing.
    opted_out: BTreeSet<PhoneNumber>,
    /// How often the provider took each message.
    taken: HashMap<Key, u32>,
}

/// A number at the provider.
#[derive(Debug, Clone, Default)]
struct NumberState {
    /// Its access token was revoked, or it is restricted.
    refused: Option<Disposition>,
    restricted_until: Duration,
    /// How many attempts in a thousand are refused as too fast.
    storm: u64,
    storm_until: Duration,
    maintenance_until: Duration,
}

/// A message that is handed over.
#[derive(Debug, Clone)]
pub(super) struct Request<'a> {
    pub(super) channel: usize,
    pub(super) waba_id: &'a str,
    pub(super) company: u128,
    pub(super) key: Key,
    pub(super) recipient: Option<PhoneNumber>,
    pub(super) template: Option<i64>,
    pub(super) is_marketing: bool,
}

/// The fate of an attempt.
#[derive(Debug)]
pub(super) struct Fate {
    /// The connector's reply, and after how long.
    pub(super) reply: Reply,
    pub(super) after: Duration,
    /// The later receipts.
    pub(super) receipts: Vec<(Duration, State)>,
}

impl Provider {
    pub(super) fn new(plan: &Plan, dice: Dice) -> Self {
        Self {
            dice,
            trouble: plan.trouble,
            numbers: vec![NumberState::default(); plan.channels.len()],
            accounts: BTreeMap::new(),
            apps: BTreeMap::new(),
            paused_templates: BTreeSet::new(),
            opted_out: BTreeSet::new(),
            taken: HashMap::new(),
        }
    }

    /// Nothing goes wrong any more.
    pub(super) fn calm_down(&mut self) {
        self.trouble = Trouble::default();
        self.numbers.iter_mut().for_each(|number| *number = NumberState::default());
        self.accounts.clear();
        self.apps.clear();
        self.paused_templates.clear();
        self.opted_out.clear();
    }

    /// How often it took this message.
    pub(super) fn took(&self, key: Key) -> u32 {
        self.taken.get(&key).copied().unwrap_or(0)
    }

    /// WhatsApp Web took a message.
    pub(super) fn take(&mut self, key: Key) {
        *self.taken.entry(key).or_default() += 1;
    }

    /// The templates that it refuses.
    pub(super) const fn paused_templates(&self) -> &BTreeSet<i64> {
        &self.paused_templates
    }

    /// Lets a template be sent again.
    pub(super) fn resume_template(&mut self, id: i64) {
        self.paused_templates.remove(&id);
    }

    /// Begins to refuse messages of a channel, its account or its app in this way, until `until` if that ends by
    /// itself.
    pub(super) fn begin(
        &mut self,
        disposition: Disposition,
        channel: usize,
        waba_id: &str,
        company: u128,
        until: Duration,
    ) {
        let number = &mut self.numbers[channel];
        match disposition {
            Disposition::SlowNumber => (number.storm, number.storm_until) = (500, until),
            Disposition::SlowAccount => {
                self.accounts.insert(waba_id.to_owned(), until);
            }
            Disposition::SlowApp => {
                self.apps.insert(company, until);
            }
            Disposition::Maintenance => number.maintenance_until = until,
            Disposition::Disconnect => number.refused = Some(disposition),
            _ => (number.refused, number.restricted_until) = (Some(disposition), until),
        }
    }

    /// A person replaces a channel's token.
    pub(super) fn renew_token(&mut self, channel: usize) {
        let number = &mut self.numbers[channel];
        if number.refused == Some(Disposition::Disconnect) {
            number.refused = None;
        }
    }

    /// Its answer to a probe.
    pub(super) fn health(&mut self, channel: usize, now: Duration) -> (Duration, Health) {
        let after = self.dice.time(Duration::from_millis(20), Duration::from_millis(400));
        self.lift_restriction(channel, now);
        let number = &self.numbers[channel];
        let health = match number.refused {
            Some(disposition) => Health::Refused(disposition, failure(190, "the number is refused")),
            None if self.dice.happens(self.trouble.server_error) => {
                Health::Unknown(Failure { code: None, sentence: "no answer".to_owned() })
            }
            None => Health::Healthy(Number { level: Some(Level::Standard), ..Number::default() }),
        };
        (after, health)
    }

    fn lift_restriction(&mut self, channel: usize, now: Duration) {
        let number = &mut self.numbers[channel];
        let is_restricted = matches!(number.refused, Some(Disposition::Block | Disposition::Restrict));
        if is_restricted && number.restricted_until <= now {
            number.refused = None;
        }
    }

    /// Takes a message, or not.
    pub(super) fn receive(&mut self, request: &Request<'_>, now: Duration) -> Fate {
        self.begin_trouble(request, now);
        let quick = self.dice.time(Duration::from_millis(15), Duration::from_millis(600));
        let fate = |reply| Fate { reply, after: quick, receipts: Vec::new() };
        if self.dice.happens(self.trouble.not_sent) {
            return fate(Reply::NotSent(words("no connection")));
        }
        if self.dice.happens(self.trouble.no_socket) {
            return fate(Reply::NoSocket(words("no file is left")));
        }
        if let Some((disposition, code)) = self.refusal(request, now) {
            let failure = failure(code, "it is refused");
            let refused = fate(Reply::Refused { disposition, failure, retry_after: None });
            // Some refusals take long, more of them if the token was just revoked.
            let is_of_token = disposition == Disposition::Disconnect;
            let is_slow = self.dice.happens(if is_of_token { 200 } else { self.trouble.hangs });
            let slow = self.dice.time(Duration::from_secs(1), PATIENCE);
            return if is_slow { Fate { after: slow, ..refused } } else { refused };
        }
        let is_taken = !self.dice.happens(self.trouble.hangs / 2);
        if is_taken {
            *self.taken.entry(request.key).or_default() += 1;
        }
        let receipts = if is_taken { self.receipts(quick) } else { Vec::new() };
        let (reply, after) = if !is_taken || self.dice.happens(self.trouble.hangs / 2) {
            (Reply::Uncertain(words("no answer came in time")), PATIENCE)
        } else if self.dice.happens(self.trouble.reply_lost) {
            (Reply::Uncertain(words("the connection broke")), quick)
        } else {
            let id = format!("wamid.{}.{}", request.key.ordinal, self.took(request.key));
            (Reply::Accepted { id, known_as: None }, quick)
        };
        Fate { reply, after, receipts }
    }

    /// Storms, throttles and the like begin with a message that meets them.
    fn begin_trouble(&mut self, request: &Request<'_>, now: Duration) {
        let trouble = self.trouble;
        let long = self.dice.time(Duration::from_secs(1), Duration::from_secs(20));
        let number = &mut self.numbers[request.channel];
        if self.dice.happens(trouble.storm) {
            number.storm = self.dice.between(100, 900);
            number.storm_until = now + long;
        }
        if self.dice.happens(trouble.maintenance) {
            number.maintenance_until = now + long;
        }
        if self.dice.happens(trouble.token) {
            number.refused = Some(Disposition::Disconnect);
        }
        if self.dice.happens(trouble.restricted) {
            number.refused = Some(Disposition::Block);
            number.restricted_until = now + 2 * long;
        }
        if self.dice.happens(trouble.account) {
            self.accounts.insert(request.waba_id.to_owned(), now + long);
        }
        if self.dice.happens(trouble.app) {
            self.apps.insert(request.company, now + long);
        }
        if let (Some(id), true) = (request.template, self.dice.happens(trouble.template)) {
            self.paused_templates.insert(id);
        }
        if let (Some(person), true) = (request.recipient, self.dice.happens(trouble.opted_out)) {
            self.opted_out.insert(person.person());
        }
    }

    fn refusal(&mut self, request: &Request<'_>, now: Duration) -> Option<(Disposition, i64)> {
        self.lift_restriction(request.channel, now);
        let trouble = self.trouble;
        let number = &self.numbers[request.channel];
        if let Some(disposition) = number.refused {
            return Some((disposition, 190));
        }
        if number.maintenance_until > now {
            return Some((Disposition::Maintenance, 131_057));
        }
        if self.apps.get(&request.company).is_some_and(|until| *until > now) {
            return Some((Disposition::SlowApp, 4));
        }
        if self.accounts.get(request.waba_id).is_some_and(|until| *until > now) {
            return Some((Disposition::SlowAccount, 80_007));
        }
        if number.storm_until > now && self.dice.happens(number.storm) {
            return Some((Disposition::SlowNumber, 130_429));
        }
        if self.dice.happens(trouble.unavailable) {
            return Some((Disposition::Wait, 131_016));
        }
        if self.dice.happens(trouble.server_error) {
            return Some((Disposition::Retry, 131_000));
        }
        if request.template.is_some_and(|id| self.paused_templates.contains(&id)) {
            return Some((Disposition::HoldTemplate, 132_015));
        }
        let person = request.recipient?.person();
        if request.is_marketing && self.opted_out.contains(&person) {
            return Some((Disposition::Suppress(Suppression::Marketing), 131_050));
        }
        if request.is_marketing && self.dice.happens(trouble.held_back) {
            return Some((Disposition::HoldRecipient, 131_049));
        }
        if self.dice.happens(trouble.pair) {
            return Some((Disposition::Pair, 131_056));
        }
        self.dice.happens(trouble.undeliverable).then_some((Disposition::Fail, 131_026))
    }

    /// Its receipts for a message that it accepted, with their delays: late, early, twice, out of order or never.
    fn receipts(&mut self, reply_after: Duration) -> Vec<(Duration, State)> {
        let mut receipts = Vec::new();
        let mut at = reply_after;
        let last = self.dice.below(4);
        let ends = [State::Sent, State::Delivered, State::Read];
        for (place, state) in (0..).zip(ends) {
            if place > last {
                break;
            }
            at += self.dice.time(Duration::from_millis(100), Duration::from_secs(4));
            receipts.push((at, state));
        }
        if self.dice.happens(self.trouble.undeliverable) {
            receipts.truncate(1);
            receipts.push((at, State::Failed));
        }
        let mut told = Vec::with_capacity(receipts.len());
        for (mut at, state) in receipts {
            if self.dice.happens(self.trouble.receipt_missing) {
                continue;
            }
            if self.dice.happens(self.trouble.receipt_early) {
                at = self.dice.time(Duration::ZERO, reply_after);
            } else if self.dice.happens(self.trouble.receipt_late) {
                at += self.dice.time(Duration::from_secs(1), Duration::from_secs(120));
            }
            told.push((at, state));
            if self.dice.happens(self.trouble.receipt_twice) {
                told.push((at + self.dice.time(Duration::ZERO, Duration::from_secs(30)), state));
            }
        }
        told
    }
}

fn failure(code: i64, sentence: &str) -> Failure {
    Failure { code: Some(code), sentence: sentence.to_owned() }
}

fn words(sentence: &str) -> Failure {
    Failure { code: None, sentence: sentence.to_owned() }
}
