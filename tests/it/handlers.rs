//! Handlers reach records, caches and bodies only in the ways that cannot go wrong.

use std::path::Path;

use crate::layers::{CODE, says};

/// The module that reads bodies.
const BODIES: &str = "surface/body";
/// Words with which a body is read, each with the reason why only that module may contain them.
const READS_BODIES: &[(&str, &str)] = &[
    ("web::Payload", "a handler takes surface::body::Incoming, or a type that reads it"),
    ("web::Form", "a handler takes console::form::Form"),
    ("PayloadConfig", "the bounds of bodies are in surface::body::Rules"),
    ("payload.take", "only surface::body reads payloads"),
    ("take_payload", "only surface::body reads payloads"),
    ("set_payload", "only surface::body reads payloads"),
    ("to_bytes_limited", "only surface::body reads payloads"),
    ("extract_parts", "a handler takes its arguments in its signature"),
    (".extract", "a handler takes its arguments in its signature"),
];
/// How an extractor that reads a body begins. Any other one ignores the payload.
const HANDS_ON: &str = "Incoming::from_request(request, payload)";

/// The surfaces, whose handlers reach records through the engine: readers there carry the company's id into each query.
const SURFACES: &[&str] = &["api", "console", "graph"];

/// Changes of records that caches, actors and other nodes keep: the engine tells them.
const KEPT_IN_MEMORY: &[&str] = &[
    ".keys().revoke(",
    ".tags().delete(",
    ".contacts().delete(",
    ".suppressions().add(",
    ".suppressions().lift(",
    ".channels().remove(",
    ".channels().reconnect(",
    ".channels().add(",
    ".channels().set_verify_token(",
    ".companies().add(",
    ".companies().change(",
    ".tiers().apply(",
    ".tiers().compare(",
    ".tiers().remove(",
    ".tiers().rename(",
];

#[test]
fn no_handler_names_the_store() {
    let mut faults = Vec::new();
    for (layer, path, lines) in &*CODE {
        if !SURFACES.contains(&layer.as_str()) {
            continue;
        }
        for line in lines.iter().filter(|line| says(line, "crate::store") || says(line, "store::")) {
            faults.push(format!("{}: `{}`", path.display(), line.trim()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_others_keep_in_memory_is_changed_through_the_engine() {
    let mut faults = Vec::new();
    let mut through_the_engine = 0;
    for (_, path, lines) in CODE.iter().filter(|(layer, ..)| SURFACES.contains(&layer.as_str())) {
        let code: String = lines.iter().map(|line| line.trim()).collect();
        for call in KEPT_IN_MEMORY {
            for (at, _) in code.match_indices(call) {
                if code[..at].ends_with("engine") {
                    through_the_engine += 1;
                } else {
                    faults.push(format!("{}: `{call}` without the engine", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(through_the_engine >= 5, "hardly a call is found: the check is idle");
}

#[test]
fn bodies_are_read_in_one_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (layer, path, lines) in &*CODE {
        let is_reader = path.with_extension("").starts_with(root.join(BODIES))
            // A server of its own, to which only the demonstration sends.
            || *path == root.join("app/demo/receiver.rs");
        if is_reader || !["surface", "api", "console", "app"].contains(&layer.as_str()) {
            continue;
        }
        for (word, reason) in READS_BODIES {
            for line in lines.iter().filter(|line| line.contains(word)) {
                faults.push(format!("{}: `{}`, but {reason}", path.display(), line.trim()));
            }
        }
        let count = |wanted: &str| lines.iter().filter(|line| line.contains(wanted)).count();
        if count("payload: &mut Payload") != count(HANDS_ON) {
            faults.push(format!(
                "{}: an extractor that keeps the payload begins with `{HANDS_ON}`",
                path.display()
            ));
        }
        let imports = lines.iter().filter(|line| line.contains("use actix_web::web::"));
        for line in imports.filter(|line| says(line, "Payload") || says(line, "Form")) {
            faults.push(format!("{}: `{}`, but bodies are read in {BODIES}", path.display(), line.trim()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
