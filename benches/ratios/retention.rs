//! Single sends while a million old messages are removed, beside an idle service, and beside one statement
//! that deletes them all. The sends come at a steady pace, and each is measured from its planned start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};

use crate::Row;
use crate::service::{Ground, Service};

const MESSAGES: u64 = 1_000_000;
const BLOCK: u64 = 4_096;
const EACH_SECOND: u64 = 200;
const IDLE: Duration = Duration::from_secs(8);
const WARMING: Duration = Duration::from_secs(2);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Pause between two checks that everything is gone.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        // At one message a second, accepted messages stay queued, so the measure covers accepting alone.
        let mut ground = Ground::new("http://127.0.0.1:9", "1/s", 64).await;
        ground.config.retention.sends = Some(DAY);
        ground.config.retention.interval = Duration::from_millis(100);
        let old = Old::at(&ground.database.url).await;
        old.messages().await;
        let service = ground.serve().await;
        accept(&service, actix_web::rt::time::sleep(WARMING)).await;
        let mut idle = accept(&service, actix_web::rt::time::sleep(IDLE)).await;

        old.send().await;
        let began = Instant::now();
        let stepwise = accept(&service, old.gone()).await;
        let took = began.elapsed();

        let size = old.size().await;
        old.messages().await;
        let grown = old.size().await - size;
        idle.extend(accept(&service, actix_web::rt::time::sleep(IDLE)).await);
        let at_once = accept(&service, old.delete()).await;
        service.engine.stop().await;
        rows(stepwise, idle, at_once, (took, grown))
    })
}

fn rows(stepwise: Vec<f64>, idle: Vec<f64>, at_once: Vec<f64>, (took, grown): (Duration, i64)) -> Vec<Row> {
    let [stepwise, idle, at_once] = [stepwise, idle, at_once].map(|mut times| {
        times.sort_by(f64::total_cmp);
        times
    });
    let told = |times: &[f64]| {
        format!("p50 {:.1}, p99 {:.1}, at most {:.1} ms", at(times, 0.5), at(times, 0.99), at(times, 1.0))
    };
    vec![
        Row {
            what: "202 for 200 single sends a second while 1 M old messages are removed",
            ours: format!("{} of {}; done in {:.0} s", told(&stepwise), stepwise.len(), took.as_secs_f64()),
            yardstick: format!("idle {} of {}", told(&idle), idle.len()),
            ratio: format!("{:.1}", at(&stepwise, 0.99) / at(&idle, 0.99)),
            bound: "≤ 3.0",
        },
        Row {
            what: "… against one statement that deletes them",
            ours: format!("at most {:.1} ms", at(&stepwise, 1.0)),
            yardstick: told(&at_once),
            ratio: format!("{:.2}", at(&stepwise, 1.0) / at(&at_once, 1.0)),
            bound: "–",
        },
        Row {
            what: "the database's growth when as many messages are sent again",
            ours: format!("{:.1} MiB", grown as f64 / 1_048_576.0),
            yardstick: "–".to_owned(),
            ratio: "–".to_owned(),
            bound: "–",
        },
    ]
}

/// The value below which this share of ascending `values` lies.
fn at(values: &[f64], share: f64) -> f64 {
    let place = (values.len() as f64 * share).ceil() as usize;
    values[place.clamp(1, values.len()) - 1]
}

/// Makes single sends at a steady pace while `busy` runs, and returns the milliseconds of each.
async fn accept(service: &Service, busy: impl Future<Output = ()>) -> Vec<f64> {
    let url = format!("http://{}/api/v1/chat/{}/messages", service.address, service.channel);
    let (key, over) = (service.key.clone(), Arc::new(AtomicBool::new(false)));
    let ended = Arc::clone(&over);
    // A thread that sleeps by itself is more punctual than a runtime's timer.
    let pace = std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = reqwest::Client::builder().tcp_nodelay(true).build().unwrap();
        let times = Arc::<Mutex<Vec<f64>>>::default();
        let (began, mut posts) = (Instant::now(), Vec::new());
        while !ended.load(Ordering::Relaxed) {
            let meant = began + Duration::from_secs_f64(posts.len() as f64 / EACH_SECOND as f64);
            std::thread::sleep(meant.saturating_duration_since(Instant::now()));
            let number = 5_511_800_000_000 + posts.len() as u64;
            let body = format!(r#"{{"type":"text","message":"hi","phone_number":"{number}"}}"#);
            let request = client.post(&url).bearer_auth(&key).header("Content-Type", "application/json");
            let times = Arc::clone(&times);
            posts.push(runtime.spawn(async move {
                assert_eq!(request.body(body).send().await.unwrap().status(), 202);
                times.lock().unwrap().push(meant.elapsed().as_secs_f64() * 1e3);
            }));
        }
        runtime.block_on(futures_util::future::join_all(posts)).into_iter().for_each(|post| post.unwrap());
        std::mem::take(&mut *times.lock().unwrap())
    });
    busy.await;
    over.store(true, Ordering::Relaxed);
    tokio::task::spawn_blocking(move || pace.join().unwrap()).await.unwrap()
}

