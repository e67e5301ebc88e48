"""The command line: lists the mutants, builds them, runs the tests and prints the result."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
import venv
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mutation

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "target" / "mutants"
TREE = HOME / "tree"
RESULTS = HOME / "results.json"
# Mutants that the compiler refused in an earlier run, so that this run leaves them out at once.
REFUSED = HOME / "refused.json"
# The parser of Rust, at the versions that this script was written for.
PACKAGES = ["tree-sitter==0.26.1", "tree-sitter-rust==0.24.2"]
SWITCH = """//! Which mutant this process is.

use std::sync::LazyLock;

static ACTIVE: LazyLock<Option<u32>> =
    LazyLock::new(|| std::env::var("POMBO_MUTANT").ok().and_then(|id| id.parse().ok()));

#[inline]
pub(crate) fn is(id: u32) -> bool {
    *ACTIVE == Some(id)
}
"""
# The crates that have machines.
CRATES = ["machines", "engine"]
# The stages of tests that each mutant runs through, the quickest first: the machines' tests, and worlds of the universe.
# Each has the crate whose tests these are.
STAGES = [
    ("machines", "machines", [], {}, 60),
    ("machine", "engine", ["machine::", "account::tests", "--skip", "universe"], {}, 60),
    ("20 worlds", "engine", ["worlds_of_many"], {"POMBO_TEST_SEEDS": "20", "POMBO_TEST_NODE_SEEDS": "5"}, 60),
    ("all worlds", "engine", ["worlds_of_many"], {}, 600),
]


def main():
    arguments = parse()
    if not enter_environment():
        return subprocess.call([HOME / "venv" / "bin" / "python", ROOT / "scripts" / "mutants", *sys.argv[1:]])
    if shutil.which("cargo-mutants") is None:
        sys.exit("cargo-mutants is missing: run `cargo install --locked cargo-mutants`")
    mutants = list_mutants()
    copy_tree({it["file"] for it in mutants})
    left_out, programs = build(mutants)
    results = json.loads(RESULTS.read_text()) if arguments.missed and RESULTS.exists() else {}
    chosen = [it for it in mutants if it["id"] not in left_out]
    if arguments.missed:
        chosen = [it for it in chosen if results.get(it["name"], "missed") == "missed"]
    chosen = [it for it in chosen if arguments.only in it["name"]]
    random.Random(arguments.seed).shuffle(chosen)
    run(programs, chosen[: arguments.sample], arguments, results)
    return show(mutants, left_out, results, arguments)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=mutation.__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="only mutants whose name has TEXT: a file, a function")
    parser.add_argument("--sample", type=int, metavar="N", help="only N of them, chosen at random")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice (0)")
    parser.add_argument("--missed", action="store_true", help="only mutants that no test caught in their last run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants that run at once (one for each core)")
    parser.add_argument("--worlds", action="store_true", help="run all worlds too for mutants that 20 worlds miss: minutes each")
    return parser.parse_args()


def enter_environment():
    """Whether this process has the packages. If not, installs them beside the build."""
    try:
        import tree_sitter_rust  # noqa: F401
    except ImportError:
        if not (HOME / "venv").exists():
            venv.create(HOME / "venv", with_pip=True)
        subprocess.check_call([HOME / "venv" / "bin" / "pip", "install", "--quiet", *PACKAGES])
        return False
    return True


def list_mutants():
    """The mutants of the tree as it is, uncommitted changes included."""
    mutants = json.loads(subprocess.check_output(["cargo", "mutants", "--list", "--json"], cwd=ROOT))
    for number, mutant in enumerate(mutants):
        mutant["id"] = number
    return mutants


def copy_tree(rewritten):
    """Copies all files except the rewritten ones, and adds the switch."""
    files = subprocess.check_output(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, text=True)
    listed = {name for name in files.split("\0") if name and (ROOT / name).is_file()}
    roots = [Path("crates") / name / "src" for name in CRATES]
    for name in listed - rewritten - {str(root / "lib.rs") for root in roots}:
        write(TREE / name, (ROOT / name).read_bytes())
    for path in [*(TREE / "src").rglob("*.rs"), *(TREE / "crates").rglob("*.rs")]:
        if str(path.relative_to(TREE)) not in listed and path.name != "mutant.rs":
            path.unlink()
    for root in roots:
        library = (ROOT / root / "lib.rs").read_bytes()
        write(TREE / root / "lib.rs", library.replace(b"\npub mod ", b"\nmod mutant;\npub mod ", 1))
        write(TREE / root / "mutant.rs", SWITCH.encode())


def write(path, content):
    """Writes a file. An unchanged file keeps its time, so that it is not built again."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def rewrite(mutants, refused):
    """Writes each file with its mutants. Returns the mutants that have no place, and the ranges of the others."""
    from mutation.rewrite import File

    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    left_out, ranges = set(refused), {}
    for name, of_file in by_file.items():
        file = File((ROOT / name).read_bytes(), [it for it in of_file if it["id"] not in refused])
        left_out.update(file.left_out)
        ranges[name] = file.ranges
        write(TREE / name, bytes(file.out))
    return left_out, ranges


