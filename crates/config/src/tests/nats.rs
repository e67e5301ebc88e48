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
        max_bytes = "10kB"
    "#;
    let told = shown(file, &[]);
    for option in
        ["nats.url", "nats.token", "nats.prefix", "nats.request_timeout", "events.stream", "events.max_bytes"]
    {
        assert!(told.contains(option), "{option}: {told}");
    }
    assert!(!told.contains("hunter"), "{told}");
}

#[test]
fn events_may_have_a_server_and_a_user_of_their_own() {
    let config = load("[nats]\nurl = \"nats://a:4222\"\ntls = true", &[]).unwrap();
    assert!(config.events.own_nats(&config.nats).is_none());
    let variables = [("POMBO__EVENTS__URL", "nats://b:4222"), ("POMBO__EVENTS__TOKEN", "hunter4")];
    let config =
        load("[nats]\ntls = true\ntoken = \"hunter3\"\n[events]\nenabled = true", &variables).unwrap();
    let own = config.events.own_nats(&config.nats).unwrap();
    assert_eq!(own.addresses().collect::<Vec<_>>(), ["nats://b:4222"]);
    assert_eq!((own.token.unwrap().expose(), own.tls, own.credentials), ("hunter4", true, None));
}

#[test]
fn faults_of_the_events_own_server_are_reported_without_their_secrets() {
    let told =
        shown("[events]\nurl = \"http://user:hunter2@b\"\ncredentials = \"x\"\ntoken = \"hunter3\"", &[]);
    assert!(told.contains("events.url") && told.contains("events.token"), "{told}");
    assert!(!told.contains("hunter"), "{told}");
    let told = shown("[events]\ntoken = \"hunter3\"", &[]);
    assert!(told.contains("events.token") && told.contains("events.url"), "{told}");
}

#[test]
fn the_name_of_a_cluster_with_nats_has_to_fit_into_a_subject() {
    let database = ("POMBO__DATABASE__URL", "postgres://h/d");
    for (name, is_fine) in [("production", true), ("eu.one", true), ("my cluster", false), ("a.>", false)] {
        let named = [database, ("POMBO__CLUSTER__NAME", name), ("POMBO__NATS__URL", "nats://a:4222")];
        assert_eq!(load("", &named).is_ok(), is_fine, "{name}");
        assert!(load("", &named[..2]).is_ok(), "{name}: without NATS it is only a name");
    }
}

#[test]
fn events_without_nats_are_a_fault() {
    let told = shown("[events]\nenabled = true", &[]);
    assert!(told.contains("events.enabled") && told.contains("nats.url"), "{told}");
}
