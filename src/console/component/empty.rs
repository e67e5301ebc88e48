//! The content of an empty list: what to do first.

use maud::{Markup, html};

/// Says that the list is empty, and shows the first step: a button, a link or a command.
pub(in crate::console) fn empty(sentence: &str, first_step: &Markup) -> Markup {
    html! { div.empty { p { (sentence) } (first_step) } }
}
