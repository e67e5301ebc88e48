//! People who write while a load test sends: each message is in a conversation once, also one that the provider repeats.

use serde_json::json;

use super::{SMALL, left_behind};
use crate::program::Place;

#[test]
fn every_answer_is_in_a_conversation_once() {
    let place = Place::new();
    let line = format!("loadtest {SMALL} --channels 2 --answers 100/s --data . --report page.html");
    let report = place.json(&line);
    let (passed, setting) = (&report["passed"], &report["setting"]["answers"]);
    assert_eq!((passed, setting), (&json!(true), &json!("100/s")), "{report}");
    let answers = &report["answers"];
    let count = |name: &str| answers[name].as_u64().unwrap_or_else(|| panic!("{name}: {answers}"));
    assert!(count("written") > 50 && count("repeated") > 4, "{answers}");
    assert_eq!((count("found"), count("missing"), count("doubled")), (count("written"), 0, 0), "{answers}");
    // Those that come twice are two more webhooks, or parts of them.
    let others = report["receipts"]["others"].as_u64().unwrap();
    assert!(others >= count("written") + count("repeated"), "{report}");
    let verdicts = report["verdicts"].as_array().unwrap();
    let verdict = verdicts.iter().find(|one| one["question"] == "Is every answer in a conversation once?");
    assert_eq!(verdict.map(|verdict| &verdict["outcome"]), Some(&json!("good")), "{report}");
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("Answers") && page.contains("told twice"));
    assert_eq!(left_behind(&place), Vec::<String>::new());
}
