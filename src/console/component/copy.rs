//! Something to be copied: an id, a key, a command. Without script it is selected with one click.

use maud::{Markup, html};

use crate::console::text::Text;

/// A short value with its button. `name` says what it is, for those who do not see where it stands.
pub(in crate::console) fn copy(text: Text, name: &str, value: &str) -> Markup {
    let label = text.with("shell-copy-what", [("what", name.into())]);
    html! {
        span.copy role="group" aria-label=(name) {
            code { (value) }
            button.quiet type="button" data-copy=(value) aria-label=(label) hidden { (text.get("shell-copy")) }
        }
    }
}

/// Something longer: a command, an answer.
pub(in crate::console) fn block(text: Text, name: &str, value: &str) -> Markup {
    html! {
        div.copy.block {
            pre tabindex="0" role="region" aria-label=(name) { code { (value) } }
            button.plain type="button" data-copy=(value) hidden { (text.get("shell-copy")) }
        }
    }
}

/// The id of something, which everything that has one shows.
pub(in crate::console) fn id(text: Text, id: impl std::fmt::Display) -> Markup {
    copy(text, &text.get("shell-id"), &id.to_string())
}
