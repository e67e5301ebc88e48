//! Nodes whose wall clocks are wrong: schedules follow the database's clock, and everybody is told of the wrong one.

use super::*;
use crate::events::killed::metric;

const HOUR: Duration = Duration::from_secs(3_600);

/// Starts a node whose clock is ahead by these milliseconds; negative when it is behind.
async fn start(stage: &mut Stage, name: &'static str, ahead: i64) {
    set(stage, ahead);
    let mut command = stage.serving.place.command(&format!("{SERVE} --clock-offset clock"));
    command.env("POMBO__CLUSTER__NODE", name);
    let (child, url) = stage.serving.serve_as(command).await;
    stage.nodes.push(Node { child, url, name });
    stage.is_connected().await;
}

/// The node reads a file that is there at every moment.
fn set(stage: &Stage, ahead: i64) {
    let clock = stage.serving.place.path().join("clock");
    let new = clock.with_extension("new");
    std::fs::write(&new, ahead.to_string()).unwrap();
    std::fs::rename(&new, &clock).unwrap();
}

async fn accept(stage: &Stage, body: &Value) -> String {
    let answer = stage.serving.send_through(&stage.serving.channel, &stage.nodes[0].url, body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["send_id"].as_str().unwrap().to_owned()
}

async fn shown(stage: &Stage, send: &str) -> Value {
    stage.serving.list(&stage.nodes[0].url, &format!("/api/v1/sends/{send}")).await.json()
}

fn scheduled(number: u64, send_at: Timestamp, expires_at: Timestamp) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": number, "send_at": send_at, "expires_at": expires_at })
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_whose_clock_is_behind_sends_at_the_scheduled_time() {
    let mut stage = Stage::new(0, &[]).await;
    start(&mut stage, "late", -3_600_000).await;
    let now = Timestamp::now();
    let soon = accept(&stage, &scheduled(SINGLE, now.plus(Duration::from_secs(2)), now.plus(HOUR))).await;
    until("the scheduled message", async || shown(&stage, &soon).await["state"] == "finished").await;
    stage.all_heard_once(1).await;
    // Its clock says that this is in the future; but it has expired.
    let over = scheduled(SINGLE + 1, now.minus(HOUR / 2), now.minus(HOUR / 4));
    let answer = stage.serving.send_through(&stage.serving.channel, &stage.nodes[0].url, &over).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    until("the clock compared", async || {
        let off = metric(&stage.nodes[0].url, "pombo_clock_offset_seconds").await;
        off.is_some_and(|off| (-3_610.0..-3_500.0).contains(&off))
    })
    .await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_whose_clock_is_ahead_sends_nothing_early_and_everybody_is_told() {
    let mut stage = Stage::new(0, &[]).await;
    start(&mut stage, "early", 3_600_000).await;
    let now = Timestamp::now();
    let later = accept(&stage, &scheduled(SINGLE, now.plus(HOUR / 2), now.plus(HOUR * 3 / 4))).await;
    until("the schedule kept", async || shown(&stage, &later).await["waiting"]["reason"] == "scheduled")
        .await;
    // The clock jumps while the node runs, and messages without a schedule go meanwhile.
    for (number, ahead) in [(SINGLE + 1, 7_200_000), (SINGLE + 2, 90_000)] {
        set(&stage, ahead);
        let seconds = ahead as f64 / 1_000.0;
        until("the jump seen", async || {
            let off = metric(&stage.nodes[0].url, "pombo_clock_offset_seconds").await;
            off.is_some_and(|off| (off - seconds).abs() < 60.0)
        })
        .await;
        stage.send(&stage.nodes[0], number).await;
        until("the other message", async || stage.heard().contains_key(&number.to_string())).await;
        let waits = shown(&stage, &later).await;
        assert_eq!(waits["waiting"]["reason"], "scheduled", "{waits}");
        assert!(!stage.heard().contains_key(&SINGLE.to_string()), "it went early");
    }

    let ready = stage.nodes[0].is_ready().await;
    assert_eq!(ready.status, 200, "{}", ready.body);
    let details = ready.json()["details"][0].as_str().unwrap().to_owned();
    assert!(details.contains("seconds ahead of the database's"), "{details}");
    until("the others told", async || {
        let status = stage.serving.place.json("cluster status");
        let ahead = status["nodes"][0]["clock_ahead_seconds"].as_f64();
        ahead.is_some_and(|ahead| (85.0..95.0).contains(&ahead))
    })
    .await;
    let table = stage.serving.place.run("cluster status").stdout;
    assert!(table.contains("the clock of early is"), "{table}");
    let found = stage.serving.place.run("doctor").stdout;
    assert!(found.contains("the clock of the node `early` is"), "{found}");
    let own = found.lines().find(|line| line.starts_with("database clock")).unwrap();
    assert!(own.contains("good"), "{own}");
    stage.end().await;
}
