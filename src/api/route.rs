//! The table of routes: one list from which the service is built and which the tests walk.

use actix_web::guard::{self, Guard};
use actix_web::{FromRequest, Handler, Responder, Scope, web};

use super::error;
pub(super) use super::observe::Observed;

/// A route of the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET` (which serves `HEAD` too), `POST`, `PUT` or `DELETE`.
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
    /// An operator, with a key of their own.
    Operator,
    /// Anybody who can reach the port.
    Open,
}

/// The methods that a path answers, for `Allow`.
#[derive(Clone)]
pub(super) struct Allow(pub(super) String);

/// Writes the list and the function that registers it.
macro_rules! table {
    ($($method:ident $path:literal => $handler:path, $access:ident;)*) => {
        /// Every route, in the order of the table.
        pub const ROUTES: &[Route] = &[$(
            Route { method: stringify!($method), path: $path, access: Access::$access },
        )*];

        fn register(scope: actix_web::Scope) -> actix_web::Scope {
            let mut paths = route::Paths::default();
            $(paths.$method($path, $handler);)*
            paths.register(scope)
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

#[expect(non_snake_case, reason = "the table names methods as HTTP does")]
impl Paths {
    /// The path is read: `HEAD` is answered like `GET`, without the body.
    pub(super) fn GET<F, Args>(&mut self, path: &'static str, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add(path, &["GET", "HEAD"], guard::Any(guard::Get()).or(guard::Head()), handler);
    }

    /// The path takes something new.
    pub(super) fn POST<F, Args>(&mut self, path: &'static str, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add(path, &["POST"], guard::Post(), handler);
    }

    /// The path is replaced.
    pub(super) fn PUT<F, Args>(&mut self, path: &'static str, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add(path, &["PUT"], guard::Put(), handler);
    }

    /// What the path stands for is undone.
    pub(super) fn DELETE<F, Args>(&mut self, path: &'static str, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add(path, &["DELETE"], guard::Delete(), handler);
    }
}

impl Paths {
    fn add<F, Args>(
        &mut self,
        path: &'static str,
        methods: &[&'static str],
        guard: impl Guard + 'static,
        handler: F,
    ) where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = web::route().guard(guard).to(handler);
        match self.0.iter_mut().find(|known| known.path == path) {
            Some(known) => {
                known.methods.extend(methods);
                known.routes.push(route);
            }
            None => self.0.push(Path { path, methods: methods.to_vec(), routes: vec![route] }),
        }
    }

    /// Adds every path to `scope`, in the order of the table.
    pub(super) fn register(self, scope: Scope) -> Scope {
        self.0.into_iter().fold(scope, |scope, Path { path, mut methods, routes }| {
            methods.push("OPTIONS");
            let resource = web::resource(path)
                .app_data(Observed::new(path))
                .app_data(Allow(methods.join(", ")))
                .default_service(web::to(error::other_method));
            scope.service(routes.into_iter().fold(resource, actix_web::Resource::route))
        })
    }
}
