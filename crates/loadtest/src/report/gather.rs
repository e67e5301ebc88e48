//! Gathers the figures of a report from what was read while the test ran.

use super::{Arrivals, ChannelReport, Kept, Resources, Setting, Usage};
use crate::changes::{TierChange, most_between};
use crate::measure::{Readings, Taken};
use crate::own::Own;
use crate::sample::mib;
use crate::target::{Lane, Tested};
use crate::{Plan, Receiving, Target, pace, receiver};
use domain::rate::Rate;

pub(super) fn setting(plan: &Plan, own: Option<&Own>, tested: &Tested, kept: &Kept) -> Setting {
    let (service, receiver) = match &plan.target {
        Target::Own => ("own".to_owned(), "own simulator".to_owned()),
        Target::Other { urls, receiving, .. } => {
            let receiver = match receiving {
                Receiving::Simulator(simulator) => simulator.clone(),
                Receiving::RealPeople { .. } => "people".to_owned(),
            };
            (urls.join(", "), receiver)
        }
    };
    let seeding = own.map(|own| own.seeding.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    let joined = |rates: &[Rate]| rates.iter().map(Rate::to_string).collect::<Vec<_>>().join(", ");
    let mut tags: Vec<_> =
        tested.lanes.iter().flat_map(|lane| &lane.tags).map(|tag| tag.name.clone()).collect();
    tags.sort();
    tags.dedup();
    let change = |change: &TierChange| format!("{:.1}s:{}", change.at.as_secs_f64(), change.rate);
    Setting {
        command: plan.command.clone(),
        service,
        receiver,
        database: tested.database.clone(),
        contacts: own.map(|_| plan.contacts),
        contacts_per_s: seeding.map(|seconds| f64::from(plan.contacts) / seconds),
        tags,
        rate: own.map(|_| joined(&plan.rates)),
        single_rate: plan.single_rate.filter(|_| tested.has_singles).map(|rate| rate.to_string()),
        ramp: plan.ramp.filter(|_| tested.has_singles).map(|ramp| ramp.to_string()),
        companies: own.map_or(1, |own| own.companies.len()),
        channels: tested.lanes.len(),
        nodes: tested.service_meters.len(),
        content: plan.content.word(),
        values: (plan.values > 0).then_some(plan.values),
        simulator: own.map(|_| plan.simulator.join(" ")),
        receipts: own.is_some() && plan.receipts.is_some(),
        webhooks: plan.webhooks,
        answers: plan.answers.map(|rate| rate.to_string()),
        changes: plan.changes.iter().map(change).collect(),
        sent_s: kept.sent_s,
        drained_s: (kept.drained_s - kept.sent_s).max(0.0),
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

pub(super) fn arrivals(tested: &Tested, taken: &Taken, plan: &Plan, each: &[Vec<u32>]) -> Option<Arrivals> {
    let (receivers, figures) = (tested.receivers.as_ref()?, taken.figures?);
    let by_tenth = receiver::total(each);
    let most = receivers.each_most_in_a_second(&taken.each);
    let (most_in_a_second, is_exact) = match most.as_slice() {
        [only] => *only,
        _ => (receiver::most_in_ten(&by_tenth), false),
    };
    let limits: Option<Vec<f64>> =
        tested.lanes.iter().map(|lane| lane.limit.map(|limit| limit.per_second)).collect();
    let limit = limits.map(|limits| limits.iter().sum());
    Some(Arrivals {
        messages: figures.messages,
        per_s_while_running: pace::while_running(
            &by_tenth,
            plan.singles_per_second(),
            limit,
            most_in_a_second,
        ),
        most_in_a_second,
        is_exact,
        refused: figures.refused,
        throttled: figures.throttled,
        by_tenth,
    })
}

/// Each channel, with what arrived from it before the first change of the tiers.
pub(super) fn channels(
    tested: &Tested,
    taken: &Taken,
    each: &[Vec<u32>],
    first_change: Option<f64>,
) -> Vec<ChannelReport> {
    let most = tested.receivers.as_ref().map(|receivers| receivers.each_most_in_a_second(&taken.each));
    let most = most.unwrap_or_default();
    let channel = |(place, lane): (usize, &Lane)| {
        let before = first_change.zip(each.get(place)).map(|(until, tenths)| {
            let most = most_between(tenths, 0.0, Some(until));
            (most, false)
        });
        let most = before.or_else(|| most.get(place).copied());
        let figures = taken.each.get(place);
        ChannelReport {
            name: lane.name.clone(),
            company: Some(lane.company.clone()).filter(|company| !company.is_empty()),
            tier: lane.tier.clone(),
            limit: lane.limit,
            messages: figures.map(|figures| figures.messages),
            most_in_a_second: most.map(|(most, _)| most),
            is_exact: most.is_some_and(|(_, is_exact)| is_exact),
            throttled: figures.map_or(0, |figures| figures.throttled),
        }
    };
    tested.lanes.iter().enumerate().map(channel).collect()
}

pub(super) fn resources(taken: &Taken, messages: u64, passed: f64) -> Resources {
    let usage = |readings: &Readings| {
        let (first, last) = (readings.first?, readings.last?);
        let cpu_s = last.cpu.saturating_sub(first.cpu).as_secs_f64();
        Some(Usage {
            cpu_s,
            cpu_percent: if passed > 0.0 { cpu_s / passed * 100.0 } else { 0.0 },
            start_mib: mib(first.resident),
            most_mib: mib(readings.most),
            end_mib: mib(last.resident),
        })
    };
    let service = usage(&taken.service);
    let each = |whole: f64| (messages > 0).then(|| whole / messages as f64);
    Resources {
        service,
        simulator: usage(&taken.simulator),
        loadtest: usage(&taken.loadtest),
        service_cpu_us_per_message: service.and_then(|service| each(service.cpu_s * 1e6)),
        database_start_mib: taken.database.map(|(start, _)| mib(start)),
        database_end_mib: taken.database.map(|(_, end)| mib(end)),
        database_bytes_per_message: taken
            .database
            .and_then(|(start, end)| each(end.saturating_sub(start) as f64)),
    }
}
