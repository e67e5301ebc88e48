//! The links to the pages of a list, which keep its filters.

use maud::{Markup, html};

use crate::console::query::Query;
use crate::console::text::Text;
use crate::domain::page::PageRequest;

/// The pager of a list whose number is `page` in the address.
pub(crate) fn pager(text: Text, query: &Query, page: PageRequest, total: u64) -> Markup {
    named(text, query, "page", page, total)
}

/// The number of the page, and links to its neighbours; nothing when there is only one page. The number is
/// `name` in the address.
pub(crate) fn named(text: Text, query: &Query, name: &str, page: PageRequest, total: u64) -> Markup {
    let pages = total.div_ceil(page.limit.max(1));
    if pages <= 1 && page.page <= 1 {
        return html! {};
    }
    let current = u64::try_from(page.page).unwrap_or(u64::MAX);
    let link = |number: u64, key: &str, rel: &str| {
        html! { a rel=(rel) href=(query.with(name, &number.to_string())) { (text.get(key)) } }
    };
    html! {
        nav.pager aria-label=(text.get("shell-pages")) {
            @if current > 1 {
                (link(1, "shell-page-first", "first"))
                (link((current - 1).min(pages.max(1)), "shell-page-before", "prev"))
            }
            span { (text.with("shell-page-of", [("page", current.into()), ("pages", pages.into()), ("total", total.into())])) }
            @if current < pages {
                (link(current + 1, "shell-page-next", "next"))
                (link(pages, "shell-page-last", "last"))
            }
        }
    }
}
