//! Shapes of load: companies, channels and tiers, failures, content, changes, ramps, clusters.

use serde_json::{Value, json};

use super::{SMALL, left_behind};
use crate::program::Place;

fn verdict<'a>(report: &'a Value, question: &str) -> &'a Value {
    let mut verdicts = report["verdicts"].as_array().unwrap().iter();
    verdicts.find(|verdict| verdict["question"] == question).unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn companies_channels_and_tiers_are_loaded_together_and_each_keeps_its_limit() {
    let place = Place::new();
    let report = place.json(
        "loadtest --contacts 400 --tags 2 --companies 2 --channels 2 --rate unlimited --rate 100/s --duration 1s \
         --single-rate 40/s --no-receipts --data .",
    );
    assert_eq!(report["passed"], true, "{report}");
    let channels = report["channels"].as_array().unwrap();
    let shown: Vec<_> = channels
        .iter()
        .map(|channel| (channel["company"].as_str().unwrap(), channel["tier"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            ("loadtest-1", "loadtest-1"),
            ("loadtest-1", "loadtest-2"),
            ("loadtest-2", "loadtest-1"),
            ("loadtest-2", "loadtest-2"),
        ]
    );
    for channel in channels {
        assert!(
            channel["messages"].as_u64().unwrap() > 10,
            "single and bulk sends use every channel: {channel}"
        );
        let limit = &channel["limit"];
        assert_eq!(limit.is_null(), channel["tier"] == "loadtest-1", "{channel}");
        assert!(
            limit.is_null() || channel["most_in_a_second"].as_u64() <= limit["allowed"].as_u64(),
            "{channel}"
        );
    }
    let messages: u64 = channels.iter().map(|channel| channel["messages"].as_u64().unwrap()).sum();
    assert_eq!(messages, report["balance"]["promised"].as_u64().unwrap());
    assert_eq!(report["bulk"]["sends"].as_array().unwrap().len(), 4);
}

#[test]
fn failures_of_the_provider_are_accounted_for() {
    let place = Place::new();
    let report = place.json(&format!(
        "loadtest {SMALL} --fail 20%:131026 --fail 10%:131051:now --latency p50=1ms,p99=5ms --answered 10% \
         --answered-after 0ms --data ."
    ));
    let balance = &report["balance"];
    assert_eq!(
        (&report["passed"], &balance["lost"], &balance["surplus"]),
        (&json!(true), &json!(0), &json!(0)),
        "{report}"
    );
    let count = |name: &str| balance[name].as_u64().unwrap();
    assert!(count("reported_failed") > 20 && count("failed") > 10, "{balance}");
    assert_eq!(count("arrived") + count("failed"), count("promised"), "{balance}");
    assert_eq!(report["receipts"]["failures"], balance["reported_failed"]);
    assert!(report["receipts"]["others"].as_u64().unwrap() > 5, "people answered: {}", report["receipts"]);
    assert_eq!(left_behind(&place), Vec::<String>::new());
}

#[test]
fn templates_with_contact_fields_and_given_bodies_are_sent() {
    let place = Place::new();
    let fields = place.json(&format!("loadtest {SMALL} --content fields --no-receipts --data ."));
    assert_eq!((&fields["passed"], &fields["balance"]["failed"]), (&json!(true), &json!(0)), "{fields}");
    assert_eq!(fields["setting"]["content"], "template with contact fields");
    place.write(
        "body.json",
        r#"{"type": "image", "link": "https://files.example/cake.jpg", "caption": "Cake"}"#,
    );
    let body = place.json(&format!("loadtest {SMALL} --body body.json --no-receipts --data ."));
    assert_eq!(
        (&body["passed"], &body["setting"]["content"]),
        (&json!(true), &json!("image, of a given body")),
        "{body}"
    );
    let values = place.json(&format!("loadtest {SMALL} --content fields --values 3 --no-receipts --data ."));
    assert_eq!((&values["passed"], &values["balance"]["failed"]), (&json!(true), &json!(0)), "{values}");
    assert_eq!((&values["setting"]["values"], &fields["setting"]["values"]), (&json!(3), &json!(null)));
    place.write("body.json", r#"{"type": "text", "message": "hi", "phone_number": "1"}"#);
    let refused = place.run("loadtest --body body.json");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("phone_number"), "{}", refused.stderr);
}

#[test]
fn a_tier_that_changes_while_messages_go_out_is_followed_and_marked() {
    let place = Place::new();
    let report = place.json(
        "loadtest --contacts 3000 --tags 1 --rate 200/s --then 1s:50/s --duration 2s --single-rate none --drain 8s \
         --no-receipts --report page.html --data .",
    );
    assert_eq!(report["passed"], true, "{report}");
    let change = &report["changes"][0];
    let (at, followed) = (change["at_s"].as_f64().unwrap(), change["followed_at_s"].as_f64().unwrap());
    assert!(at >= 1.0 && followed >= at, "{change}");
    assert_eq!((&change["rate"], &change["limit"]["per_second"]), (&json!("50/s"), &json!(50.0)), "{change}");
    assert!(change["most_in_a_second"].as_u64() <= change["limit"]["allowed"].as_u64(), "{change}");
    let before = report["arrivals"]["most_in_a_second"].as_u64();
    assert!(before > change["most_in_a_second"].as_u64(), "it was quicker before: {report}");
    assert_eq!(verdict(&report, "Were changes of the tiers followed?")["outcome"], "good");
    assert!(std::fs::read_to_string(place.path().join("page.html")).unwrap().contains("tiers: 50/s"));
}

#[test]
fn a_ramp_has_steps_and_a_knee() {
    let place = Place::new();
    let report =
        place.json("loadtest --ramp 20/s..80/s --contacts 20 --tags 1 --duration 3s --no-receipts --data .");
    let steps = report["ramp"]["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[0]["per_s"]), (12, &json!(20.0)), "{report}");
    let due: u64 = steps.iter().map(|step| step["due"].as_u64().unwrap()).sum();
    assert_eq!((&json!(due), &report["bulk"]["planned"]), (&report["singles"]["due"], &json!(0)));
    assert!(steps[11]["due"].as_u64() > steps[0]["due"].as_u64(), "{report}");
    verdict(&report, "Which rate of single messages does it keep up with?");
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn a_cluster_of_nodes_is_loaded() {
    let place = Place::new();
    let server = std::env::var("POMBO_TEST_POSTGRES").expect("POMBO_TEST_POSTGRES names a server");
    let report =
        place.json(&format!("loadtest {SMALL} --nodes 2 --channels 2 --database-url {server} --data ."));
    assert_eq!((&report["passed"], &report["setting"]["nodes"]), (&json!(true), &json!(2)), "{report}");
    assert_eq!((&report["balance"]["lost"], &report["balance"]["repeated"]), (&json!(0), &json!(0)));
    assert!(!report.to_string().contains(&server), "the report has no password");
    assert_eq!(left_behind(&place), Vec::<String>::new());
}
