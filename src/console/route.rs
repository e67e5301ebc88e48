//! The table of routes: one list from which the pages are registered, and which the tests walk.

use actix_web::dev::ServiceRequest;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Data;
use actix_web::{Resource, web};

use super::access::Access;
use super::{State, gate};
use crate::surface::paths::{Allow, Path, Paths, written_out};

/// A route of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET` (which serves `HEAD` too) or `POST`.
    pub method: &'static str,
    /// The path, with `{name}` for each variable segment.
    pub path: &'static str,
    /// The access that the route needs.
    pub access: Access,
}

/// Writes the list and the function that makes the resources.
macro_rules! table {
    ($($method:ident $path:literal => $handler:path, $access:ident;)*) => {
        /// Every route, in the order of the table.
        pub const ROUTES: &[Route] = &[$(
            Route { method: stringify!($method), path: $path, access: Access::$access },
        )*];

        fn paths() -> $crate::surface::paths::Paths<Access> {
            let mut paths = $crate::surface::paths::Paths::new(route::guarded);
            $(paths.$method($path, $handler, Access::$access);)*
            paths
        }
    };
}
pub(super) use table;

/// A resource for each path, in the order of the table.
pub(super) fn resources(paths: Paths<Access>, state: &Data<State>) -> Vec<(&'static str, Resource)> {
    let resource = |Path { path, methods, accesses: _, routes }| {
        let resource = web::resource(path)
            .guard(written_out(path))
            .app_data(state.clone())
            .app_data(Allow(methods.join(", ")));
        let resource = routes.into_iter().fold(resource, Resource::route);
        // Methods that no route of the path has.
        (path, resource.route(guarded(web::route().to(gate::other_method), Access::Public)))
    };
    paths.into_iter().map(resource).collect()
}

/// Puts the gate around a route.
pub(super) fn guarded(route: actix_web::Route, access: Access) -> actix_web::Route {
    route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| gate::pass(access, request, next)))
}
