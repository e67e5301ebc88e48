//! The table of routes: one list from which the pages are registered, and which the tests walk.

use actix_web::dev::ServiceRequest;
use actix_web::guard::{self, Guard};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Data;
use actix_web::{FromRequest, Handler, Resource, Responder, web};

use super::{State, gate};

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

        fn paths() -> route::Paths {
            let mut paths = route::Paths::default();
            $(paths.$method($path, $handler, Access::$access);)*
            paths
        }
    };
}
pub(super) use table;

/// The table's paths, each with all its methods.
#[derive(Default)]
pub(super) struct Paths(Vec<Path>);

struct Path {
    path: &'static str,
    methods: Vec<&'static str>,
    routes: Vec<actix_web::Route>,
}

/// The methods that a path answers, for `Allow`.
#[derive(Clone)]
pub(super) struct Allow(pub(super) String);

#[expect(non_snake_case, reason = "the table names methods as HTTP does")]
impl Paths {
    /// The page is read: `HEAD` is answered like `GET`, without the body.
    pub(super) fn GET<F, Args>(&mut self, path: &'static str, handler: F, access: Access)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add(path, &["GET", "HEAD"], guard::Any(guard::Get()).or(guard::Head()), handler, access);
    }

    /// A form is taken.
    pub(super) fn POST<F, Args>(&mut self, path: &'static str, handler: F, access: Access)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add(path, &["POST"], guard::Post(), handler, access);
    }
}

impl Paths {
    fn add<F, Args>(
        &mut self,
        path: &'static str,
        methods: &[&'static str],
        guard: impl Guard + 'static,
        handler: F,
        access: Access,
    ) where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = web::route()
            .guard(guard)
            .to(handler)
            .wrap(from_fn(move |request: ServiceRequest, next: Next<_>| gate::pass(access, request, next)));
        match self.0.iter_mut().find(|known| known.path == path) {
            Some(known) => {
                known.methods.extend(methods);
                known.routes.push(route);
            }
            None => self.0.push(Path { path, methods: methods.to_vec(), routes: vec![route] }),
        }
    }

    /// A resource for each path, in the order of the table.
    pub(super) fn resources(self, state: &Data<State>) -> Vec<(&'static str, Resource)> {
        let resource = |Path { path, methods, routes }| {
            let refuse = web::route().to(gate::other_method).wrap(from_fn(
                |request: ServiceRequest, next: Next<_>| gate::pass(Access::Public, request, next),
            ));
            let resource = web::resource(path).app_data(state.clone()).app_data(Allow(methods.join(", ")));
            let resource = routes.into_iter().fold(resource, Resource::route);
            // What no route before it took.
            (path, resource.route(refuse))
        };
        self.0.into_iter().map(resource).collect()
    }
}
