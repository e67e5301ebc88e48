//! The content of an empty list: what to do first.

use maud::{Markup, html};

use super::icon::Icon;

/// Says that the list is empty, and shows the first step: a button, a link or a command.
pub(crate) fn empty(sentence: &str, first_step: &Markup) -> Markup {
    html! { div.empty { (Icon::Nothing) p { (sentence) } (first_step) } }
}
