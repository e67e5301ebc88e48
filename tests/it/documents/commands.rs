//! The commands of the documents run, from the first page to the last, as a reader follows them: in one shell, each page
//! after the one before it.
//!
//! A block of commands that no test can run says so in the line before it, with the reason. The program must
//! still know its commands.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use super::markdown::{Block, Document, book};
use crate::program::Place;
use crate::proxy::OwnPort;

/// Blocks in these languages are no commands.
const NO_COMMANDS: [&str; 7] = ["json", "text", "toml", "yaml", "nginx", "mermaid", "rust"];
/// How long the commands of a test may take.
const SECONDS: &str = "240";

/// A replacement for the program: with few contacts, an end when the test ends, and ports of the test in place of the usual
/// ones. Two services that want the usual port meet each other, as a reader's do.
const PROGRAM: &str = r#"#!/usr/bin/env bash
set -eu
stays() {
    echo $$ >>"$DOCS_PIDS"
    exec "$DOCS_PROGRAM" "$@" --end-with-input <&3
}
case "${1:-} ${2:-}" in
    'demo phone') ;;
    'demo '*) stays "$@" --port "$DOCS_PORT" --contacts 200 ;;
    # A word after it asks one that runs.
    'simulator ' | 'simulator -'*) stays "$@" --port "$DOCS_SIMULATOR_PORT" ;;
    'serve '*)
        export POMBO__SERVER__BIND=${POMBO__SERVER__BIND:-127.0.0.1:$DOCS_PORT}
        stays "$@"
        ;;
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

/// The script of these pages: one shell runs all blocks.
fn script(pages: &[Document]) -> String {
    let mut script = HEAD.to_owned();
    for block in pages.iter().flat_map(Document::blocks).filter(Block::is_run) {
        let _ = writeln!(script, "echo '### {}' >&2\n{}", block.place, block.text);
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
    let ports = [OwnPort::new(), OwnPort::new()];
    for (name, port) in ["DOCS_PORT", "DOCS_SIMULATOR_PORT"].into_iter().zip(&ports) {
        command.env(name, port.address.port().to_string());
    }
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

/// The pages as a reader follows them: the README, then the book in its order.
fn pages() -> Vec<Document> {
    std::iter::once(Document::read(Path::new("README.md"))).chain(book()).collect()
}

#[cfg(unix)]
#[test]
fn every_page_can_be_followed_after_the_one_before_it_in_one_shell() {
    run(&script(&pages()));
}

/// Whether a line has a command that waits, outside its comment. An option such as `--until` is none.
fn waits_in(line: &str) -> bool {
    let command = line.split(" #").next().unwrap();
    let mut words = command.split(|char: char| char.is_whitespace() || ";()&|".contains(char));
    words.any(|word| ["sleep", "until"].contains(&word))
}

#[test]
fn every_wait_of_the_commands_ends_when_what_it_waits_for_does_not_come() {
    let mut waits = 0;
    for block in pages().iter().flat_map(Document::blocks).filter(Block::is_run) {
        for line in block.text.lines().filter(|line| waits_in(line)) {
            // A loop over a process ends with the process; a loop over numbers ends by itself.
            let is_bounded = line.contains("while ") && line.contains("kill -0 ")
                || line.trim() == "sleep 1" && block.text.contains("for _ in $(seq ");
            assert!(is_bounded, "{}: `{line}` may wait without an end", block.place);
            waits += 1;
        }
    }
    assert!(waits >= 4, "the waits are not found");
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
                let is_hidden = ["--markdown", "--metrics"].contains(&flag.as_str());
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
