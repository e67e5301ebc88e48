//! All texts are in every language, each is used, and none that is used is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// The keys of a language, each with the variables of its text.
fn texts(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut texts = BTreeMap::new();
    for (file, source) in FILES.iter().zip(sources(language)) {
        let mut key = String::new();
        for line in source.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            if let Some((name, _)) =
                line.split_once(" =").filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                assert!(name.starts_with(&format!("{file}-")), "{name} is in {file}.ftl");
                key = name.to_owned();
                let doubled = texts.insert(key.clone(), BTreeSet::new());
                assert!(doubled.is_none(), "{name} is defined twice");
            }
            let variables = line.split('$').skip(1).map(|rest| {
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
            });
            texts.entry(key.clone()).or_default().extend(variables);
        }
    }
    texts
}

/// The lines of a language's texts without their keys and variables.
fn lines(language: Language) -> Vec<String> {
    let mut lines = Vec::new();
    for line in sources(language).into_iter().flat_map(str::lines) {
        let is_key = line.starts_with(|c: char| c.is_ascii_lowercase());
        let said = line.split_once(" =").filter(|_| is_key).map_or(line, |(_, said)| said);
        // A variable ends with its brace; what is before the first one has none.
        let mut parts = said.split('{');
        let mut plain = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            plain.push_str(part.split_once('}').map_or("", |(_, after)| after));
        }
        lines.push(plain.to_lowercase());
    }
    lines
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("text/tests.rs")
        {
            found.push(path);
        }
    }
}

/// Every literal in the console's sources that could be a key, with the file that has it.
fn literals() -> BTreeMap<String, PathBuf> {
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/console"), &mut files);
    let mut literals = BTreeMap::new();
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        for word in code.collect::<Vec<_>>().join("\n").split('"') {
            let is_key = word.contains('-')
                && word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            if is_key {
                literals.insert(word.to_owned(), path.clone());
            }
        }
    }
    literals
}

#[test]
fn every_file_reads_without_faults() {
    for language in Language::ALL {
        for (file, source) in FILES.iter().zip(sources(language)) {
            if let Err((_, faults)) = FluentResource::try_new(source.to_owned()) {
                panic!("{}/{file}.ftl: {faults:?}", language.as_str());
            }
        }
        let mut bundle = Bundle::new_concurrent(Vec::new());
        for source in sources(language) {
            bundle.add_resource(FluentResource::try_new(source.to_owned()).unwrap()).unwrap();
        }
    }
}

#[test]
fn every_language_has_the_same_texts_with_the_same_variables() {
    let english = texts(Language::English);
    for language in [Language::Portuguese, Language::Spanish] {
        let other = texts(language);
        let differing: Vec<_> = english
            .iter()
            .filter(|(key, variables)| other.get(*key) != Some(variables))
            .map(|(key, _)| key)
            .chain(other.keys().filter(|key| !english.contains_key(*key)))
            .collect();
        assert!(differing.is_empty(), "{}: {differing:?}", language.as_str());
    }
}

#[test]
fn every_text_is_used_and_every_used_text_is_there() {
    let (texts, literals) = (texts(Language::English), literals());
    let unused: Vec<_> = texts.keys().filter(|key| !literals.contains_key(*key)).collect();
    assert!(unused.is_empty(), "no page uses {unused:?}");
    // A literal that begins with the name of a file is meant for a key, unless it is the file's own name or a field's id.
    let missing: Vec<_> = literals
        .iter()
        .filter(|(word, _)| {
            FILES.iter().any(|file| word.strip_prefix(file).is_some_and(|rest| rest.starts_with('-')))
        })
        .filter(|(word, _)| !texts.contains_key(*word) && !FILES.contains(&word.as_str()))
        .collect();
    assert!(missing.is_empty(), "no file has {missing:?}");
}

#[test]
fn no_text_has_a_name_of_the_code_or_a_second_name_for_a_thing() {
    const OF_THE_CODE: [&str; 6] =
        ["send_at", "messages_per_second", "reconnect_waba", "phone_number_id", "lid", "jid"];
    for language in Language::ALL {
        // One thing has one name in each language.
        let others: &[&str] = match language {
            Language::English => &["color", "colors", "recolored"],
            Language::Portuguese | Language::Spanish => &["tag", "tags"],
        };
        for line in lines(language) {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let found = words.find(|word| OF_THE_CODE.contains(word) || others.contains(word));
            assert!(found.is_none(), "{}: {found:?} in {line}", language.as_str());
        }
    }
}

#[test]
fn numbers_and_plurals_follow_the_language() {
    let shown = |language, total: u64| {
        let values = [("page", 1_u64.into()), ("pages", 1234_u64.into()), ("total", total.into())];
        Text(language).with("shell-page-of", values)
    };
    assert_eq!(shown(Language::English, 1), "Page 1 of 1,234 (1 entry)");
    assert_eq!(shown(Language::English, 61_650), "Page 1 of 1,234 (61,650 entries)");
    assert_eq!(shown(Language::Portuguese, 61_650), "Página 1 de 1.234 (61.650 registros)");
    assert_eq!(shown(Language::Spanish, 61_650), "Página 1 de 1234 (61.650 registros)");
    let sent = |language, all: u64| {
        Text(language).with("send-progress", [("sent", 1_u64.into()), ("all", all.into())])
    };
    assert_eq!(sent(Language::English, 1), "1 of 1 message sent");
    assert_eq!(sent(Language::English, 2), "1 of 2 messages sent");
    assert_eq!(sent(Language::Portuguese, 1), "1 de 1 mensagem enviada");
    assert_eq!(sent(Language::Spanish, 1), "1 de 1 mensaje enviado");
}
