//! A value to copy: an id, a key, a command. Without script, one click selects it.

use maud::{Markup, html};

use crate::console::text::Text;

/// A short value with its button. `name` describes the value for screen readers.
pub(crate) fn copy(text: Text, name: &str, value: &str) -> Markup {
    let label = text.with("shell-copy-what", [("what", name.into())]);
    html! {
        span.copy role="group" aria-label=(name) {
            code { (value) }
            button.quiet type="button" data-copy=(value) aria-label=(label) hidden { (text.get("shell-copy")) }
        }
    }
}

/// A longer value: a command, an answer.
pub(crate) fn block(text: Text, name: &str, value: &str) -> Markup {
    html! {
        div.copy.block {
            pre tabindex="0" role="region" aria-label=(name) { code { (value) } }
            button.plain type="button" data-copy=(value) hidden { (text.get("shell-copy")) }
        }
    }
}

/// The id of a record; every record with an id shows it.
pub(crate) fn id(text: Text, id: impl std::fmt::Display) -> Markup {
    copy(text, &text.get("shell-id"), &id.to_string())
}
