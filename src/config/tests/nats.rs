//! The sections about NATS.

use super::{load, shown};

#[test]
fn without_an_address_there_is_neither_nats_nor_events() {
    let config = load("", &[]).unwrap();
    assert!(config.nats.url.is_none() && !config.events.enabled);
    assert_eq!((config.nats.prefix.as_str(), config.events.stream.as_str()), ("pombo", "POMBO_EVENTS"));
}

#[test]
fn several_addresses_are_separated_by_commas() {
    let url = "nats://a:4222, tls://pombo:secret@b:4222,";
    let config = load("[events]\nenabled = true", &[("POMBO__NATS__URL", url)]).unwrap();
    assert_eq!(config.nats.addresses().collect::<Vec<_>>(), ["nats://a:4222", "tls://pombo:secret@b:4222"]);
}

#[test]
fn every_fault_of_nats_is_reported_with_a_remedy_and_no_secret() {
    let file = r#"
        [nats]
        url = "https://user:hunter2@nats:4222"
        credentials = "/etc/pombo/nats.creds"
        token = "hunter3"
        prefix = "pombo.>"
        request_timeout = "0s"
        [events]
        stream = "a.b"
        max_rows = 10
    "#;
    let told = shown(file, &[]);
    for option in
        ["nats.url", "nats.token", "nats.prefix", "nats.request_timeout", "events.stream", "events.max_rows"]
    {
        assert!(told.contains(option), "{option}: {told}");
    }
    assert!(!told.contains("hunter"), "{told}");
}

#[test]
fn events_without_nats_are_a_fault() {
    let told = shown("[events]\nenabled = true", &[]);
    assert!(told.contains("events.enabled") && told.contains("nats.url"), "{told}");
}
