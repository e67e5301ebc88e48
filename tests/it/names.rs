//! A name of a type that stands in many modules names nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::layers::CODE;
use crate::sizes::{is_of_the_universe, past_visibility};

/// The most modules in which a type's name may stand.
const MOST: usize = 3;

/// The surfaces: each counts as one module, however many of its files have the name.
const SURFACES: [&str; 5] = ["api", "console", "graph", "cli", "simulator"];

/// Names that may stand in more modules, in groups with the reason: how many each. None of them may gain one.
const MORE: &[(&str, &[(&str, usize)])] = &[
    ("a crate's or a module's own error and result, as everywhere in Rust", &[("Error", 14), ("Result", 5)]),
    (
        "each machine has its own, behind one trait",
        &[("Machine", 6), ("Input", 6), ("Effect", 7), ("Effects", 6), ("Answer", 9)],
    ),
    (
        "a noun of the product, which domain, store and surfaces each have as a value of their own",
        &[("Company", 4), ("Key", 5), ("State", 11), ("Session", 4), ("Media", 4), ("Event", 4)],
    ),
    (
        "mostly in the store and the command line, which are being divided",
        &[
            ("Record", 8),
            ("Change", 7),
            ("Filter", 4),
            ("Kept", 5),
            ("Found", 7),
            ("Part", 8),
            ("Written", 6),
            ("Entry", 9),
        ],
    ),
    (
        "not renamed yet",
        &[
            ("Batch", 4),
            ("Cause", 4),
            ("Command", 4),
            ("Counts", 6),
            ("Fault", 4),
            ("Figures", 6),
            ("Health", 4),
            ("Heard", 4),
            ("Link", 6),
            ("Names", 4),
            ("Number", 4),
            ("Options", 7),
            ("Origin", 4),
            ("Outcome", 4),
            ("Pace", 7),
            ("People", 4),
            ("Refused", 6),
            ("Said", 4),
            ("Shared", 5),
            ("Shown", 7),
            ("Source", 5),
            ("Stage", 5),
            ("Standing", 4),
            ("Step", 6),
            ("Turn", 5),
            ("Waiting", 8),
        ],
    ),
];

/// The name of the type that a line defines at the top of its module.
fn defined(line: &str) -> Option<&str> {
    let (kind, rest) = past_visibility(line).split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    ["struct", "enum", "trait", "type"].contains(&kind).then(|| &rest[..end])
}

/// The modules of each name.
fn names() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (layer, path, lines) in CODE.iter().filter(|(_, path, _)| !is_of_the_universe(path)) {
        let module = if SURFACES.contains(&layer.as_str()) {
            layer.clone()
        } else {
            path.strip_prefix(root).unwrap().with_extension("").display().to_string()
        };
        for name in lines.iter().filter_map(|line| defined(line)) {
            names.entry(name.to_owned()).or_default().insert(module.clone());
        }
    }
    names
}

#[test]
fn no_type_s_name_stands_in_more_than_three_modules() {
    let names = names();
    assert!(names.len() > 500, "hardly a type is found: the check is idle");
    let mut faults = Vec::new();
    for (name, modules) in &names {
        let more = MORE.iter().flat_map(|(_, names)| *names).find(|(known, _)| known == name);
        let most = more.map_or(MOST, |(_, most)| *most);
        if modules.len() > most {
            faults.push(format!("{name} stands in {} modules: {modules:?}", modules.len()));
        }
    }
    for (name, most) in MORE.iter().flat_map(|(_, names)| *names) {
        let count = names.get(*name).map_or(0, BTreeSet::len);
        if count < *most {
            faults.push(format!("{name} stands in {count} modules now: lower its bound"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn only_definitions_count() {
    assert_eq!(defined("pub(crate) struct Heard(pub(crate) Vec<Key>);"), Some("Heard"));
    assert_eq!(defined("pub(in crate::channel) struct Gate {"), Some("Gate"));
    assert_eq!(defined("enum Kind {"), Some("Kind"));
    assert_eq!(defined("pub type Result<T> = std::result::Result<T, Error>;"), Some("Result"));
    assert_eq!(defined("    type Result = ();"), None);
    assert_eq!(defined("use crate::State;"), None);
}
