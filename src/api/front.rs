//! The answer at `/`: the console or a page for a browser, and the paths of the API for a program.

use actix_web::http::header::{ACCEPT, LOCATION, VARY};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{DOCTYPE, html};
use serde::Serialize;

use super::page::harden;
use super::{HasConsole, State};

/// The paths that a program may need.
#[derive(Serialize)]
struct Directory {
    name: &'static str,
    version: &'static str,
    health: &'static str,
    readiness: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    openapi: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    docs: Option<&'static str>,
}

/// Answers at `/`.
pub(super) async fn show(
    request: HttpRequest,
    state: Data<State>,
    console: Data<HasConsole>,
) -> HttpResponse {
    let has_docs = state.options.docs;
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_browser = accept.contains("text/html");
    if is_browser && console.0 {
        return HttpResponse::SeeOther()
            .insert_header((LOCATION, "/console"))
            .insert_header((VARY, "accept"))
            .finish();
    }
    let mut answer = HttpResponse::Ok();
    answer.insert_header((VARY, "accept"));
    if is_browser {
        harden(&mut answer);
        return answer.content_type("text/html; charset=utf-8").body(page(has_docs));
    }
    answer.json(Directory {
        name: "pombo",
        version: env!("CARGO_PKG_VERSION"),
        health: "/healthz",
        readiness: "/readyz",
        openapi: has_docs.then_some("/openapi.json"),
        docs: has_docs.then_some("/docs"),
    })
}

fn page(has_docs: bool) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Pombo" }
            }
            body {
                h1 { "Pombo" }
                p { "This address serves an API that sends messages through WhatsApp." }
                ul {
                    @if has_docs {
                        li { a href="/docs" { "API reference" } }
                        li { a href="/openapi.json" { "OpenAPI document" } }
                    }
                    li { a href="/readyz" { "Is the service ready?" } }
                }
            }
        }
    };
    page.into_string()
}
