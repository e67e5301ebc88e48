//! Programs written for Meta that work with the company's channels: connected in one step, checked again, and disconnected.

pub(in crate::console) mod chatwoot;
pub(in crate::console) mod one;
pub(in crate::console) mod typebot;
mod words;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::notice::{done, warning};
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::options::GraphPlace;
use crate::console::page::{Menu, Page};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::{State, address};
use crate::domain::channel::Channel;
use crate::domain::graph::ProgramKind;
use crate::domain::page::PageRequest;
use crate::engine::programs::Programs;

/// The path of these pages.
const PLACE: &str = "/console/programs";
/// The name under which a new key is kept until it is shown, behind the id of its program.
const KEY: &str = "program key";
/// The name under which the result of a check is kept until it is shown, behind the id of its program.
const CHECKED: &str = "program checks";
/// The most channels that a form offers.
const OFFERED: u64 = 200;
/// The longest address, in characters.
const ADDRESS: usize = 2_048;
/// What opens the door.
const OPEN: &str = "[graph]\nenabled = true";

pub(in crate::console) async fn show(viewer: Viewer, state: Data<State>) -> Result<Page, Error> {
    let text = viewer.text;
    let programs = Programs::new(&state.engine, viewer.company.id).all().await?;
    let channels = offered(&viewer, &state).await?;
    let name = |id: Uuid| channels.iter().find(|channel| channel.id == id).map(|channel| &channel.name);
    let columns = [
        Column::words(text.get("programs-program")),
        Column::words(text.get("programs-channel")),
        Column::words(text.get("programs-address")),
        Column::words(text.get("programs-since")),
    ];
    let rows = programs.iter().map(|program| {
        vec![
            html! { a href=(place(program.id)) { (program.kind.title()) } },
            html! {
                @match name(program.channel_id) {
                    Some(name) => bdi { (name) },
                    None => span.soft { (text.get("programs-channel-gone")) },
                }
            },
            html! {
                @if program.webhook_id.is_none() { (text.get("programs-unfinished")) }
                @else { bdi { (program.address) } }
            },
            moment(&viewer, program.created_at),
        ]
    });
    let is_closed = state.options.graph == GraphPlace::Closed;
    let body = html! {
        @if let Some(said) = state.flashes.take(viewer.session, "done") { (done(&said)) }
        p { (text.get("programs-lead")) }
        @if is_closed { (closed(text)) }
        @if programs.is_empty() {
            (empty(&text.get("programs-none"), &html! { p.soft { (text.get("programs-none-hint")) } }))
        } @else { (table(&text.get("programs-title"), &columns, rows)) }
    };
    let page = Page::new(text.get("programs-title"), Menu::Programs, body);
    Ok(if is_closed { page } else { page.action(choices(text)) })
}

/// The programs that can be connected.
fn choices(text: Text) -> Markup {
    html! {
        a.button href=(format!("{PLACE}/chatwoot")) { (text.get("programs-chatwoot")) }
        a.button.plain href=(format!("{PLACE}/typebot")) { (text.get("programs-typebot")) }
    }
}

/// Says that the operator has to open the door first.
fn closed(text: Text) -> Markup {
    html! {
        (warning(&html! { p { (text.get("programs-closed")) } }))
        (copy::block(text, &text.get("programs-closed-option"), OPEN))
    }
}

/// The address of the page of a program.
fn place(id: Uuid) -> String {
    format!("{PLACE}/{id}")
}

/// The company's channels that a form offers, the newest first.
async fn offered(viewer: &Viewer, state: &State) -> Result<Vec<Channel>, Error> {
    let first = PageRequest { page: 1, limit: OFFERED };
    let records = state.engine.company(viewer.company.id).await?;
    Ok(records.channels().page(first, None).await?.records)
}

/// The field that chooses one of these channels.
fn channel_field(form: &Form, channels: &[Channel]) -> Markup {
    let label = form.text().get("programs-channel");
    let options = channels.iter().map(|channel| (channel.id.to_string(), channel.name.as_str()));
    Field::new(form, "channel", &label).required().select(options)
}

/// The chosen channel.
fn chosen<'c>(form: &mut Form, channels: &'c [Channel]) -> Option<&'c Channel> {
    let given = form.words().one("channel").to_owned();
    let chosen = channels.iter().find(|channel| channel.id.to_string() == given);
    if chosen.is_none() {
        form.fault("channel", form.text().get("fault-field-choice"));
    }
    chosen
}

/// The line in the environment of a program by which it asks this service.
fn line(kind: ProgramKind, base: &str) -> String {
    let variable = match kind {
        ProgramKind::Chatwoot => "WHATSAPP_CLOUD_BASE_URL",
        ProgramKind::Typebot => "WHATSAPP_CLOUD_API_URL",
    };
    format!("{variable}={base}")
}

/// That line, with what else is to know about it.
fn base_url(text: Text, state: &State, kind: ProgramKind, base: &str) -> Markup {
    html! {
        p { (text.with("programs-line", [("program", kind.title().into())])) }
        (copy::block(text, &text.get("programs-line-name"), &line(kind, base)))
        @if state.options.graph == GraphPlace::Apart { p.soft { (text.get("programs-apart")) } }
        p.soft { (text.with("programs-whole", [("program", kind.title().into())])) }
    }
}

/// The page of a form that connects a program: what comes before it, and its fields.
fn connecting(
    (viewer, state): (&Viewer, &State),
    request: &HttpRequest,
    kind: ProgramKind,
    channels: &[Channel],
    form: &Markup,
) -> Page {
    let (text, base) = (viewer.text, address::base(request, state));
    let body = html! {
        @if state.options.graph == GraphPlace::Closed { (closed(text)) }
        @else if channels.is_empty() {
            (empty(&text.get("programs-no-channel"), &html! {
                a.button href="/console/channels/new" { (text.get("programs-add-channel")) }
            }))
        } @else {
            section.panel {
                h2 { (text.get("programs-first")) }
                (base_url(text, state, kind, &base))
            }
            (form)
        }
    };
    let title = match kind {
        ProgramKind::Chatwoot => text.get("programs-chatwoot"),
        ProgramKind::Typebot => text.get("programs-typebot"),
    };
    // The form may be shown again beside a token that is wrong.
    Page::new(title, Menu::Programs, body).secret()
}
