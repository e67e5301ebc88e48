//! What a person can keep in mind: no file is long, and no type has so many methods that nobody knows them all. A large
//! type hands out values, each with a noun's methods.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::layers::{CODE, sources};

/// The most lines of a file, with its comments and tests.
const LINES: usize = 400;
/// The directories of all Rust code, of tests and benches too.
const EVERYWHERE: [&str; 7] =
    ["benches", "crates", "entity", "fuzz/fuzz_targets", "migration", "src", "tests"];

/// The most methods of a type, over all of its `impl` blocks.
const MOST: usize = 60;

/// Types that may have more: the file that defines the type, the type, its methods, and why.
const LARGER: &[(&str, &str, usize, &str)] = &[
    ("crates/accounts/src/lib.rs", "Accounts", 62, "people, sessions, factors and links are not apart yet"),
    (
        "crates/engine/src/channel/machine/lanes.rs",
        "Lanes",
        74,
        "one order of all sends of a channel, which its parts cannot keep alone",
    ),
    (
        "crates/engine/src/channel/machine/mod.rs",
        "Machine",
        156,
        "a step of the channel's machine sees what waits, what may go and what is in flight",
    ),
];

/// The types that are defined and those that have methods, each with the file and the number of methods.
struct Found {
    defined: Vec<(String, String, PathBuf)>,
    methods: Vec<(String, String, PathBuf, usize)>,
}

/// The type of an `impl` block without a trait; `None` for one of a trait.
fn own_type(head: &str) -> Option<String> {
    let mut rest = head.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    if rest.contains(" for ") {
        return None;
    }
    let path: String =
        rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
    path.rsplit("::").next().map(str::to_owned)
}

/// The line without `pub`, `pub(crate)`, `pub(in some::path)` at its beginning.
pub(crate) fn past_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    match rest.strip_prefix('(').map(|path| path.split_once(')')) {
        Some(Some((_, rest))) => rest.trim_start(),
        Some(None) => line,
        None => rest.strip_prefix(' ').unwrap_or(line),
    }
}

/// The word after one of these in a line, which may begin with a visibility.
fn named<'a>(line: &'a str, kinds: &[&str]) -> Option<&'a str> {
    let mut words =
        past_visibility(line).split(' ').skip_while(|word| ["const", "async", "unsafe"].contains(word));
    let kind = words.next()?;
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    kinds.contains(&kind).then(|| &name[..end])
}

fn found() -> Found {
    let mut found = Found { defined: Vec::new(), methods: Vec::new() };
    for (layer, path, lines) in CODE.iter().filter(|(_, path, _)| !is_of_the_universe(path)) {
        let mut lines = lines.iter();
        while let Some(line) = lines.next() {
            if let Some(name) = named(line, &["struct", "enum"]) {
                found.defined.push((layer.clone(), name.to_owned(), path.clone()));
            }
            if !line.starts_with("impl") || line.ends_with('}') {
                continue;
            }
            let mut head = line.clone();
            while !head.ends_with('{') {
                let Some(more) = lines.next() else { break };
                head = format!("{head} {}", more.trim());
            }
            let body = lines.by_ref().take_while(|line| *line != "}");
            let is_method = |line: &&String| {
                line.strip_prefix("    ")
                    .is_some_and(|line| !line.starts_with(' ') && named(line, &["fn"]).is_some())
            };
            let count = body.filter(is_method).count();
            if let Some(name) = own_type(&head) {
                found.methods.push((layer.clone(), name, path.clone(), count));
            }
        }
    }
    found
}

/// Simulated worlds are no product.
pub(crate) fn is_of_the_universe(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "universe")
}

/// How many parts the paths have in common from the beginning.
fn kinship(one: &Path, other: &Path) -> usize {
    let (one, other) = (one.with_extension(""), other.with_extension(""));
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}

/// How many methods a type may have that is larger than the others.
fn larger(home: &Path, name: &str) -> Option<usize> {
    LARGER.iter().find(|(at, known, ..)| home.ends_with(at) && *known == name).map(|(_, _, most, _)| *most)
}

#[test]
fn no_type_has_more_methods_than_a_person_can_know() {
    let found = found();
    let mut counts: BTreeMap<(&str, &str, &Path), usize> = BTreeMap::new();
    for (layer, name, path, count) in &found.methods {
        // Several modules may have a type of this name: the nearest one is meant.
        let same = found.defined.iter().filter(|(of, known, _)| of == layer && known == name);
        if let Some((_, _, home)) = same.max_by_key(|(_, _, home)| kinship(home, path)) {
            *counts.entry((layer, name, home)).or_default() += count;
        }
    }
    assert!(counts.values().any(|count| *count > MOST / 2), "hardly a method is found: the check is idle");
    let mut faults = Vec::new();
    for ((_, name, home), count) in &counts {
        let most = larger(home, name).unwrap_or(MOST);
        if *count > most {
            faults.push(format!("{}: {name} has {count} methods, and may have {most}", home.display()));
        }
    }
    for (home, name, most, _) in LARGER {
        let known = counts.iter().find(|((_, known, at), _)| known == name && at.ends_with(home));
        let count = known.map_or(0, |(_, count)| *count);
        if count < *most {
            faults.push(format!("{home}: {name} has {count} methods now: lower its bound"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_file_is_longer_than_a_person_can_follow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("build.rs")];
    EVERYWHERE.iter().for_each(|directory| sources(&root.join(directory), &mut files));
    assert!(files.len() > 1_000, "hardly a file is found: the check is idle");
    let lines = |path: &PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let long: Vec<_> =
        files.iter().map(|path| (path, lines(path))).filter(|(_, lines)| *lines > LINES).collect();
    assert!(long.is_empty(), "split these by meaning: {long:?}");
}

#[test]
fn methods_are_counted_for_the_type_of_their_block() {
    assert_eq!(own_type("impl Engine {").as_deref(), Some("Engine"));
    assert_eq!(own_type("impl<K: Eq + Hash<u8>> Window<K> {").as_deref(), Some("Window"));
    assert_eq!(own_type("impl Sends<'_> {").as_deref(), Some("Sends"));
    assert_eq!(own_type("impl From<Error> for Fault {"), None);
    assert_eq!(named("pub(crate) async fn look(&self)", &["fn"]), Some("look"));
    assert_eq!(named("pub(in crate::channel) const fn ask(&self)", &["fn"]), Some("ask"));
    assert_eq!(named("pub struct Sends<'e> {", &["struct"]), Some("Sends"));
    assert_eq!(named("// fn no", &["fn"]), None);
}
