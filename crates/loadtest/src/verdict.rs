//! A verdict for each question that a load tester has, in words.

use serde::Serialize;

use super::board::Phase;
use super::changes::Changed;
use super::limit::Limit;
use super::report::{ChannelReport, Receipts, Report};

/// The factor by which single sends may be slower while bulk sends run.
const SLOWER: f64 = 3.0;
/// The share of a core, in per cent, from which on a process counts as fully busy.
const FULL: f64 = 90.0;

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Good,
    /// Worth a look.
    Fair,
    /// Not as it should be.
    Bad,
    /// The result is unknown.
    Open,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The question of a load tester.
    pub question: &'static str,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether a bad outcome fails the test.
    pub decides: bool,
    /// The answer.
    pub answer: String,
}

/// Every verdict on a report, the deciding ones first.
pub(super) fn all(report: &Report) -> Vec<Verdict> {
    let of = |question, decides, (outcome, answer)| Verdict { question, outcome, decides, answer };
    let mut all = vec![
        of("Was anything accepted?", true, accepted(report)),
        of("Did everything that was accepted arrive?", true, lost(report)),
        of("Did anything arrive twice?", true, repeated(report)),
        of("Was the limit kept?", true, limit(report)),
    ];
    all.extend(changes(report).map(|found| of("Were changes of the tiers followed?", true, found)));
    all.extend(compared(report).map(|found| of("Is it as good as before?", true, found)));
    all.extend(
        report.events.iter().map(|events| of("Did every event reach the webhook?", true, events.judge())),
    );
    all.extend(
        report.answers.iter().map(|found| of("Is every answer in a conversation once?", true, found.judge())),
    );
    all.extend(receipts(report).map(|found| of("Were all receipts taken?", false, found)));
    all.extend(
        knee(report).map(|found| of("Which rate of single messages does it keep up with?", false, found)),
    );
    all.extend(tags(report).map(|found| of("Did every tag reach all of its people?", true, found)));
    all.extend(
        singles(report).map(|found| of("Do single messages stay quick beside bulk sends?", false, found)),
    );
    all.push(of("Was every request accepted?", false, refused(report)));
    all.push(of("Is it the service that was measured?", false, room(report)));
    all
}

fn accepted(report: &Report) -> (Outcome, String) {
    let promised = report.balance.promised;
    let sends = report.bulk.sends.len() as u64 + report.singles.accepted;
    match promised {
        0 => (Outcome::Bad, "No request was answered 202: nothing was tested.".to_owned()),
        _ => (Outcome::Good, format!("{} with {}.", count(sends, "send"), count(promised, "recipient"))),
    }
}

fn lost(report: &Report) -> (Outcome, String) {
    let balance = &report.balance;
    if report.arrivals.is_none() {
        return (Outcome::Open, "There was no receiver that counts.".to_owned());
    }
    let others = [
        (balance.canceled, "canceled at the end of the test, before they were started"),
        (balance.failed, "failed permanently, by the service's account"),
        (balance.reported_failed, "arrived and failed by a later report"),
        (balance.unknown, "unknown: the receiver may have them"),
        (balance.unfinished, "still queued when the wait was over"),
    ];
    let others: Vec<_> = others
        .iter()
        .filter(|(messages, _)| *messages > 0)
        .map(|(messages, what)| format!("{} {what}", number(*messages)))
        .collect();
    let rest = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    let arrived = format!("{} of {} arrived{rest}", number(balance.arrived), number(balance.promised));
    let unclear = match balance.unclear {
        0 => String::new(),
        unclear => format!(
            " {} had no clear answer, so these figures may hide up to as many sends.",
            count(unclear, "request")
        ),
    };
    match (balance.lost, balance.surplus) {
        (0, 0) => (Outcome::Good, format!("{arrived}. None is missing.{unclear}")),
        (0, surplus) => {
            let outcome = if balance.adds_up() { Outcome::Fair } else { Outcome::Bad };
            (outcome, format!("{arrived}: {} more than were accepted.{unclear}", number(surplus)))
        }
        (lost, _) => (Outcome::Bad, format!("{arrived}. {} missing.{unclear}", is_are(lost))),
    }
}

fn repeated(report: &Report) -> (Outcome, String) {
    match (&report.arrivals, report.balance.repeated) {
        (None, _) => (Outcome::Open, "There was no receiver that counts.".to_owned()),
        (_, 0) => (Outcome::Good, "No message arrived a second time under its key.".to_owned()),
        (_, repeated) => (Outcome::Bad, format!("{} arrived again.", count(repeated, "message"))),
    }
}

