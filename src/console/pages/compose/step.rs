//! The four steps of a new send: to whom, what, the check, and when. Each is a page with the same form, which carries the
//! values of the other steps in hidden fields.

use std::collections::HashMap;

use maud::{Markup, html};

use super::STEERING;
use crate::console::form::Form;
use crate::console::text::Text;

/// A step, in the order in which a person takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SendStep {
    Who,
    What,
    Check,
    When,
}

/// The fields of the first step.
const WHO: [&str; 18] = [
    "channel",
    "tag",
    "segment",
    "without",
    "numbers",
    "person",
    "to",
    "number",
    "group",
    "find",
    "find_tag",
    "pick",
    "list",
    "list_name",
    "list_phone",
    "list_reference",
    "list_country",
    "list_tag",
];
/// The fields of the last step. What was checked holds whatever they say.
pub(super) const WHEN: [&str; 4] = ["start", "send_at", "expires_at", "name"];

impl SendStep {
    const ALL: [Self; 4] = [Self::Who, Self::What, Self::Check, Self::When];

    /// The value of the button that leads to it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Who => "who",
            Self::What => "what",
            Self::Check => "check",
            Self::When => "when",
        }
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == word)
    }

    fn word(self, text: Text) -> String {
        text.get(match self {
            Self::Who => "compose-whom",
            Self::What => "compose-what",
            Self::Check => "compose-check",
            Self::When => "compose-when",
        })
    }

    /// The step before this one.
    pub(super) fn before(self) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|step| *step < self)
    }

    /// The first step with a fault; without one, the step to which a person comes back from here.
    pub(super) fn of_fault(self, form: &Form) -> Self {
        let of = |name: &str| match name {
            "" => None,
            name if WHO.contains(&name) => Some(Self::Who),
            name if WHEN.contains(&name) => Some(Self::When),
            _ => Some(Self::What),
        };
        let back = if self == Self::Check { Self::What } else { self };
        form.faulty().filter_map(of).min().unwrap_or(back)
    }
}

/// The line of steps, with the one that the person is at.
pub(super) fn line(text: Text, now: SendStep) -> Markup {
    html! {
        ol.way aria-label=(text.get("compose-steps")) {
            @for step in SendStep::ALL {
                li.past[step < now] aria-current=[(step == now).then_some("step")] { (step.word(text)) }
            }
        }
    }
}

/// The values that the page does not show, so that its form has all of them.
pub(super) fn carried(form: &Form, shown: &Markup) -> Markup {
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut is_shown = |name| {
        *known.entry(name).or_insert_with(|| {
            let written = html! { (name) }.into_string();
            shown.0.contains(&format!("name=\"{written}\""))
        })
    };
    let values = form.words().iter().filter(|(name, value)| !STEERING.contains(name) && !value.is_empty());
    let values: Vec<_> = values.filter(|(name, _)| !is_shown(*name)).collect();
    html! { @for (name, value) in values { input type="hidden" name=(name) value=(value); } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    fn form(values: &[(&str, &str)]) -> Form {
        let values = values.iter().map(|(name, value)| (*name, (*value).to_owned()));
        Form::filled(Text(Language::English), values)
    }

    #[test]
    fn the_first_step_with_a_fault_is_shown() {
        let mut faulty = form(&[]);
        assert_eq!(SendStep::Check.of_fault(&faulty), SendStep::What);
        assert_eq!(SendStep::When.of_fault(&faulty), SendStep::When);
        for (name, step) in [
            ("", SendStep::What),
            ("send_at", SendStep::When),
            ("body_1", SendStep::What),
            ("tag", SendStep::Who),
        ] {
            faulty.fault(name, "wrong");
            assert_eq!(SendStep::Check.of_fault(&faulty), step, "{name}");
        }
        assert_eq!((SendStep::Who.before(), SendStep::When.before()), (None, Some(SendStep::Check)));
    }

    #[test]
    fn only_what_the_page_does_not_show_is_carried() {
        let form =
            form(&[("tag", "a"), ("tag", "b"), ("message", "<hi>"), ("action", "what"), ("caption", "")]);
        let shown = html! { textarea name="message" { "<hi>" } };
        let carried = carried(&form, &shown).into_string();
        assert_eq!(
            carried,
            "<input type=\"hidden\" name=\"tag\" value=\"a\"><input type=\"hidden\" name=\"tag\" value=\"b\">"
        );
    }
}
