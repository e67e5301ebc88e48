//! A notice at the place that it is about: something was done, or something needs attention first.

use maud::{Markup, html};

use super::icon::Icon;

/// Says that something was done, also to screen readers.
pub(crate) fn done(sentence: &str) -> Markup {
    html! { p.notice.good role="status" { (Icon::Done) span { (sentence) } } }
}

/// Says what the reader has to know first.
pub(crate) fn warning(content: &Markup) -> Markup {
    html! { div.notice.warning { (Icon::Warning) div { (content) } } }
}

/// Says that something went wrong.
pub(crate) fn fault(sentence: &str) -> Markup {
    html! { p.notice.bad role="alert" { (Icon::Bad) span { (sentence) } } }
}

/// Says that something went wrong, and has the focus when the page opens: nothing else on the page is more urgent.
pub(crate) fn focused(sentence: &str) -> Markup {
    html! { p.notice.bad role="alert" tabindex="-1" autofocus { (Icon::Bad) span { (sentence) } } }
}

/// Says that something went wrong, with links.
pub(crate) fn alarm(content: &Markup) -> Markup {
    html! { div.notice.bad role="alert" { (Icon::Bad) div { (content) } } }
}
