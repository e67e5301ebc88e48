//! The configured version of the provider's API, and the warning before the version ends.

use crate::program::Place;

/// The log of a service from its start to its end.
fn said_by_a_service(version: Option<&str>) -> String {
    let place = Place::new().with("POMBO__SERVER__BIND", "127.0.0.1:0").with("POMBO__LOG__FORMAT", "text");
    let place =
        version.into_iter().fold(place, |place, version| place.with("POMBO__CLOUD_API__VERSION", version));
    let run = place.run("serve --json --end-with-input");
    assert_eq!(run.code, Some(0), "{run:?}");
    run.stderr
}

#[test]
fn a_service_warns_at_its_start_of_a_version_that_has_ended() {
    let said = said_by_a_service(Some("v20.0"));
    let warning = said.lines().find(|line| line.contains("the provider retired version v20.0"));
    let warning = warning.unwrap_or_else(|| panic!("no warning: {said}"));
    assert!(warning.contains("WARN") && warning.contains("cloud_api.version"), "{warning}");
}

#[test]
fn a_service_says_nothing_of_the_version_that_it_is_shipped_with() {
    let said = said_by_a_service(None);
    assert!(!said.contains("retire"), "{said}");
}
