//! The import of a million contacts, search index included, beside a bare insert of the same rows; and the
//! times of the service's answers meanwhile. Run by name only, because it takes minutes.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use pombo::import;
use pombo::store::Store;
use pombo::store::changes::Who;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, TransactionTrait as _};

use crate::service::{Service, resident_kib};
use crate::{Row, median, people};

const CONTACTS: u64 = 1_000_000;
/// Rows of the yardstick, and of one of its statements.
const BARE: u64 = 200_000;
const BARE_LOT: u64 = 1_000;
const BODY: &str = r#"{"type":"text","message":"Your order has left.","phone_number":"+55 11 98888-7777"}"#;

pub(crate) fn measure() -> Vec<Row> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("people.csv");
    write(&file);
    actix_web::rt::System::new().block_on(async {
        let service = Service::start("http://127.0.0.1:9", "1/s", 64).await;
        let bare = Database::connect(service.database.url.as_str()).await.unwrap();
        let yardstick = insert(&bare).await;
        // Like the command line, it uses connections of its own to the database of the running service.
        let store = Store::open(&service.database).await.unwrap();
        let company = service.company;
        let before = resident_kib();
        let (done, ended) = tokio::sync::watch::channel(false);
        let importing = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let started = Instant::now();
            let options = import::Options::default();
            let imported = import::contacts(&store, &Who::Pombo, company, &file, &options, |_| ());
            let summary = runtime.block_on(imported).unwrap();
            assert_eq!(summary.counts.created, CONTACTS);
            done.send(true).unwrap();
            started.elapsed().as_secs_f64()
        });
        let peak = async {
            let mut peak = before;
            while !*ended.borrow() {
                peak = peak.max(resident_kib());
                actix_web::rt::time::sleep(Duration::from_millis(5)).await;
            }
            peak
        };
        let post = format!("chat/{}/messages", service.channel);
        let (peak, accepts, searches) = tokio::join!(
            peak,
            latencies(&service, &post, true, || *ended.borrow()),
            latencies(&service, "contacts?search=wexford", false, || *ended.borrow()),
        );
        let took = importing.join().unwrap();
        let rate = CONTACTS as f64 / took;
        service.engine.stop().await;
        let megabytes = |kib: i64| kib as f64 / 1_024.0;
        vec![
            Row {
                what: "import of 1,000,000 contacts, searchable",
                ours: format!("{rate:.0} rows/s, {took:.1} s"),
                yardstick: format!(
                    "bare INSERT into tables indexed alike, the first {BARE}: {yardstick:.0}/s"
                ),
                ratio: format!("{:.2}", rate / yardstick),
                bound: "≥ 25,000 rows/s",
            },
            Row {
                what: "memory during the import",
                ours: format!("{:+.1} MiB", megabytes(peak - before)),
                yardstick: format!("the service before {:.1} MiB", megabytes(before)),
                ratio: "–".to_owned(),
                bound: "constant",
            },
            told("single accepts during the import", &accepts),
            told("a search for one in ten during the import", &searches),
        ]
    })
}

fn told(what: &'static str, took: &[f64]) -> Row {
    let mut sorted = took.to_vec();
    sorted.sort_by(f64::total_cmp);
    let p99 = sorted[(sorted.len() * 99 / 100).min(sorted.len() - 1)];
    let worst = sorted[sorted.len() - 1];
    Row {
        what,
        ours: format!("p50 {:.1} ms, p99 {p99:.1} ms, worst {worst:.1} ms", median(sorted.clone())),
        yardstick: format!("{} requests", sorted.len()),
        ratio: "–".to_owned(),
        bound: "–",
    }
}

/// The times of requests until `over`, one after the other with a pause between. Milliseconds.
async fn latencies(service: &Service, path: &str, posts: bool, over: impl Fn() -> bool) -> Vec<f64> {
    let client = reqwest::Client::new();
    let url = format!("http://{}/api/v1/{path}", service.address);
    let mut took = Vec::new();
    while !over() {
        let request = if posts { client.post(&url).body(BODY) } else { client.get(&url) };
        let started = Instant::now();
        let answer = request.bearer_auth(&service.key).send().await.unwrap();
        assert_eq!(answer.status(), if posts { 202 } else { 200 });
        answer.bytes().await.unwrap();
        took.push(started.elapsed().as_secs_f64() * 1_000.0);
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    took
}

fn write(path: &Path) {
    let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
    writeln!(file, "first_name,last_name,email,phone_number,tags").unwrap();
    for number in 0..CONTACTS {
        let person = people::person(number);
        let tag = people::tag(number);
        writeln!(
            file,
            "{},{},{},{},{tag}",
            person.first_name, person.last_name, person.email, person.phone_number
        )
        .unwrap();
    }
}

/// The yardstick: inserts the same people and tags into bare tables with indexes by number, address and tag,
/// a thousand rows in a transaction. Rows per second.
async fn insert(database: &DatabaseConnection) -> f64 {
    for statement in [
        "CREATE TABLE bare_person (id BIGINT NOT NULL PRIMARY KEY, name TEXT, email TEXT, phone BIGINT)",
        "CREATE INDEX bare_phone ON bare_person (phone)",
        "CREATE INDEX bare_email ON bare_person (email)",
        "CREATE TABLE bare_pair (tag TEXT, person BIGINT, phone BIGINT, PRIMARY KEY (tag, person))",
        "CREATE INDEX bare_pair_phone ON bare_pair (tag, phone)",
    ] {
        database.execute_unprepared(statement).await.unwrap();
    }
    let started = Instant::now();
    for lot in 0..BARE / BARE_LOT {
        let (mut people, mut pairs) = (Vec::new(), Vec::new());
        for number in lot * BARE_LOT..(lot + 1) * BARE_LOT {
            let person = people::person(number);
            let (phone, tag) = (person.phone().unwrap(), people::tag(number));
            people.push(format!(
                "({number},'{} {}','{}',{})",
                person.first_name,
                person.last_name,
                person.email,
                phone.as_i64()
            ));
            pairs.push(format!("('{tag}',{number},{})", phone.as_i64()));
        }
        let transaction = database.begin().await.unwrap();
        let people = format!("INSERT INTO bare_person VALUES {}", people.join(","));
        transaction.execute_unprepared(&people).await.unwrap();
        let pairs = format!("INSERT INTO bare_pair VALUES {}", pairs.join(","));
        transaction.execute_unprepared(&pairs).await.unwrap();
        transaction.commit().await.unwrap();
    }
    BARE as f64 / started.elapsed().as_secs_f64()
}
