//! The options of tiers as people read and write them: their names, their values with units, and their [fields](controls), which
//! [read](reading) back what was written.

pub(crate) mod controls;
pub(crate) mod reading;

use serde_json::Value;

use super::super::changes::plain;
use crate::clock::Timestamp;
use crate::console::text::Text;
use crate::console::zone::Zone;
use crate::domain::channel::Kind;
use crate::domain::tier::{OwnOptions, Tier, UnknownOutcome};
use crate::domain::time_span;

/// The value of what has no bound.
pub(super) const UNLIMITED: &str = "unlimited";
/// The spans of a rate as files have them, each with the key of its words and of a rate in it.
const SPANS: [(&str, &str, &str); 4] = [
    ("s", "tiers-span-second", "tiers-each-second"),
    ("min", "tiers-span-minute", "tiers-each-minute"),
    ("h", "tiers-span-hour", "tiers-each-hour"),
    ("d", "tiers-span-day", "tiers-each-day"),
];

/// How an option is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A number in a span of time, or no bound.
    Rate,
    /// A number of at least this.
    Count(u64),
    /// A span of time, in seconds.
    Seconds,
    /// A number, or no bound.
    Quota,
    /// A number for each of the first days.
    Days,
    /// Two times of day and a place.
    Hours,
    /// One of the outcomes.
    Outcome,
    /// A text.
    Words,
}

/// An option of a tier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TierOption {
    /// Its name in files, and of its main field.
    pub(crate) name: &'static str,
    /// The key of its name in words.
    label: &'static str,
    /// The key of what people have to know to write it.
    hint: Option<&'static str>,
    way: Way,
    /// The only kind of channel that has it; `None` for both.
    only: Option<Kind>,
}

const fn option(
    name: &'static str,
    label: &'static str,
    hint: Option<&'static str>,
    way: Way,
    only: Option<Kind>,
) -> TierOption {
    TierOption { name, label, hint, way, only }
}

/// Every option that people write, in the order of the form.
static ALL: [TierOption; 13] = [
    option("messages_per_second", "tiers-pace", Some("tiers-pace-hint"), Way::Rate, None),
    option("burst", "tiers-burst", Some("tiers-burst-hint"), Way::Count(1), None),
    option("pair_interval", "tiers-pair-interval", Some("tiers-pair-interval-hint"), Way::Seconds, None),
    option("pair_burst", "tiers-pair-burst", Some("tiers-pair-burst-hint"), Way::Count(0), None),
    option(
        "template_quota",
        "tiers-quota",
        Some("tiers-quota-hint"),
        Way::Quota,
        Some(Kind::BusinessAccount),
    ),
    option("daily_cap", "tiers-daily-cap", Some("tiers-quota-hint"), Way::Quota, Some(Kind::WebSession)),
    option("cold_contacts", "tiers-cold", Some("tiers-quota-hint"), Way::Quota, Some(Kind::WebSession)),
    option("jitter", "tiers-jitter", Some("tiers-jitter-hint"), Way::Seconds, Some(Kind::WebSession)),
    option("warm_up", "tiers-warm-up", Some("tiers-warm-up-hint"), Way::Days, None),
    option(
        "quiet_hours",
        "tiers-quiet-hours",
        Some("tiers-quiet-hours-hint"),
        Way::Hours,
        Some(Kind::BusinessAccount),
    ),
    option("unknown_outcome", "tiers-unknown", None, Way::Outcome, None),
    option("api_requests", "tiers-requests", Some("tiers-requests-hint"), Way::Rate, None),
    option("description", "tiers-description", None, Way::Words, None),
];
/// Those of which a channel has no values of its own.
const SHARED: [&str; 2] = ["api_requests", "description"];

impl TierOption {
    /// Its name in words.
    pub(crate) fn label(&self, text: Text) -> String {
        text.get(self.label)
    }

    /// The name of a field beside the main one.
    fn part(&self, part: &str) -> String {
        format!("{}_{part}", self.name)
    }
}

fn find(name: &str) -> Option<&'static TierOption> {
    ALL.iter().find(|option| option.name == name)
}

/// The options of tiers for this kind of channel, in the order of the form; for both kinds without one.
pub(super) fn of_kind(kind: Option<Kind>) -> impl Iterator<Item = &'static TierOption> {
    ALL.iter().filter(move |option| option.only.is_none() || kind.is_none() || option.only == kind)
}

/// Those of which a channel of this kind may have values of its own.
pub(crate) fn own(kind: Option<Kind>) -> impl Iterator<Item = &'static TierOption> {
    of_kind(kind).filter(|option| !SHARED.contains(&option.name))
}

/// The key of an option's name in words; `None` for what people do not write.
pub(crate) fn label(name: &str) -> Option<&'static str> {
    find(name).map(|option| option.label)
}