fn limit(report: &Report) -> (Outcome, String) {
    let Some(arrivals) = &report.arrivals else {
        return (Outcome::Open, "There was no receiver that counts.".to_owned());
    };
    let limited =
        |channel: &ChannelReport| Some((channel.limit?, channel.most_in_a_second?, channel.name.clone()));
    let limited: Vec<_> = report.channels.iter().filter_map(limited).collect();
    // The channel that came nearest to what it may.
    let nearest = |one: &&(Limit, u64, String)| one.1 as f64 / one.0.allowed.max(1) as f64;
    let Some((limit, most, name)) =
        limited.iter().max_by(|one, other| nearest(one).total_cmp(&nearest(other)))
    else {
        let most = number(arrivals.most_in_a_second);
        return (Outcome::Good, format!("There is none. At most {most} messages arrived in a second."));
    };
    let of = if report.channels.len() > 1 {
        format!(" from `{name}`, the nearest to its limit")
    } else {
        String::new()
    };
    let told = format!(
        "At most {} messages arrived in any one second{of}. The limit is {} a second and {} at once after a pause; with \
         5 % tolerance for bunching on the way, {} may arrive.",
        number(*most),
        number(limit.per_second.round() as u64),
        limit.burst,
        number(limit.allowed)
    );
    if *most <= limit.allowed { (Outcome::Good, told) } else { (Outcome::Bad, told) }
}

/// `None` without changes.
fn changes(report: &Report) -> Option<(Outcome, String)> {
    let mut outcome = Outcome::Good;
    let told = report.changes.iter().map(|change| {
        let Changed { at_s, followed_at_s, rate, limit, most_in_a_second } = change;
        let Some(followed) = followed_at_s else {
            outcome = Outcome::Bad;
            return format!("{rate} after {at_s:.1} s was not followed before the test ended");
        };
        let after = followed - at_s;
        match (limit, most_in_a_second) {
            (Some(limit), Some(most)) if *most > limit.allowed => {
                outcome = Outcome::Bad;
                let allowed = number(limit.allowed);
                format!(
                    "{rate} was in force after {after:.1} s, but {} arrived in a second, more than {allowed}",
                    number(*most)
                )
            }
            (Some(_), Some(most)) => {
                format!(
                    "{rate} was in force after {after:.1} s, and then at most {} arrived in a second",
                    number(*most)
                )
            }
            _ => format!("{rate} was in force after {after:.1} s"),
        }
    });
    let told: Vec<_> = told.collect();
    (!told.is_empty()).then(|| (outcome, format!("{}.", told.join("; "))))
}

/// `None` without an earlier report.
fn compared(report: &Report) -> Option<(Outcome, String)> {
    let comparison = report.comparison.as_ref()?;
    let others: Vec<_> = comparison.other_settings.iter().map(|other| other.setting).collect();
    let note = match others.is_empty() {
        true => String::new(),
        false => format!(" Settings differ: {}.", others.join(", ")),
    };
    Some(match comparison.fault() {
        Some(fault) => (Outcome::Bad, format!("{fault}{note}")),
        None => {
            let outcome = if others.is_empty() { Outcome::Good } else { Outcome::Fair };
            let figures = count(comparison.figures.len() as u64, "figure");
            (
                outcome,
                format!("None of {figures} is worse by more than {} %.{note}", comparison.allowed_percent),
            )
        }
    })
}

/// `None` when none were sent.
fn receipts(report: &Report) -> Option<(Outcome, String)> {
    let receipts = report.receipts.filter(|receipts| {
        receipts.taken + receipts.others + receipts.refused + receipts.dropped + receipts.outstanding > 0
    })?;
    let Receipts { taken, failures, others, webhooks, refused, dropped, outstanding } = receipts;
    let mut told = format!("{} in {}", count(taken, "receipt"), count(webhooks, "webhook"));
    for (what, how_many) in [
        ("say that a message failed", failures),
        ("more were answers or other news", others),
        ("webhooks were refused and repeated", refused),
        ("receipts were dropped", dropped),
        ("messages waited for theirs at the end", outstanding),
    ] {
        if how_many > 0 {
            told = format!("{told}; {} {what}", number(how_many));
        }
    }
    let outcome = if refused + dropped + outstanding > 0 { Outcome::Fair } else { Outcome::Good };
    Some((outcome, format!("{told}.")))
}

/// `None` without a ramp.
fn knee(report: &Report) -> Option<(Outcome, String)> {
    let climb = report.ramp.as_ref()?;
    let next = climb.steps.iter().find(|step| !step.keeps_up);
    let why = next.map(|step| {
        format!(
            " At {:.0}/s, {} of {} were accepted, p99 {}.",
            step.per_s,
            number(step.accepted),
            number(step.due),
            millis(step.latency_ms.p99)
        )
    });
    let why = why.unwrap_or_default();
    Some(match (climb.knee_per_s, climb.is_beyond) {
        (Some(knee), true) => {
            (Outcome::Good, format!("The highest of the ramp, {knee:.0}/s, and maybe more."))
        }
        (Some(knee), false) => (Outcome::Good, format!("{knee:.0}/s.{why}")),
        (None, _) => (Outcome::Fair, format!("Not even the lowest of the ramp.{why}")),
    })
}

/// `None` when the contacts are not ours.
fn tags(report: &Report) -> Option<(Outcome, String)> {
    let known = report.bulk.sends.iter().filter(|send| send.expected.is_some());
    let (right, wrong): (Vec<_>, Vec<_>) = known.partition(|send| send.expected == Some(send.recipients));
    if let Some(send) = wrong.first() {
        let expected = number(send.expected.unwrap_or_default());
        let answer =
            format!("`{}` had {} recipients instead of {expected}.", send.tag, number(send.recipients));
        return Some((Outcome::Bad, answer));
    }
    (!right.is_empty()).then(|| {
        let answer = format!(
            "{} had exactly the different valid numbers of the tag as recipients.",
            count(right.len() as u64, "bulk send")
        );
        (Outcome::Good, answer)
    })
}

