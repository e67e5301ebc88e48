//! Code that must not be in a build for production.

use std::process::Command;

/// Lets a client trust any server that says that it is WhatsApp.
const DANGER: &str = "danger-skip-cert-chain-verify";

/// The crates and features that lead to the crate of WhatsApp's encryption, along these kinds of dependencies. Needs no
/// network.
fn dependents(edges: &str) -> String {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", edges, "--invert", "wacore-noise"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "cargo could not say what the build consists of: {errors}");
    String::from_utf8(tree.stdout).unwrap()
}

#[test]
fn a_release_build_checks_the_certificate_of_whatsapp() {
    let release = dependents("features,normal,build");
    assert!(
        !release.contains(DANGER),
        "a release build would take any server for WhatsApp: the feature `{DANGER}` may be in \
         [dev-dependencies] only, but is in the build's own tree:\n{release}"
    );
}

/// Without this, the check above would pass for any build.
#[test]
fn the_feature_that_skips_the_check_is_seen_where_it_is() {
    assert!(dependents("features,normal,dev").contains(DANGER));
}

/// The clock that tests can set is compiled with debug assertions only.
#[test]
fn a_release_build_has_no_clock_that_can_be_set() {
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    assert!(
        !manifest.contains("debug-assertions"),
        "a profile would compile the clock's offset into a release"
    );
}
