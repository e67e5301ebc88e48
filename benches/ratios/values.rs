//! Sends whose recipients have five values each: accepted and dispatched beside the same sends without values, uploaded by the
//! million, and their size in the database.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actix_web::web::Bytes;
use sea_orm::{ConnectOptions, Database};

use crate::service::{Service, resident_kib};
use crate::{Row, bare_body, dispatch, median, size};

const RECIPIENTS: u64 = 100_000;
const UPLOADED: u64 = 1_000_000;
const ROUNDS: usize = 5;
const FIRST: u64 = 5_511_900_000_000;
/// The names of the values, in the order of [`values`].
const NAMES: [&str; 5] = ["name", "order", "amount", "day", "shop"];
const WITH: &str =
    "Hi {{value.name}}, {{value.order}} of {{value.amount}} comes on {{value.day}} from {{value.shop}}";
const WITHOUT: &str = "Hi Ana, A-1000042 of 120.50 comes on 2026-11-28 from Padaria Sol";

/// The values of a recipient.
fn values(number: u64) -> [String; 5] {
    let cents = number % 100;
    [
        format!("Ana {}", number % 977),
        format!("A-{}", 1_000_000 + number),
        format!("{}.{cents:02}", number % 300),
        format!("2026-11-{:02}", 1 + number % 30),
        format!("Shop {}", number % 41),
    ]
}

