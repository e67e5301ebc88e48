//! The form with which owners choose how the pages of their company look.

use actix_web::web::{Data, block};
use maud::{Markup, html};
use tokio::sync::Semaphore;

use crate::accounts::Look;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::field::{Field, faults};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::look::{Brand, Colour, Logo, LogoFault, MOST_BYTES, MOST_SIDE, PALETTE};
use crate::console::page::{Menu, Page};
use crate::console::rest;
use crate::console::visitor::Viewer;
use crate::engine::records::looks::LogoChange;
use crate::surface::body::{Fault, Incoming};
use crate::surface::multipart::Multipart;

/// The path of this page.
const PLACE: &str = "/console/company/look";
/// The most characters of the name, which stands in the head of each page.
const NAME: usize = 40;
/// The most bytes of a field that is no file, and of the form without its file.
const TEXT: usize = 1_000;
const AROUND: usize = 64 * 1024;
/// One logo is decoded at a time, because a small file may take some 64 MB then.
static DECODING: Semaphore = Semaphore::const_new(1);
/// The files that a browser offers.
const ACCEPTED: &str = "image/png,image/jpeg,image/webp";

pub(crate) async fn show(viewer: Viewer) -> Page {
    let Look { name, colour, .. } = viewer.company.look.clone();
    let colour = colour.unwrap_or_default();
    let is_listed = PALETTE.iter().any(|(listed, _)| *listed == colour);
    let (listed, own) = if is_listed { (colour, String::new()) } else { (String::new(), colour) };
    let values = [("name", name.unwrap_or_default()), ("colour", listed), ("own", own)];
    page(&viewer, &Form::filled(viewer.text, values))
}

/// Sets name, colour and logo.
pub(crate) async fn save(viewer: Viewer, state: Data<State>, body: Incoming) -> Result<Answer> {
    let text = viewer.text;
    let request = body.request().clone();
    // The page says how large a file may be, so a form that declares more is read up to its file.
    let most = (MOST_BYTES + AROUND).max(body.declared().unwrap_or_default());
    let (mut form, mut parts) = (Form::new(text), Multipart::new(body, most)?);
    let mut file = None;
    while let Some(part) = parts.next().await? {
        match (part.name.as_str(), part.file_name) {
            ("logo", Some(name)) if !name.is_empty() => match parts.bytes(MOST_BYTES).await {
                Ok(bytes) => file = Some(bytes),
                Err(Fault::TooLarge(_)) => {
                    form.fault("logo", text.get("look-too-large"));
                    rest::leave(&request, parts.into_rest(), || {});
                    return Ok(page(&viewer, &form).unprocessable().into());
                }
                Err(fault) => return Err(fault.into()),
            },
            (field @ ("name" | "colour" | "own" | "remove"), None) => {
                let value = parts.text(TEXT).await?;
                form.put(field, value);
            }
            _ => {}
        }
    }
    let name = form.optional("name", NAME);
    if name.as_ref().is_some_and(|name| name.chars().any(char::is_control)) {
        form.fault("name", text.get("link-invalid-name"));
    }
    let colour = colour(&mut form, viewer.company.look.colour.as_deref());
    let logo = match file {
        Some(bytes) => match decoded(bytes).await? {
            Ok(Logo { hash, png }) => LogoChange::Replaced { hash, png },
            Err(fault) => {
                form.fault("logo", refused(&viewer, fault));
                LogoChange::Kept
            }
        },
        None if form.words().has("remove", "yes") => LogoChange::Removed,
        None => LogoChange::Kept,
    };
    if form.has_faults() {
        return Ok(page(&viewer, &form).unprocessable().into());
    }
    let records = state.engine.company(viewer.company.id).await?;
    records.look().set(&viewer.who(), name.as_deref(), colour.as_deref(), logo).await?;
    drop(records);
    Ok(Answer::done(&state, &viewer, text.get("look-saved"), PLACE))
}

/// Gives the pages the look of the product again.
pub(crate) async fn reset(viewer: Viewer, state: Data<State>) -> Result<Answer> {
    let records = state.engine.company(viewer.company.id).await?;
    records.look().set(&viewer.who(), None, None, LogoChange::Removed).await?;
    drop(records);
    Ok(Answer::done(&state, &viewer, viewer.text.get("look-is-reset"), PLACE))
}

