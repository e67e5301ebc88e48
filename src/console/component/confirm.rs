//! A button that does something which cannot be undone: it asks first. With script in a dialog; without it, the button
//! stands behind a line that opens.

use maud::{Markup, html};

use crate::console::text::Text;

/// A form of one dangerous button. `question` says what will happen.
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
    html! {
        details.confirm {
            summary role="button" { (label) }
            form method="post" action=(action) {
                p { (question) }
                (fields)
                button.danger type="submit" { (text.with("shell-confirm", [("what", label.into())])) }
            }
        }
    }
}
