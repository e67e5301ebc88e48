//! The query parameters that a request may have: those that the reference describes for its operation, each once.
//!
//! A mistyped parameter must not do something else than its client believes: `?dryrun=true` would send. Requests are
//! checked when their caller is known and before anything else is.

use std::collections::HashMap;
use std::sync::OnceLock;

use actix_web::HttpRequest;
use actix_web::http::Method;
use serde_json::{Map, Value};

use super::error::Error;
use super::query;
use super::route::Observed;
use crate::domain::nearest::{nearest, respelled};
use crate::error::Code;

/// How much of a wrong name a refusal shows, in characters.
const SHOWN: usize = 64;

/// A query parameter of an operation.
struct Parameter {
    name: String,
    /// Whether it may be given more than once.
    is_list: bool,
}

/// The parameters of each path's operations, by their methods in small letters.
type Described = HashMap<String, HashMap<String, Vec<Parameter>>>;

static DESCRIBED: OnceLock<Described> = OnceLock::new();

fn of_document(document: &Value) -> Described {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.map(|(path, operations)| (path.clone(), of_operations(operations))).collect()
}

fn of_operations(operations: &Value) -> HashMap<String, Vec<Parameter>> {
    let operations = operations.as_object().into_iter().flat_map(Map::iter);
    operations.map(|(method, operation)| (method.clone(), of_operation(operation))).collect()
}

fn of_operation(operation: &Value) -> Vec<Parameter> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let in_query = parameters.filter(|parameter| parameter["in"] == "query");
    in_query
        .map(|parameter| Parameter {
            name: parameter["name"].as_str().unwrap_or_default().to_owned(),
            is_list: is_list(&parameter["schema"]["type"]),
        })
        .collect()
}

/// Whether a parameter of this type is a list, or may be absent and else is one.
fn is_list(kind: &Value) -> bool {
    kind == "array" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
}

/// Reads the reference before the first request comes: once, however often this is called.
pub(super) fn prepare(document: fn() -> Value) {
    DESCRIBED.get_or_init(|| of_document(&document()));
}

/// Refuses a request with a parameter that its operation does not have, or with one twice.
///
/// # Errors
///
/// `unknown_parameter`, `repeated_parameter`.
pub(super) fn check(request: &HttpRequest) -> Result<(), Error> {
    let text = request.query_string();
    if text.is_empty() {
        return Ok(());
    }
    let route = request.app_data::<Observed>().ok_or(Error::Internal)?.route();
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let method = method.as_str().to_ascii_lowercase();
    let described = DESCRIBED.get().ok_or(Error::Internal)?;
    let described = described.get(route).and_then(|operations| operations.get(&method));
    check_names(text, described.map(Vec::as_slice).unwrap_or_default())
}

fn check_names(text: &str, described: &[Parameter]) -> Result<(), Error> {
    let mut seen: Vec<&str> = Vec::new();
    for name in query::names(text) {
        let Some(parameter) = described.iter().find(|parameter| parameter.name == name) else {
            return Err(unknown(&name, described));
        };
        if !parameter.is_list && seen.contains(&parameter.name.as_str()) {
            let what = "is given more than once, and has one value: give it once";
            return Err(Error::of(name, Code::RepeatedParameter, what));
        }
        seen.push(&parameter.name);
    }
    Ok(())
}

fn unknown(name: &str, described: &[Parameter]) -> Error {
    let names = || described.iter().map(|parameter| parameter.name.as_str());
    let what = match respelled(name, names()).or_else(|| nearest(name, names())) {
        Some(meant) => format!("is no parameter of this path: did you mean `{meant}`?"),
        None if described.is_empty() => "is no parameter of this path, which takes none".to_owned(),
        None => {
            let known: Vec<_> = names().map(|name| format!("`{name}`")).collect();
            format!("is no parameter of this path, which takes {}", known.join(", "))
        }
    };
    let shown: String = name.chars().take(SHOWN).collect();
    Error::of(shown, Code::UnknownParameter, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let parameter = |name: &str, is_list| Parameter { name: name.to_owned(), is_list };
        let described = [parameter("page", false), parameter("dry_run", false), parameter("state", true)];
        check_names(text, &described).map_err(|error| error.to_string())
    }

    #[test]
    fn each_parameter_is_known_and_given_once_unless_it_is_a_list() {
        for fine in ["", "&", "page=1", "page=1&dry_run", "p%61ge=1&&state=a&state=b", "page="] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        let refused = |text: &str| check(text).unwrap_err();
        for text in ["dryrun=true", "DRY_RUN", "dry-run=1", "page=1&dry%20run=1"] {
            assert!(refused(text).ends_with("did you mean `dry_run`?"), "{text}: {}", refused(text));
        }
        assert_eq!(
            refused("colour=red"),
            "`colour` is no parameter of this path, which takes `page`, `dry_run`, `state`"
        );
        assert!(refused("%ff=1").starts_with("`%ff` is no parameter"), "{}", refused("%ff=1"));
        assert!(refused("=1").starts_with("`` is no parameter"));
        for twice in ["page=1&page=1", "page=1&p%61ge=2", "dry_run=false&dry_run=true"] {
            assert!(refused(twice).contains("is given more than once"), "{twice}");
        }
        assert_eq!(
            check_names("a", &[]).map_err(|error| error.to_string()),
            Err("`a` is no parameter of this path, which takes none".to_owned())
        );
    }
}
