//! What the company does with opt-out words that people write to it: the panel below its suppressions.

use actix_web::web::Data;
use maud::{Markup, html};

use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::opt_out::{InvalidWords, LONGEST_WORD, List, MOST_WORDS, OptOutWords, START, STOP};
use crate::domain::page::PageRequest;
use crate::domain::suppression::Suppression;

/// The value of the form's choice for words without effect.
const NOTHING: &str = "nothing";
/// The longest list of words, in characters: all of them with the ends of their lines.
const LONGEST_LIST: usize = MOST_WORDS * (LONGEST_WORD + 2);

/// The form, and whether it was just submitted.
pub(super) struct Shown<'a> {
    pub(super) form: &'a Form,
    pub(super) is_open: bool,
}

/// The form with these settings.
pub(super) fn filled(text: Text, words: &OptOutWords) -> Form {
    let scope = words.scope.map_or(NOTHING, Suppression::as_str);
    let fields = [
        ("stops", scope.to_owned()),
        ("stop_words", words.stop_words.join("\n")),
        ("start_words", words.start_words.join("\n")),
    ];
    Form::filled(text, fields)
}

/// Sets what opt-out words do.
pub(crate) async fn set_words(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    let choices = [Suppression::Everything.as_str(), Suppression::Marketing.as_str(), NOTHING];
    let scope = form.choice("stops", &choices).and_then(|word| word.parse::<Suppression>().ok());
    let mut list = |name: &str| {
        let words = form.optional(name, LONGEST_LIST).unwrap_or_default();
        words.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (stop_words, start_words) = (list("stop_words"), list("start_words"));
    let words = OptOutWords::new(scope, stop_words, start_words);
    if let Err((list, wrong)) = &words {
        let name = if *list == List::Stop { "stop_words" } else { "start_words" };
        form.fault(name, sentence(text, wrong));
    }
    let (Ok(words), false) = (words, form.has_faults()) else {
        let first = PageRequest { page: 1, limit: state.options.page_size };
        let found = super::read(&viewer, &state, first, "").await?;
        let other = Form::filled(text, [("scope", Suppression::Marketing.as_str().to_owned())]);
        let shown = Shown { form: &form, is_open: true };
        let adding =
            super::Adding { form: &other, meant: &[], country: super::country(&viewer, &state).await? };
        return Ok(super::page(&viewer, &adding, &shown, None, "", &found).unprocessable().into());
    };
    let records = state.engine.company(viewer.company.id).await?;
    records.suppressions().set_words(&viewer.who(), &words).await?;
    Ok(Answer::done(&state, &viewer, text.get("suppressions-words-set"), "/console/suppressions"))
}

fn sentence(text: Text, wrong: &InvalidWords) -> String {
    match wrong {
        InvalidWords::TooMany => text.with("suppressions-words-many", [("most", MOST_WORDS.into())]),
        InvalidWords::TooLong(word) => text
            .with("suppressions-words-long", [("word", word.as_str().into()), ("most", LONGEST_WORD.into())]),
        InvalidWords::Both(word) => text.with("suppressions-words-both", [("word", word.as_str().into())]),
    }
}

/// The panel: a form for owners, the settings in words for everybody else.
pub(super) fn panel(viewer: &Viewer, shown: &Shown<'_>) -> Markup {
    let (text, form) = (viewer.text, shown.form);
    let choices = [
        (Suppression::Everything.as_str(), text.get("suppressions-words-everything")),
        (Suppression::Marketing.as_str(), text.get("suppressions-words-marketing")),
        (NOTHING, text.get("suppressions-words-nothing")),
    ];
    let (stop, start) = (listed(STOP), listed(START));
    let how = text
        .with("suppressions-words-how", [("stop", stop.as_str().into()), ("start", start.as_str().into())]);
    let now = choices.iter().find(|(value, _)| *value == form.value("stops")).map(|(_, words)| words);
    html! {
        section.panel aria-labelledby="words" {
            h2 id="words" { (text.get("suppressions-words")) }
            p { (how) }
            @if viewer.is_owner() {
                form method="post" action="/console/suppressions/words" {
                    @if shown.is_open { (faults(form)) }
                    (Field::new(form, "stops", &text.get("suppressions-words-stop")).radios(choices))
                    (Field::new(form, "stop_words", &text.get("suppressions-words-own-stop"))
                        .hint(&text.get("suppressions-words-own-hint")).most(LONGEST_LIST).area(3))
                    (Field::new(form, "start_words", &text.get("suppressions-words-own-start"))
                        .hint(&text.get("suppressions-words-own-hint")).most(LONGEST_LIST).area(2))
                    button.plain type="submit" { (text.get("suppressions-words-save")) }
                }
            } @else {
                p { (text.get("suppressions-words-stop")) " " strong { (now.map_or("", String::as_str)) } }
            }
        }
    }
}

/// Words for a sentence, as people write them.
fn listed(words: &[&str]) -> String {
    words.iter().map(|word| word.to_uppercase()).collect::<Vec<_>>().join(", ")
}
