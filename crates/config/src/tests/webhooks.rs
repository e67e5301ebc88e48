//! The section about webhooks.

use std::time::Duration;

use super::{load, shown};
use crate::Config;

#[test]
fn receivers_are_public_and_use_tls_unless_the_operator_says_otherwise() {
    let webhooks = Config::default().webhooks;
    assert!(webhooks.allow_networks.is_empty() && !webhooks.allow_http);
    assert_eq!(webhooks.timeout, Duration::from_secs(10));
    let variables = [
        ("POMBO__WEBHOOKS__ALLOW_NETWORKS", "127.0.0.1, fd00:12::/64"),
        ("POMBO__WEBHOOKS__ALLOW_HTTP", "true"),
    ];
    let webhooks = load("", &variables).unwrap().webhooks;
    let networks: Vec<_> = webhooks.allow_networks.iter().map(ToString::to_string).collect();
    assert_eq!(networks, ["127.0.0.1/32", "fd00:12::/64"]);
    assert!(webhooks.allow_http);
}

#[test]
fn the_timeout_of_an_attempt_has_bounds() {
    for (timeout, is_fine) in [("1s", true), ("15s", true), ("0s", false), ("999ms", false), ("16s", false)] {
        let loaded = load(&format!("[webhooks]\ntimeout = \"{timeout}\""), &[]);
        assert_eq!(loaded.is_ok(), is_fine, "{timeout}");
    }
    let told = shown("[webhooks]\ntimeout = \"1m\"\nallow_networks = [\"localhost\"]", &[]);
    assert!(told.contains("webhooks.timeout") && told.contains("webhooks.allow_networks"), "{told}");
}
