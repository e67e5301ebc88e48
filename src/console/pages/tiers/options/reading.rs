//! What the fields of the options of a tier say, with the fault of each beside it.

use std::time::Duration;

use serde_json::{Map, Value};

use super::controls::OWN;
use super::{ALL, SPANS, TierOption, UNLIMITED, Way, own};
use crate::clock::Timestamp;
use crate::console::form::Form;
use crate::console::zone::Zone;
use crate::domain::channel::Kind;
use crate::domain::rate::MAX_COUNT;
use crate::domain::tier::{QuietHours, Tier, UnknownOutcome, from_json};

/// The longest span of an option.
const LONGEST: Duration = Duration::from_secs(86_400);
/// The most days that have a number of their own.
const MOST_DAYS: usize = 366;

/// What a form says of an option.
enum GivenOption {
    /// Nothing: the usual value counts.
    Usual,
    /// This value.
    Own(Value),
    /// Something that it cannot be, which was noted.
    Wrong,
}

/// The tier that a form describes; `None` with a fault beside each invalid option.
pub(crate) fn tier(name: &str, before: &Value, form: &mut Form) -> Option<Tier> {
    let kept = |option: &str| before.get(option).cloned().unwrap_or(Value::Null);
    let mut options = Map::new();
    // The kind of a tier cannot change.
    options.insert("kind".to_owned(), kept("kind"));
    let mut is_whole = true;
    for option in &ALL {
        // Options that the form of this kind does not have stay as they are.
        let value = if form.words().names(option.name) {
            match given(form, option) {
                GivenOption::Usual => Value::Null,
                GivenOption::Own(value) => value,
                GivenOption::Wrong => {
                    is_whole = false;
                    continue;
                }
            }
        } else {
            kept(option.name)
        };
        options.insert(option.name.to_owned(), value);
    }
    if !is_whole {
        return None;
    }
    match from_json(name, options) {
        Ok(tier) => Some(tier),
        Err(faults) => {
            note(form, &faults);
            None
        }
    }
}

/// The values of the options that are ticked; `None` with a fault beside each that has none.
pub(crate) fn ticked(form: &mut Form, kind: Option<Kind>) -> Option<Map<String, Value>> {
    let mut options = Map::new();
    let mut is_whole = true;
    for option in own(kind) {
        if !form.is_ticked(OWN, option.name) {
            continue;
        }
        match given(form, option) {
            GivenOption::Own(value) => drop(options.insert(option.name.to_owned(), value)),
            GivenOption::Usual => {
                form.fault(option.name, form.text().get("fault-field-missing"));
                is_whole = false;
            }
            GivenOption::Wrong => is_whole = false,
        }
    }
    is_whole.then_some(options)
}

/// Shows the faults of values that do not go together, each beside the option that it names.
pub(crate) fn note(form: &mut Form, faults: &[String]) {
    for fault in faults {
        let place = |option: &TierOption| {
            let quoted = ['"', '`'].map(|quote| fault.find(&format!("{quote}{}{quote}", option.name)));
            quoted.into_iter().flatten().min()
        };
        // A fault of several options names the one first that has to change.
        let named = ALL.iter().filter_map(|option| Some((place(option)?, option)));
        match named.min_by_key(|(place, _)| *place).map(|(_, option)| option) {
            Some(option) => form.fault(option.name, form.text().get(option.rule())),
            None => form.general_fault(fault.as_str()),
        }
    }
}

impl TierOption {
    /// The key of what the option can be.
    const fn rule(&self) -> &'static str {
        match self.way {
            Way::Rate => "tiers-fault-rate",
            Way::Count(_) => "tiers-fault-count",
            Way::Seconds => "tiers-fault-seconds",
            Way::Quota => "tiers-fault-quota",
            Way::Days => "tiers-fault-days",
            Way::Hours => "tiers-fault-hours",
            Way::Outcome | Way::Words => "fault-field-choice",
        }
    }
}

fn given(form: &mut Form, option: &TierOption) -> GivenOption {
    let written = form.words().one(option.name);
    let given = match option.way {
        Way::Rate => rate(written, form.words().one(&option.part("span"))),
        Way::Count(_) | Way::Seconds | Way::Words if written.is_empty() => return GivenOption::Usual,
        Way::Count(least) => whole(written, least, MAX_COUNT.into()).map(Value::from),
        Way::Seconds => seconds(written).map(Value::from),
        Way::Quota if written.is_empty() => Some(Value::from(UNLIMITED)),
        Way::Quota => whole(written, 1, u32::MAX.into()).map(Value::from),
        Way::Days => days(written),
        Way::Hours => {
            let (to, zone) = (form.words().one(&option.part("to")), form.words().one(&option.part("zone")));
            if [written, to, zone].iter().all(|part| part.is_empty()) {
                return GivenOption::Usual;
            }
            hours(written, to, zone)
        }
        Way::Outcome => {
            let is_known = UnknownOutcome::ALL.iter().any(|outcome| outcome.as_str() == written);
            is_known.then(|| Value::from(written))
        }
        Way::Words => Some(Value::from(written)),
    };
    match given {
        Some(value) => GivenOption::Own(value),
        None => {
            form.fault(option.name, form.text().get(option.rule()));
            GivenOption::Wrong
        }
    }
}

