//! The seeds of the fuzz targets hold without a fuzzer, and every target has some.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/checks.rs"]
mod checks;

/// The check of a seed's bytes.
type Target = fn(&[u8]);

/// Each target with its check.
const TARGETS: &[(&str, Target)] = &[
    ("blocks", checks::blocks),
    ("csv", checks::csv),
    ("media_headers", checks::media_headers),
    ("phone_numbers", checks::phone_numbers),
    ("request_bodies", checks::request_bodies),
    ("webhooks", checks::webhooks),
];

fn fuzz(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(below)
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_target_passes_on_its_seeds_and_on_each_of_their_prefixes() {
    for (target, check) in TARGETS {
        let seeds = fuzz("corpus").join(target);
        assert!(names(&seeds).len() >= 3, "{target} has too few seeds");
        for entry in fs::read_dir(seeds).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            (0..=bytes.len()).for_each(|end| check(&bytes[..end]));
        }
    }
}

#[test]
fn every_fuzz_target_is_built_and_has_seeds() {
    let known: BTreeSet<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz("fuzz_targets")), known);
    assert_eq!(names(&fuzz("corpus")), known);
    let manifest: toml::Table = fs::read_to_string(fuzz("Cargo.toml")).unwrap().parse().unwrap();
    let built =
        manifest["bin"].as_array().unwrap().iter().map(|bin| bin["name"].as_str().unwrap().to_owned());
    assert_eq!(built.collect::<BTreeSet<_>>(), known);
}
