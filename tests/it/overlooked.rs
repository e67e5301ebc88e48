//! A send that no channel was told of, because a process accepted it at the moment when it lost its lease.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::channel::Status;
use pombo::store::channels::AtWork;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use serde_json::json;
use simulator::{Account, Seed};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, TOKEN, WABA};
use crate::scenarios::stage::{OTHER_NUMBER, other_number, taken};

stores!(
    working_channels_are_read_in_pages_with_the_sends_that_may_go,
    a_send_of_an_unused_channel_goes,
    an_idle_channel_finds_a_send_that_it_was_never_told_of,
    a_busy_channel_finds_a_send_that_it_was_never_told_of,
);

/// Far less than the pause between two checks of the store by an idle channel.
const SOON: Duration = Duration::from_secs(20);

/// Waits until the provider has this many messages of a number.
async fn delivered(running: &Running, number: &str, messages: u64) {
    let all = async {
        while taken(running, number).0 < messages {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(SOON, all).await;
    assert!(waited.is_ok(), "{} of {messages} messages after {SOON:?}", taken(running, number).0);
}

/// A row of the table of sends: state, whether it is paused, when it is due, and whether it has one recipient.
async fn insert(
    universe: &Universe,
    channel: Uuid,
    (state, paused, due, direct): (i16, bool, i64, bool),
) -> Uuid {
    let (database, id) = (Database::connect(&universe.url).await.unwrap(), Uuid::now_v7());
    let statement = Statement::from_sql_and_values(
        database.get_database_backend(),
        "INSERT INTO send (id, company_id, channel_id, state, content, recipients, recipient, high_water, settled, \
         created_at, control, due_at) VALUES ($1, $1, $2, $3, '{}', 1, $4, 0, 0, 0, $5, $6)",
        [
            id.into(),
            channel.into(),
            state.into(),
            direct.then_some(5_511_900_000_001_i64).into(),
            i16::from(paused).into(),
            due.into(),
        ],
    );
    assert_eq!(database.execute_raw(statement).await.unwrap().rows_affected(), 1);
    database.close().await.unwrap();
    id
}

async fn working_channels_are_read_in_pages_with_the_sends_that_may_go(universe: &Universe) {
    const ACTIVE: i16 = 1;
    const FINISHED: i16 = 2;
    let now = Timestamp::from_millis(1_000);
    let [both, bulk, waiting, over, last] = [1, 2, 3, 4, 5].map(Uuid::from_u128);
    let mut oldest = Vec::new();
    for (channel, send) in [
        (both, (ACTIVE, true, 0, true)),
        (both, (ACTIVE, false, 1_000, true)),
        (both, (ACTIVE, false, 0, true)),
        (both, (ACTIVE, false, 0, false)),
        (bulk, (ACTIVE, false, 0, false)),
        (waiting, (ACTIVE, true, 0, false)),
        (waiting, (ACTIVE, false, 1_001, true)),
        (over, (FINISHED, false, 0, true)),
        (last, (ACTIVE, false, 0, true)),
    ] {
        oldest.push(insert(universe, channel, send).await);
    }
    let at_work = |channel_id, direct: Option<usize>, bulk: Option<usize>| AtWork {
        channel_id,
        direct: direct.map(|nth| oldest[nth]),
        bulk: bulk.map(|nth| oldest[nth]),
    };
    let first = [at_work(both, Some(1), Some(3)), at_work(bulk, None, Some(4))];
    let second = [at_work(waiting, None, None), at_work(last, Some(8), None)];
    let store = &universe.store;
    assert_eq!(store.channels().at_work(Uuid::nil(), now, 2).await.unwrap(), first);
    assert_eq!(store.channels().at_work(bulk, now, 2).await.unwrap(), second);
    assert_eq!(store.channels().at_work(last, now, 2).await.unwrap(), []);
}

/// Repeats a send for another channel in the store alone, as another process would have accepted it.
async fn accept_elsewhere(universe: &Universe, send: &str, channel: Uuid) {
    let database = Database::connect(&universe.url).await.unwrap();
    let statement = Statement::from_sql_and_values(
        database.get_database_backend(),
        "INSERT INTO send (id, company_id, channel_id, state, content, recipients, recipient, high_water, settled, \
         created_at) SELECT $1, company_id, $2, 1, content, recipients, recipient, 0, 0, $3 FROM send WHERE id = $4",
        [
            Uuid::now_v7().into(),
            channel.into(),
            Timestamp::now().millis().into(),
            send.parse::<Uuid>().unwrap().into(),
        ],
    );
    assert_eq!(database.execute_raw(statement).await.unwrap().rows_affected(), 1);
    database.close().await.unwrap();
}

/// A service whose channels get no occasion to read the store by themselves. The first list of templates would be one.
async fn start(universe: &Universe) -> Running {
    Running::start(universe, |config| {
        config.cloud_api.template_sync_interval = Duration::ZERO;
        // The stop waits for a request that hangs.
        config.cloud_api.request_timeout = Duration::from_secs(5);
    })
    .await
}

/// A message that the provider has accepted, whose send can be repeated.
async fn first(running: &Running) -> String {
    let body = json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" });
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    running.settled(1).await;
    answer["send_id"].as_str().unwrap().to_owned()
}

async fn a_send_of_an_unused_channel_goes(universe: &Universe) {
    let running = start(universe).await;
    let send = first(&running).await;
    // The channel is connected already, so that nothing starts its actor.
    let account = Account { waba_id: WABA.to_owned(), numbers: vec![other_number()], ..Account::default() };
    running.simulator.add(Seed { accounts: vec![account] }).unwrap();
    let idle = running.add_connected_channel(TOKEN, OTHER_NUMBER, "unlimited").await;
    assert_eq!(running.status(idle).await, Status::Connected);
    accept_elsewhere(universe, &send, idle).await;
    delivered(&running, OTHER_NUMBER, 1).await;
    running.end().await;
}

async fn an_idle_channel_finds_a_send_that_it_was_never_told_of(universe: &Universe) {
    let running = start(universe).await;
    let send = first(&running).await;
    accept_elsewhere(universe, &send, running.channel).await;
    delivered(&running, NUMBER, 2).await;
    running.end().await;
}

async fn a_busy_channel_finds_a_send_that_it_was_never_told_of(universe: &Universe) {
    let running = start(universe).await;
    let send = first(&running).await;
    // A bulk send that makes no progress: it stays in the channel's memory.
    let everyone = running.tag("everyone", 5_511_900_001_000, 100).await;
    let hang = json!({ "match": { "to_suffix": "1000" }, "outcome": { "hang_then_accept": "120s" } });
    running.simulator.script(&hang).unwrap();
    running.send_to_tag(everyone, 100).await;
    delivered(&running, NUMBER, 100).await;
    accept_elsewhere(universe, &send, running.channel).await;
    delivered(&running, NUMBER, 101).await;
    running.end().await;
}
