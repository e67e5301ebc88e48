//! The receiver of webhooks of a load test: every event of the test reaches it, and its endpoint does not outlive the test.

use serde_json::{Value, json};

use super::{Running, SMALL, left_behind};
use crate::program::Place;

fn count(events: &Value, name: &str) -> u64 {
    events[name].as_u64().unwrap_or_else(|| panic!("{name}: {events}"))
}

/// Every event arrived, once and in order; returns how many.
fn assert_whole(report: &Value) -> u64 {
    let events = &report["events"];
    let expected = count(events, "expected");
    assert_eq!((count(events, "arrived"), count(events, "missing")), (expected, 0), "{events}");
    for fault in ["untold", "disordered", "foreign", "unsigned", "unreadable"] {
        assert_eq!(count(events, fault), 0, "{fault}: {events}");
    }
    let mut verdicts = report["verdicts"].as_array().unwrap().iter();
    let verdict =
        verdicts.find(|verdict| verdict["question"] == "Did every event reach the webhook?").unwrap();
    assert_eq!((&verdict["outcome"], &verdict["decides"]), (&json!("good"), &json!(true)), "{verdict}");
    expected
}

#[test]
fn every_event_reaches_the_receiver_of_webhooks_one_by_one_and_in_batches() {
    let place = Place::new();
    for batch in [1, 100] {
        let line = format!("loadtest {SMALL} --webhooks {batch} --data . --report page.html");
        let report = place.json(&line);
        assert_eq!(
            (&report["passed"], &report["setting"]["webhooks"]),
            (&json!(true), &json!(batch)),
            "{report}"
        );
        let (events, all) = (&report["events"], assert_whole(&report));
        // Each message has an event at least, and each of the 42 sends has its end.
        assert!(all >= report["balance"]["promised"].as_u64().unwrap() + 42, "{events}");
        let requests = count(events, "requests");
        assert!(if batch == 1 { requests >= all } else { requests < all }, "{events}");
        assert!(events["latency_ms"]["p99"].as_f64().unwrap() > 0.0, "{events}");
        assert!(count(events, "most_in_a_second") > 0 && events["per_s"].as_f64().unwrap() > 0.0, "{events}");
        let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
        assert!(page.contains("Webhooks") && page.contains("Did every event reach the webhook?"));
        assert_eq!(left_behind(&place), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endpoint_at_a_service_that_runs_needs_a_scope_and_is_deleted_after_the_test() {
    let place = Place::new().with("POMBO__DATA__DIR", "pombo-demo");
    let demo = Running::start(place.command("demo --port 0 --json --contacts 40"));
    let (url, simulator) = (demo.base_url(), demo.1["simulator_url"].as_str().unwrap());
    let key = demo.1["companies"][0]["api_key"].as_str().unwrap();
    let line = |key: &str| {
        format!(
            "loadtest --url {url} --key {key} --simulator {simulator} --channel Sales --tag vip --duration 1s \
             --single-rate 20/s --webhooks 10"
        )
    };
    // Another test may have installed it first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let endpoints = async || {
        let asked = reqwest::Client::new().get(format!("{url}/api/v1/webhooks")).bearer_auth(key);
        let listed: Value = asked.send().await.unwrap().json().await.unwrap();
        let listed = listed["data"].as_array().unwrap().iter();
        listed.map(|endpoint| endpoint["url"].clone()).collect::<Vec<_>>()
    };
    let before = endpoints().await;

    let report = place.json(&line(key));
    assert_eq!(report["passed"], true, "{report}");
    // 25 people, 20 single messages, 21 sends.
    assert!(assert_whole(&report) >= 66, "{report}");
    assert_eq!(endpoints().await, before);

    let created = place.json("key create --company Acme --scope send,read,contacts");
    let refused = place.run(&line(created["key"].as_str().unwrap()));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("scopes send, read, contacts and events"), "{}", refused.stderr);
    assert_eq!(endpoints().await, before);
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_it_early_with_all_events_of_what_was_sent() {
    let place = Place::new();
    let (child, _) = super::under_way(&place, "--webhooks 20");
    let report = super::interrupted(child);
    assert!(assert_whole(&report) > 0, "{report}");
    assert_eq!(left_behind(&place), Vec::<String>::new());
}
