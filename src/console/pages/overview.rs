//! What goes on in the company.

use maud::html;

use crate::console::page::{Menu, Page};
use crate::console::visitor::Viewer;

/// Shows it.
pub(in crate::console) async fn show(viewer: Viewer) -> Page {
    let text = viewer.text;
    Page::new(text.get("overview-title"), Menu::Overview, html! { p { bdi { (viewer.company.name) } } })
}
