//! The layout of every page: head, navigation, the chosen company, and the foot.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, ResponseError as _};
use maud::{DOCTYPE, Markup, html};

use super::assets;
use super::component::explain;
use super::error::Error;
use super::language::Language;
use super::menu::navigation;
use super::page::{self, Menu, Page};
use super::visitor::Visitor;
use crate::surface::Proxies;

/// The whole document.
pub(super) fn page(visitor: &Visitor, path: &str, page: &Page) -> Markup {
    let text = visitor.text;
    let class = if visitor.person.is_some() { "signed-in" } else { "visitor" };
    html! {
        (DOCTYPE)
        html lang=(text.0.as_str()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " · Pombo" }
                link rel="icon" type="image/svg+xml" href=(assets::ICON.address());
                link rel="stylesheet" href=(assets::STYLE.address());
                script src=(assets::SCRIPT.address()) defer {}
            }
            body class=(class) data-copied=(text.get("shell-copied")) data-upload=(text.get("shell-uploading")) {
                a.skip href="#main" { (text.get("shell-skip")) }
                (head(visitor))
                @if let Some(person) = &visitor.person { (navigation(person, page.menu)) }
                main id="main" tabindex="-1" data-live=[page.live.as_deref()] {
                    h1 { (page.title) }
                    (page.body)
                }
                (foot(visitor, path))
            }
        }
    }
}

fn head(visitor: &Visitor) -> Markup {
    let text = visitor.text;
    html! {
        header.top {
            a.brand href="/console" { (assets::mark()) "Pombo" }
            @if let Some(person) = &visitor.person {
                div.who {
                    a.company href="/console/companies" title=(text.get("shell-company-change")) {
                        @match &person.company {
                            Some(company) => bdi { (company.name) },
                            None => (text.get("shell-company-none")),
                        }
                    }
                    a href="/console/account" title=(text.get("shell-account")) { bdi { (person.signed_in.user.name) } }
                    form method="post" action="/console/sign-out" {
                        button.quiet type="submit" { (text.get("shell-sign-out")) }
                    }
                }
            }
        }
    }
}

fn foot(visitor: &Visitor, path: &str) -> Markup {
    let text = visitor.text;
    html! {
        footer.foot {
            form.languages method="post" action="/console/language" {
                input type="hidden" name="next" value=(path);
                span { (text.get("shell-language")) }
                @for language in Language::ALL {
                    button.quiet type="submit" name="language" value=(language.as_str()) lang=(language.as_str())
                        aria-pressed=(language == text.0) { (language.name()) }
                }
            }
            div.row.references {
                a href=(explain::PLACE) { (text.get("shell-help")) }
                a href="/docs" { (text.get("shell-reference")) }
            }
        }
    }
}

/// The page of an error.
pub(super) fn fault(request: &HttpRequest, error: &Error) -> HttpResponse {
    let visitor = Visitor::of(request).unwrap_or_else(|_| {
        let client = Proxies::default().client(None, request.headers());
        Visitor::new(request.headers(), client, None)
    });
    let (title, sentence) = error.keys();
    let text = visitor.text;
    let body = html! {
        p { (text.get(sentence)) }
        @if let Error::Refused(refusal) = error {
            p.said lang="en" { (refusal.sentence) " " code { (refusal.code.as_str()) } }
        }
        p { a href="/console" { (text.get("fault-home")) } }
    };
    let page = Page::new(text.get(title), Menu::None, body);
    let status: StatusCode = error.status_code();
    page::html(request.headers(), status, self::page(&visitor, "/console", &page).into_string(), true)
}
