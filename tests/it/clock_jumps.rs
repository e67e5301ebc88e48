//! The wall clock of the service's machine is set, forward and back, while the service runs and while it is down:
//! schedules follow the clock, no message waits for as long as the clock was wrong, and no message is lost.
//!
//! Only the service has the other time, which builds for tests can set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pombo::clock::Timestamp;
use sea_orm::{ConnectionTrait as _, Database, DatabaseBackend, Statement};
use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::database::{Universe, stores};
use crate::running::{until, until_soon};
use crate::serving::{SERVE, Serving};

stores!(
    a_schedule_follows_a_clock_that_jumps_forward,
    an_expiry_follows_a_clock_that_jumps_forward,
    a_schedule_follows_a_clock_that_is_set_back,
    a_message_that_waits_for_a_retry_goes_although_the_clock_was_set_back,
    a_hold_lasts_a_day_though_the_clock_was_days_ahead_when_it_began,
    a_quota_opens_after_a_day_by_the_clock_however_it_was_set,
);

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// How late the test's machine may be.
const LATE: Duration = Duration::from_secs(60);
const SINGLE: u64 = 5_521_900_000_000;

/// A service with a wall clock of its own.
struct Clocked<'a> {
    universe: &'a Universe,
    serving: Serving,
    offset: PathBuf,
    child: OwnedChild,
    url: String,
}

impl<'a> Clocked<'a> {
    /// Its clock is ahead by this much from the start.
    async fn start(universe: &'a Universe, contacts: u64, ahead: Duration, options: &[(&str, &str)]) -> Self {
        let mut serving = Serving::new_with(universe, contacts, "unlimited", options).await;
        let offset = serving.place.path().join("clock");
        set(&offset, ahead);
        let (child, url) = serve(&mut serving).await;
        Self { universe, serving, offset, child, url }
    }

    /// Sets its clock ahead by this much from now on.
    fn is_ahead(&self, ahead: Duration) {
        set(&self.offset, ahead);
    }

    async fn start_again(&mut self) {
        (self.child, self.url) = serve(&mut self.serving).await;
    }

    /// Sends; the id of the send.
    async fn send(&self, body: &Value) -> String {
        let answer = self.serving.send_through(&self.serving.channel, &self.url, body).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.json()["send_id"].as_str().unwrap().to_owned()
    }

    async fn shown(&self, send: &str) -> Value {
        self.serving.list(&self.url, &format!("/api/v1/sends/{send}")).await.json()
    }

    /// How long a send waits by the service's clock, when that is for this reason.
    async fn waits_for(&self, send: &str, reason: &str, ahead: Duration) -> Option<Duration> {
        let waiting = self.shown(send).await["waiting"].clone();
        let until = waiting["until"].as_str().filter(|_| waiting["reason"] == reason)?;
        Some(Timestamp::parse(until).unwrap().from_now(Timestamp::now().plus(ahead)))
    }

    /// The id of a template without variables, once the service knows it.
    async fn template(&self) -> Value {
        let path = format!("/api/v1/chat/{}/templates", self.serving.channel);
        let mut template = Value::Null;
        until("the templates", async || {
            let known = self.serving.list(&self.url, &path).await.json();
            let mut known = known["data"].as_array().unwrap().iter();
            template =
                known.find(|it| it["name"] == "hello_world").map_or(Value::Null, |it| it["id"].clone());
            !template.is_null()
        })
        .await;
        template
    }

    fn reached(&self) -> u64 {
        self.serving.figures().1
    }

    async fn count(&self, rows: &str) -> i64 {
        let database = Database::connect(&self.universe.url).await.unwrap();
        let backend = if self.universe.url.starts_with("sqlite") {
            DatabaseBackend::Sqlite
        } else {
            DatabaseBackend::Postgres
        };
        let statement = Statement::from_string(backend, format!("SELECT COUNT(*) FROM {rows}"));
        let count = database.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap();
        database.close().await.unwrap();
        count
    }

    async fn end(mut self) {
        self.child.crash();
        self.serving.simulator.stop().await;
    }
}

async fn serve(serving: &mut Serving) -> (OwnedChild, String) {
    let command = serving.place.command(&format!("{SERVE} --clock-offset clock"));
    serving.serve_as(command).await
}

