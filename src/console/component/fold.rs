//! Filters of a list. A phone shows them folded, unless they are in use; a wide page has room for them.

use maud::{Markup, html};

use super::icon::Icon;
use crate::console::text::Text;

/// The form with the filters, which are in use if they narrow the list now.
pub(crate) fn fold(text: Text, is_used: bool, form: &Markup) -> Markup {
    html! {
        details.fold open[is_used] {
            summary { (Icon::Filter) (text.get("shell-filters")) }
            (form)
        }
    }
}
