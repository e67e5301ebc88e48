//! Inside the engine, the API and the console, the modules below the root use one another without circles: each can be
//! read and changed without those that use it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::layers::{is_test, sources, without_tests};

/// The directories, each with the path of its module in its crate.
const HOUSES: [(&str, &str); 3] = [("crates/engine/src", ""), ("src/api", "api"), ("src/console", "console")];

/// A path that the code names: its words, and the name under which a `use` imports it.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    words: Vec<String>,
    name: String,
}

/// The uses of one module by another, each with its file and its path.
type Uses = BTreeMap<(String, String), Vec<String>>;

/// The paths in `text` that begin with one of `roots`, those of a `use` tree one by one.
fn paths(text: &str, roots: &[&str]) -> Vec<Named> {
    let mut found = Vec::new();
    for root in roots {
        for (place, _) in text.match_indices(&format!("{root}::")) {
            let before = text[..place].chars().next_back();
            if !before.is_some_and(|c| c.is_ascii_alphanumeric() || "_:$".contains(c)) {
                let _ = tree(&text[place..], &[], &mut found);
            }
        }
    }
    found
}

/// Reads one path, or one tree of paths, and returns the rest of the text.
fn tree<'a>(text: &'a str, before: &[String], found: &mut Vec<Named>) -> &'a str {
    let (mut words, mut rest) = (before.to_vec(), text.trim_start());
    loop {
        let (word, after) = word(rest);
        rest = after;
        if !word.is_empty() {
            words.push(word.to_owned());
        }
        let Some(deeper) = rest.strip_prefix("::") else { break };
        rest = deeper;
        if let Some(inside) = rest.strip_prefix('{') {
            return branches(inside, &words, found);
        }
    }
    let alias = rest.strip_prefix(" as ").map(word);
    if let Some((_, after)) = alias {
        rest = after;
    }
    let name = alias.map_or_else(|| words.last().cloned().unwrap_or_default(), |(name, _)| name.to_owned());
    found.push(Named { words, name });
    rest
}

/// Reads the paths of a tree up to its closing brace.
fn branches<'a>(mut text: &'a str, before: &[String], found: &mut Vec<Named>) -> &'a str {
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return text;
        }
        if let Some(rest) = text.strip_prefix('}') {
            return rest;
        }
        let rest = tree(text, before, found);
        // What is no path is skipped, a character at a time.
        text = rest.strip_prefix(',').unwrap_or(if rest.len() == text.len() { &rest[1..] } else { rest });
    }
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len()))
}

/// The module directly below the house that a path leads to; `own` is the path of the module that names it.
fn module(
    words: &[String],
    own: &[&str],
    house: &str,
    exported: &BTreeMap<String, String>,
) -> Option<String> {
    let (mut at, mut words) = match words.first()?.as_str() {
        "crate" => (Vec::new(), &words[1..]),
        "super" => (own.to_vec(), words),
        _ => return None,
    };
    while let Some(("super", rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        at.pop()?;
        words = rest;
    }
    let mut path = at.into_iter().chain(words.iter().map(String::as_str));
    if !house.is_empty() && path.next()? != house {
        return None;
    }
    let first = path.next()?;
    Some(exported.get(first).map_or(first, String::as_str).to_owned())
}

/// Which modules directly below the house use which.
fn uses(house: &Path, name: &str) -> Uses {
    let read = |path: &Path| without_tests(&fs::read_to_string(path).unwrap()).join("\n");
    let (lib, own) = (house.join("lib.rs"), house.join("mod.rs"));
    let root = if lib.exists() { lib } else { own };
    let exports = paths(&read(&root), &["self"]);
    let exported = exports.into_iter().filter(|path| path.words.len() > 2);
    let exported: BTreeMap<_, _> = exported.map(|path| (path.name, path.words[1].clone())).collect();
    let (mut files, mut uses) = (Vec::new(), Uses::new());
    sources(house, &mut files);
    for path in files.iter().filter(|path| **path != root) {
        let inside = path.strip_prefix(house).unwrap().with_extension("");
        if is_test(path.strip_prefix(house).unwrap()) {
            continue;
        }
        let mut own: Vec<_> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let user = own[0].to_owned();
        own.retain(|part| *part != "mod");
        if !name.is_empty() {
            own.insert(0, name);
        }
        for named in paths(&read(path), &["crate", "super"]) {
            let Some(used) = module(&named.words, &own, name, &exported) else { continue };
            let is_module = house.join(&used).is_dir() || house.join(&used).with_extension("rs").exists();
            if used != user && is_module {
                let line = format!("{}: {}", inside.display(), named.words.join("::"));
                uses.entry((user.clone(), used)).or_default().push(line);
            }
        }
    }
    uses
}

/// The circles: sets of modules each of which uses all others, directly or through others.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let reached = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(user) = open.pop() {
            let used = uses.keys().filter(|(by, _)| *by == user).map(|(_, used)| used.clone());
            open.extend(used.filter(|used| seen.insert(used.clone())));
        }
        seen
    };
    let modules: BTreeSet<_> = uses.keys().map(|(user, _)| user.clone()).collect();
    let reach: BTreeMap<_, _> =
        modules.into_iter().map(|module| (module.clone(), reached(&module))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (module, reached) in reach.iter().filter(|(module, reached)| reached.contains(*module)) {
        if !found.iter().any(|circle| circle.contains(module)) {
            let is_back = |other: &&String| reach.get(*other).is_some_and(|back| back.contains(module));
            found.push(reached.iter().filter(is_back).cloned().collect());
        }
    }
    found
}

#[test]
fn the_modules_of_engine_api_and_console_make_no_circles() {
    let mut faults = Vec::new();
    for (directory, name) in HOUSES {
        let uses = uses(&Path::new(env!("CARGO_MANIFEST_DIR")).join(directory), name);
        assert!(uses.len() > 20, "hardly any module of {directory} uses another: the check is idle");
        for circle in circles(&uses) {
            faults.push(format!("{directory}: a circle of {circle:?}"));
            let closes = |(user, used): &(String, String)| circle.contains(user) && circle.contains(used);
            for ((user, used), lines) in uses.iter().filter(|(pair, _)| closes(pair)) {
                faults.push(format!("  {user} uses {used}:\n    {}", lines.join("\n    ")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_path_of_a_tree_is_read() {
    let text =
        "use crate::{Error as Fault,\n    channel::{self, shell::Look}};\nlet x = super::mailbox::Door;";
    let found: Vec<_> =
        paths(text, &["crate", "super"]).into_iter().map(|path| (path.words.join("::"), path.name)).collect();
    let expected = [
        ("crate::Error", "Fault"),
        ("crate::channel::self", "self"),
        ("crate::channel::shell::Look", "Look"),
        ("super::mailbox::Door", "Door"),
    ];
    assert_eq!(found, expected.map(|(path, name)| (path.to_owned(), name.to_owned())));
}

#[test]
fn a_circle_of_three_is_found_and_a_chain_is_none() {
    let uses = |pairs: &[(&str, &str)]| {
        let pair = |(user, used): &(&str, &str)| ((user.to_string(), used.to_string()), Vec::new());
        pairs.iter().map(pair).collect::<Uses>()
    };
    assert!(circles(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    let circle = circles(&uses(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("c", "e")]));
    assert_eq!(circle, [BTreeSet::from(["a", "b", "c"].map(str::to_owned))]);
}