/// The service reads a file that is there at every moment.
fn set(offset: &Path, ahead: Duration) {
    let new = offset.with_extension("new");
    std::fs::write(&new, ahead.as_millis().to_string()).unwrap();
    std::fs::rename(&new, offset).unwrap();
}

fn to_one(number: u64) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": number })
}

fn scheduled(number: u64, send_at: Timestamp) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": number, "send_at": send_at })
}

async fn a_schedule_follows_a_clock_that_jumps_forward(universe: &Universe) {
    let clocked = Clocked::start(universe, 0, Duration::ZERO, &[]).await;
    let due = clocked.send(&scheduled(SINGLE, Timestamp::now().plus(HOUR))).await;
    until("the schedule kept", async || clocked.shown(&due).await["waiting"]["reason"] == "scheduled").await;
    clocked.is_ahead(2 * HOUR);
    until_soon("the scheduled message", async || clocked.shown(&due).await["state"] == "finished").await;
    assert_eq!(clocked.serving.figures(), (1, 1));
    clocked.end().await;
}

async fn an_expiry_follows_a_clock_that_jumps_forward(universe: &Universe) {
    let clocked = Clocked::start(universe, 0, Duration::ZERO, &[]).await;
    let now = Timestamp::now();
    let mut body = scheduled(SINGLE, now.plus(HOUR));
    body["expires_at"] = json!(now.plus(HOUR + HOUR / 2));
    let missed = clocked.send(&body).await;
    until("the schedule kept", async || clocked.shown(&missed).await["waiting"]["reason"] == "scheduled")
        .await;
    clocked.is_ahead(2 * HOUR);
    until_soon("the send expired", async || clocked.shown(&missed).await["state"] == "expired").await;
    // Messages that have not expired go.
    let other = clocked.send(&to_one(SINGLE + 1)).await;
    until_soon("the other send finished", async || clocked.shown(&other).await["state"] == "finished").await;
    assert_eq!(clocked.serving.figures(), (1, 1));
    clocked.end().await;
}

async fn a_schedule_follows_a_clock_that_is_set_back(universe: &Universe) {
    let clocked = Clocked::start(universe, 0, 2 * HOUR, &[]).await;
    let due = clocked.send(&scheduled(SINGLE, Timestamp::now().plus(3 * HOUR))).await;
    until("the schedule kept", async || clocked.shown(&due).await["waiting"]["reason"] == "scheduled").await;
    clocked.is_ahead(Duration::ZERO);
    // Messages without a schedule go, and the scheduled message does not.
    let other = clocked.send(&to_one(SINGLE + 1)).await;
    until_soon("the other send finished", async || clocked.shown(&other).await["state"] == "finished").await;
    let left = clocked.waits_for(&due, "scheduled", Duration::ZERO).await.unwrap();
    assert!(left > 2 * HOUR && left <= 3 * HOUR, "{left:?}");
    clocked.is_ahead(3 * HOUR + LATE);
    until_soon("the scheduled message", async || clocked.shown(&due).await["state"] == "finished").await;
    assert_eq!(clocked.serving.figures(), (2, 2));
    clocked.end().await;
}

async fn a_message_that_waits_for_a_retry_goes_although_the_clock_was_set_back(universe: &Universe) {
    const CONTACTS: u64 = 300;
    let options = [("POMBO__RETRY__FIRST", "5s"), ("POMBO__RETRY__UNKNOWN_GRACE", "5s")];
    let mut clocked = Clocked::start(universe, CONTACTS, 2 * HOUR, &options).await;
    let refused =
        json!([{ "match": { "to": SINGLE.to_string() }, "outcome": { "error": { "code": 131_000 } } }]);
    clocked.serving.simulator.script(&refused).unwrap();
    let single = clocked.send(&to_one(SINGLE)).await;
    until("the message waits", async || {
        clocked.count("message WHERE state = 0 AND retry_at IS NOT NULL").await == 1
    })
    .await;
    // No message is answered before the service is killed.
    clocked.serving.simulator.script(&json!({ "latency": "30s" })).unwrap();
    let everyone = clocked
        .send(&json!({ "type": "text", "message": "hi", "contact_tag_id": clocked.serving.tag }))
        .await;
    until("messages on their way", async || clocked.reached() > 1).await;
    // The first start finds messages with unknown outcomes, and writes the end of their wait.
    clocked.child.crash();
    clocked.start_again().await;
    until("the doubts written", async || clocked.count("message WHERE state = 8").await > 0).await;
    clocked.child.crash();
    clocked.serving.simulator.end_script();
    clocked.serving.simulator.script(&json!({ "latency": "0s" })).unwrap();
    clocked.is_ahead(Duration::ZERO);
    clocked.start_again().await;
    for send in [&single, &everyone] {
        until_soon("every message sent", async || clocked.shown(send).await["state"] == "finished").await;
    }
    assert_eq!(clocked.reached(), CONTACTS + 1);
    clocked.end().await;
}

