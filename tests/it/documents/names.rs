//! Names in the documents are names in the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use pombo::domain::outlook::Reason;
use pombo::domain::tier::Tier;

use super::markdown::{Document, all, book, root};
use crate::program::Place;

/// The words in backquotes in the first column of the table with this title.
fn explained(page: &str, title: &str) -> BTreeSet<String> {
    let page = Document::read(Path::new(page));
    let table = page.text.lines().skip_while(|line| !line.starts_with(title)).skip(2);
    let cells = table.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn every_option_of_a_tier_is_explained() {
    let options = Tier::OPTIONS.iter().filter(|option| !["name", "kind", "description"].contains(option));
    let options: BTreeSet<_> = options.map(|option| (*option).to_owned()).collect();
    assert_eq!(explained("docs/limits.md", "| option | what it limits |"), options);
}

/// The crates of the workspace, each with those that its manifest names.
fn manifests() -> BTreeMap<String, BTreeSet<String>> {
    let asked = ["metadata", "--offline", "--locked", "--no-deps", "--format-version", "1"];
    let answer = Command::new(env!("CARGO")).args(asked).current_dir(root()).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    let ours = |name: &serde_json::Value| name.as_str().unwrap().strip_prefix("pombo-").map(str::to_owned);
    let uses = |package: &serde_json::Value| {
        let listed = package["dependencies"].as_array().unwrap().iter();
        listed.filter(|used| used["kind"].is_null()).filter_map(|used| ours(&used["name"])).collect()
    };
    let packages = answer["packages"].as_array().unwrap().iter();
    packages.filter_map(|package| Some((ours(&package["name"])?, uses(package)))).collect()
}

#[test]
fn the_table_of_crates_has_every_crate_and_what_it_uses() {
    let page = Document::read(Path::new("ARCHITECTURE.md"));
    let rows =
        page.text.lines().skip_while(|line| !line.starts_with("| crate | what it is | may use |")).skip(2);
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    let mut table = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<_> = row.split('|').collect();
        table.extend(quoted(cells[1]).into_iter().map(|name| (name, quoted(cells[3]))));
    }
    let manifests = manifests();
    assert_eq!(table.keys().collect::<Vec<_>>(), manifests.keys().collect::<Vec<_>>());
    for (name, uses) in manifests {
        assert_eq!(table[&name], uses, "the row of {name} in ARCHITECTURE.md, and its manifest");
    }
}

#[test]
fn every_wait_names_the_file_of_its_rule() {
    let waits: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.as_str().to_owned()).collect();
    assert_eq!(explained("docs/internals.md", "| wait | rule |"), waits);
    let page = Document::read(Path::new("docs/internals.md"));
    let paths: Vec<_> =
        page.quoted().filter(|quoted| quoted.starts_with("src/") || quoted.starts_with("crates/")).collect();
    assert!(paths.len() > waits.len(), "the paths are not found");
    let missing: Vec<_> = paths.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "these paths lead nowhere: {missing:?}");
}

#[test]
fn the_page_of_codes_is_what_the_program_writes() {
    let written = Place::new().run("explain --markdown");
    assert_eq!(written.code, Some(0), "{written:?}");
    let page = Document::read(Path::new("docs/codes.md"));
    assert!(
        written.stdout == page.text,
        "docs/codes.md is out of date: run `cargo run -- explain --markdown > docs/codes.md`"
    );
}

/// The options of the default configuration, as `section.key`.
fn options() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = std::fs::read_to_string(root().join("config/default.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let options = table.iter().flat_map(|(section, keys)| {
        keys.as_table().unwrap().keys().map(move |key| format!("{section}.{key}"))
    });
    (table.keys().cloned().collect(), options.collect())
}

#[test]
fn every_option_that_a_document_names_exists() {
    let (sections, options) = options();
    let is_word =
        |word: &str| word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
    let mut named = 0;
    for document in all() {
        let dotted = document.quoted().filter_map(|quoted| {
            let name = quoted.split(" = ").next()?;
            let (section, key) = name.split_once('.')?;
            // A file's name looks like an option of a section.
            let is_option =
                sections.contains(section) && is_word(key) && !["db", "rs", "toml", "key"].contains(&key);
            (is_option || name == "secrets.key").then(|| name.to_owned())
        });
        let variables = document.text.split("POMBO__").skip(1).filter_map(|rest| {
            let is_part = |one: char| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_';
            let end = rest.find(|one| !is_part(one)).unwrap_or(rest.len());
            let (section, key) = rest[..end].split_once("__")?;
            Some(format!("{}.{}", section.to_lowercase(), key.to_lowercase()))
        });
        for name in dotted.chain(variables) {
            named += 1;
            let is_example = name == "section.key";
            assert!(
                is_example || options.contains(&name),
                "{} names the option {name}, which does not exist",
                document.path.display()
            );
        }
    }
    assert!(named > 40, "the options are not found");
}

#[test]
fn every_path_that_the_book_names_exists() {
    let known: Vec<Vec<String>> =
        pombo::api::ROUTES.iter().map(|route| route.path.split('/').map(str::to_owned).collect()).collect();
    let is_variable = |part: &str| part == "ID" || part.starts_with('{') || part.starts_with('$');
    let mut named = 0;
    for page in book() {
        for quoted in page.quoted() {
            let path = quoted.rsplit(' ').next().unwrap().split('?').next().unwrap();
            if !["/api/v1/", "/operator/v1/", "/hooks/meta/{"].iter().any(|start| path.starts_with(start)) {
                continue;
            }
            named += 1;
            let parts: Vec<_> = path.split('/').collect();
            let fits = |route: &Vec<String>| {
                route.len() == parts.len()
                    && route
                        .iter()
                        .zip(&parts)
                        .all(|(own, part)| own == part || (own.starts_with('{') && is_variable(part)))
            };
            assert!(known.iter().any(fits), "{} names {path}, which does not exist", page.path.display());
        }
    }
    assert!(named > 10, "the paths are not found");
}
