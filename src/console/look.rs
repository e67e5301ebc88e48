//! How the pages of a company look: its name and logo in the head, and its colour. The files are public, because visitors
//! see them on invitations. Their addresses follow from their content, so that browsers keep them.

mod colour;
mod logo;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};

pub(super) use self::colour::{Colour, PALETTE};
pub(super) use self::logo::{Logo, LogoFault, MOST_BYTES, MOST_SIDE};
use super::State;
use super::assets;
use super::error::{Error, Result};
use crate::accounts::Look;
use crate::engine::records::logo as logo_of;

/// The name of the product, where a company chose none.
const PRODUCT: &str = "Pombo";
/// The hexadecimal digits of a logo's hash.
const DIGITS: usize = 64;

/// What stands in the head of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Brand {
    name: Option<String>,
    colour: Option<Colour>,
    logo: Option<String>,
}

impl Brand {
    /// The brand of the company of this name. Beside a logo of its own stands its own name.
    pub(super) fn new(company: &str, Look { name, colour, logo }: &Look) -> Self {
        Self {
            name: name.clone().or_else(|| logo.as_ref().map(|_| company.to_owned())),
            colour: colour.as_deref().and_then(Colour::parse),
            logo: logo.clone(),
        }
    }

    /// The name in the head.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(PRODUCT)
    }

    /// The logo beside the name.
    pub(super) fn mark(&self) -> Markup {
        match &self.logo {
            Some(hash) => html! { img.logo src=(format!("/console/look/{hash}.png")) alt=""; },
            None => assets::mark(),
        }
    }

    /// The address of the style sheet with the colour, if there is one.
    pub(super) fn stylesheet(&self) -> Option<String> {
        self.colour.map(|colour| format!("/console/look/{}.css", colour.digits()))
    }
}

/// Answers with a logo, or with the style sheet of a colour, which follows from the colour alone.
pub(super) async fn serve(request: HttpRequest, state: Data<State>) -> Result<HttpResponse> {
    let file = request.match_info().query("file");
    if let Some(colour) = file.strip_suffix(".css").and_then(Colour::of_digits) {
        return Ok(kept("text/css; charset=utf-8", colour.stylesheet().into_bytes()));
    }
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let hash = file.strip_suffix(".png").filter(|hash| hash.len() == DIGITS && hash.bytes().all(is_digit));
    let png = logo_of(&state.engine, hash.ok_or(Error::NotFound)?).await?;
    Ok(kept("image/png", png.ok_or(Error::NotFound)?))
}

/// A file that browsers keep for a year.
fn kept(kind: &'static str, content: Vec<u8>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, kind))
        .insert_header((CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .body(content)
}