/// A send of long ago, by a connection beside the service's own.
struct Old {
    rows: DatabaseConnection,
    id: &'static str,
    is_sqlite: bool,
    ago: i64,
}

impl Old {
    async fn at(url: &str) -> Self {
        let mut options = ConnectOptions::new(url);
        options.max_connections(1).sqlx_logging(false);
        let rows = Database::connect(options).await.unwrap();
        let is_sqlite = rows.get_database_backend() == DbBackend::Sqlite;
        let id = if is_sqlite {
            "x'00000000000000000000000000000010'"
        } else {
            "'00000000-0000-0000-0000-000000000010'"
        };
        Self { rows, id, is_sqlite, ago: Timestamp::now().minus(7 * DAY).millis() }
    }

    async fn run(&self, sql: &str) {
        self.rows.execute_unprepared(sql).await.unwrap();
    }

    async fn number(&self, sql: &str) -> i64 {
        let statement = Statement::from_string(self.rows.get_database_backend(), sql);
        self.rows.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }

    /// Writes its rows: a million messages with the provider's ids, and their blocks.
    async fn messages(&self) {
        let Self { id, ago, .. } = self;
        let (ordinals, block) = if self.is_sqlite {
            let all = |step: u64| {
                format!(
                    "WITH RECURSIVE o (n) AS (SELECT 0 UNION ALL SELECT n + {step} FROM o WHERE n + {step} < {MESSAGES})"
                )
            };
            ([all(1), all(BLOCK)], "randomblob(10240)")
        } else {
            let all = |step: u64| {
                format!("WITH o (n) AS (SELECT * FROM generate_series(0::bigint, {MESSAGES} - 1, {step}))")
            };
            ([all(1), all(BLOCK)], "decode(repeat('5aa5', 5120), 'hex')")
        };
        let [each, blocks] = ordinals;
        self.run(&format!(
            "{each} INSERT INTO message (send_id, ordinal, company_id, recipient, state, attempts, \
             provider_message_id, updated_at) SELECT {id}, n, {id}, 5511900000000 + n, 3, 1, \
             'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA', {ago} FROM o"
        ))
        .await;
        self.run(&format!(
            "{blocks} INSERT INTO recipient_block (send_id, first_ordinal, recipients, packed) \
             SELECT {id}, n, {BLOCK}, {block} FROM o"
        ))
        .await;
        if self.is_sqlite {
            self.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
        } else {
            self.run("VACUUM ANALYZE message").await;
        }
    }

    /// Writes the send itself, which has been over for a week.
    async fn send(&self) {
        let Self { id, ago, .. } = self;
        self.run(&format!(
            "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, \
             created_at, finished_at) VALUES ({id}, {id}, {id}, 2, '{{}}', {MESSAGES}, {MESSAGES}, {MESSAGES}, \
             {ago}, {ago})"
        ))
        .await;
    }

    /// Waits until all its rows are removed.
    async fn gone(&self) {
        let Self { id, .. } = self;
        let left = format!(
            "SELECT (SELECT COUNT(*) FROM send WHERE id = {id}) + (SELECT COUNT(*) FROM forgotten_send)"
        );
        while self.number(&left).await > 0 {
            actix_web::rt::time::sleep(LOOK).await;
        }
        let messages = format!("SELECT COUNT(*) FROM message WHERE send_id = {id}");
        assert_eq!(self.number(&messages).await, 0);
    }

    /// The yardstick: one statement for each table.
    async fn delete(&self) {
        for table in ["message", "recipient_block"] {
            self.run(&format!("DELETE FROM {table} WHERE send_id = {}", self.id)).await;
        }
    }

    /// Bytes of the whole database.
    async fn size(&self) -> i64 {
        if self.is_sqlite {
            self.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").await
        } else {
            self.number("SELECT pg_database_size(current_database())").await
        }
    }
}
