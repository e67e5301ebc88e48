//! What a load test leaves: raw samples, its command, and reports that are compared.

use serde_json::{Value, json};

use super::SMALL;
use crate::program::Place;

#[test]
fn raw_samples_are_files_and_an_earlier_report_is_a_threshold() {
    let place = Place::new();
    let files = "--csv samples.csv --requests-csv requests.csv --report page.html";
    let report = place.json(&format!("loadtest {SMALL} --data . {files}"));
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    let rows = |name: &str| -> Vec<Vec<String>> {
        let text = read(name);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
    };
    let (samples, requests) = (rows("samples.csv"), rows("requests.csv"));
    assert_eq!(samples[0][..3], ["at_s", "promised", "arrived"]);
    assert_eq!(samples.len() - 1, report["samples"].as_array().unwrap().len());
    assert_eq!(requests[0], ["due_s", "latency_ms", "kind", "phase", "channel", "answer"]);
    let kinds = |kind: &str| requests.iter().filter(|row| row[2] == kind && row[5] == "accepted").count();
    assert_eq!((kinds("single"), kinds("bulk")), (40, 2));
    let command = report["setting"]["command"].as_str().unwrap();
    assert!(command.starts_with("pombo loadtest --contacts 400") && command.contains(files), "{command}");
    assert!(read("page.html").contains("--requests-csv requests.csv"));

    // A report is as good as itself, and worse than one that is twice as fast.
    place.write("base.json", &report.to_string());
    let same = place.json("loadtest compare base.json base.json --allow 1%");
    assert_eq!((&same["passed"], &same["other_settings"]), (&json!(true), &json!([])), "{same}");
    let mut faster = report.clone();
    let pace = report["arrivals"]["per_s_while_running"].as_f64().unwrap();
    faster["arrivals"]["per_s_while_running"] = json!(pace * 2.0);
    faster["setting"]["rate"] = json!("80/s");
    place.write("faster.json", &faster.to_string());
    let worse = place.run("loadtest compare faster.json base.json --allow 5%");
    assert_eq!(worse.code, Some(1), "{worse:?}");
    assert!(worse.stderr.contains("pace while bulk sends ran"), "{}", worse.stderr);
    assert!(worse.stdout.contains("-50.0 %") && worse.stdout.contains("`rate` differs"), "{}", worse.stdout);
    let better = place.run("loadtest compare base.json faster.json --allow 5%");
    assert_eq!(better.code, Some(0), "{better:?}");

    // The same as a threshold of a test: no service has this pace.
    faster["arrivals"]["per_s_while_running"] = json!(1e9);
    place.write("faster.json", &faster.to_string());
    let failed = place.run(&format!("loadtest {SMALL} --data . --compare faster.json --allow 5% --json"));
    let report: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((failed.code, &report["passed"]), (Some(1), &json!(false)), "{}", failed.stderr);
    assert!(failed.stderr.contains("Worse by more than 5 %: pace"), "{}", failed.stderr);
    assert_eq!(report["comparison"]["figures"][0]["is_worse"], json!(true));
}

#[test]
fn a_file_that_is_no_report_is_refused_before_anything_starts() {
    let place = Place::new();
    place.write("base.json", "{}");
    for line in [
        "loadtest --compare base.json",
        "loadtest compare base.json base.json",
        "loadtest --compare none.json",
    ] {
        let run = place.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{line}: {run:?}");
        assert!(
            run.stderr.contains("base.json") || run.stderr.contains("none.json"),
            "{line}: {}",
            run.stderr
        );
    }
}
