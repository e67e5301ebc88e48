//! Checks the tests' requests and answers against the reference. It must describe each answer for its path,
//! its method and its status, with all its fields, and it must allow each accepted body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::answer::Answer;

/// The request. The method is unknown if a test kept only the response.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub(super) method: Option<&'a Method>,
    pub(super) path: &'a str,
    pub(super) sent: Option<&'a [u8]>,
}

static REFERENCE: LazyLock<Reference> = LazyLock::new(Reference::read);

/// Fails the test when the reference does not describe the exchange.
pub(super) fn hold(exchange: Exchange<'_>, answer: &Answer) {
    // There is no answer, or it is a page, which is no part of the interface.
    let is_page = |path: &str| {
        matches!(path, "/" | "/openapi.json") || path.starts_with("/docs") || path.starts_with("/console")
    };
    if answer.status == 0 || is_page(exchange.path) {
        return;
    }
    if let Err(fault) = REFERENCE.check(&exchange, answer) {
        let Exchange { method, path, sent } = exchange;
        let method = method.map_or("?", Method::as_str);
        let sent = String::from_utf8_lossy(sent.unwrap_or_default()).into_owned();
        let Answer { status, headers, cookies: _, body } = answer;
        panic!("{method} {path} {sent}\n{status} {headers:?}\n{body}\nis not as the reference says: {fault}");
    }
}

