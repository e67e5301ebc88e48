//! The table of routes: one list from which the service is built and which the tests walk.

use actix_web::http::Method;
use actix_web::{Scope, web};

use super::error;
pub(super) use super::observe::Observed;
use crate::domain::scope::Scope as KeyScope;
pub use crate::surface::Listener;
use crate::surface::paths::{Allow, Path, Paths, written_out};

/// A route of the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET` (which serves `HEAD` too), `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// The path, with `{name}` for each variable segment.
    pub path: &'static str,
    /// The callers of the route.
    pub access: Access,
}

impl Route {
    /// Whether this listener serves the route.
    pub fn is_on(&self, listener: Listener) -> bool {
        is_on(self.path, listener)
    }
}

/// Paths below these are on the operator's listener when there is one.
const OPERATOR_PATHS: [&str; 2] = ["/operator", "/metrics"];
/// Paths that the listener of the door that speaks Graph serves beside the door's own.
const GRAPH_PATHS: [&str; 3] = ["/healthz", "/readyz", "/media/{id}"];
/// Paths that every other listener serves, and those below them. The reference shows the routes of its listener.
const SHARED_PATHS: [&str; 5] = ["/", "/healthz", "/readyz", "/docs", "/openapi.json"];

pub(super) fn is_on(path: &str, listener: Listener) -> bool {
    let is_below =
        |own: &&str| path.strip_prefix(*own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_operators = OPERATOR_PATHS.iter().any(is_below);
    match listener {
        Listener::Whole => true,
        // Providers and programs read files where they have the addresses from.
        Listener::Graph => GRAPH_PATHS.contains(&path),
        _ if SHARED_PATHS.iter().any(is_below) => true,
        Listener::Public => !is_operators,
        Listener::Operator => is_operators,
    }
}

/// The callers of the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A company, with an API key that has the scope.
    Company(KeyScope),
    /// A company, with an API key that has the scope `contacts`, or with the token of a session in the
    /// console.
    CompanyOrSession,
    /// An operator, with a key of their own.
    Operator,
    /// Anybody who can reach the port.
    Open,
}

impl Access {
    /// The scope that an API key needs; `None` for routes that no company's key may use.
    pub const fn scope(self) -> Option<KeyScope> {
        match self {
            Self::Company(scope) => Some(scope),
            Self::CompanyOrSession => Some(KeyScope::Contacts),
            Self::Operator | Self::Open => None,
        }
    }
}

/// The callers of a path, for each method.
#[derive(Clone)]
pub(super) struct Accesses(Vec<(&'static str, Access)>);

impl Accesses {
    /// The callers with this method.
    pub(super) fn of(&self, method: &Method) -> Option<Access> {
        let name = if method == Method::HEAD { "GET" } else { method.as_str() };
        self.0.iter().find(|(known, _)| *known == name).map(|(_, access)| *access)
    }
}

/// The word for an access in the table: a scope stands for a company whose key has it.
macro_rules! access {
    (Operator) => {
        $crate::api::route::Access::Operator
    };
    (Open) => {
        $crate::api::route::Access::Open
    };
    (ContactsOrSession) => {
        $crate::api::route::Access::CompanyOrSession
    };
    ($scope:ident) => {
        $crate::api::route::Access::Company($crate::domain::scope::Scope::$scope)
    };
}
pub(super) use access;

/// Writes the list, the function that registers it, and the operations that the reference describes. Routes in braces
/// stand after the others, and not in the reference.
macro_rules! table {
    (
        $($method:ident $path:literal => $($handler:ident)::+, $access:ident;)*
        { $($undescribed:tt)* }
    ) => {
        /// What the handlers say of their operations.
        #[derive(utoipa::OpenApi)]
        #[openapi(paths($($($handler)::+),*))]
        struct Operations;

        route::routes! {
            $($method $path => $($handler)::+, $access;)*
            $($undescribed)*
        }
    };
}
pub(super) use table;

/// Writes the list and the function that registers it.
macro_rules! routes {
    ($($method:ident $path:literal => $handler:path, $access:ident;)*) => {
        /// Every route, in the order of the table.
        pub const ROUTES: &[Route] = &[$(
            Route { method: stringify!($method), path: $path, access: route::access!($access) },
        )*];

        fn register(scope: actix_web::Scope, listener: Listener) -> actix_web::Scope {
            // Each handler's signature authenticates the caller.
            let mut paths = $crate::surface::paths::Paths::new(|route, _| route);
            $(paths.$method($path, $handler, route::access!($access));)*
            route::register(paths, scope, listener)
        }
    };
}
pub(super) use routes;

/// Adds the paths of `listener` to `scope`, in the order of the table.
pub(super) fn register(paths: Paths<Access>, scope: Scope, listener: Listener) -> Scope {
    let own = paths.into_iter().filter(|path| is_on(path.path, listener));
    own.fold(scope, |scope, Path { path, mut methods, accesses, routes }| {
        methods.push("OPTIONS");
        let resource = web::resource(path)
            .guard(written_out(path))
            .app_data(Observed::new(path))
            .app_data(Allow(methods.join(", ")))
            .app_data(Accesses(accesses))
            .default_service(web::to(error::other_method));
        scope.service(routes.into_iter().fold(resource, actix_web::Resource::route))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_listeners_share_probes_and_the_reference_alone() {
        for (path, public, operator) in [
            ("/", true, true),
            ("/healthz", true, true),
            ("/readyz", true, true),
            ("/metrics", false, true),
            ("/docs", true, true),
            ("/docs/", true, true),
            ("/docs/{file}", true, true),
            ("/openapi.json", true, true),
            ("/operator/v1/tiers", false, true),
            ("/api/v1/chat", true, false),
            ("/hooks/meta/{id}", true, false),
        ] {
            let on = (is_on(path, Listener::Public), is_on(path, Listener::Operator));
            assert_eq!(on, (public, operator), "{path}");
            assert!(is_on(path, Listener::Whole), "{path}");
        }
    }
}
