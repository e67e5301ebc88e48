//! The program's refusals, with their sentences and exit codes.

use crate::program::Place;
use crate::proxy::OwnPort;

#[test]
fn misuse_exits_with_2_and_failure_with_1_each_with_its_remedy() {
    let place = Place::new();
    place.json("company create Acme");
    let business = "channel add-business --company Acme --name Sales --waba-id 20";
    for (line, code, words) in [
        ("compny list", 2, "company"),
        ("key create", 2, "--company"),
        ("key create --company Acme --expires-in 90", 2, "\"7d\""),
        (&format!("{business} --phone-number 0800 --phone-number-id 30 --token-file -"), 2, "begins with 0"),
        (&format!("{business} --phone-number 9991000 --phone-number-id x --token-file -"), 2, "digits only"),
        (&format!("{business} --phone-number 9991000 --phone-number-id 30 --token-file -"), 2, "is empty"),
        (
            &format!("{business} --phone-number 9991000 --phone-number-id 30 --token-file gone"),
            1,
            "cannot read gone",
        ),
        (
            &format!("{business} --phone-number 9991000 --phone-number-id 30 --token-file - --tier web-new"),
            1,
            "standard-2k",
        ),
        ("company create Acme", 1, "choose another name"),
        ("company create Other --tier standrd", 1, "did you mean `standard`?"),
        ("key list --company Acmee", 1, "did you mean `Acme`?"),
        ("channel show 01a1fbee-35a9-7718-aeb1-4759b6f48ff5", 1, "pombo channel list"),
        ("contacts import people.csv --company Acme", 1, "people.csv"),
        ("--config gone.toml company list", 2, "--config"),
    ] {
        let run = place.run(line);
        assert_eq!(run.code, Some(code), "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{line}");
    }
}

#[test]
fn every_fault_of_the_configuration_is_reported_at_once() {
    let place = Place::new().with("POMBO__SERVER__BIND", "nowhere").with("POMBO__LOG__LEVLE", "info");
    let run = place.run("serve --end-with-input");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("server.bind") && run.stderr.contains("log.level"), "{}", run.stderr);
}

#[test]
fn an_unreachable_database_is_named_without_its_password() {
    let port = OwnPort::new();
    let closed = port.address;
    let place = Place::new()
        .with("POMBO__DATABASE__URL", format!("postgres://pombo:hunter2@{closed}/pombo"))
        .with("POMBO__DATABASE__ACQUIRE_TIMEOUT", "500ms");
    for line in ["company list", "serve --end-with-input"] {
        let run = place.run(line);
        assert_eq!(run.code, Some(1), "{line}: {run:?}");
        assert!(run.stderr.contains(&format!("postgres://pombo@{closed}/pombo")), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("did not answer at {closed} within 500ms")), "{}", run.stderr);
        assert!(!run.stderr.contains("hunter2") && !run.stderr.contains("pool"), "{}", run.stderr);
    }
}