/// Reads a logo when it is its turn. The turn lasts until it is read, also when the browser is gone before.
async fn decoded(bytes: Vec<u8>) -> Result<Result<Logo, LogoFault>> {
    let turn = DECODING.acquire().await.map_err(|_| Error::Internal)?;
    let read = move || {
        let logo = Logo::read(&bytes);
        drop(turn);
        logo
    };
    block(read).await.map_err(|_| Error::Internal)
}

/// The colour of the form as it is stored; with a fault for a text that is none. A colour of the list counts before a typed
/// one that the pages have already: the person just chose it.
fn colour(form: &mut Form, stored: Option<&str>) -> Option<String> {
    let is_listed = !form.words().one("colour").is_empty();
    let own = form.optional("own", TEXT).filter(|own| !is_listed || Some(own.as_str()) != stored);
    let (field, typed) = match own {
        Some(own) => ("own", own),
        None => ("colour", form.optional("colour", TEXT)?),
    };
    let colour = Colour::parse(&typed);
    if colour.is_none() {
        form.fault(field, form.text().get("look-no-colour"));
    }
    colour.map(|colour| colour.to_string())
}

fn refused(viewer: &Viewer, fault: LogoFault) -> String {
    match fault {
        LogoFault::NoPicture => viewer.text.get("look-no-picture"),
        LogoFault::TooManyPixels => viewer.text.with("look-many-pixels", [("most", MOST_SIDE.into())]),
    }
}

fn page(viewer: &Viewer, form: &Form) -> Page {
    let text = viewer.text;
    let look = &viewer.company.look;
    let own = [(String::new(), text.get("look-own"))].into_iter();
    let palette = own.chain(PALETTE.map(|(colour, key)| (colour.to_owned(), text.get(key))));
    let logo =
        Field::new(form, "logo", &text.get("look-logo")).hint(&text.get("look-logo-hint")).file(ACCEPTED);
    let body = html! {
        p { (text.get("look-what")) }
        form.panel method="post" action=(PLACE) enctype="multipart/form-data" {
            (faults(form))
            (Field::new(form, "name", &text.get("look-name")).hint(&text.get("look-name-hint")).most(NAME).text())
            (Field::new(form, "colour", &text.get("look-colour")).select(palette))
            (Field::new(form, "own", &text.get("look-other")).hint(&text.get("look-other-hint")).most(7).text())
            (logo)
            @if look.logo.is_some() {
                label.choice {
                    input type="checkbox" name="remove" value="yes" checked[form.is_ticked("remove", "yes")];
                    span { (text.get("look-remove")) }
                }
            }
            button type="submit" { (text.get("look-save")) }
        }
        @if let Some(colour) = look.colour.as_deref().and_then(Colour::parse) { (shown(viewer, colour)) }
        @if *look != Look::default() {
            (confirm(text, &format!("{PLACE}/reset"), &text.get("look-reset"), &text.get("look-reset-question")))
        }
        p { a href="/console/company" { (text.get("company-title")) } }
    };
    Page::new(text.get("look-title"), Menu::Company, body)
}

/// The colour as it is on light and on dark surfaces, and whether it had to be corrected there.
fn shown(viewer: &Viewer, colour: Colour) -> Markup {
    let text = viewer.text;
    let name = Brand::new(&viewer.company.name, &viewer.company.look).name().to_owned();
    let shades = [
        (colour.on_light(), "#ffffff", "look-light-as-chosen", "look-light-darker"),
        (colour.on_dark(), "#181d1b", "look-dark-as-chosen", "look-dark-lighter"),
    ];
    html! {
        section.panel aria-labelledby="shades" {
            h2 id="shades" { (text.get("look-shades")) }
            ul.shades {
                @for (shade, surface, same, other) in shades {
                    li {
                        svg viewBox="0 0 160 48" aria-hidden="true" {
                            rect width="160" height="48" rx="8" fill=(surface) {}
                            text x="80" y="30" text-anchor="middle" font-size="16" fill=(shade) { (name) }
                        }
                        span {
                            @if shade == colour { (text.get(same)) }
                            @else { (text.with(other, [("colour", shade.to_string().into())])) }
                        }
                    }
                }
            }
        }
    }
}
