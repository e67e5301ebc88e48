//! A notice at the head of a page: something was done, or something needs attention first.

use maud::{Markup, html};

/// Says that something was done, also to screen readers.
pub(in crate::console) fn done(sentence: &str) -> Markup {
    html! { p.notice.good role="status" { (sentence) } }
}

/// Says what the reader has to know first.
pub(in crate::console) fn warning(content: &Markup) -> Markup {
    html! { div.notice.warning { (content) } }
}

/// Says that something went wrong.
pub(in crate::console) fn fault(sentence: &str) -> Markup {
    html! { p.notice.bad role="alert" { (sentence) } }
}

/// Says that something went wrong, with links.
pub(in crate::console) fn alarm(content: &Markup) -> Markup {
    html! { div.notice.bad role="alert" { (content) } }
}
