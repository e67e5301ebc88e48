//! The page has all of the report's figures, is well-formed, and makes no requests.

use super::*;
use crate::compare::Base;
use crate::{
    AnswerProof, Arrivals, Balance, Bulk, BulkSend, Changed, ChannelReport, Climb, EventArrivals, Limit,
    RampStep, Resources, Sample, Setting, Singles,
};
use clock::Timestamp;

fn channel(number: u64) -> ChannelReport {
    ChannelReport {
        name: format!("loadtest-{number}"),
        company: None,
        tier: Some("loadtest".to_owned()),
        limit: Some(Limit::new(1_000.0, 10)),
        messages: Some(number),
        most_in_a_second: Some(number),
        is_exact: true,
        throttled: 0,
    }
}

fn step(per_s: f64, keeps_up: bool) -> RampStep {
    RampStep {
        at_s: 0.0,
        per_s,
        due: 10,
        accepted: 10,
        latency_ms: Summary { count: 10, p50: 1.0, p99: 2.0, max: 2.0, ..Summary::default() },
        keeps_up,
    }
}

fn report() -> Report {
    let by_tenth: Vec<u32> = (0..100).map(|tenth| if tenth > 30 { 900 + tenth } else { 5 }).collect();
    let some = Summary { count: 500, p50: 1.5, p90: 3.0, p99: 9.0, p999: 12.0, max: 15.0 };
    let sample = |second: u32| Sample {
        at_s: f64::from(second),
        promised: 1_000,
        arrived: Some(u64::from(second) * 100),
        single_p50_ms: Some(1.5),
        single_p99_ms: Some(9.0),
        service_cpu_percent: Some(120.0),
        service_mib: Some(80.0),
        ..Sample::default()
    };
    Report {
        version: "0.0.0",
        started_at: Timestamp::from_millis(0),
        passed: false,
        ended_early: false,
        verdicts: vec![Verdict {
            question: "Did anything arrive twice?",
            outcome: Outcome::Bad,
            decides: true,
            answer: "3 messages arrived again.".to_owned(),
        }],
        setting: Setting {
            command: "pombo loadtest --key …".to_owned(),
            service: "own".to_owned(),
            receiver: "own simulator".to_owned(),
            database: "SQLite".to_owned(),
            contacts: Some(1_000),
            contacts_per_s: Some(50_000.0),
            tags: vec!["<script>alert(1)</script>".to_owned()],
            rate: Some("1000/s".to_owned()),
            single_rate: Some("50/s".to_owned()),
            ramp: None,
            companies: 1,
            channels: 2,
            nodes: 1,
            content: "text".to_owned(),
            values: Some(5),
            simulator: Some(String::new()),
            receipts: true,
            webhooks: Some(100),
            answers: Some("200/s".to_owned()),
            changes: vec!["3.0s:40/s".to_owned()],
            sent_s: 10.0,
            drained_s: 1.0,
            cores: 2,
            system: "linux".to_owned(),
        },
        singles: Singles {
            due: 500,
            accepted: 500,
            latency_ms: some,
            by_phase: Phase::ALL.map(|phase| (phase, some)).into(),
            curves: Phase::ALL.map(|phase| (phase, vec![(0.0, 1.0), (50.0, 1.5), (99.0, 9.0)])).into(),
            p99_to_idle: [(Phase::Running, 2.0)].into(),
            refused: [("rate_limited".to_owned(), 2)].into(),
            too_many_requests: 2,
            unclear: [].into(),
        },
        bulk: Bulk {
            planned: 1,
            latency_ms: some,
            sends: vec![BulkSend {
                send_id: uuid::Uuid::nil(),
                channel: "loadtest".to_owned(),
                tag: "<script>alert(1)</script>".to_owned(),
                at_s: 2.5,
                accept_ms: 120.0,
                recipients: 987,
                expected: Some(987),
            }],
        },
        limit: Some(Limit::new(1_000.0, 10)),
        channels: [1, 2].map(channel).into(),
        receipts: None,
        events: Some(EventArrivals {
            expected: 3_000,
            arrived: 2_987,
            missing: 13,
            untold: 0,
            repeated: 1,
            disordered: 0,
            foreign: 0,
            unsigned: 0,
            unreadable: 0,
            requests: 41,
            per_s: 300.0,
            most_in_a_second: 1_217,
            latency_ms: some,
            ended_early: false,
        }),
        answers: Some(AnswerProof {
            written: 2_001,
            repeated: 201,
            found: 2_001,
            missing: 0,
            doubled: 0,
            per_s: 200.0,
            waited_s: 0.5,
        }),
        changes: vec![Changed {
            at_s: 3.0,
            followed_at_s: Some(4.0),
            rate: "40/s".to_owned(),
            limit: Some(Limit::new(40.0, 1)),
            most_in_a_second: Some(40),
        }],
        ramp: Some(Climb {
            knee_per_s: Some(160.0),
            is_beyond: false,
            steps: vec![step(160.0, true), step(320.0, false)],
        }),
        comparison: None,
        arrivals: Some(Arrivals {
            messages: 1_000,
            per_s_while_running: 9_650.0,
            most_in_a_second: 1_055,
            is_exact: true,
            refused: 0,
            throttled: 0,
            by_tenth,
        }),
        balance: Balance { promised: 1_000, arrived: 997, repeated: 3, ..Balance::default() },
        resources: Resources {
            service: None,
            simulator: None,
            loadtest: None,
            service_cpu_us_per_message: None,
            database_start_mib: Some(1.0),
            database_end_mib: Some(2.0),
            database_bytes_per_message: Some(60.0),
        },
        samples: (0..10).map(sample).collect(),
    }
}

#[test]
fn a_page_is_well_formed_and_whole_in_itself() {
    let mut report = report();
    let base = Base::read(&serde_json::to_string(&report).unwrap()).unwrap();
    report.compare(&base, 5.0).unwrap();
    assert!(report.comparison.as_ref().unwrap().passed, "a report is as good as itself");
    let page = html(&report);
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let parsed = roxmltree::Document::parse_with_options(&page, options).unwrap();
    let count = |name: &str| parsed.descendants().filter(|node| node.tag_name().name() == name).count();
    assert_eq!((count("svg"), count("script"), count("link"), count("img")), (7, 0, 0, 0));
    for node in parsed.descendants() {
        for attribute in node.attributes() {
            assert!(!["src", "href"].contains(&attribute.name()), "{attribute:?}");
        }
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    for words in [
        "Failed. 3 messages arrived again.",
        "tiers: 40/s",
        "loadtest-2",
        "pombo loadtest --key …",
        "Compared",
        "1,055",
        "987",
        "nobody could tell",
        "120 ms",
        "2,987 of 3,000",
        "1,217",
    ] {
        assert!(page.contains(words), "{words}");
    }
}
