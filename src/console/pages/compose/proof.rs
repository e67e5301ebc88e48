//! What a check covers, as a word that the form carries: only a form that still has its proof is sent.

use super::choice::Choice;
use super::step::WHEN;
use super::{STEERING, template};
use crate::console::form::Form;

/// What is other than at the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    /// The form, or it was never checked.
    Form,
    /// The template alone, which somebody changed here or at the provider.
    Template,
}

impl Stale {
    /// The differences of a form with proof `now` from one that was checked with proof `before`, if it was.
    pub(super) fn between(before: &str, now: &str) -> Option<Self> {
        let is_same_form = before.split('-').next() == now.split('-').next();
        (before != now).then_some(if is_same_form { Self::Template } else { Self::Form })
    }

    /// The value of the query's field `changed`.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Form => "yes",
            Self::Template => "template",
        }
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        [Self::Form, Self::Template].into_iter().find(|stale| stale.as_str() == word)
    }

    /// The name of the text that says so.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Form => "compose-stale",
            Self::Template => "compose-stale-template",
        }
    }
}

/// The digest of what a person typed: everything but the last step.
pub(super) fn digest(form: &Form) -> String {
    hex::encode(form.words().digest("a new send", &[&STEERING[..], &WHEN[..]].concat()))
}

/// The digest of the form, a dash, and that of the template as it is now.
pub(super) fn proof(form: &Form, choice: &Choice) -> String {
    format!("{}-{}", digest(form), choice.filled().map(template::digest).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_template_is_told_apart_from_another_form() {
        for (before, now, stale) in [
            ("a-1", "a-1", None),
            ("a-1", "a-2", Some(Stale::Template)),
            ("a-1", "b-1", Some(Stale::Form)),
            ("a-1", "b-2", Some(Stale::Form)),
            ("", "a-", Some(Stale::Form)),
        ] {
            assert_eq!(Stale::between(before, now), stale, "{before} {now}");
        }
        assert_eq!(Stale::read(Stale::Template.as_str()), Some(Stale::Template));
        assert_eq!(Stale::read(""), None);
    }
}