def build(mutants):
    """Builds the tests, without the mutants that the compiler refuses; `cargo mutants` leaves these out too."""
    # The build uses the target directory of the tree itself, which has all dependencies. Only the machines are optimised.
    # The build is not incremental, because an interrupted build would leave half of the objects behind.
    environment = dict(os.environ, CARGO_INCREMENTAL="0")
    environment.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    packages = [word for name in CRATES for word in ("--package", f"pombo-{name}")]
    optimised = [
        word for name in CRATES for word in ("--config", f"profile.test.package.pombo-{name}.opt-level=1")
    ]
    command = ["cargo", "test", "--lib", "--locked", "--no-run", "--message-format=json", *packages, *optimised]
    known = set(json.loads(REFUSED.read_text())) if REFUSED.exists() else set()
    refused = {it["id"] for it in mutants if it["name"] in known}
    while True:
        left_out, ranges = rewrite(mutants, refused)
        say(f"building with {len(mutants) - len(left_out)} of {len(mutants)} mutants, which takes minutes")
        built = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
        messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
        if built.returncode == 0:
            tests = [it for it in messages if it.get("executable") and it["profile"]["test"]]
            return left_out, {it["target"]["name"].removeprefix("pombo_"): it["executable"] for it in tests}
        told = (it["message"] for it in messages if it["reason"] == "compiler-message")
        errors = [it for it in told if it["level"] == "error"]
        found = {mutant for error in errors for mutant in blamed(error, ranges)}
        if not found:
            sys.exit("".join(it["rendered"] or "" for it in errors) or built.stderr)
        refused |= found
        REFUSED.write_text(json.dumps(sorted(it["name"] for it in mutants if it["id"] in refused), indent=1))


def blamed(error, ranges):
    """The mutants in whose text the compiler reports an error: at its primary place, or else at the places that explain it."""
    for is_primary in (True, False):
        found = set()
        for span in error["spans"]:
            if span["is_primary"] != is_primary:
                continue
            around = [
                (end - begin, mutant)
                for begin, end, mutant in ranges.get(span["file_name"], [])
                if begin <= span["byte_start"] and span["byte_end"] <= end
            ]
            found.update(mutant for _, mutant in sorted(around)[:1])
        if found:
            return found
    return set()


def run(programs, mutants, arguments, results):
    stages = STAGES if arguments.worlds else STAGES[:-1]
    for name, crate, *stage in stages:
        if caught(programs[crate], None, *stage):
            sys.exit(f"the tests of the stage '{name}' fail without any mutant: fix them first")
    begun = time.monotonic()

    def one(mutant):
        catches = (name for name, crate, *stage in stages if caught(programs[crate], mutant["id"], *stage))
        by = next(catches, "missed")
        results[mutant["name"]] = by
        return by

    counts = Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for by in pool.map(one, mutants):
            counts[by] += 1
            done = counts.total()
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True))
            if done % 20 == 0 or done == len(mutants):
                left = (time.monotonic() - begun) / done * (len(mutants) - done) / 60
                say(f"{done} of {len(mutants)}, {counts['missed']} missed, {left:.0f} minutes left")


def caught(program, mutant, tests, variables, seconds):
    # A property that a mutant breaks must not be saved as a case of the tests.
    environment = dict(os.environ, RUST_BACKTRACE="0", PROPTEST_DISABLE_FAILURE_PERSISTENCE="1", **variables)
    if mutant is not None:
        environment["POMBO_MUTANT"] = str(mutant)
    command = [program, *tests, "--test-threads", "1", "--quiet"]
    try:
        # A mutant may loop endlessly.
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def show(mutants, left_out, results, arguments):
    chosen = (it for it in mutants if it["id"] not in left_out and arguments.only in it["name"])
    tried = [it for it in chosen if it["name"] in results]
    files = {}
    for mutant in tried:
        files.setdefault(mutant["file"], Counter())[results[mutant["name"]] == "missed"] += 1
    for mutant in sorted(tried, key=lambda it: it["id"]):
        if results[mutant["name"]] == "missed":
            print(f"missed: {mutant['name']}")
    print(f"\n{'caught':>7} {'missed':>7}  file")
    for name, counts in sorted(files.items(), key=lambda it: -it[1][True]):
        print(f"{counts[False]:>7} {counts[True]:>7}  {name}")
    missed = sum(counts[True] for counts in files.values())
    share = (len(tried) - missed) / max(len(tried), 1)
    print(f"\nmutants {len(tried)}, caught {len(tried) - missed} ({share:.1%}), left out {len(left_out)}")
    return 0


def say(sentence):
    print(sentence, file=sys.stderr, flush=True)
