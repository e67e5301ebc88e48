//! The table of routes: one list from which the service is built and which the tests walk.

use actix_web::guard::{self, Guard};
use actix_web::{FromRequest, Handler, Resource, Responder, web};

use super::error;
pub(super) use super::observe::Observed;

/// A route of the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET` (which serves `HEAD` too) or `POST`.
    pub method: &'static str,
    /// The path, with `{name}` for each variable segment.
    pub path: &'static str,
    /// Who may ask.
    pub access: Access,
}

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A company, with its API key.
    Company,
    /// Anybody who can reach the port.
    Open,
}

/// The methods that a path answers, for `Allow`.
#[derive(Clone, Copy)]
pub(super) struct Allow(pub(super) &'static str);

/// Writes the list and the function that registers it.
macro_rules! table {
    ($($method:ident $path:literal => $handler:path, $access:ident;)*) => {
        /// Every route, in the order of the table.
        pub const ROUTES: &[Route] = &[$(
            Route { method: stringify!($method), path: $path, access: Access::$access },
        )*];

        fn register(scope: actix_web::Scope) -> actix_web::Scope {
            scope$(.service(route::$method($path, $handler)))*
        }
    };
}
pub(super) use table;

/// A path that is read: `HEAD` is answered like `GET`, without the body.
#[expect(non_snake_case, reason = "the table names methods as HTTP does")]
pub(super) fn GET<F, Args>(path: &'static str, handler: F) -> Resource
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    resource(path, guard::Any(guard::Get()).or(guard::Head()), handler, "GET, HEAD, OPTIONS")
}

/// A path that is written to.
#[expect(non_snake_case, reason = "the table names methods as HTTP does")]
pub(super) fn POST<F, Args>(path: &'static str, handler: F) -> Resource
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    resource(path, guard::Post(), handler, "POST, OPTIONS")
}

fn resource<F, Args>(
    path: &'static str,
    method: impl Guard + 'static,
    handler: F,
    allow: &'static str,
) -> Resource
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    web::resource(path)
        .app_data(Observed::new(path))
        .app_data(Allow(allow))
        .route(web::route().guard(method).to(handler))
        .default_service(web::to(error::other_method))
}
