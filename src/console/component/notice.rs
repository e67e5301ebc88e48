//! A notice at the head of a page: that something was done, or what to look at first.

use maud::{Markup, html};

/// Something was done. Screen readers say it.
pub(in crate::console) fn done(sentence: &str) -> Markup {
    html! { p.notice.good role="status" { (sentence) } }
}

/// Something is to be known before anything else.
pub(in crate::console) fn warning(content: &Markup) -> Markup {
    html! { div.notice.warning { (content) } }
}

/// Something went wrong.
pub(in crate::console) fn fault(sentence: &str) -> Markup {
    html! { p.notice.bad role="alert" { (sentence) } }
}