async fn a_hold_lasts_a_day_though_the_clock_was_days_ahead_when_it_began(universe: &Universe) {
    let mut clocked = Clocked::start(universe, 0, 2 * DAY, &[]).await;
    let enough = json!({ "match": {}, "times": 1, "outcome": { "error": { "code": 131_049 } } });
    clocked.serving.simulator.script(&enough).unwrap();
    // A recipient is held only for templates.
    let template = clocked.template().await;
    let body =
        json!({ "type": "template", "template_id": template, "components": [], "phone_number": SINGLE });
    let send = clocked.send(&body).await;
    until("the hold", async || clocked.waits_for(&send, "recipient_held", 2 * DAY).await.is_some()).await;
    let left = clocked.waits_for(&send, "recipient_held", 2 * DAY).await.unwrap();
    assert!(left > DAY - LATE && left <= DAY, "{left:?}");
    clocked.is_ahead(Duration::ZERO);
    until_soon("a day of the clock as it is now", async || {
        let left = clocked.waits_for(&send, "recipient_held", Duration::ZERO).await;
        left.is_some_and(|left| left > DAY - 2 * LATE && left <= DAY)
    })
    .await;
    clocked.child.crash();
    clocked.is_ahead(DAY + LATE);
    clocked.start_again().await;
    until_soon("the hold over", async || clocked.shown(&send).await["state"] == "finished").await;
    assert_eq!(clocked.reached(), 1);
    clocked.end().await;
}

async fn a_quota_opens_after_a_day_by_the_clock_however_it_was_set(universe: &Universe) {
    const QUOTA: u64 = 5;
    let mut clocked = Clocked::start(universe, 0, 2 * DAY, &[]).await;
    let template = clocked.template().await;
    let tier =
        "[unlimited]\nkind = \"business_account\"\nmessages_per_second = \"unlimited\"\ntemplate_quota = 5\n";
    clocked.serving.place.write("tiers.toml", tier);
    clocked.serving.place.json("tier apply tiers.toml");
    // A service that starts with the tier applies it from the first message on.
    clocked.child.crash();
    clocked.start_again().await;
    let to: Vec<_> = (SINGLE..SINGLE + 8).collect();
    let body = json!({ "type": "template", "template_id": template, "components": [], "phone_number": to });
    let send = clocked.send(&body).await;
    until("the quota", async || clocked.waits_for(&send, "template_quota", 2 * DAY).await.is_some()).await;
    assert_eq!(clocked.reached(), QUOTA);
    clocked.is_ahead(Duration::ZERO);
    let opens_in_a_day = async |clocked: &Clocked<'_>| {
        let left = clocked.waits_for(&send, "template_quota", Duration::ZERO).await;
        left.is_some_and(|left| left > DAY - 2 * LATE && left <= DAY)
    };
    until_soon("a day of the clock as it is now", async || opens_in_a_day(&clocked).await).await;
    clocked.child.crash();
    clocked.start_again().await;
    until_soon("the same after a restart", async || opens_in_a_day(&clocked).await).await;
    clocked.is_ahead(DAY + 2 * LATE);
    until_soon("the quota open", async || clocked.shown(&send).await["state"] == "finished").await;
    assert_eq!(clocked.serving.figures(), (8, 8));
    clocked.end().await;
}
