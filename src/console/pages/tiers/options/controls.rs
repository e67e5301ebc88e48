//! The fields of the options of a tier, with their units and bounds.

use maud::{Markup, html};

use super::{SPANS, TierOption, UNLIMITED, Way};
use crate::clock::Timestamp;
use crate::console::component::field::Field;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::zone::Zone;
use crate::domain::channel::Kind;
use crate::domain::rate::MAX_COUNT;
use crate::domain::tier::UnknownOutcome;

/// The name of the checkboxes of options that get a value of their own.
pub(crate) const OWN: &str = "own";
/// The most characters of a line.
const LINE: usize = 1_000;
/// The most characters of a place.
const PLACE: usize = 64;

/// The fields of an option.
pub(crate) fn control(form: &Form, option: &TierOption) -> Markup {
    let text = form.text();
    let (label, hint) = (option.label(text), option.hint.map(|key| text.get(key)).unwrap_or_default());
    let main = Field::new(form, option.name, &label);
    let main = if hint.is_empty() { main } else { main.hint(&hint) };
    match option.way {
        Way::Rate => rate(form, option, main),
        Way::Count(least) => main.whole(least, MAX_COUNT.into()),
        Way::Quota => main.whole(1, u32::MAX.into()),
        Way::Seconds => main.decimal(),
        Way::Days | Way::Words => main.most(LINE).text(),
        Way::Hours => hours(form, option, &label, &hint),
        Way::Outcome => main.select(outcomes(text)),
    }
}

fn rate(form: &Form, option: &TierOption, main: Field<'_>) -> Markup {
    let text = form.text();
    let spans = SPANS.iter().map(|(span, key, _)| (*span, text.get(key)));
    let spans = spans.chain([(UNLIMITED, text.get("tiers-span-unlimited"))]);
    html! {
        div.row.bottom {
            (main.whole(1, MAX_COUNT.into()))
            (Field::new(form, &option.part("span"), &text.get("tiers-span")).select(spans))
        }
    }
}

fn hours(form: &Form, option: &TierOption, label: &str, hint: &str) -> Markup {
    let text = form.text();
    let zones = Zone::labels(Timestamp::now());
    html! {
        fieldset.field {
            legend { (label) }
            p.hint { (hint) }
            div.row.bottom {
                (Field::new(form, option.name, &text.get("tiers-quiet-from")).input("time"))
                (Field::new(form, &option.part("to"), &text.get("tiers-quiet-to")).input("time"))
                (Field::new(form, &option.part("zone"), &text.get("tiers-quiet-zone")).most(PLACE).suggesting(zones.iter()))
            }
        }
    }
}

fn outcomes(text: Text) -> impl Iterator<Item = (&'static str, String)> {
    let words = move |word: &str| super::outcome(word).map_or_else(String::new, |key| text.get(key));
    UnknownOutcome::ALL.iter().map(move |outcome| (outcome.as_str(), words(outcome.as_str())))
}

/// The options of which a tier or a channel gets other values, each with a checkbox: what is not ticked does not count.
pub(crate) fn ticked(form: &Form, kind: Option<Kind>) -> Markup {
    let text = form.text();
    html! {
        @for option in super::own(kind) {
            div.field {
                label.choice {
                    input type="checkbox" name=(OWN) value=(option.name) checked[form.is_ticked(OWN, option.name)];
                    span { (text.with("tiers-other-value", [("option", option.label(text).into())])) }
                }
                (control(form, option))
            }
        }
    }
}
