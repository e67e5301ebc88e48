//! The plan of a seed's world: its companies, accounts, channels and tiers, and how much goes wrong in it.

use std::time::Duration;

use uuid::Uuid;

use super::dice::Dice;
use clock::Timestamp;
use domain::channel::{Channel, Connection, Kind, Level, Status};
use domain::rate::Rate;
use domain::tier::{OwnOptions, Quota, Tier, UnknownOutcome};

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) tiers: Vec<Tier>,
    pub(super) channels: Vec<Channel>,
    /// The templates of all business accounts.
    pub(super) templates: Vec<TemplatePlan>,
    /// People who are written to.
    pub(super) people: u64,
    /// How long things go wrong.
    pub(super) lasts: Duration,
    pub(super) trouble: Trouble,
    /// Nothing goes wrong and nothing holds messages, so that channels must use their rates.
    pub(super) is_calm: bool,
    /// In addition, all channels together have few messages under way, so that they take turns.
    pub(super) is_crowded: bool,
    /// Messages under way of all channels together.
    pub(super) total_in_flight: usize,
    pub(super) in_flight: usize,
    pub(super) concurrency: usize,
    pub(super) deferred: usize,
    pub(super) direct_lane: usize,
    pub(super) active_bulk_sends: usize,
    pub(super) unknown_grace: Duration,
    /// The most sends and receipts that wait for the ledger.
    pub(super) ledger_capacity: usize,
    /// How long a caller waits until its message of a web session is handed over.
    pub(super) web_patience: Duration,
}

/// A template of a business account.
#[derive(Debug, Clone)]
pub(super) struct TemplatePlan {
    pub(super) id: i64,
    pub(super) waba_id: String,
    pub(super) name: String,
    pub(super) is_marketing: bool,
}

/// How often each thing goes wrong, in a thousand times.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trouble {
    /// The provider's answers, for each attempt.
    pub(super) reply_lost: u64,
    pub(super) hangs: u64,
    pub(super) server_error: u64,
    pub(super) unavailable: u64,
    pub(super) not_sent: u64,
    pub(super) no_socket: u64,
    pub(super) undeliverable: u64,
    pub(super) opted_out: u64,
    pub(super) held_back: u64,
    pub(super) pair: u64,
    /// A storm begins, in which a part of all attempts is refused.
    pub(super) storm: u64,
    pub(super) account: u64,
    pub(super) app: u64,
    pub(super) maintenance: u64,
    pub(super) token: u64,
    pub(super) restricted: u64,
    pub(super) template: u64,
    /// Receipts, for each one.
    pub(super) receipt_missing: u64,
    pub(super) receipt_twice: u64,
    pub(super) receipt_early: u64,
    pub(super) receipt_late: u64,
    /// The store, for each commit and each read.
    pub(super) commit_fails: u64,
    pub(super) commit_hangs: u64,
    pub(super) commit_in_doubt: u64,
    /// Rows that the database never takes, for each send and answer.
    pub(super) row_refused: u64,
    pub(super) read_fails: u64,
    pub(super) read_is_slow: u64,
    /// Web sessions, for each attempt to connect and each connection.
    pub(super) dial_fails: u64,
    pub(super) breaks: u64,
    /// Each second.
    pub(super) crash: u64,
    pub(super) lease_lost: u64,
    pub(super) stand_still: u64,
    pub(super) clock_set: u64,
    /// The provider sends a webhook about a number, or its account.
    pub(super) webhooks: u64,
}

impl Plan {
    /// The plan of a seed's world.
    pub(super) fn of(dice: &mut Dice) -> Self {
        let accounts = dice.between(1, 3);
        Self::made(accounts, true, dice)
    }

    /// The plan of a seed's world with several nodes: more accounts, and nothing that takes a day.
    pub(super) fn of_nodes(dice: &mut Dice) -> Self {
        let accounts = dice.between(2, 6);
        let mut plan = Self::made(accounts, false, dice);
        (plan.is_calm, plan.is_crowded) = (false, false);
        let some = trouble(dice);
        // One clock for all is set for all at once, and a process that serves alone ends the cluster.
        plan.trouble = Trouble { lease_lost: 0, clock_set: 0, held_back: 0, ..some };
        plan
    }