/// A send to [`RECIPIENTS`], with values or without.
fn body(with: bool) -> String {
    let mut body = String::new();
    let (text, field) = if with { (WITH, "recipients") } else { (WITHOUT, "phone_number") };
    write!(body, r#"{{"type":"text","message":"{text}","{field}":["#).unwrap();
    for number in 0..RECIPIENTS {
        let comma = if number > 0 { "," } else { "" };
        let phone = FIRST + number;
        if with {
            write!(body, r#"{comma}{{"phone_number":"+{phone}","values":{{"#).unwrap();
            for (place, (name, value)) in NAMES.iter().zip(values(number)).enumerate() {
                let comma = if place > 0 { "," } else { "" };
                write!(body, r#"{comma}"{name}":"{value}""#).unwrap();
            }
            body.push_str("}}");
        } else {
            write!(body, r#"{comma}"+{phone}""#).unwrap();
        }
    }
    body.push_str("]}");
    body
}

pub(crate) fn measure() -> Vec<Row> {
    let arrivals = Arc::new(AtomicU64::new(0));
    let provider = dispatch::provider(Arc::clone(&arrivals));
    actix_web::rt::System::new().block_on(async {
        let mut rows = Vec::from(accepted().await);
        rows.extend(dispatched(&provider, &arrivals).await);
        rows.extend(uploaded().await);
        rows
    })
}

/// Posts a send of this type. Returns the time of the answer.
async fn post(service: &Service, media_type: &str, body: Bytes, recipients: u64) -> Duration {
    let url = format!("http://{}/api/v1/chat/{}/messages", service.address, service.channel);
    post_to(&url, (&service.key, media_type), body, recipients).await
}

/// Posts a body of this type with a key. Returns the time of the answer.
async fn post_to(url: &str, (key, media_type): (&str, &str), body: Bytes, recipients: u64) -> Duration {
    let request = reqwest::Client::new().post(url).bearer_auth(key).header("Content-Type", media_type);
    let started = Instant::now();
    let answer = request.body(body).send().await.unwrap();
    let (status, took) = (answer.status(), started.elapsed());
    let answer: serde_json::Value = answer.json().await.unwrap();
    assert_eq!((status.as_u16(), answer["recipients_count"].as_u64()), (202, Some(recipients)), "{answer}");
    took
}

/// The answers of the service, and those of a handler that does nothing but receive the same bodies and read them.
async fn accepted() -> [Row; 2] {
    let service = Service::start("http://127.0.0.1:9", "1/min", 64).await;
    let bare = format!("http://{}/", bare_body::serve());
    let bodies = [true, false].map(|with| Bytes::from(body(with)));
    let mut ours = [Vec::new(), Vec::new()];
    let mut floor = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (body, (ours, floor)) in bodies.iter().zip(ours.iter_mut().zip(&mut floor)) {
            let answered = post(&service, "application/json", body.clone(), RECIPIENTS).await;
            let json = (service.key.as_str(), "application/json");
            let read = post_to(&bare, json, body.clone(), RECIPIENTS).await;
            // The first round warms all sides up.
            if round > 0 {
                ours.push(answered.as_secs_f64());
                floor.push(read.as_secs_f64());
            }
        }
    }
    service.engine.stop().await;
    let ([with, without], [bare_with, bare_without]) = (ours.map(median), floor.map(median));
    let milliseconds = |seconds: f64| seconds * 1_000.0;
    [
        Row {
            what: "202 for 100,000 recipients with five values each",
            ours: format!("{with:.2} s"),
            yardstick: format!("the same recipients without values {without:.2} s"),
            ratio: format!("{:.2}", with / without),
            bound: "≤ 2",
        },
        Row {
            what: "… with values; without, beside a handler that only receives and reads the same body",
            ours: format!("{:.0}; {:.0} ms", milliseconds(with), milliseconds(without)),
            yardstick: format!(
                "with values {:.0} ms, without {:.0} ms: {:.2} of it",
                milliseconds(bare_with),
                milliseconds(bare_without),
                bare_with / bare_without
            ),
            ratio: format!("{:.2}; {:.2}", with / bare_with, without / bare_without),
            bound: "–",
        },
    ]
}

async fn dispatched(provider: &str, arrivals: &AtomicU64) -> [Row; 2] {
    let service = Service::start(&format!("http://{provider}"), "unlimited", dispatch::CONCURRENCY).await;
    let bodies = [true, false].map(|with| Bytes::from(body(with)));
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        for (body, rates) in bodies.iter().zip([&mut with, &mut without]) {
            let before = arrivals.load(Ordering::Relaxed);
            post(&service, "application/json", body.clone(), RECIPIENTS).await;
            let (started, seen) = (Instant::now(), arrivals.load(Ordering::Relaxed));
            while arrivals.load(Ordering::Relaxed) < before + RECIPIENTS
                || !service.store.channels().working().await.unwrap().is_empty()
            {
                actix_web::rt::time::sleep(Duration::from_millis(5)).await;
            }
            if round > 0 {
                rates.push((before + RECIPIENTS - seen) as f64 / started.elapsed().as_secs_f64());
            }
        }
    }
    let mut options = ConnectOptions::new(&service.database.url);
    options.max_connections(1).sqlx_logging(false);
    let rows = Database::connect(options).await.unwrap();
    let stored = size::bytes(&rows, &["personal_send", "send_values"]).await as f64;
    service.engine.stop().await;
    let each_send: usize = (0..RECIPIENTS).flat_map(values).map(|value| value.len()).sum();
    let given = (each_send * (ROUNDS + 1)) as f64;
    let (with, without) = (median(with), median(without));
    let megabytes = |bytes: f64| bytes / 1_000_000.0;
    [
        Row {
            what: "messages with five values each dispatched, 64 at once",
            ours: format!("{with:.0}/s"),
            yardstick: format!("without values {without:.0}/s"),
            ratio: format!("{:.2}", with / without),
            bound: "≥ 0.95",
        },
        Row {
            what: "… the values in the database, indexes included",
            ours: format!("{:.1} MB", megabytes(stored)),
            yardstick: format!("the texts of the values {:.1} MB", megabytes(given)),
            ratio: format!("{:.2}", stored / given),
            bound: "≤ 1.3",
        },
    ]
}

/// An upload of a million rows, and the service's memory meanwhile.
async fn uploaded() -> [Row; 2] {
    let service = Service::start("http://127.0.0.1:9", "1/min", 64).await;
    let mut form = format!(
        "--rows\r\nContent-Disposition: form-data; name=\"send\"\r\nContent-Type: application/json\r\n\r\n\
         {{\"type\":\"text\",\"message\":\"{WITH}\"}}\r\n\
         --rows\r\nContent-Disposition: form-data; name=\"recipients\"; filename=\"rows.csv\"\r\n\
         Content-Type: text/csv\r\n\r\nphone_number,{}\n",
        NAMES.join(",")
    );
    for number in 0..UPLOADED {
        // Short enough that a million fit into the largest file.
        let [name, order, amount, day, shop] = values(number);
        writeln!(form, "{},{name},{order},{amount},{},{}", FIRST + number, &day[8..], &shop[5..]).unwrap();
    }
    form.push_str("\r\n--rows--\r\n");
    let form = Bytes::from(form);
    let before = resident_kib();
    let mut peak = before;
    let posting = post(&service, "multipart/form-data; boundary=rows", form, UPLOADED);
    tokio::pin!(posting);
    let took = loop {
        tokio::select! {
            took = &mut posting => break took,
            () = actix_web::rt::time::sleep(Duration::from_millis(1)) => peak = peak.max(resident_kib()),
        }
    };
    service.engine.stop().await;
    let mebibytes = |kib: i64| kib as f64 / 1_024.0;
    [
        Row {
            what: "202 for an upload of 1,000,000 rows with five values each",
            ours: format!("{:.1} s", took.as_secs_f64()),
            yardstick: "–".to_owned(),
            ratio: "–".to_owned(),
            bound: "≤ 60 s",
        },
        Row {
            what: "… memory meanwhile",
            ours: format!("{:+.1} MiB", mebibytes(peak - before)),
            yardstick: format!("the service before, with the file in memory, {:.1} MiB", mebibytes(before)),
            ratio: "–".to_owned(),
            bound: "≤ +64 MiB",
        },
    ]
}
