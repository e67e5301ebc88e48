//! The demonstration: what its first line promises, and what a second start finds.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use serde_json::{Value, json};

use crate::program::Place;

/// Starts a demonstration, reads its first line and ends it as a service manager would.
fn first_line(place: &Place, line: &str) -> Value {
    let mut child = place.command(line).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(ended.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{first}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&first).unwrap()
}

#[cfg(unix)]
#[test]
fn a_second_start_finds_the_companies_again_and_makes_new_keys() {
    let place = Place::new();
    let first = first_line(&place, "demo --port 0 --json --contacts 40");
    let acme = &first["companies"][0];
    let statuses: Vec<_> =
        acme["channels"].as_array().unwrap().iter().map(|channel| &channel["status"]).collect();
    assert_eq!(statuses, ["connected", "connected", "disconnected", "pairing"]);
    let tags: Vec<_> = acme["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag["name"].clone(), tag["contacts"].clone(), tag["valid_phones"].clone()))
        .collect();
    assert_eq!(
        tags,
        [
            (json!("everyone"), json!(40), json!(35)),
            (json!("vip"), json!(25), json!(25)),
            (json!("no-phones"), json!(5), json!(0))
        ]
    );
    let has = |status| acme["templates"].as_array().unwrap().iter().any(|one| one["status"] == status);
    assert!(has("APPROVED") && has("PENDING") && has("REJECTED"), "{acme}");
    assert_eq!(first["companies"][1]["name"], "Globex");

    let second = first_line(&place, "demo --port 0 --json --contacts 50");
    let again = &second["companies"][0];
    assert_eq!((&first["reused"], &second["reused"]), (&json!(false), &json!(true)));
    assert_eq!((&again["id"], &again["channels"]), (&acme["id"], &acme["channels"]));
    assert_eq!(again["templates"], acme["templates"]);
    assert_eq!(again["tags"][0]["contacts"], 50, "what is missing is added");
    assert_ne!(again["api_key"], acme["api_key"]);
}

#[test]
fn a_directory_with_something_real_in_it_is_refused() {
    let place = Place::new();
    place.json("company create Acme");
    let run = place.run("demo --port 0 --data data");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("--data"), "{}", run.stderr);
}