    fn made(accounts: u64, has_sessions: bool, dice: &mut Dice) -> Self {
        let mut tiers = vec![tier("standard", dice)];
        for number in 1..dice.between(2, 4) {
            tiers.push(tier(&format!("tier-{number}"), dice));
        }
        let (mut channels, mut templates) = (Vec::new(), Vec::new());
        for account in 0..accounts {
            let company_id = Uuid::from_u128(u128::from(1 + account));
            let waba_id = format!("waba-{account}");
            for _ in 0..dice.between(1, 2) {
                let place = channels.len();
                let tier = dice.pick(&tiers).map_or_else(String::new, |tier| tier.name.clone());
                channels.push(channel(place, company_id, &waba_id, tier, dice));
            }
            for number in 0..2_i64 {
                templates.push(TemplatePlan {
                    id: 10 * (i64::try_from(account).unwrap_or(0) + 1) + number,
                    waba_id: waba_id.clone(),
                    name: format!("template-{number}"),
                    is_marketing: number == 0,
                });
            }
        }
        if has_sessions {
            super::web::plan(&mut tiers, &mut channels, dice);
        }
        // One world in eight.
        let is_calm = dice.happens(125);
        let is_crowded = is_calm && channels.len() > 1 && dice.happens(400);
        if is_calm {
            for tier in &mut tiers {
                tier.pair_interval = Duration::ZERO;
                tier.template_quota = Quota::Unlimited;
                if is_crowded {
                    tier.messages_per_second = Rate::each_second(80);
                }
            }
        }
        let least = if is_calm { 100 } else { 4 };
        let in_flight = usize::try_from(dice.between(least, least + 60)).unwrap_or(4);
        let size = |number: u64| usize::try_from(number).unwrap_or(1);
        Self {
            tiers,
            people: 40 + 10 * dice.below(40),
            lasts: dice.time(Duration::from_secs(60), Duration::from_secs(240)),
            trouble: if is_calm { Trouble::default() } else { trouble(dice) },
            is_calm,
            is_crowded,
            total_in_flight: if is_crowded {
                size(dice.between(2, 8))
            } else {
                in_flight * channels.len().max(1) * size(dice.between(1, 3)) / 2 + 1
            },
            in_flight,
            concurrency: if is_calm { 100 } else { size(dice.between(2, 40)) },
            deferred: size(dice.between(10, 500)),
            direct_lane: size(dice.between(2, 30)),
            active_bulk_sends: size(dice.between(1, 4)),
            unknown_grace: dice.time(Duration::from_secs(10), Duration::from_secs(60)),
            ledger_capacity: size(dice.between(20, 400)),
            web_patience: dice.time(Duration::from_secs(5), Duration::from_secs(40)),
            channels,
            templates,
        }
    }
}

fn tier(name: &str, dice: &mut Dice) -> Tier {
    let rate = u32::try_from(dice.between(1, 30)).unwrap_or(1);
    let quota = u32::try_from(dice.between(5, 60)).unwrap_or(5);
    Tier {
        name: name.to_owned(),
        kind: Kind::BusinessAccount,
        description: String::new(),
        messages_per_second: Rate::each_second(rate),
        burst: dice.happens(400).then_some(1 + rate / 2),
        pair_interval: if dice.happens(200) { Duration::ZERO } else { Duration::from_secs(6) },
        pair_burst: u32::try_from(dice.between(1, 6)).unwrap_or(1),
        template_quota: if dice.happens(400) { Quota::AtMost(quota) } else { Quota::Unlimited },
        api_requests: Rate::UNLIMITED,
        unknown_outcome: if dice.happens(350) { UnknownOutcome::Hold } else { UnknownOutcome::Resend },
        jitter: Duration::ZERO,
        daily_cap: Quota::Unlimited,
        quiet_hours: None,
        warm_up: Vec::new(),
        cold_contacts: Quota::Unlimited,
    }
}

fn channel(place: usize, company_id: Uuid, waba_id: &str, tier: String, dice: &mut Dice) -> Channel {
    let beginning = Timestamp::from_millis(1);
    Channel {
        id: Uuid::from_u128(100 + place as u128),
        company_id,
        kind: Kind::BusinessAccount,
        name: format!("channel {place}"),
        phone_number: None,
        phone_number_id: Some(place.to_string()),
        waba_id: Some(waba_id.to_owned()),
        tier,
        own_options: OwnOptions::default(),
        connection: Connection { status: Status::Connected, reason: None, since: beginning },
        trial: None,
        quality_rating: None,
        level: dice.happens(700).then_some(Level::Standard),
        messaging_limit: None,
        linked_at: None,
        revision: 1,
        created_at: beginning,
        updated_at: beginning,
    }
}

/// Some kinds of trouble, each with a frequency of its own.
fn trouble(dice: &mut Dice) -> Trouble {
    let mut some = |often: u64, most: u64| if dice.happens(often) { dice.between(1, most) } else { 0 };
    Trouble {
        reply_lost: some(500, 60),
        hangs: some(400, 40),
        server_error: some(500, 80),
        unavailable: some(300, 40),
        not_sent: some(300, 40),
        no_socket: some(200, 30),
        undeliverable: some(500, 50),
        opted_out: some(300, 20),
        held_back: some(300, 20),
        pair: some(300, 30),
        storm: some(300, 10),
        account: some(300, 10),
        app: some(300, 10),
        maintenance: some(200, 5),
        token: some(250, 4),
        restricted: some(50, 1),
        template: some(300, 8),
        receipt_missing: some(500, 200),
        receipt_twice: some(500, 200),
        receipt_early: some(500, 300),
        receipt_late: some(500, 200),
        commit_fails: some(400, 80),
        commit_hangs: some(400, 40),
        commit_in_doubt: some(400, 60),
        row_refused: some(300, 30),
        read_fails: some(400, 80),
        read_is_slow: some(400, 100),
        dial_fails: some(500, 300),
        breaks: some(600, 900),
        crash: some(500, 25),
        lease_lost: some(150, 8),
        stand_still: some(400, 25),
        clock_set: some(400, 25),
        webhooks: some(300, 25),
    }
}
