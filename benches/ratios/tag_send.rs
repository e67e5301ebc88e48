//! A tag send of a million contacts beside a bare `INSERT … SELECT DISTINCT`, and the memory of its queue.

use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection};

use crate::service::{Service, resident_kib};
use crate::{Row, median};

const CONTACTS: u64 = 1_000_000;
const ROUNDS: usize = 5;

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let service = Service::start("http://127.0.0.1:9", "1/min", 64).await;
        let tag = service.tag(CONTACTS).await;
        let bare = Database::connect(service.database.url.as_str()).await.unwrap();
        let (mut ours, mut yardstick, mut recipients) = (Vec::new(), Vec::new(), 0);
        for round in 0..=ROUNDS {
            let inserted = insert(&bare, tag).await;
            let (accepted, count) = service.send_to_tag(tag).await;
            recipients = count;
            // The first round warms both sides up.
            if round > 0 {
                yardstick.push(inserted);
                ours.push(accepted.as_secs_f64());
            }
        }
        service.engine.stop().await;
        let (ours, yardstick) = (median(ours), median(yardstick));
        vec![Row {
            what: "202 for a tag send of 1,000,000 contacts",
            ours: format!("{ours:.2} s, {recipients} recipients"),
            yardstick: format!("INSERT … SELECT DISTINCT {yardstick:.2} s"),
            ratio: format!("{:.2}", ours / yardstick),
            bound: "≤ 0.5",
        }]
    })
}

/// The yardstick: inserts the same recipients into a table with one index. Seconds.
async fn insert(database: &DatabaseConnection, tag: uuid::Uuid) -> f64 {
    let sqlite = database.get_database_backend() == sea_orm::DbBackend::Sqlite;
    let tag = if sqlite { format!("x'{}'", tag.simple()) } else { format!("'{tag}'") };
    for prepare in [
        "DROP TABLE IF EXISTS yardstick",
        "CREATE TABLE yardstick (phone BIGINT NOT NULL, state INTEGER NOT NULL)",
        "CREATE INDEX yardstick_state ON yardstick (state)",
    ] {
        database.execute_unprepared(prepare).await.unwrap();
    }
    let started = Instant::now();
    let insert = format!(
        "INSERT INTO yardstick SELECT DISTINCT contact.phone, 0 FROM contact_tag \
         JOIN contact ON contact.id = contact_tag.contact_id \
         WHERE contact_tag.tag_id = {tag} AND contact.phone IS NOT NULL"
    );
    database.execute_unprepared(&insert).await.unwrap();
    started.elapsed().as_secs_f64()
}

pub(crate) fn memory() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let service = Service::start("http://127.0.0.1:9", "1/min", 64).await;
        let tag = service.tag(CONTACTS).await;
        let before = resident_kib();
        let mut peak = before;
        let sending = service.send_to_tag(tag);
        tokio::pin!(sending);
        loop {
            let sample = actix_web::rt::time::sleep(Duration::from_millis(1));
            tokio::select! {
                _ = &mut sending => break,
                () = sample => peak = peak.max(resident_kib()),
            }
        }
        peak = peak.max(resident_kib());
        service.engine.stop().await;
        vec![Row {
            what: "memory while 1,000,000 recipients are queued",
            ours: format!("{:+.1} MiB", (peak - before) as f64 / 1024.0),
            yardstick: format!("the service before {:.1} MiB", before as f64 / 1024.0),
            ratio: "–".to_owned(),
            bound: "≤ +64 MiB",
        }]
    })
}
