//! Pages and searches of a million contacts through HTTP, beside one statement that reads every contact.

use std::time::{Duration, Instant};

use pombo::store::changes::Who;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection};

use crate::service::Service;
use crate::{Row, median, people};

const CONTACTS: u64 = 1_000_000;
/// Contacts of another company, in the same tables.
const BESIDE: u64 = 200_000;
/// Requests for each row.
const REQUESTS: usize = 300;
const YARDSTICKS: usize = 3;

/// The name of the row, the request, the word that the yardstick looks for, and the bound.
const QUESTIONS: &[(&str, &str, &str, &str)] = &[
    ("page 1 of 1,000,000 contacts", "contacts?page=1", "", "p99 ≤ 50 ms"),
    ("page 1,000", "contacts?page=1000", "", "p99 ≤ 50 ms"),
    ("the last page of 10", "contacts?page=100000", "", "p99 ≤ 50 ms"),
    ("page 1,000 of 1,000", "contacts?page=1000&limit=1000", "", "p99 ≤ 50 ms"),
    ("search, a rare word", "contacts?search=.777777%40", ".777777@", "p99 ≤ 50 ms"),
    ("search, an absent word", "contacts?search=xqxqxq", "xqxqxq", "p99 ≤ 50 ms"),
    ("search, a number", "contacts?search=%2B55%20(11)%2090077", "90077", "p99 ≤ 50 ms"),
    ("search, a tag of 1,000", "contacts?search=group%200500", "group 0500", "p99 ≤ 50 ms"),
    ("search, a word of one in ten", "contacts?search=wexford", "wexford", "p99 ≤ 150 ms"),
    ("the same, page 5,000", "contacts?search=wexford&page=5000", "wexford", "p99 ≤ 150 ms"),
    ("search, a word of everybody", "contacts?search=group", "group", "–"),
    ("search, two letters", "contacts?search=vu", "vu", "p99 ≤ 150 ms"),
    ("search, two letters of everybody", "contacts?search=gr", "gr", "p99 ≤ 150 ms"),
    ("search, one letter", "contacts?search=a", "a", "p99 ≤ 150 ms"),
    ("search, one digit", "contacts?search=7", "7", "p99 ≤ 150 ms"),
    ("1,000 tags with counts, page 1", "contacts/tags", "", "p99 ≤ 50 ms"),
    ("1,000 tags with counts, all", "contacts/tags?limit=1000", "", "p99 ≤ 50 ms"),
];

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let service = Service::start("http://127.0.0.1:9", "1/s", 64).await;
        let other = service.store.companies().add(&Who::Pombo, "Beside", "standard").await.unwrap().id;
        people::add(&service.store, other, BESIDE).await;
        let before = size(&service).await;
        people::add(&service.store, service.company, CONTACTS).await;
        let bytes = (size(&service).await - before) / CONTACTS as i64;
        let bare = Database::connect(service.database.url.as_str()).await.unwrap();
        let mut rows = Vec::new();
        for (what, path, word, bound) in QUESTIONS {
            let mut yardstick = Vec::new();
            for _ in 0..YARDSTICKS {
                yardstick.push(read_all(&bare, service.company, word).await);
            }
            let (mut took, meanwhile) = ask(&service, path).await;
            let middle = median(took.clone());
            took.sort_by(f64::total_cmp);
            rows.push(Row {
                what,
                ours: format!("p50 {middle:.1} ms, p99 {:.1} ms (others {meanwhile:.1} ms)", p99(&took)),
                yardstick: format!("reading all {:.0} ms", median(yardstick.clone())),
                ratio: format!("{:.3}", middle / median(yardstick)),
                bound,
            });
        }
        rows.push(Row {
            what: "a contact with its tag, indexes and search",
            ours: format!("{bytes} bytes"),
            yardstick: "–".to_owned(),
            ratio: "–".to_owned(),
            bound: "–",
        });
        service.engine.stop().await;
        rows
    })
}

/// The time of each request, and the 99th percentile of cheap requests meanwhile. Milliseconds.
async fn ask(service: &Service, path: &str) -> (Vec<f64>, f64) {
    let once = async |client: &reqwest::Client, path: &str| {
        let url = format!("http://{}/api/v1/{path}", service.address);
        let started = Instant::now();
        let answer = client.get(url).bearer_auth(&service.key).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.bytes().await.unwrap();
        started.elapsed().as_secs_f64() * 1_000.0
    };
    let (client, cheap) = (reqwest::Client::new(), reqwest::Client::new());
    let asking = async {
        let mut took = Vec::new();
        for round in 0..=REQUESTS {
            let milliseconds = once(&client, path).await;
            if round > 0 {
                took.push(milliseconds);
            }
        }
        took
    };
    let mut meanwhile = Vec::new();
    let others = async {
        loop {
            meanwhile.push(once(&cheap, "chat").await);
            actix_web::rt::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let took = tokio::select! { took = asking => took, () = others => Vec::new() };
    meanwhile.sort_by(f64::total_cmp);
    (took, p99(&meanwhile))
}

fn p99(sorted: &[f64]) -> f64 {
    sorted[(sorted.len() * 99 / 100).min(sorted.len() - 1)]
}

/// The yardstick: reads every contact of the company, as a search without an index does. Milliseconds.
async fn read_all(database: &DatabaseConnection, company: uuid::Uuid, word: &str) -> f64 {
    let sqlite = database.get_database_backend() == sea_orm::DbBackend::Sqlite;
    let company = if sqlite { format!("x'{}'", company.simple()) } else { format!("'{company}'") };
    let count = format!(
        "SELECT count(*) FROM contact WHERE company_id = {company}
         AND (search_text LIKE '%{word}%' OR tag_text LIKE '%{word}%')"
    );
    let started = Instant::now();
    database.execute_unprepared(&count).await.unwrap();
    started.elapsed().as_secs_f64() * 1_000.0
}

/// Bytes of the whole database.
async fn size(service: &Service) -> i64 {
    let bare = Database::connect(service.database.url.as_str()).await.unwrap();
    let sqlite = bare.get_database_backend() == sea_orm::DbBackend::Sqlite;
    let size = if sqlite {
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    } else {
        "SELECT pg_database_size(current_database())"
    };
    let row = bare.query_one_raw(sea_orm::Statement::from_string(bare.get_database_backend(), size)).await;
    row.unwrap().unwrap().try_get_by_index(0).unwrap()
}
