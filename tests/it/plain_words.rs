//! Comments, texts and documents keep clear of turns that a reader has to puzzle out. A turn that was replaced everywhere
//! stands in the list below, so that it does not come back.

use std::fs;
use std::path::{Path, PathBuf};

/// What no comment, string or document says, each with what to write instead. Case does not matter.
const TURNS: &[(&str, &str)] = &[
    ("see the module", "say in a sentence what the item is, or leave the comment out"),
    ("whoever", "name the caller, the client, the recipient, the process"),
    ("whosoever", "name the caller, the client, the recipient, the process"),
    ("anew", "again"),
    ("what became of", "the outcome of, the result of, the status of"),
    ("let be", "hold, skip, delay, ignore"),
    ("lets be", "holds, skips, delays, ignores"),
    ("for ever", "permanently, forever, without limit"),
    ("in one breath", "in one transaction"),
    ("as often as it takes", "retries until it succeeds"),
    ("slip of the pen", "mistake, typing error"),
    ("in vain", "without success, timed out"),
    ("come again", "retry"),
    ("answered badly", "slow response, failed response"),
    ("told too fast", "the consumer is too slow"),
    ("thereof", "of it"),
    ("heretofore", "before"),
    ("hitherto", "until now"),
    ("henceforth", "from now on"),
    ("lest", "so that … not"),
    ("errand", "pending reply"),
    ("errands", "pending replies"),
    ("let go of", "release"),
    ("lets go of", "releases"),
    ("stand in line", "queue, wait in a queue"),
    ("stands in line", "queues, waits in a queue"),
    ("goes over to", "changes to"),
    ("went over to", "changed to"),
    ("since just now", "has just become"),
    ("there are news", "changed, an update, a webhook"),
    ("there were news", "changed, an update, a webhook"),
    ("came to nothing", "failed, without effect"),
    ("comes to nothing", "fails, without effect"),
    ("it is looked", "name what checks, looks for or reads"),
    ("is looked whether", "name what checks"),
    ("how things stand", "the state, the figures"),
    ("how it stands", "its state"),
    ("whose time is over", "expired"),
    ("parted by", "separated by"),
    ("what comes of", "the result of, the outcome of, the effect of"),
    ("this one time", "only once"),
];

/// Where texts are, from the root of the repository.
const DIRECTORIES: &[&str] = &[
    "benches",
    "config",
    "crates",
    "docs",
    "entity",
    "fuzz",
    "migration",
    "packaging",
    "scripts",
    "src",
    "tests",
];
/// Files of text by how their names end, beside Rust's, of which only comments and strings count.
const TEXTS: &[&str] =
    &["md", "toml", "ftl", "yaml", "yml", "sh", "html", "css", "js", "mjs", "py", "service"];
/// This file has the turns themselves.
const OWN: &str = "tests/it/plain_words.rs";
/// Texts of the console in English; in other languages the same letters may be other words.
const ENGLISH: &str = "/en/";

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["target", "node_modules", "corpus", "artifacts"].contains(&name) {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// The comments and strings of Rust's source, each piece with the number of its line.
fn said(source: &str) -> Vec<(usize, String)> {
    let mut pieces: Vec<(usize, String)> = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let opening = rest.trim_start_matches('b').trim_start_matches('r').trim_start_matches('#');
        let hashes =
            rest.len() - opening.len() - rest.bytes().take_while(|byte| b"br".contains(byte)).count();
        let is_raw = opening.starts_with('"') && (rest.starts_with('r') || rest.starts_with("br"));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if is_raw {
            let closing = format!("\"{}", "#".repeat(hashes));
            let begun = rest.len() - opening.len() + 1;
            rest[begun..].find(&closing).map_or(rest.len(), |end| begun + end + closing.len())
        } else if first == '"' {
            let mut is_escaped = false;
            let is_end = |(_, c): &(usize, char)| {
                let ends = *c == '"' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                ends
            };
            rest.char_indices().skip(1).find(is_end).map_or(rest.len(), |(end, _)| end + 1)
        } else {
            // A quote as a character opens no string.
            let skipped = ["'\"'", r#"'\"'"#].iter().find(|quote| rest.starts_with(**quote));
            let word = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            let skipped = skipped.map_or(word.max(first.len_utf8()), |quote| quote.len());
            line += rest[..skipped].matches('\n').count();
            rest = &rest[skipped..];
            continue;
        };
        for (number, text) in (line..).zip(rest[..length].lines()) {
            pieces.push((number, text.to_owned()));
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    pieces
}

/// Whether the text, in small letters, has the turn as words of its own.
fn has(text: &str, turn: &str) -> bool {
    let continues = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(turn).any(|(place, _)| {
        let (before, after) = (&text[..place], &text[place + turn.len()..]);
        !continues(before.chars().next_back()) && !continues(after.chars().next())
    })
}

fn texts(path: &Path, content: &str) -> Vec<(usize, String)> {
    if path.extension().is_some_and(|extension| extension == "rs") {
        return said(content);
    }
    (1..).zip(content.lines().map(str::to_owned)).collect()
}

#[test]
fn no_replaced_turn_comes_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|ending| ["md", "rs", "toml"].iter().any(|one| ending == *one))
        })
        .collect();
    DIRECTORIES.iter().for_each(|directory| files(&root.join(directory), &mut found));
    let (mut faults, mut read) = (Vec::new(), 0);
    for path in found {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_text = ending == "rs" || TEXTS.contains(&ending) || name.starts_with("scripts/");
        let is_english = !name.contains("/locales/") || name.contains(ENGLISH);
        if !is_text || !is_english || name == OWN {
            continue;
        }
        read += 1;
        let content = fs::read_to_string(&path).unwrap();
        let small = content.to_lowercase();
        // Most files have none of them anywhere, and need not be taken apart.
        let near: Vec<_> = TURNS.iter().filter(|(turn, _)| small.contains(turn)).collect();
        for (line, text) in if near.is_empty() { Vec::new() } else { texts(&path, &content) } {
            let small = text.to_lowercase();
            for (turn, better) in near.iter().filter(|(turn, _)| has(&small, turn)) {
                faults.push(format!("{name}:{line}: `{turn}`: {better}\n    {}", text.trim()));
            }
        }
    }
    assert!(read > 1_000, "only {read} files were read");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn only_comments_and_strings_of_rust_are_read() {
    let source = "\
let anew = 'a'; // again
let quote = '\"'; /// a doc
let text = \"one \\\" two
    three\"; call(r#\"raw \"quoted\" text\"#); fn whoever<'a>(r: &'a str) {}
";
    let said = said(source);
    let said: Vec<_> = said.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(
        said,
        [
            (1, "// again"),
            (2, "/// a doc"),
            (3, "\"one \\\" two"),
            (4, "    three\""),
            (4, "r#\"raw \"quoted\" text\"#"),
        ]
    );
    assert!(has("anew it goes", "anew") && has("in vain.", "in vain"));
    assert!(!has("a new one", "anew") && !has("the latest", "lest") && !has("in vain_", "in vain"));
}
