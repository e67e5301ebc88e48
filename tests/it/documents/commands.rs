//! The commands of the documents run, from the first page to the last, on a demo of their own.
//!
//! A block of commands that no test can run says so in the line before it, with the reason. The program must
//! still know its commands.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use super::markdown::{Block, Document, book};
use crate::program::Place;

/// Blocks in these languages are no commands.
const NO_COMMANDS: [&str; 7] = ["json", "text", "toml", "yaml", "nginx", "mermaid", "rust"];
/// How long the commands of a test may take.
const SECONDS: &str = "240";

/// A replacement for the program: with a free port, few contacts, and an end when the test ends.
const PROGRAM: &str = r#"#!/usr/bin/env bash
set -eu
stays() {
    echo $$ >>"$DOCS_PIDS"
    exec "$DOCS_PROGRAM" "$@" --end-with-input <&3
}
case "${1:-} ${2:-}" in
    'demo phone') ;;
    'demo '*) stays "$@" --port 0 --contacts 200 ;;
    'simulator '*) stays "$@" --port 0 ;;
    'serve '*) POMBO__SERVER__BIND=127.0.0.1:0 stays "$@" ;;
esac
exec "$DOCS_PROGRAM" "$@"
"#;
/// A refusal is a failure.
const CURL: &str = r#"#!/usr/bin/env bash
exec "$DOCS_CURL" --fail-with-body --max-time 60 "$@"
"#;
/// The beginning of the script. Descriptor 3 is closed when the test ends.
const HEAD: &str = r#"set -euo pipefail
exec 3<&0
export DOCS_PIDS=$PWD/pids
touch "$DOCS_PIDS"
end() {
    # Whatever has ended by itself is fine.
    xargs -r kill -9 <"$1" 2>/dev/null || true
}
trap 'end "$DOCS_PIDS"' EXIT
"#;

/// The script of these pages. Each page but the first is read with the variables of the first alone.
fn script(pages: &[Document]) -> String {
    let mut script = HEAD.to_owned();
    for (index, page) in pages.iter().enumerate() {
        let blocks: Vec<_> = page.blocks().into_iter().filter(Block::is_run).collect();
        if blocks.is_empty() {
            continue;
        }
        let is_first = index == 0;
        if !is_first {
            let _ = writeln!(
                script,
                "(\nDOCS_PIDS=$PWD/pids-{index}; touch \"$DOCS_PIDS\"\ntrap 'end \"$DOCS_PIDS\"' EXIT"
            );
        }
        for block in blocks {
            let _ = writeln!(script, "echo '### {}' >&2\n{}", block.place, block.text);
        }
        if !is_first {
            script.push_str(")\n");
        }
    }
    script
}

impl Block {
    fn is_run(&self) -> bool {
        self.language == "sh" && self.not_run.is_none()
    }
}

#[cfg(unix)]
fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the script in a directory of its own; it must succeed.
#[cfg(unix)]
fn run(script: &str) {
    let directory = tempfile::tempdir().unwrap();
    let tools = directory.path().join("tools");
    fs::create_dir(&tools).unwrap();
    executable(&tools.join("pombo"), PROGRAM);
    executable(&tools.join("curl"), CURL);
    fs::write(directory.path().join("script"), script).unwrap();
    let found = Command::new("bash").args(["-c", "command -v curl"]).output().unwrap();
    assert!(found.status.success(), "the documents need curl");
    let output = directory.path().join("output");
    let file = File::create(&output).unwrap();

    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", SECONDS, "bash", "script"]).current_dir(directory.path());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("POMBO_")) {
        command.env_remove(name);
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("DOCS_PROGRAM", env!("CARGO_BIN_EXE_pombo"));
    command.env("DOCS_CURL", String::from_utf8(found.stdout).unwrap().trim());
    command.stdin(Stdio::piped()).stdout(file.try_clone().unwrap()).stderr(file);
    let mut child = command.spawn().unwrap();
    // When this process ends, everything that the commands started ends too.
    let input = child.stdin.take();
    let status = child.wait().unwrap();
    drop(input);
    let said = String::from_utf8_lossy(&fs::read(&output).unwrap()).into_owned();
    let end: Vec<_> = said.lines().rev().take(60).collect();
    let end: String = end.into_iter().rev().flat_map(|line| [line, "\n"]).collect();
    assert!(status.success(), "the last block of commands failed ({status}):\n{end}");
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_readme_run() {
    run(&script(&[Document::read(Path::new("README.md"))]));
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_book_run() {
    let mut pages = book();
    let first = pages.iter().position(|page| page.path.ends_with("getting-started.md")).unwrap();
    let first = pages.remove(first);
    pages.insert(0, first);
    run(&script(&pages));
}

/// Every document whose commands are run or explained.
fn documents() -> impl Iterator<Item = Document> {
    let others = ["README.md", "CONTRIBUTING.md"];
    others.into_iter().map(|path| Document::read(Path::new(path))).chain(book())
}

#[test]
fn every_block_of_commands_runs_or_says_why_it_cannot() {
    for document in documents() {
        let is_run = document.path.starts_with("docs") || document.path.ends_with("README.md");
        for block in document.blocks() {
            let place = &block.place;
            if block.language != "sh" {
                assert!(
                    NO_COMMANDS.contains(&block.language.as_str()),
                    "{place}: commands are in `sh` blocks"
                );
                assert!(block.not_run.is_none(), "{place}: nothing in this block could be run");
            } else if let Some(reason) = &block.not_run {
                assert!(reason.len() > 10, "{place}: why is it not run?");
            } else {
                assert!(
                    is_run,
                    "{place}: no test runs the commands of this document: say `<!-- not run: REASON -->`"
                );
            }
        }
    }
}

/// The commands of a block that are the program's, without comments, in words.
fn own_commands(block: &Block) -> Vec<Vec<String>> {
    let joined = block.text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split(" #").next().unwrap().trim());
    lines
        .filter_map(|line| {
            let line = line.rsplit(" | ").next().unwrap();
            line.strip_prefix("pombo ")
                .or_else(|| line.split_once("cargo run")?.1.split_once(" -- ").map(|(_, rest)| rest))
        })
        .map(|line| line.split_whitespace().take_while(|word| *word != ">").map(str::to_owned).collect())
        .collect()
}

#[test]
fn the_program_knows_the_commands_that_no_test_runs() {
    let place = Place::new();
    let mut known = 0;
    for block in documents().flat_map(|document| document.blocks()) {
        if block.not_run.is_none() {
            continue;
        }
        for words in own_commands(&block) {
            let (mut path, mut help) = (String::new(), place.run("--help").stdout);
            for word in words.iter().take_while(|word| !word.starts_with('-')) {
                let longer = format!("{path}{word} ");
                let is_listed = help.lines().any(|line| line.split_whitespace().next() == Some(word));
                if !is_listed {
                    break;
                }
                help = place.run(&format!("{longer}--help")).stdout;
                path = longer;
            }
            assert!(!path.is_empty(), "{}: the program has no command `{}`", block.place, words.join(" "));
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                let is_hidden = flag == "--markdown";
                assert!(
                    is_hidden || help.contains(flag.as_str()),
                    "{}: `pombo {path}` has no {flag}",
                    block.place
                );
            }
            known += 1;
        }
    }
    assert!(known > 10, "the commands are not found");
}
