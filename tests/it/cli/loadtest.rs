//! The load test: its figures of a service of its own and of a running one, the recipients that it refuses,
//! and that it removes everything that it made.

mod answers;
mod reports;
mod shapes;
mod webhooks;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::program::Place;

/// Small, but with every phase.
const SMALL: &str = "--contacts 400 --tags 2 --duration 1s --single-rate 40/s --delivered-after 0ms --read-after 0ms --read 100%";

fn document(page: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(page, options).unwrap()
}

/// The directories that load tests left behind.
fn left_behind(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("pombo-loadtest-")).collect()
}

#[test]
fn a_service_of_its_own_is_loaded_measured_and_removed() {
    let place = Place::new();
    let report = place.json(&format!("loadtest {SMALL} --data . --report page.html"));
    assert_eq!(report["passed"], true, "{report}");
    let balance = &report["balance"];
    let promised = balance["promised"].as_u64().unwrap();
    let bulk = report["bulk"]["sends"].as_array().unwrap();
    // 400 contacts, each tenth with two tags, without the ones that have no number or another contact's
    // number.
    let recipients: Vec<_> = bulk.iter().map(|send| (&send["tag"], &send["recipients"])).collect();
    let expected: Vec<_> = bulk.iter().map(|send| (&send["tag"], &send["expected"])).collect();
    assert_eq!((recipients.len(), &recipients), (2, &expected));
    let of_bulk: u64 = bulk.iter().map(|send| send["recipients"].as_u64().unwrap()).sum();
    let singles = &report["singles"];
    assert_eq!((&singles["due"], &singles["accepted"]), (&json!(40), &json!(40)), "{singles}");
    assert_eq!(promised, of_bulk + 40);
    assert_eq!((&balance["arrived"], &balance["lost"]), (&json!(promised), &json!(0)));
    assert_eq!((&balance["repeated"], &report["arrivals"]["messages"]), (&json!(0), &json!(promised)));
    let by_tenth = report["arrivals"]["by_tenth"].as_array().unwrap();
    assert_eq!(by_tenth.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), promised);
    let pace = report["arrivals"]["per_s_while_running"].as_f64().unwrap();
    assert!(
        pace > 0.0 && pace <= report["arrivals"]["most_in_a_second"].as_f64().unwrap(),
        "{}",
        report["arrivals"]
    );
    let receipts = &report["receipts"];
    // Each message is sent, delivered and read.
    assert_eq!(receipts["taken"], json!(promised * 3), "{receipts}");
    assert_eq!((&receipts["dropped"], &receipts["outstanding"]), (&json!(0), &json!(0)), "{receipts}");
    let latency = &singles["by_phase"]["idle"];
    assert!(latency["p50"].as_f64().unwrap() > 0.0 && latency["max"].as_f64() >= latency["p99"].as_f64());
    if cfg!(target_os = "linux") {
        assert!(
            report["resources"]["service"]["most_mib"].as_f64().unwrap() > 1.0,
            "{}",
            report["resources"]
        );
        assert!(report["resources"]["database_end_mib"].as_f64().unwrap() > 0.1);
    }

    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    let parsed = document(&page);
    assert!(parsed.descendants().filter(|node| node.tag_name().name() == "svg").count() >= 5);
    let elsewhere = ["src", "href", "xlink:href"];
    assert!(
        parsed.descendants().flat_map(|node| node.attributes()).all(|one| !elsewhere.contains(&one.name()))
    );
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
    );
    assert_eq!(left_behind(&place), Vec::<String>::new());
}

#[test]
fn messages_that_did_not_start_during_the_wait_are_canceled_and_the_limit_is_kept() {
    let place = Place::new();
    let line = "loadtest --contacts 300 --tags 1 --duration 1s --single-rate 20/s --rate 60/s --drain 0s --no-receipts --data .";
    let report = place.json(line);
    let balance = |name: &str| report["balance"][name].as_u64().unwrap();
    assert!(balance("canceled") > 100, "{report}");
    assert_eq!(balance("arrived") + balance("canceled"), balance("promised"));
    assert_eq!((balance("lost"), &report["limit"]["per_second"]), (0, &json!(60.0)));
    assert!(
        report["arrivals"]["most_in_a_second"].as_u64() <= report["limit"]["allowed"].as_u64(),
        "{report}"
    );
}

/// A process that says its address first, with an end of its own.
struct Running(#[expect(dead_code, reason = "ends with its value")] OwnedChild, Value);

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = OwnedChild::spawn(command.arg("--end-with-input").stderr(Stdio::null()));
        let first = child.first_line();
        Self(child, serde_json::from_str(&first).unwrap())
    }

    fn base_url(&self) -> &str {
        self.1["base_url"].as_str().unwrap()
    }
}