struct Reference {
    paths: Map<String, Value>,
    /// The reference for clients: objects may have more fields than it describes.
    open: Value,
    /// The reference for checks of answers: objects have only described fields.
    closed: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Reference {
    fn read() -> Self {
        let mut document = serde_json::to_value(pombo::api::document()).unwrap();
        let Value::Object(paths) = document["paths"].take() else { panic!("the reference has no paths") };
        let open = document["components"].take();
        let mut closed = open.clone();
        // Each is closed where it is referred to, so that `allOf` can put several together.
        closed["schemas"].as_object_mut().unwrap().values_mut().for_each(|schema| close(schema, true));
        Self { paths, open, closed, validators: Mutex::default() }
    }

    fn check(&self, exchange: &Exchange<'_>, answer: &Answer) -> Result<(), String> {
        // No request was read, so the answer belongs to no path.
        if answer.code().as_deref() == Some("malformed_request") {
            return self.is_error(answer);
        }
        let path = exchange.path.split('?').next().unwrap_or_default();
        let Some((template, operations)) = self.operations(path) else {
            return if answer.status == 404 { self.is_error(answer) } else { unknown(answer) };
        };
        let Some(method) = exchange.method else {
            let mut checked = operations.iter().map(|(method, operation)| {
                self.check_operation(&format!("{method} {template}"), operation, exchange, answer)
            });
            return checked.find(Result::is_ok).unwrap_or_else(|| Err("no method answers so".to_owned()));
        };
        let name = if *method == Method::HEAD { "get".to_owned() } else { method.as_str().to_lowercase() };
        match (operations.get(&name), answer.status) {
            (Some(operation), _) => {
                self.check_operation(&format!("{method} {template}"), operation, exchange, answer)
            }
            (None, 204) if *method == Method::OPTIONS => Ok(()),
            (None, 400 | 405) => self.is_error(answer),
            (None, _) => unknown(answer),
        }
    }

    /// The operations of a path by their methods; of several that match, those with the fewest variables.
    fn operations(&self, path: &str) -> Option<(&String, &Map<String, Value>)> {
        let fits = |template: &&String| {
            let (mut asked, mut known) = (path.split('/'), template.split('/'));
            let fits =
                |asked: &str, known: &str| asked == known || known.starts_with('{') && !asked.is_empty();
            loop {
                match (asked.next(), known.next()) {
                    (None, None) => return true,
                    (Some(asked), Some(known)) if fits(asked, known) => {}
                    _ => return false,
                }
            }
        };
        let templates = self.paths.keys().filter(fits);
        let template = templates.min_by_key(|template| template.matches('{').count())?;
        Some((template, self.paths[template].as_object()?))
    }

    fn check_operation(
        &self,
        name: &str,
        operation: &Value,
        exchange: &Exchange<'_>,
        answer: &Answer,
    ) -> Result<(), String> {
        let described = &operation["responses"][answer.status.to_string()];
        if described.is_null() {
            return Err(format!("{name} has no answer with this status"));
        }
        if exchange.method != Some(&Method::HEAD) {
            // Some answers have another type when the client asks for it.
            let kind = answer.header("content-type").split(';').next().unwrap_or_default();
            let is_other = described["x-other-content"].get(kind).is_some();
            let content = &described[if is_other { "x-other-content" } else { "content" }];
            self.check_body(&format!("{name} {}", answer.status), content, answer)?;
        }
        let content = &operation["requestBody"]["content"]["application/json"]["schema"];
        let Some(sent) = exchange.sent.filter(|_| (200..300).contains(&answer.status) && !content.is_null())
        else {
            return Ok(());
        };
        // A form is no JSON.
        if sent.starts_with(b"--") {
            return Ok(());
        }
        if sent.trim_ascii().is_empty() {
            let required = operation["requestBody"]["required"] == true;
            return if required { Err("its body is required, and none was sent".to_owned()) } else { Ok(()) };
        }
        // Entries that were refused one by one may be anything.
        let told: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        if told["rejected"].as_u64().is_some_and(|rejected| rejected > 0) {
            return Ok(());
        }
        let sent = serde_json::from_slice(sent).map_err(|error| format!("what was sent: {error}"))?;
        // The service accepts a time or an id with spaces around it, so formats are only advice here.
        let validator = self.validator(&format!("{name} body"), &self.open, content, false);
        validate(&validator, &sent).map_err(|fault| format!("what was sent and accepted: {fault}"))
    }

    fn check_body(&self, name: &str, content: &Value, answer: &Answer) -> Result<(), String> {
        let Some(content) = content.as_object() else {
            return if answer.body.is_empty() { Ok(()) } else { Err("it has a body".to_owned()) };
        };
        let kind = answer.header("content-type").split(';').next().unwrap_or_default();
        let described = content.get(kind).ok_or_else(|| format!("it has no content of type {kind:?}"))?;
        let lines: Vec<_> = match kind {
            "application/json" => vec![answer.body.as_str()],
            "application/x-ndjson" => answer.body.lines().collect(),
            _ => return Ok(()),
        };
        let schema = &described["schema"];
        let validator = self.validator(&format!("{name} {kind}"), &self.closed, schema, true);
        lines.into_iter().try_for_each(|line| {
            let value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            validate(&validator, &value)
        })
    }

    /// Checks that the answer has the form of every refusal outside of an operation.
    fn is_error(&self, answer: &Answer) -> Result<(), String> {
        if answer.body.is_empty() && answer.header("content-length") != "0" {
            // An answer to `HEAD` has no body.
            return Ok(());
        }
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
        self.check_body("error", &content, answer)
    }

    /// A validator of an answer, which may have described fields in described formats only, or of a sent body.
    fn validator(&self, name: &str, components: &Value, schema: &Value, is_answer: bool) -> Arc<Validator> {
        if let Some(validator) = self.validators.lock().unwrap().get(name) {
            return Arc::clone(validator);
        }
        let mut schema = schema.clone();
        if is_answer {
            close(&mut schema, false);
        }
        let validator = Arc::new(compile(schema, components, is_answer));
        self.validators.lock().unwrap().insert(name.to_owned(), Arc::clone(&validator));
        validator
    }
}

/// The beginning of the name of each component.
const COMPONENT: &str = "#/components/schemas/";

/// A validator of a part of the reference, with those of its components that the part needs: compiling all of them would take
/// longer than most tests.
pub(crate) fn compile(mut schema: Value, components: &Value, checks_formats: bool) -> Validator {
    let (mut needed, mut names) = (Map::new(), Vec::new());
    add_needed(&schema, &mut names);
    while let Some(name) = names.pop() {
        if !needed.contains_key(&name) {
            let component = components["schemas"][&name].clone();
            add_needed(&component, &mut names);
            needed.insert(name, component);
        }
    }
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["components"] = json!({ "schemas": needed });
    jsonschema::options().should_validate_formats(checks_formats).build(&schema).unwrap()
}

/// Adds the components that a schema names.
fn add_needed(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let named = members.get("$ref").and_then(Value::as_str);
            names.extend(named.and_then(|named| named.strip_prefix(COMPONENT)).map(str::to_owned));
            members.values().for_each(|member| add_needed(member, names));
        }
        Value::Array(members) => members.iter().for_each(|member| add_needed(member, names)),
        _ => {}
    }
}

fn unknown(answer: &Answer) -> Result<(), String> {
    Err(format!("it has no such operation, and {} is answered", answer.status))
}

fn validate(validator: &Validator, value: &Value) -> Result<(), String> {
    let faults: Vec<_> = validator
        .iter_errors(value)
        .map(|fault| format!("{} at `{}` by `{}`", fault, fault.instance_path(), fault.schema_path()))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// Lets objects have described fields only, except where a schema says that they may have others. A part of another
/// object, as in `allOf`, stays open.
fn close(schema: &mut Value, is_part: bool) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(|property| close(property, false));
            }
            ("items" | "additionalProperties", inner) => close(inner, false),
            ("oneOf" | "anyOf", Value::Array(kinds)) => kinds.iter_mut().for_each(|kind| close(kind, false)),
            ("allOf", Value::Array(parts)) => parts.iter_mut().for_each(|part| close(part, true)),
            _ => {}
        }
    }
    let is_object = ["$ref", "properties", "allOf"].iter().any(|keyword| keywords.contains_key(*keyword));
    if is_object && !is_part && !keywords.contains_key("additionalProperties") {
        keywords.insert("unevaluatedProperties".to_owned(), false.into());
    }
}
