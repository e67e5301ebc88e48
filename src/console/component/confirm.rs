//! A button that does something which cannot be undone: it asks first, without script too.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use maud::{Markup, html};

use crate::console::text::Text;

/// A button of this name. What it opens says what will happen, and has the button that does it.
pub(in crate::console) fn confirm(text: Text, action: &str, label: &str, question: &str) -> Markup {
    with(text, action, label, question, &html! {})
}

/// The same with fields of its own, hidden ones above all.
pub(in crate::console) fn with(
    text: Text,
    action: &str,
    label: &str,
    question: &str,
    fields: &Markup,
) -> Markup {
    let id = id(action, label, fields);
    let close = text.get("shell-close");
    html! {
        button.risky type="button" popovertarget=(id) { (label) }
        div.confirm popover id=(id) role="dialog" aria-label=(label) {
            form method="post" action=(action) {
                p { (question) }
                (fields)
                div.row.end {
                    button.plain type="button" popovertarget=(id) popovertargetaction="hide" { (close) }
                    button.danger type="submit" { (text.with("shell-confirm", [("what", label.into())])) }
                }
            }
        }
    }
}

/// The same for the same button each time that the page is made.
fn id(action: &str, label: &str, Markup { 0: fields }: &Markup) -> String {
    let mut hasher = DefaultHasher::new();
    (action, label, fields).hash(&mut hasher);
    format!("confirm-{:x}", hasher.finish())
}
