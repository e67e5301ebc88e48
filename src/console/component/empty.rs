//! What stands where there is nothing yet: what to do first.

use maud::{Markup, html};

/// Says that there is nothing, and shows how that changes: a button, a link or a command.
pub(in crate::console) fn empty(sentence: &str, first_step: &Markup) -> Markup {
    html! { div.empty { p { (sentence) } (first_step) } }
}
