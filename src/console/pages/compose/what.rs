//! The second step: the kind of message, its content, and its preview.

use maud::{Markup, html};

use super::choice::{self, Choice};
use super::content::{self, Kind};
use super::{Around, cards, columns, instead, preview};
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::form::Form;
use crate::console::visitor::Viewer;

/// The fields of the step, beside the preview.
pub(super) fn fields(viewer: &Viewer, form: &Form, around: &Around) -> Markup {
    let (text, choice) = (viewer.text, &around.choice);
    let is_choosing = choice.kind == Kind::Template && choice.template.is_none();
    html! {
        div class=[(!is_choosing).then_some("with-preview")] {
            section.panel {
                h2 { (text.get("compose-what")) }
                (kind(form, choice))
                @if choice.fits() {
                    @if choice.kind == Kind::Template { (cards::fields(text, form, choice)) }
                    @if !is_choosing {
                        (columns::fields(text, choice, around.list.as_ref(), form))
                        (content::fields(text, choice, form))
                        @if choice.kind != Kind::Template { (instead::fields(text, choice, form)) }
                    }
                } @else {
                    (notice::fault(&text.get("compose-fault-web-type")))
                }
            }
            @if !is_choosing {
                (preview::preview(text, choice, &columns::shown(form.words(), around.list.as_ref()), &around.sample))
            }
        }
    }
}

/// The kind of message, with a button that shows its fields.
fn kind(form: &Form, choice: &Choice) -> Markup {
    let text = form.text();
    let chosen = &Form::filled(text, [("type", choice.kind.as_str().to_owned())]);
    let kinds = choice.kinds().iter().map(|kind| (kind.as_str(), kind.word(text)));
    html! {
        div.row.bottom {
            (Field::new(chosen, "type", &text.get("compose-type")).select(kinds))
            button.plain type="submit" name="action" value=(choice::CHOOSE) formnovalidate { (text.get("compose-show")) }
        }
    }
}
