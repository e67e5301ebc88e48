//! Registers paths from a table, each with all its methods and the access of each method, and with a guard against
//! encoded spellings.
//!
//! A handler takes only [arguments](Argument) of ours. The library's own readers of bodies are none, so a handler that
//! takes one cannot be registered: bodies are read in [one way](super::body).

use actix_web::guard::{self, Guard};
use actix_web::web::Data;
use actix_web::{FromRequest, Handler, HttpRequest, Responder, Route, web};

/// Something that a handler may take.
pub(crate) trait Argument: FromRequest + 'static {}

impl Argument for HttpRequest {}
impl<T: 'static> Argument for Data<T> {}

/// Makes a type an argument that is read from the head of the request.
macro_rules! argument {
    ($name:ty, $error:ty, $read:expr) => {
        impl $crate::surface::paths::Argument for $name {}

        impl actix_web::FromRequest for $name {
            type Error = $error;
            type Future = std::future::Ready<Result<Self, $error>>;

            fn from_request(
                request: &actix_web::HttpRequest,
                _: &mut actix_web::dev::Payload,
            ) -> Self::Future {
                let read: fn(&actix_web::HttpRequest) -> Result<Self, $error> = $read;
                std::future::ready(read(request))
            }
        }
    };
}
pub(crate) use argument;

/// Everything that a handler takes.
pub(crate) trait Arguments: FromRequest + 'static {}

macro_rules! arguments {
    ($($name:ident)*) => {
        impl<$($name: Argument),*> Arguments for ($($name,)*) {}
    };
}

impl Arguments for () {}
arguments!(A);
arguments!(A B);
arguments!(A B C);
arguments!(A B C D);
arguments!(A B C D E);
arguments!(A B C D E F);

/// The table's paths, each with all its methods.
pub(crate) struct Paths<A> {
    paths: Vec<Path<A>>,
    wrap: fn(Route, A) -> Route,
}

/// A path of the table.
pub(crate) struct Path<A> {
    /// With `{name}` for each variable segment.
    pub(crate) path: &'static str,
    /// The methods of the path, for `Allow`.
    pub(crate) methods: Vec<&'static str>,
    /// The callers, for each method of the table.
    pub(crate) accesses: Vec<(&'static str, A)>,
    /// The routes of the path.
    pub(crate) routes: Vec<Route>,
}

/// The methods that a path answers, for `Allow`.
#[derive(Clone)]
pub(crate) struct Allow(pub(crate) String);

/// The functions by which a table adds a path, one for each method.
macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $name:ident answers $methods:expr, when $guard:expr;)*) => {
        #[expect(non_snake_case, reason = "the tables name methods as HTTP does")]
        impl<A: Copy> Paths<A> {$(
            $(#[doc = $doc])+
            pub(crate) fn $name<F, Args>(&mut self, path: &'static str, handler: F, access: A)
            where
                F: Handler<Args>,
                Args: Arguments,
                F::Output: Responder + 'static,
            {
                self.add(path, &$methods, $guard, handler, access);
            }
        )*}
    };
}

methods! {
    /// A path that is read. `HEAD` is answered like `GET`, without the body.
    GET answers ["GET", "HEAD"], when guard::Any(guard::Get()).or(guard::Head());
    /// A path that takes a new record, an action or a form.
    POST answers ["POST"], when guard::Post();
    /// A path whose record is replaced.
    PUT answers ["PUT"], when guard::Put();
    /// A path whose record is changed in part.
    PATCH answers ["PATCH"], when guard::Patch();
    /// A path whose record is removed.
    DELETE answers ["DELETE"], when guard::Delete();
}

impl<A: Copy> Paths<A> {
    /// No paths yet; `wrap` adds to each route the checks for its access.
    pub(crate) const fn new(wrap: fn(Route, A) -> Route) -> Self {
        Self { paths: Vec::new(), wrap }
    }

    fn add<F, Args>(
        &mut self,
        path: &'static str,
        methods: &[&'static str],
        guard: impl Guard + 'static,
        handler: F,
        access: A,
    ) where
        F: Handler<Args>,
        Args: Arguments,
        F::Output: Responder + 'static,
    {
        let route = (self.wrap)(web::route().guard(guard).to(handler), access);
        match self.paths.iter_mut().find(|known| known.path == path) {
            Some(known) => {
                known.methods.extend(methods);
                known.accesses.push((methods[0], access));
                known.routes.push(route);
            }
            None => self.paths.push(Path {
                path,
                methods: methods.to_vec(),
                accesses: vec![(methods[0], access)],
                routes: vec![route],
            }),
        }
    }
}

/// A guard for the path of a table: the request contains the path's fixed segments without percent-encoding. The router
/// compares percent-decoded paths, but a proxy in front may compare them as sent: `/%6detrics` must not get past a rule
/// about `/metrics`.
pub(crate) fn written_out(path: &'static str) -> impl Guard {
    guard::fn_guard(move |request| is_written_out(path, request.head().uri.path()))
}

fn is_written_out(path: &str, sent: &str) -> bool {
    if !sent.contains('%') {
        return true;
    }
    let mut sent = sent.split('/');
    for fixed in path.split('/') {
        if fixed.ends_with(":.*}") {
            return true;
        }
        if sent.next().is_none_or(|sent| !fixed.starts_with('{') && fixed != sent) {
            return false;
        }
    }
    sent.next().is_none()
}

impl<A> IntoIterator for Paths<A> {
    type Item = Path<A>;
    type IntoIter = std::vec::IntoIter<Path<A>>;

    /// In the order of the table.
    fn into_iter(self) -> Self::IntoIter {
        self.paths.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variable_segments_may_be_encoded() {
        for (path, sent, fits) in [
            ("/metrics", "/metrics", true),
            ("/metrics", "/%6detrics", false),
            ("/api/v1/sends/{id}", "/api/v1/sends/%30", true),
            ("/api/v1/sends/{id}/pause", "/api/v1/sends/%30/pause", true),
            ("/api/v1/sends/{id}/pause", "/api/v1/sends/%30/p%61use", false),
            ("/api/v1/sends/{id}", "/%61pi/v1/sends/%30", false),
            ("/docs/{file}", "/docs/a%2Fb", true),
            ("/console/operator", "/console/%6fperator", false),
            ("/console/{rest:.*}", "/console/%6fperator/tiers", true),
            ("/console/{rest:.*}", "/c%6fnsole/operator", false),
        ] {
            assert_eq!(is_written_out(path, sent), fits, "{sent}");
        }
    }
}