fn whole(written: &str, least: u64, most: u64) -> Option<u64> {
    written.parse().ok().filter(|number| (least..=most).contains(number))
}

fn rate(count: &str, span: &str) -> Option<Value> {
    if span == UNLIMITED {
        return Some(Value::from(UNLIMITED));
    }
    let (span, ..) = SPANS.iter().find(|(known, ..)| *known == span)?;
    let count = whole(count, 1, MAX_COUNT.into())?;
    Some(format!("{count}/{span}").into())
}

/// A span of time as files have it.
fn seconds(written: &str) -> Option<String> {
    let seconds = written.replace(',', ".").parse::<f64>().ok()?;
    let span = Duration::try_from_secs_f64(seconds).ok().filter(|span| *span <= LONGEST)?;
    Some(format!("{}ms", span.as_millis()))
}

fn days(written: &str) -> Option<Value> {
    let numbers = written.split([',', ';', ' ']).filter(|number| !number.is_empty());
    let numbers: Option<Vec<u64>> = numbers.map(|number| whole(number, 1, u32::MAX.into())).collect();
    numbers.filter(|numbers| numbers.len() <= MOST_DAYS).map(Value::from)
}

/// Quiet hours as files have them. A browser may send seconds, too.
fn hours(from: &str, to: &str, zone: &str) -> Option<Value> {
    let zone = Zone::read(zone, Timestamp::now()).unwrap_or(zone);
    let hours = format!("{}-{} {zone}", from.get(..5)?, to.get(..5)?);
    let hours = hours.parse::<QuietHours>().ok()?;
    Some(hours.to_string().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::console::language::Language;
    use crate::console::pages::tiers::options::values;
    use crate::console::text::Text;
    use crate::domain::tier::{BUILT_IN, parse};

    fn filled(values: impl IntoIterator<Item = (String, String)>) -> Form {
        let mut form = Form::new(Text(Language::English));
        for (name, value) in values {
            form.put(&name, value);
        }
        form
    }

    #[test]
    fn every_shipped_tier_reads_back_from_its_own_form() {
        for one in parse(BUILT_IN).unwrap() {
            let document = serde_json::to_value(&one).unwrap();
            let mut form = filled(values(&document));
            assert_eq!(tier(&one.name, &document, &mut form), Some(one), "{document}");
        }
    }

    #[test]
    fn every_value_that_a_tier_can_have_reads_back() {
        let document = json!({
            "name": "a", "kind": "business_account", "messages_per_second": "10/min", "burst": 3,
            "pair_interval": "1s 500ms", "pair_burst": 4, "template_quota": 500, "api_requests": "1000/h",
            "unknown_outcome": "hold", "quiet_hours": "21:00-08:00 America/Sao_Paulo", "warm_up": [20, 40],
            "description": "Slow",
        });
        let mut form = filled(values(&document));
        let read = serde_json::to_value(tier("a", &document, &mut form).unwrap()).unwrap();
        for (option, value) in document.as_object().unwrap() {
            assert_eq!(&read[option], value, "{option}");
        }
    }

    #[test]
    fn a_fault_is_shown_beside_its_option_in_words_without_code() {
        let document = json!({ "name": "a", "kind": "business_account", "messages_per_second": "80/s" });
        let faults = |changes: &[(&str, &str)]| {
            let mut form = filled(values(&document));
            changes.iter().for_each(|(name, value)| form.put(name, *value));
            assert_eq!(tier("a", &document, &mut form), None, "{changes:?}");
            form.faulty().map(str::to_owned).collect::<Vec<_>>()
        };
        let two = faults(&[("messages_per_second", "fast"), ("burst", "-1")]);
        assert_eq!(two, ["burst", "messages_per_second"]);
        assert_eq!(faults(&[("pair_burst", "0")]), ["pair_burst"]);
        assert_eq!(faults(&[("quiet_hours", "21:00"), ("quiet_hours_to", "21:00")]), ["quiet_hours"]);
        assert_eq!(faults(&[("template_quota", "30"), ("warm_up", "20, 40")]), ["warm_up"]);
        assert_eq!(faults(&[("pair_interval", "soon")]), ["pair_interval"]);
        assert_eq!(faults(&[("template_quota", "0")]), ["template_quota"]);
    }

    #[test]
    fn only_what_is_ticked_counts_and_it_needs_a_value() {
        let given = [(OWN, "burst"), ("burst", "3"), ("pair_burst", "7")];
        let mut form = filled(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(ticked(&mut form, None), Some(Map::from_iter([("burst".to_owned(), json!(3))])));
        form.put("burst", "");
        assert_eq!(ticked(&mut form, None), None);
    }
}
