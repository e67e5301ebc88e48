//! The check of a business account at the provider, field by field, with what failed in words.

use actix_web::web::Data;
use maud::{Markup, PreEscaped, html};

use super::{back, of_kind};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::icon::Icon;
use crate::console::component::notice::{fault, warning};
use crate::console::component::time::ahead;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};
use crate::domain::message::Failure;
use crate::domain::provider::TokenEnd;
use crate::engine::{Checked, CheckedField, Unfit};

/// The name of the result that the page shows once. It begins with the id of its channel.
const RESULT: &str = "checked";

/// The fields in the order of the checks, with the key of what is true of each that passed.
const FIELDS: [(CheckedField, &str); 4] = [
    (CheckedField::Token, "channels-check-token"),
    (CheckedField::Number, "channels-check-number"),
    (CheckedField::Account, "channels-check-account"),
    (CheckedField::Belonging, "channels-check-belonging"),
];

/// The state of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passed {
    Yes,
    No,
    NotAsked,
}

/// Asks the provider about the channel now.
pub(crate) async fn check(viewer: Viewer, state: Data<State>, id: Id, form: Form) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::BusinessAccount).await?;
    let subscribes = form.words().has("subscribe", "yes");
    let checked = state.engine.channels().check(channel.id, subscribes).await?.ok_or(Error::NotFound)?;
    keep(&viewer, &state, &channel, &checked);
    Ok(back(&channel))
}

/// Keeps a result for the next page of its channel.
pub(crate) fn keep(viewer: &Viewer, state: &State, channel: &Channel, checked: &Result<Checked, Unfit>) {
    let shown = result(viewer, channel, checked).into_string();
    state.flashes.put(viewer.session, RESULT, format!("{}{shown}", channel.id));
}

/// The part of the page: the result of the latest check, once, and the button for the next.
pub(super) fn part(viewer: &Viewer, state: &State, channel: &Channel) -> Markup {
    let text = viewer.text;
    let kept = state.flashes.take(viewer.session, RESULT);
    // Another channel's may have been kept, in another tab.
    let shown = kept.as_deref().and_then(|kept| kept.strip_prefix(channel.id.to_string().as_str()));
    html! {
        section.panel {
            h2 { (text.get("channels-check-title")) }
            @match shown {
                // It was made by `result`, and waited for this page.
                Some(shown) => (PreEscaped(shown)),
                None => p { (text.get("channels-check-hint")) },
            }
            form method="post" action=(format!("/console/channels/{}/check", channel.id)) {
                button.plain type="submit" { (text.get("channels-check")) }
            }
        }
    }
}

/// What the provider said about the channel.
fn result(viewer: &Viewer, channel: &Channel, checked: &Result<Checked, Unfit>) -> Markup {
    let text = viewer.text;
    match checked {
        Ok(Checked { number: _, token_end, is_subscribed }) => html! {
            (list(text, None, *is_subscribed))
            @if *is_subscribed == Some(false) {
                (warning(&html! { p { (text.get("channels-not-subscribed")) } }))
                form method="post" action=(format!("/console/channels/{}/check", channel.id)) {
                    input type="hidden" name="subscribe" value="yes";
                    button.plain type="submit" { (text.get("channels-subscribe")) }
                }
            }
            @match token_end {
                TokenEnd::Never => p { (text.get("channels-token-never-ends")) },
                TokenEnd::Unknown => p.soft { (text.get("channels-token-end-unknown")) " " (text.get("channels-token-permanent")) },
                TokenEnd::At(end) => (warning(&html! {
                    p { (text.get("channels-token-ends")) " " (ahead(viewer, *end)) }
                    p { (text.get("channels-token-permanent")) }
                })),
            }
        },
        Err(unfit) => html! {
            (list(text, Some(unfit), None))
            (fault(&words(text, unfit)))
        },
    }
}

/// Every check, in order: those before a refused one passed, and those after it were not made.
pub(crate) fn list(text: Text, unfit: Option<&Unfit>, is_subscribed: Option<bool>) -> Markup {
    let passed = |field: CheckedField| match (unfit, unfit.and_then(Unfit::field)) {
        (None, _) => Passed::Yes,
        (Some(_), Some(refused)) if field == refused => Passed::No,
        (Some(_), Some(refused)) if field < refused => Passed::Yes,
        (Some(_), _) => Passed::NotAsked,
    };
    let webhook = match is_subscribed {
        Some(true) => Passed::Yes,
        Some(false) => Passed::No,
        None => Passed::NotAsked,
    };
    let checks = FIELDS.into_iter().map(|(field, key)| (passed(field), key));
    html! {
        ul.checks aria-label=(text.get("channels-check-title")) {
            @for (passed, key) in checks.chain([(webhook, "channels-check-webhook")]) {
                @let (icon, word) = match passed {
                    Passed::Yes => (Icon::Done, "channels-check-yes"),
                    Passed::No => (Icon::Bad, "channels-check-no"),
                    Passed::NotAsked => (Icon::ToDo, "channels-check-open"),
                };
                li { (icon) span { (text.get(key)) ": " strong { (text.get(word)) } } }
            }
        }
    }
}

/// The objection in words, with the provider's own sentence.
pub(crate) fn words(text: Text, unfit: &Unfit) -> String {
    let (key, Failure { code, sentence }) = match unfit {
        Unfit::Token(said) => ("channels-unfit-token", said),
        Unfit::Number(said) => ("channels-unfit-number", said),
        Unfit::Account(said) => ("channels-unfit-account", said),
        Unfit::Restricted(said) => ("channels-unfit-restricted", said),
        Unfit::Away(said) => ("channels-unfit-away", said),
        Unfit::OtherAccount => return text.get("channels-unfit-other-account"),
    };
    // Most of the provider's sentences begin with the code.
    let code = code.map(|code| code.to_string()).filter(|code| !sentence.contains(code.as_str()));
    let code = code.map_or_else(String::new, |code| format!(" · {code}"));
    format!("{} [{sentence}{code}]", text.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    #[test]
    fn checks_before_the_refused_one_passed_and_later_ones_were_not_made() {
        let shown = list(Text(Language::English), Some(&Unfit::OtherAccount), None).into_string();
        let states: Vec<_> =
            shown.split("<strong>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
        assert_eq!(states, ["yes", "yes", "yes", "no", "not checked"]);
        let away = Unfit::Away(Failure { code: None, sentence: "cannot connect".to_owned() });
        let shown = list(Text(Language::English), Some(&away), None).into_string();
        assert!(!shown.contains(">yes<") && !shown.contains(">no<"), "{shown}");
        assert!(words(Text(Language::English), &away).ends_with("[cannot connect]"));
    }
}