/// The value of an option in words.
pub(crate) fn said(text: Text, name: &str, value: &Value) -> String {
    let word = value.as_str();
    let words = match (find(name).map(|option| option.way), word) {
        (_, None) if value.is_null() => return text.get("tiers-usual"),
        (Some(Way::Rate | Way::Quota), Some(UNLIMITED)) => Some(text.get("tiers-span-unlimited")),
        (Some(Way::Rate), Some(rate)) => of_rate(text, rate),
        (Some(Way::Seconds), Some(span)) => time_span::parse(span)
            .map(|span| text.with("tiers-seconds", [("seconds", span.as_secs_f64().into())])),
        (Some(Way::Outcome), Some(word)) => outcome(word).map(|key| text.get(key)),
        (Some(Way::Count(_) | Way::Quota), None) => value.as_u64().map(|count| text.number(count)),
        _ => None,
    };
    // What another version wrote is shown as it is.
    words.unwrap_or_else(|| plain(value))
}

/// The values that a channel has of its own, in words.
pub(crate) fn said_own(text: Text, own: &OwnOptions) -> String {
    let said = own.iter().map(|(name, value)| {
        let label = label(name).map_or_else(|| name.to_owned(), |key| text.get(key));
        format!("{label}: {}", said(text, name, value))
    });
    said.collect::<Vec<_>>().join(" · ")
}

fn of_rate(text: Text, rate: &str) -> Option<String> {
    let (count, span) = rate.split_once('/')?;
    let (_, _, key) = SPANS.iter().find(|(known, ..)| *known == span)?;
    Some(text.with(key, [("count", count.parse::<u64>().ok()?.into())]))
}

/// The key of what an outcome means.
fn outcome(word: &str) -> Option<&'static str> {
    let outcome = UnknownOutcome::ALL.iter().find(|outcome| outcome.as_str() == word)?;
    Some(match outcome {
        UnknownOutcome::Resend => "tiers-unknown-resend",
        UnknownOutcome::Hold => "tiers-unknown-hold",
    })
}

/// The values of all fields for a tier as it is stored.
pub(crate) fn values(document: &Value) -> Vec<(String, String)> {
    let whole = serde_json::from_value::<Tier>(document.clone()).and_then(|tier| serde_json::to_value(&tier));
    let document = whole.unwrap_or_else(|_| document.clone());
    let mut values = Vec::new();
    for option in &ALL {
        let value = document.get(option.name).unwrap_or(&Value::Null);
        let word = value.as_str().unwrap_or_default();
        let main = match option.way {
            Way::Rate => {
                let (count, span) = word.split_once('/').unwrap_or(("", UNLIMITED));
                values.push((option.part("span"), span.to_owned()));
                count.to_owned()
            }
            Way::Seconds => {
                time_span::parse(word).map_or_else(|| word.to_owned(), |span| span.as_secs_f64().to_string())
            }
            Way::Hours => {
                let (hours, zone) = word.split_once(' ').unwrap_or_default();
                let (from, to) = hours.split_once('-').unwrap_or_default();
                values.push((option.part("to"), to.to_owned()));
                let zone =
                    Zone::find(zone).map_or_else(|| zone.to_owned(), |zone| zone.label(Timestamp::now()));
                values.push((option.part("zone"), zone));
                from.to_owned()
            }
            Way::Quota if word == UNLIMITED => String::new(),
            Way::Days if value.as_array().is_some_and(Vec::is_empty) => String::new(),
            Way::Count(_) | Way::Quota | Way::Days | Way::Outcome | Way::Words if value.is_null() => {
                String::new()
            }
            Way::Count(_) | Way::Quota | Way::Days | Way::Outcome | Way::Words => plain(value),
        };
        values.push((option.name.to_owned(), main));
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::console::language::Language;

    #[test]
    fn every_option_of_a_tier_has_its_words() {
        for option in Tier::OPTIONS.iter().filter(|option| !["name", "kind"].contains(*option)) {
            assert!(label(option).is_some(), "{option}");
        }
        assert_eq!(ALL.len(), Tier::OPTIONS.len() - 2);
    }

    #[test]
    fn values_are_told_in_words_of_each_language() {
        let said = |language, option: &str, value: Value| said(Text(language), option, &value);
        let english = Language::English;
        for (option, value, words) in [
            ("messages_per_second", json!("80/s"), "80 a second"),
            ("api_requests", json!("1000/h"), "1,000 an hour"),
            ("messages_per_second", json!("unlimited"), "without limit"),
            ("template_quota", json!("unlimited"), "without limit"),
            ("template_quota", json!(2_000), "2,000"),
            ("pair_interval", json!("6s"), "6 seconds"),
            ("jitter", json!("1s 500ms"), "1.5 seconds"),
            ("warm_up", json!([20, 40]), "20, 40"),
            ("burst", Value::Null, "as usual"),
            ("unknown_outcome", json!("hold"), "Do not send it again: some people may not get it"),
            ("quiet_hours", json!("21:00-08:00 Europe/Madrid"), "21:00-08:00 Europe/Madrid"),
            ("messages_per_second", json!("of another version"), "of another version"),
        ] {
            assert_eq!(said(english, option, value.clone()), words, "{option} {value}");
        }
        assert_eq!(said(Language::Portuguese, "messages_per_second", json!("10/min")), "10 por minuto");
        assert_eq!(said(Language::Spanish, "daily_cap", json!("unlimited")), "sin límite");
    }
}