/// `None` when there were none to compare.
fn singles(report: &Report) -> Option<(Outcome, String)> {
    let idle = report.singles.by_phase.get(&Phase::Idle).filter(|idle| idle.count > 0)?;
    let slower = |phase| Some((phase, *report.singles.p99_to_idle.get(&phase)?));
    let phases: Vec<_> = [Phase::Accepting, Phase::Running].into_iter().filter_map(slower).collect();
    if phases.is_empty() {
        return None;
    }
    let said = phases.iter().filter_map(|(phase, times)| {
        let of = report.singles.by_phase.get(phase)?;
        let few = if of.count < 100 { format!(", of only {}", of.count) } else { String::new() };
        Some(format!("{} {} ({times:.1} ×{few})", millis(of.p99), phase.words()))
    });
    let answer = format!(
        "p99 is {} {}; {}.",
        millis(idle.p99),
        Phase::Idle.words(),
        said.collect::<Vec<_>>().join("; ")
    );
    let outcome =
        if phases.iter().all(|(_, times)| *times <= SLOWER) { Outcome::Good } else { Outcome::Fair };
    Some((outcome, answer))
}

fn refused(report: &Report) -> (Outcome, String) {
    let singles = &report.singles;
    let named = |(what, times): (&String, &u64)| format!("{} × {what}", number(*times));
    let all: Vec<_> = singles.refused.iter().chain(&singles.unclear).map(named).collect();
    match (all.is_empty(), singles.too_many_requests) {
        (true, _) => (Outcome::Good, "Every request was answered 202.".to_owned()),
        (false, 0) => (Outcome::Fair, format!("{}.", all.join(", "))),
        (false, too_many) => (
            Outcome::Fair,
            format!("{}; {} of them 429, too many requests.", all.join(", "), number(too_many)),
        ),
    }
}

fn room(report: &Report) -> (Outcome, String) {
    let resources = &report.resources;
    let Some(service) = resources.service else {
        let answer =
            "Neither the system (no /proc) nor the service (no /metrics) reports the service's resources.";
        return (Outcome::Open, answer.to_owned());
    };
    let most = |share: fn(&super::Sample) -> Option<f64>| {
        report.samples.iter().filter_map(share).fold(0.0, f64::max)
    };
    let simulator = most(|sample| sample.simulator_cpu_percent);
    let loadtest = most(|sample| sample.loadtest_cpu_percent);
    let told = format!(
        "The service took {:.0} % of a core on average, at most {:.0} %;{} the load test at most \
         {loadtest:.0} %, of {} cores.",
        service.cpu_percent,
        most(|sample| sample.service_cpu_percent),
        if resources.simulator.is_some() {
            format!(" the simulator at most {simulator:.0} %,")
        } else {
            String::new()
        },
        report.setting.cores
    );
    let together = most(|sample| {
        Some(sample.service_cpu_percent? + sample.simulator_cpu_percent? + sample.loadtest_cpu_percent?)
    });
    if simulator >= FULL || loadtest >= FULL {
        let other = if simulator >= FULL { "simulator" } else { "load test" };
        return (
            Outcome::Fair,
            format!("{told} The {other} used nearly a whole core at times: it may have limited the pace."),
        );
    }
    if together >= FULL * report.setting.cores as f64 {
        let answer =
            format!("{told} Together they used all cores: with more cores, the service may do more.");
        return (Outcome::Fair, answer);
    }
    (Outcome::Good, told)
}

/// The number with thousands separators.
pub(super) fn number(value: u64) -> String {
    let digits = value.to_string();
    let parted = digits.bytes().enumerate().flat_map(|(place, digit)| {
        let is_parted = place > 0 && (digits.len() - place).is_multiple_of(3);
        is_parted.then_some(',').into_iter().chain([char::from(digit)])
    });
    parted.collect()
}

pub(super) fn count(value: u64, what: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {what}{plural}", number(value))
}

fn is_are(value: u64) -> String {
    if value == 1 { "1 is".to_owned() } else { format!("{} are", number(value)) }
}

/// Milliseconds with a suitable number of digits.
pub(super) fn millis(value: f64) -> String {
    match value {
        value if value >= 10_000.0 => format!("{:.1} s", value / 1_000.0),
        value if value >= 1_000.0 => format!("{:.2} s", value / 1_000.0),
        value if value >= 100.0 => format!("{value:.0} ms"),
        value if value >= 10.0 => format!("{value:.1} ms"),
        value => format!("{value:.2} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.4, 12.34, 123.4, 2_762.0, 45_000.0].map(millis),
            ["0.40 ms", "12.3 ms", "123 ms", "2.76 s", "45.0 s"]
        );
        assert_eq!((count(1, "send"), count(2_000, "send")), ("1 send".to_owned(), "2,000 sends".to_owned()));
    }
}
