//! Imports go in one direction, and each layer leaves the work of other layers to them. Between crates, Cargo sees to it
//! (`walls`); this is about the modules of the program, and about words that more than one crate may use.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The program's modules, from the bottom up. A module may use those in lines before its own, and itself.
const LAYERS: &[&[&str]] = &[&["logging"], &["surface"], &["api", "console", "graph"], &["app"], &["cli"]];

/// The crates below the program, by the names that its modules use.
const BELOW: &[&str] = &[
    "accounts",
    "clock",
    "cluster",
    "config",
    "connector",
    "domain",
    "engine",
    "error",
    "files",
    "import",
    "store",
    "telemetry",
    "vault",
];

/// Words that only these crates and modules of the program may contain, each with the reason.
const OWNED: &[(&str, &[&str], &str)] = &[
    (
        "actix_web",
        &["surface", "api", "console", "graph", "app", "cli", "simulator", "loadtest"],
        "only the surfaces and tools that play another party answer HTTP",
    ),
    (
        "reqwest",
        &["connectors", "web_session", "simulator", "loadtest", "cli"],
        "only a connector talks to a provider, and only a load test and a command to a service",
    ),
    (
        "Client::builder",
        &["connectors", "web_session", "simulator", "loadtest"],
        "a client that is made elsewhere takes a proxy from the environment: begin with connector::http",
    ),
    ("std::env::var", &["config", "cli", "app"], "only the configuration reads the environment"),
    ("simulator::", &["app", "cli"], "the service knows no simulator: it speaks to it as to the provider"),
    ("loadtest::", &["cli"], "only the command line starts a load test"),
];

/// The directories of machines, which only decide.
const MACHINES: &[&str] = &[
    "crates/machines/src/account",
    "crates/machines/src/alert",
    "crates/machines/src/node",
    "crates/machines/src/web_session",
    "crates/machines/src/webhook",
    "crates/engine/src/channel/machine",
    "crates/engine/src/ledger/machine",
];

/// Words that no machine contains, each with the reason: a longer word that begins with one of them does not
/// count.
const NOT_IN_MACHINES: &[(&str, &str)] = &[
    ("actix", "an actor is a shell around a machine"),
    ("tokio", "a machine runs without a runtime"),
    ("futures_util", "a machine runs without a runtime"),
    ("async", "a machine never waits"),
    (".await", "a machine never waits"),
    ("thread", "a machine runs where its shell does"),
    ("oneshot", "callers are answered by the shell"),
    ("Store", "the shell asks the store"),
    ("Vault", "the shell unseals secrets"),
    ("reqwest", "the shell asks the provider"),
    ("Addr", "the shell talks to other actors"),
    ("metrics::", "the shell counts"),
    ("Instant::now", "the time comes with each input"),
    ("SystemTime", "the time comes with each input"),
    ("Timestamp::now", "the time comes with each input"),
    (".elapsed()", "the time comes with each input"),
    ("UNIX_EPOCH", "the time comes with each input"),
    ("rand::random", "chance comes with each input"),
    ("rand::rng", "chance comes with each input"),
    ("ThreadRng", "chance comes with each input"),
    ("SmallRng", "chance comes with each input"),
    ("RandomState", "two runs go through a map in the same order"),
    ("std::fs", "a machine reads nothing"),
    ("std::net", "a machine asks nobody"),
    ("std::env", "a machine reads nothing"),
];

pub(crate) fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Each source with its crate, or its module of the program, and its lines of code without comments and tests.
pub(crate) static CODE: LazyLock<Vec<(String, PathBuf, Vec<String>)>> = LazyLock::new(code);

fn code() -> Vec<(String, PathBuf, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let rooms = crates.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().replace('-', "_");
        (Some(name), path.join("src"))
    });
    let mut found = Vec::new();
    for (name, room) in rooms.chain([(None, root.join("src"))]) {
        let mut files = Vec::new();
        sources(&room, &mut files);
        for path in files {
            let inside = path.strip_prefix(&room).unwrap();
            let first = inside.components().next().unwrap().as_os_str().to_string_lossy();
            let module = first.trim_end_matches(".rs");
            if is_test(inside) || name.is_none() && matches!(module, "lib" | "main") {
                continue;
            }
            let layer = name.clone().unwrap_or_else(|| module.to_owned());
            let text = fs::read_to_string(&path).unwrap();
            found.push((layer, path, without_tests(&text)));
        }
    }
    found
}

/// Lines of code without comments and without the items that are compiled for tests only.
///
/// Sources are formatted, so an item ends where a line with its indentation closes it: `mod tests;` on its first line,
/// a braced one with the brace. Doubtful lines count as code and are checked.
pub(crate) fn without_tests(text: &str) -> Vec<String> {
    const TESTS_ONLY: &str = "#[cfg(test)]";
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut code = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim() != TESTS_ONLY {
            code.push(line.to_owned());
            continue;
        }
        let indentation = &line[..line.len() - line.trim_start().len()];
        let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
        if item.next().is_some_and(|first| first.ends_with('{')) {
            let closing = format!("{indentation}}}");
            // The iterator stops after the line that closes the item.
            let _ = lines.by_ref().find(|line| *line == closing);
        }
    }
    code
}

