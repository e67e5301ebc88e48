//! An audience of ten million beside one of a million: the time must grow with it, the memory must not. Run by name
//! only: writing the memberships takes a minute.

use std::time::Duration;

use crate::seed::{self, Seed};
use crate::service::{Service, resident_kib};
use crate::{Row, median};

const MILLION: u64 = 1_000_000;
const TIMES: u64 = 10;
const ROUNDS: usize = 3;

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(async {
        let service = Service::start("http://127.0.0.1:9", "1/min", 64).await;
        let seed = Seed::at(&service.database.url).await;
        let one = seed::tag(&service.store, service.company, "one").await;
        let ten = seed::tag(&service.store, service.company, "ten").await;
        seed.members(service.company, one, MILLION).await;
        seed.members(service.company, ten, TIMES * MILLION).await;
        let (mut ones, mut tens, mut grown) = (Vec::new(), Vec::new(), Vec::new());
        // The first rounds warm up.
        service.send_to_tag(one).await;
        service.send_to_tag(one).await;
        for _ in 0..ROUNDS {
            let (took, recipients) = service.send_to_tag(one).await;
            assert_eq!(recipients, MILLION);
            ones.push(took.as_secs_f64());
            let (took, recipients, growth) = watched(&service, ten).await;
            assert_eq!(recipients, TIMES * MILLION);
            tens.push(took.as_secs_f64());
            grown.push(growth);
        }
        service.engine.stop().await;
        let (one, ten) = (median(ones), median(tens));
        vec![
            Row {
                what: "202 for a tag send of 10,000,000 contacts",
                ours: format!("{ten:.2} s"),
                yardstick: format!("of 1,000,000: {one:.2} s"),
                ratio: format!("{:.1}", ten / one),
                bound: "≤ 11",
            },
            Row {
                what: "… memory meanwhile",
                ours: format!("{:+.1} MiB at most", grown.into_iter().fold(f64::MIN, f64::max)),
                yardstick: "the service after sends of 1,000,000".to_owned(),
                ratio: "–".to_owned(),
                bound: "≤ +64 MiB",
            },
        ]
    })
}

/// Makes a tag send. Returns its time, its number of recipients, and the highest growth of the memory in MiB.
async fn watched(service: &Service, tag: uuid::Uuid) -> (Duration, u64, f64) {
    let before = resident_kib();
    let mut peak = before;
    let sending = service.send_to_tag(tag);
    tokio::pin!(sending);
    loop {
        tokio::select! {
            (took, recipients) = &mut sending => {
                return (took, recipients, (peak.max(resident_kib()) - before) as f64 / 1024.0);
            }
            () = actix_web::rt::time::sleep(Duration::from_millis(2)) => peak = peak.max(resident_kib()),
        }
    }
}
