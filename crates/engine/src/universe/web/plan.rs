//! The web channels of a world.

use std::time::Duration;

use uuid::Uuid;

use super::super::dice::Dice;
use clock::Timestamp;
use domain::channel::{Channel, Connection, Kind, Status};
use domain::rate::Rate;
use domain::tier::{OwnOptions, Quota, Tier, UnknownOutcome};

/// When phones were linked, at the latest: before the world begins.
const LINKED: Timestamp = Timestamp::from_millis(1_799_900_000_000);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Adds none, one or two web channels, and their tiers.
pub(in crate::universe) fn add(tiers: &mut Vec<Tier>, channels: &mut Vec<Channel>, dice: &mut Dice) {
    let many = [0, 1, 1, 2][usize::try_from(dice.below(4)).unwrap_or(0)];
    let mut own = Vec::new();
    for number in 0..(if many == 0 { 0 } else { dice.between(1, 2) }) {
        own.push(tier(&format!("web-{number}"), dice));
    }
    for _ in 0..many {
        let name = dice.pick(&own).map_or_else(String::new, |tier| tier.name.clone());
        channels.push(channel(channels.len(), name, dice));
    }
    tiers.extend(own);
}

fn tier(name: &str, dice: &mut Dice) -> Tier {
    let cap = u32::try_from(dice.between(4, 20)).unwrap_or(4);
    let cold = u32::try_from(dice.between(2, 12)).unwrap_or(2);
    let first = cap.div_ceil(2);
    Tier {
        name: name.to_owned(),
        kind: Kind::WebSession,
        description: String::new(),
        messages_per_second: Rate::each_second(u32::try_from(dice.between(1, 4)).unwrap_or(1)),
        burst: None,
        pair_interval: if dice.happens(500) { Duration::ZERO } else { Duration::from_secs(6) },
        pair_burst: u32::try_from(dice.between(1, 4)).unwrap_or(1),
        template_quota: Quota::Unlimited,
        api_requests: Rate::UNLIMITED,
        unknown_outcome: if dice.happens(500) { UnknownOutcome::Hold } else { UnknownOutcome::Resend },
        jitter: dice.time(Duration::ZERO, Duration::from_secs(2)),
        daily_cap: if dice.happens(800) { Quota::AtMost(cap) } else { Quota::Unlimited },
        quiet_hours: None,
        warm_up: if dice.happens(300) { vec![first, cap] } else { Vec::new() },
        cold_contacts: if dice.happens(500) { Quota::AtMost(cold) } else { Quota::Unlimited },
    }
}

fn channel(place: usize, tier: String, dice: &mut Dice) -> Channel {
    let is_linked = dice.happens(800);
    let ago = DAY * u32::try_from(dice.below(4)).unwrap_or(0);
    let status = if is_linked { Status::Connecting } else { Status::Pairing };
    let beginning = Timestamp::from_millis(1);
    Channel {
        id: Uuid::from_u128(100 + place as u128),
        company_id: Uuid::from_u128(1),
        kind: Kind::WebSession,
        name: format!("session {place}"),
        phone_number: None,
        phone_number_id: None,
        waba_id: None,
        tier,
        own_options: OwnOptions::default(),
        connection: Connection { status, reason: None, since: beginning },
        trial: None,
        quality_rating: None,
        level: None,
        messaging_limit: None,
        linked_at: is_linked.then(|| LINKED.minus(ago)),
        revision: 1,
        created_at: beginning,
        updated_at: beginning,
    }
}
