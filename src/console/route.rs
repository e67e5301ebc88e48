//! The table of routes: one list from which the pages are registered, and which the tests walk.

use actix_web::dev::ServiceRequest;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Data;
use actix_web::{Resource, web};

use super::{State, gate};
pub(super) use crate::surface::paths::Allow;
use crate::surface::paths::{Path, Paths};

/// A route of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET` (which serves `HEAD` too) or `POST`.
    pub method: &'static str,
    /// The path, with `{name}` for each variable segment.
    pub path: &'static str,
    /// Who may ask.
    pub access: Access,
}

/// Who may ask. The gate in front of each handler sees to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A file that every page shares: nobody is looked up for it.
    Asset,
    /// Anybody who can reach the port.
    Public,
    /// Everybody who is signed in.
    SignedIn,
    /// Those who belong to the chosen company, whatever their role, and operators.
    Viewer,
    /// Of these, those who may send and change: members and owners.
    Member,
    /// Of these, owners.
    Owner,
    /// Operators, in whatever company.
    Operator,
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
        let resource = web::resource(path).app_data(state.clone()).app_data(Allow(methods.join(", ")));
        let resource = routes.into_iter().fold(resource, Resource::route);
        // What no route before it took.
        (path, resource.route(guarded(web::route().to(gate::other_method), Access::Public)))
    };
    paths.into_iter().map(resource).collect()
}

/// Puts the gate around a route.
pub(super) fn guarded(route: actix_web::Route, access: Access) -> actix_web::Route {
    route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| gate::pass(access, request, next)))
}
