//! The walls between the crates, as Cargo knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;

/// The lines of the tree that these arguments ask for: how deep a package stands, and its name. Needs no network.
fn tree(arguments: &[&str]) -> Vec<(usize, String)> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "depth", "--format", " {p}"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "cargo could not say what depends on what: {errors}");
    let text = String::from_utf8(tree.stdout).unwrap();
    let lines = text.lines().map(|line| line.split(' '));
    lines.filter_map(|mut words| Some((words.next()?.parse().ok()?, words.next()?.to_owned()))).collect()
}

fn packages(arguments: &[&str]) -> BTreeSet<String> {
    tree(arguments).into_iter().map(|(_, package)| package).collect()
}

/// Every package of the workspace, with the packages that name it in their manifests.
static DEPENDENTS: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
    let mut dependents = BTreeMap::<_, BTreeSet<_>>::new();
    let mut above: Vec<String> = Vec::new();
    for (depth, package) in tree(&["--workspace"]) {
        above.truncate(depth);
        let of = dependents.entry(package.clone()).or_default();
        of.extend(above.last().filter(|user| **user != package).cloned());
        above.push(package);
    }
    dependents
});

/// The packages that name this one in their manifests.
fn dependents(of: &str) -> BTreeSet<String> {
    DEPENDENTS.get(of).cloned().unwrap_or_else(|| panic!("there is no package {of}"))
}

#[test]
fn values_and_machines_have_no_runtime_no_database_and_no_http() {
    for package in ["pombo-domain", "pombo-machines"] {
        let tree = packages(&["--package", package]);
        assert!(tree.contains("pombo-clock"), "{tree:?}");
        for banned in ["tokio", "actix", "actix-web", "sea-orm", "sqlx", "sqlx-core", "reqwest"] {
            assert!(!tree.contains(banned), "{package} depends on {banned}");
        }
    }
}

#[test]
fn only_the_store_knows_the_database() {
    for of in ["pombo-entity", "pombo-migration"] {
        assert_eq!(dependents(of), BTreeSet::from(["pombo-store".to_owned()]), "{of}");
    }
    let of_sea_orm = dependents("sea-orm");
    let ours: Vec<_> = of_sea_orm.iter().filter(|package| package.starts_with("pombo")).collect();
    assert_eq!(ours, ["pombo-entity", "pombo-store"]);
}

/// Whether the package is of the library that speaks WhatsApp Web's protocol, parts of which are AGPL-3.0-only.
fn is_of_whatsapp(package: &str) -> bool {
    ["wacore", "waproto", "whatsapp-rust"].iter().any(|family| package.starts_with(family))
}

#[test]
fn code_under_the_agpl_stands_behind_one_crate() {
    let family: Vec<_> = DEPENDENTS.keys().filter(|package| is_of_whatsapp(package)).collect();
    assert!(family.len() > 1, "the library is not found: {DEPENDENTS:?}");
    for of in family {
        let mut ours = dependents(of);
        ours.retain(|package| package.starts_with("pombo"));
        assert!(ours.iter().all(|package| package == "pombo-web-session"), "{of} is used by {ours:?}");
    }
    assert_eq!(dependents("whatsapp-rust"), BTreeSet::from(["pombo-web-session".to_owned()]));
    let without = packages(&["--package", "pombo", "--no-default-features"]);
    assert!(!without.iter().any(|package| is_of_whatsapp(package)), "{without:?}");
}

#[test]
fn a_server_has_no_tools_in_it() {
    let server = packages(&["--package", "pombo", "--no-default-features", "--features", "web-session"]);
    assert!(server.contains("pombo-web-session"));
    for tool in ["pombo-simulator", "pombo-loadtest", "pombo-universe"] {
        assert!(!server.contains(tool), "a server contains {tool}");
    }
}