/// `path` is relative to the sources: the repository itself may be in a directory of any name.
pub(crate) fn is_test(path: &Path) -> bool {
    path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests")
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn imports_run_one_way() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (layer, path, lines) in CODE.iter().filter(|(_, path, _)| path.starts_with(&program)) {
        for line in lines {
            for used in line.split("crate::").skip(1) {
                let used: String =
                    used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let is_above = rank(layer).zip(rank(&used)).is_some_and(|(user, used)| used < user);
                if used != *layer && !is_above && !BELOW.contains(&used.as_str()) {
                    faults.push(format!("{}: {layer} uses {used}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_word_is_used_only_by_the_modules_that_own_it() {
    let mut faults = Vec::new();
    for (layer, path, lines) in &*CODE {
        for (word, owners, reason) in OWNED {
            for line in lines.iter().filter(|line| line.contains(word) && !owners.contains(&layer.as_str())) {
                faults.push(format!("{}: `{}`, but {reason}", path.display(), line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether the line has the word itself, not a longer one that begins or ends with it.
pub(crate) fn says(line: &str, word: &str) -> bool {
    let continues =
        |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_bounded_before = word.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_bounded_after = word.ends_with(|c: char| c.is_ascii_alphanumeric());
    line.match_indices(word).any(|(place, _)| {
        let (before, after) = (&line[..place], &line[place + word.len()..]);
        let goes_on_before = is_bounded_before && continues(before.chars().next_back());
        let goes_on_after = is_bounded_after && continues(after.chars().next());
        !goes_on_before && !goes_on_after
    })
}

#[test]
fn machines_have_no_clock_no_randomness_and_no_input_or_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut faults = Vec::new();
    for machine in MACHINES {
        let files: Vec<_> = CODE.iter().filter(|(_, path, _)| path.starts_with(root.join(machine))).collect();
        assert!(files.len() > 1, "there is no machine in {machine}");
        for (_, path, lines) in files {
            for (word, reason) in NOT_IN_MACHINES {
                for line in lines.iter().filter(|line| says(line, word)) {
                    faults.push(format!("{}: `{}`, but {reason}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_word_counts_wherever_it_stands_alone() {
    assert!(says("let now = Instant::now();", "Instant::now") && says("use tokio::sync;", "tokio"));
    assert!(says("reply.await", ".await") && says("pub async fn", "async"));
    assert!(!says("Effect::SaveStored", "Store") && !says("asynchronous", "async"));
}

#[test]
fn no_public_function_of_the_engine_returns_its_store() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src");
    let mut faults = Vec::new();
    for (_, path, lines) in CODE.iter().filter(|(_, path, _)| path.starts_with(&room)) {
        // A signature may go over several lines.
        let text = lines.join(" ");
        let open = ["pub fn ", "pub const fn ", "pub async fn "];
        for start in open.into_iter().flat_map(|words| text.match_indices(words)).map(|(place, _)| place) {
            let signature = text[start..].split('{').next().unwrap_or_default();
            let answer = signature.split("->").nth(1).unwrap_or_default();
            if says(answer, "Store") {
                faults.push(format!("{}: `{}`", path.display(), signature.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_line_of_the_log_that_has_a_channel_s_record_names_the_channel() {
    let mut named = 0;
    for (module, path, lines) in CODE.iter() {
        let text = lines.join("\n");
        for (at, _) in text.match_indices("channel.id = %") {
            let line: String = text[at..].chars().take(160).collect();
            let record = line["channel.id = %".len()..].split(',').next().unwrap_or_default();
            let Some(record) = record.strip_suffix(".id") else { continue };
            let wanted = format!("channel.name = %{record}.name");
            assert!(line.contains(&wanted), "{module}: {}: the line has no {wanted}", path.display());
            named += 1;
        }
    }
    assert!(named > 15, "the log's lines are not found: {named}");
}

#[test]
fn only_a_channel_s_shell_names_its_actor() {
    let shell = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src/channel/shell");
    let mut faults = Vec::new();
    for (layer, path, lines) in &*CODE {
        if layer != "engine" || path.starts_with(&shell) {
            continue;
        }
        for line in lines.iter().filter(|line| says(line, "Shell")) {
            faults.push(format!("{}: `{}`", path.display(), line.trim()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn only_the_items_for_tests_are_skipped() {
    let source = "\
use crate::clock;
#[cfg(test)]
mod tests;
// crate::comment
struct Kept;
impl Kept {
    #[cfg(test)]
    #[must_use]
    fn free(&self) -> usize {
        self.hidden()
    }

    fn used() {}
}
#[cfg(test)]
pub(super) mod tests {
    use crate::hidden;
}
use crate::late;
";
    let code = without_tests(source);
    let expected =
        ["use crate::clock;", "struct Kept;", "impl Kept {", "", "    fn used() {}", "}", "use crate::late;"];
    assert_eq!(code, expected);
}

#[test]
fn code_after_an_item_for_tests_is_read() {
    let after_tests = CODE.iter().filter(|(_, path, lines)| {
        let text = fs::read_to_string(path).unwrap();
        let before = text.split("#[cfg(test)]").next().unwrap();
        lines.len() > before.lines().filter(|line| !line.trim_start().starts_with("//")).count()
    });
    assert_ne!(
        after_tests.count(),
        0,
        "no source has code after its first item for tests: the check is idle"
    );
}
