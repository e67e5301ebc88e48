//! No type has so many methods that nobody knows them all: a large one hands out values, each with a noun's methods.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::layers::CODE;

/// The most methods of a type, over all of its `impl` blocks.
const MOST: usize = 60;

/// Types that may have more: the crate, the type, its most methods, and why.
const LARGER: &[(&str, &str, usize, &str)] = &[
    ("accounts", "Accounts", 63, "people, sessions, factors and links are not apart yet"),
    ("engine", "Lanes", 74, "one order of all sends of a channel, which its parts cannot keep alone"),
    (
        "engine",
        "Machine",
        156,
        "a step of the channel's machine sees what waits, what may go and what is in flight",
    ),
    ("store", "Store", 500, "it is being divided by nouns"),
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

/// The word after one of these in a line, which may begin with a visibility.
fn named<'a>(line: &'a str, kinds: &[&str]) -> Option<&'a str> {
    let line =
        line.strip_prefix("pub").map_or(line, |rest| rest.trim_start_matches(|c| c != ' ').trim_start());
    let mut words = line.split(' ').skip_while(|word| ["const", "async", "unsafe"].contains(word));
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
    for ((layer, name, home), count) in counts {
        let larger = LARGER.iter().find(|(of, known, ..)| *of == layer && *known == name);
        let most = larger.map_or(MOST, |(_, _, most, _)| *most);
        if count > most {
            faults.push(format!("{}: {name} has {count} methods, and may have {most}", home.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn methods_are_counted_for_the_type_of_their_block() {
    assert_eq!(own_type("impl Engine {").as_deref(), Some("Engine"));
    assert_eq!(own_type("impl<K: Eq + Hash<u8>> Window<K> {").as_deref(), Some("Window"));
    assert_eq!(own_type("impl Sends<'_> {").as_deref(), Some("Sends"));
    assert_eq!(own_type("impl From<Error> for Fault {"), None);
    assert_eq!(named("pub(crate) async fn look(&self)", &["fn"]), Some("look"));
    assert_eq!(named("pub struct Sends<'e> {", &["struct"]), Some("Sends"));
    assert_eq!(named("// fn no", &["fn"]), None);
}
