//! The layout of every page: head, navigation, the chosen company, and the foot.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, ResponseError as _};
use maud::{DOCTYPE, Markup, html};

use super::assets;
use super::component::icon::Icon;
use super::component::{explain, notice};
use super::error::Error;
use super::language::Language;
use super::look::Brand;
use super::menu::navigation;
use super::page::{self, Menu, Page};
use super::text::Text;
use super::visitor::{Person, Visitor};
use crate::surface::Proxies;

/// The whole document.
pub(super) fn page(visitor: &Visitor, path: &str, page: &Page) -> Markup {
    let text = visitor.text;
    let class = if visitor.person.is_some() { "signed-in" } else { "visitor" };
    let own = visitor.person.as_ref().and_then(|person| person.company.as_ref());
    let own = own.map(|company| Brand::new(&company.name, &company.look));
    let brand = page.brand.clone().or(own).unwrap_or_default();
    html! {
        (DOCTYPE)
        html lang=(text.0.as_str()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " · " (brand.name()) }
                link rel="icon" type="image/svg+xml" href=(assets::ICON.address());
                link rel="stylesheet" href=(assets::STYLE.address());
                @if let Some(colour) = brand.stylesheet() { link rel="stylesheet" href=(colour); }
                script src=(assets::SCRIPT.address()) defer {}
                @for script in &page.scripts { script src=(script.address()) defer {} }
            }
            body class=(class) data-copied=(text.get("shell-copied")) data-upload=(text.get("shell-uploading")) {
                a.skip href="#main" { (text.get("shell-skip")) }
                (head(visitor, &brand, path))
                @if let Some(person) = &visitor.person { (navigation(person, page.menu)) }
                main id="main" tabindex="-1" data-live=[page.live.as_deref()] {
                    @if visitor.person.is_none() { (welcome(visitor, &brand)) }
                    (headline(page))
                    @if let Some(said) = &page.done { (notice::done(said)) }
                    (page.body)
                }
                (foot(visitor))
            }
        }
    }
}

/// The heading of the page, and beside it what most people do there.
fn headline(page: &Page) -> Markup {
    html! {
        @match &page.action {
            Some(action) => div.headline { h1 { (page.title) } (action) },
            None => h1 { (page.title) },
        }
    }
}

/// What this is, for people who are not signed in.
fn welcome(visitor: &Visitor, brand: &Brand) -> Markup {
    html! {
        div.welcome {
            a.brand href="/console" { (brand.mark()) (brand.name()) }
            p { (visitor.text.get("shell-welcome")) }
        }
    }
}

fn head(visitor: &Visitor, brand: &Brand, path: &str) -> Markup {
    let text = visitor.text;
    html! {
        header.top {
            @if let Some(person) = &visitor.person {
                a.brand href="/console" { (brand.mark()) (brand.name()) }
                div.who {
                    a.company href="/console/companies" title=(text.get("shell-company-change")) {
                        (Icon::Company)
                        span {
                            @match &person.company {
                                Some(company) => bdi { (company.name) },
                                None => (text.get("shell-company-none")),
                            }
                        }
                        (Icon::Choose)
                    }
                    (account(person, path))
                }
            } @else {
                (languages(text, path))
            }
        }
    }
}

/// The menu of the person: language, account, and signing out.
fn account(person: &Person, path: &str) -> Markup {
    let (text, user) = (person.text, &person.signed_in.user);
    html! {
        details.menu {
            summary {
                (Icon::Account)
                span.unseen { (text.get("shell-account-menu")) " " }
                span.name { bdi { (user.name) } }
                (Icon::Open)
            }
            div.items {
                p.soft { bdi { (user.email) } }
                a href="/console/account" { (Icon::Account) (text.get("shell-account")) }
                div.group { (Icon::Language) (languages(text, path)) }
                form method="post" action="/console/sign-out" {
                    button.quiet type="submit" { (Icon::SignOut) (text.get("shell-sign-out")) }
                }
            }
        }
    }
}

/// The languages to choose from; `next` is the page to come back to.
fn languages(text: Text, next: &str) -> Markup {
    html! {
        form.languages method="post" action="/console/language" aria-label=(text.get("shell-language")) {
            input type="hidden" name="next" value=(next);
            @for language in Language::ALL {
                button.quiet type="submit" name="language" value=(language.as_str()) lang=(language.as_str())
                    aria-pressed=(language == text.0) { (language.name()) }
            }
        }
    }
}

fn foot(visitor: &Visitor) -> Markup {
    let text = visitor.text;
    html! {
        footer.foot {
            div.row.references {
                a href=(explain::PLACE) { (Icon::Help) (text.get("shell-help")) }
                a href="/docs" { (Icon::Reference) (text.get("shell-reference")) }
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
            p.said lang="en" { (refusal.sentence) }
        }
        p { a href="/console" { (text.get("fault-home")) } }
    };
    let page = Page::new(text.get(title), Menu::None, body);
    let status: StatusCode = error.status_code();
    page::html(request.headers(), status, self::page(&visitor, "/console", &page).into_string(), true)
}
