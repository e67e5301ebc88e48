//! Web sessions: the time from a service's start until all of them are connected, and the memory of an idle
//! one.
//!
//! The tests' own WhatsApp runs in a process of its own, and so does each measured service. The measure
//! covers the whole service with the real driver, without the making of keys and without the other side.

pub(crate) mod service;
pub(crate) mod whatsapp;

use std::time::Duration;

use futures_util::future::join_all;
use pombo::domain::channel::{Kind, Status};
use pombo::engine::Engine;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::{self, Store};
use sea_orm::{ConnectionTrait as _, Database};
use uuid::Uuid;
use web_session::{Options, WhatsApp};

use self::service::{Figures, Place};
use self::whatsapp::Whatsapp;
use crate::service::Ground;
use crate::{Row, median};

const SESSIONS: usize = 200;
/// Sessions that are linked at once; a code has to be scanned within a minute.
const AT_ONCE: usize = 10;
/// The provider's address; web sessions never ask it.
const NO_PROVIDER: &str = "http://127.0.0.1:1";
/// How often each service is measured.
const ROUNDS: usize = 3;
/// More sessions than there are, so that no start waits.
const AT_WILL: u32 = 10_000;

pub(crate) fn measure() -> Vec<Row> {
    actix_web::rt::System::new().block_on(measured())
}

/// The options of a driver that connects to the tests' WhatsApp. The number of one-time keys is WhatsApp
/// Web's own.
fn options(url: &str, media_host: &str) -> Options {
    Options {
        address: url.to_owned(),
        http_base: format!("http://{media_host}").parse().ok(),
        ..Options::default()
    }
}

async fn measured() -> Vec<Row> {
    let whatsapp = Whatsapp::start();
    let (empty, linked) =
        (Ground::new(NO_PROVIDER, "80/s", 64).await, Ground::new(NO_PROVIDER, "80/s", 64).await);
    let channels = add(&linked).await;
    link(&linked, &whatsapp, &channels).await;

    let paced = linked.config.web_session.starts_per_second;
    let place = |ground: &Ground, starts_per_second, sessions| Place {
        data: ground.config.data.dir.clone(),
        database: ground.database.url.clone(),
        whatsapp: whatsapp.url.clone(),
        media_host: whatsapp.media_host.clone(),
        starts_per_second,
        sessions,
    };
    let (mut without, mut with, mut at_pace, mut at_will) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(place(&empty, AT_WILL, 0).measure().resident_kib);
        for (starts_per_second, times) in [(paced, &mut at_pace), (AT_WILL, &mut at_will)] {
            forget_states(&linked.database).await;
            let Figures { connected_ms, resident_kib } =
                place(&linked, starts_per_second, SESSIONS).measure();
            times.push(connected_ms / 1000.0);
            with.push(resident_kib);
        }
    }
    let (without, with) = (median(without), median(with));
    let each = (with - without) / 1024.0 / SESSIONS as f64;
    let row = |what, ours, yardstick, bound| Row { what, ours, yardstick, ratio: "–".to_owned(), bound };
    vec![
        row(
            "200 web sessions connected after the start of the process",
            format!("{:.1} s", median(at_pace)),
            format!("`starts_per_second = {paced}`"),
            "–",
        ),
        row(
            "… without a pace",
            format!("{:.1} s", median(at_will)),
            "both sides on this machine".to_owned(),
            "–",
        ),
        row(
            "an idle web session, of 200",
            format!("{each:.2} MiB"),
            format!("the process: {:.1} MiB with them, {:.1} MiB without", with / 1024.0, without / 1024.0),
            "≤ 0.6 MiB",
        ),
    ]
}

/// Channels that wait for their phones.
async fn add(ground: &Ground) -> Vec<Uuid> {
    let mut ids = Vec::new();
    for number in 0..SESSIONS {
        let id = Uuid::now_v7();
        let new = NewChannel {
            id,
            company_id: ground.company,
            kind: Kind::WebSession,
            name: format!("Session {number}"),
            phone_number: None,
            phone_number_id: None,
            waba_id: None,
            tier: "web-warm".to_owned(),
            secrets: Sealed { token: None, app_secret: None },
            status: Status::Pairing,
        };
        ground.store.channels().add(&Who::Pombo, new).await.unwrap();
        ids.push(id);
    }
    ids
}

/// Links each channel to a phone, by a service that ends afterwards.
async fn link(ground: &Ground, whatsapp: &Whatsapp, channels: &[Uuid]) {
    let driver = WhatsApp::start(options(&whatsapp.url, &whatsapp.media_host)).unwrap();
    let lease = ground.store.lease().acquire(&ground.database, "bench").await.unwrap();
    let vault = std::sync::Arc::clone(&ground.vault);
    let driver = Some(std::sync::Arc::new(driver) as _);
    let mut config = ground.config.clone();
    config.web_session.starts_per_second = AT_WILL;
    let engine = Engine::start(&config, ground.store.clone(), vault, lease, driver).await.unwrap();
    for (chunk, channels) in channels.chunks(AT_ONCE).enumerate() {
        let each = channels.iter().enumerate().map(|(index, channel)| {
            let number = format!("55119{:08}", chunk * AT_ONCE + index);
            link_one(&engine, &ground.store, whatsapp, *channel, number)
        });
        join_all(each).await;
    }
    engine.stop().await;
}

async fn link_one(engine: &Engine, store: &Store, whatsapp: &Whatsapp, channel: Uuid, number: String) {
    let known = engine.channel(channel).await.unwrap().unwrap();
    let mut pairing = engine.phones().pair(&known, None).await.unwrap();
    let code = loop {
        if let Some(shown) = &pairing.qr {
            break shown.secret.expose().to_owned();
        }
        pause().await;
        pairing = engine.phones().pairing(channel).await.unwrap();
    };
    whatsapp.scan(&number, &code);
    while store.channels().find(channel).await.unwrap().unwrap().connection.status != Status::Connected {
        pause().await;
    }
}

/// The pause before the next check.
async fn pause() {
    actix_web::rt::time::sleep(Duration::from_millis(20)).await;
}

/// Marks no channel as connected, so that a later check counts only new connections.
async fn forget_states(database: &store::Options) {
    let connection = Database::connect(&database.url).await.unwrap();
    connection.execute_unprepared("UPDATE channel SET status = 'connecting'").await.unwrap();
    connection.close().await.unwrap();
}
