//! The third step: what would be sent, with what needs attention first.

use maud::{Markup, html};

use super::{Around, Checked, Found, audience, columns, files, list, looked, preview, web};
use crate::console::component::notice;
use crate::console::form::Form;
use crate::console::pages::send::again;
use crate::console::visitor::Viewer;

/// The result of the check, beside the message.
pub(super) fn shown(viewer: &Viewer, form: &Form, around: &Around, checked: &Checked) -> Markup {
    let text = viewer.text;
    html! {
        div.with-preview {
            div {
                @if let Some(stale) = checked.stale { (notice::warning(&html! { p { (text.get(stale.key())) } })) }
                @if checked.counting.is_some() { p.notice role="status" { (text.get("compose-counting")) } }
                @match &checked.found {
                    Some(Found::Bulk(found)) => {
                        @let (dry_run, seen, looked) = &**found;
                        (files::problems(text, seen))
                        @if around.choice.filled().is_none() {
                            (notice::warning(&html! { p { (text.get("compose-window")) } }))
                        }
                        @let suppressed = dry_run.suppressed.values().sum::<u64>();
                        @if suppressed > 0 {
                            (notice::warning(&html! { p { (text.with("compose-reach-opted-out", [("count", suppressed.into())])) } }))
                        }
                        (again::outcome(viewer, dry_run, looked.is_some()))
                        (files::shown(viewer, seen))
                        @if let Some(found) = looked {
                            (looked::rows(viewer, form, (dry_run.recipients, &dry_run.skipped), found))
                        }
                    }
                    Some(Found::Nobody(found)) => (looked::rows(viewer, form, (0, &found.0), &found.1)),
                    Some(Found::Web(dry_run)) => (web::outcome(viewer, dry_run)),
                    None => {}
                }
                (recipients(viewer, form, around))
            }
            @match &checked.found {
                Some(Found::Bulk(found)) if !found.0.examples.is_empty() => (looked::examples(viewer, around, &found.0)),
                _ => (preview::preview(text, &around.choice, &columns::shown(form.words(), around.list.as_ref()), &around.sample)),
            }
        }
    }
}

/// Through which channel, to which tags, and without which.
fn recipients(viewer: &Viewer, form: &Form, around: &Around) -> Markup {
    let (text, words) = (viewer.text, form.words());
    let (tags, without) = (around.audience.chosen_tags(words), around.audience.left_out_tags(words));
    let numbers = audience::count(words);
    html! {
        dl.facts.panel {
            @if let Some(channel) = &around.choice.channel {
                dt { (text.get("compose-channel")) } dd { bdi { (channel.name) } }
            }
            @if list::named(words).is_some() && !around.choice.is_web() { dt { (text.get("compose-list")) } dd { bdi { (words.one(list::FILE_NAME)) } } }
            @if !tags.is_empty() { dt { (text.get("compose-tags")) } dd { (listed(&tags)) } }
            @if !without.is_empty() { dt { (text.get("compose-without")) } dd { (listed(&without)) } }
            @if numbers > 0 && !around.choice.is_web() { dt { (text.get("compose-numbers")) } dd { (text.number(numbers)) } }
        }
    }
}

fn listed(names: &[String]) -> Markup {
    html! { ul.tags { @for name in names { li { bdi { (name) } } } } }
}