#[test]
fn a_service_that_runs_is_tested_only_where_its_messages_are_known_to_go() {
    let place = Place::new();
    let demo = Running::start(place.command("demo --port 0 --json --contacts 200"));
    let acme = &demo.1["companies"][0];
    let (url, key) = (demo.base_url(), acme["api_key"].as_str().unwrap());
    let simulator = demo.1["simulator_url"].as_str().unwrap();
    let of_this = format!("loadtest --url {url} --key {key} --duration 1s --single-rate 20/s");

    let refused = place.run(&of_this);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("--message-real-people"), "{}", refused.stderr);

    let several = place.run(&format!("{of_this} --simulator {simulator}"));
    assert_eq!(several.code, Some(1));
    assert!(several.stderr.contains("--channel") && several.stderr.contains("Sales"), "{}", several.stderr);

    let report =
        place.json(&format!("{of_this} --simulator {simulator} --channel Sales --tag everyone --bulk 2"));
    assert_eq!((&report["passed"], &report["balance"]["lost"]), (&json!(true), &json!(0)), "{report}");
    let recipients: Vec<_> =
        report["bulk"]["sends"].as_array().unwrap().iter().map(|send| &send["recipients"]).collect();
    assert_eq!(recipients, [&json!(195), &json!(195)]);
    assert_eq!(report["limit"]["per_second"], json!(1_000.0));
    assert_eq!(report["setting"]["contacts"], Value::Null);
    if cfg!(target_os = "linux") {
        // The figures come from its metrics, because another process started it.
        assert!(report["resources"]["service"]["cpu_s"].as_f64().unwrap() > 0.0, "{}", report["resources"]);
    }

    // With --message-real-people, it messages the service's own contacts and no invented ones; it reports
    // only counted figures.
    let people = place.json(&format!("{of_this} --message-real-people --channel Sales --tag vip"));
    assert_eq!((&people["arrivals"], &people["singles"]["due"]), (&Value::Null, &json!(0)), "{people}");
    assert_eq!(people["bulk"]["sends"][0]["recipients"], 25);
    let outcomes: Vec<_> =
        people["verdicts"].as_array().unwrap().iter().map(|verdict| &verdict["outcome"]).collect();
    assert_eq!(outcomes[..4], [&json!("good"), &json!("open"), &json!("open"), &json!("open")]);
}

#[test]
fn a_simulator_that_the_service_does_not_send_to_stops_the_test_before_it_begins() {
    let place = Place::new();
    let demo = Running::start(place.command("demo --port 0 --json --contacts 50"));
    let other = Running::start(place.command("simulator --port 0 --json"));
    let key = demo.1["companies"][0]["api_key"].as_str().unwrap();
    place.write("key", key);
    let run = place.run(&format!(
        "loadtest --url {} --key-file key --simulator {} --channel Sales --duration 1s",
        demo.base_url(),
        other.base_url()
    ));
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("Nothing else was sent"), "{}", run.stderr);
}

/// Processes that are children of this one, by their ids.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    tasks.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

#[cfg(target_os = "linux")]
fn is_there(process: u32) -> bool {
    // A process that ended and was not waited for does not count.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[cfg(target_os = "linux")]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a load test that would take longer than the test, with these options besides, and waits until its service and its
/// simulator run.
#[cfg(target_os = "linux")]
fn under_way(place: &Place, more: &str) -> (OwnedChild, Vec<u32>) {
    let line = "loadtest --contacts 300 --tags 1 --duration 5m --single-rate 40/s --data . --report page.html --json";
    let child = OwnedChild::spawn(&mut place.command(&format!("{line} {more}")));
    let mut running = Vec::new();
    wait_until("two children", || {
        running = children(child.id());
        running.len() == 2 && Path::new(&format!("/proc/{}", running[1])).exists()
    });
    (child, running)
}

#[cfg(target_os = "linux")]
fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// The report of a load test that sends for five minutes, after Ctrl-C.
#[cfg(target_os = "linux")]
fn interrupted(mut child: OwnedChild) -> Value {
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("of 300 s  accepted")), "nothing was sent");
    signal("-INT", child.id());
    // A full pipe would block it.
    let told: Vec<_> = told.map_while(Result::ok).collect();
    let output = child.wait_with_output();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["ended_early"]), (Some(0), &json!(true)), "{report}");
    assert!(report["singles"]["accepted"].as_u64().unwrap() > 0, "{told:?}");
    report
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_it_early_with_a_report_and_without_a_trace() {
    let place = Place::new();
    let (child, running) = under_way(&place, "");
    let report = interrupted(child);
    assert!(std::fs::read_to_string(place.path().join("page.html")).unwrap().contains("ended early"));
    assert_eq!(report["balance"]["lost"], 0);
    assert!(running.iter().all(|process| !is_there(*process)));
    assert_eq!(left_behind(&place), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn its_processes_end_with_it_even_when_it_is_killed() {
    let place = Place::new();
    let (mut child, running) = under_way(&place, "");
    child.crash();
    wait_until("no children", || running.iter().all(|process| !is_there(*process)));
}
