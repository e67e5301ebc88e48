//! A provider that hangs, breaks connections, sends invalid answers, and hides accepted messages.

use std::time::Duration;

use serde_json::json;

use crate::database::{Universe, stores};
use crate::running::Running;

stores!(everybody_is_reached_and_only_a_hidden_acceptance_is_repeated);

async fn everybody_is_reached_and_only_a_hidden_acceptance_is_repeated(universe: &Universe) {
    let running = Running::start(universe, |config| {
        config.cloud_api.request_timeout = Duration::from_secs(2);
        config.engine.concurrency = 16;
    })
    .await;
    let tag = running.tag("everyone", 5_511_900_000_000, 200).await;
    // Twenty recipients have each last digit, so that every rule is used up.
    let script = json!([
        { "match": { "to_suffix": "1" }, "times": 20, "outcome": { "drop_reply": true } },
        { "match": { "to_suffix": "2" }, "times": 20, "outcome": { "bad_gateway": true } },
        { "match": { "to_suffix": "3" }, "times": 20, "outcome": { "reset": true } },
        { "match": { "to_suffix": "4" }, "times": 20, "outcome": { "error": { "code": 1, "http": 200 } } },
        { "match": { "to_suffix": "5" }, "times": 20, "outcome": { "error": { "code": 131_000 } } },
        { "match": { "to_suffix": "6" }, "times": 4, "outcome": { "hang_then_drop": "2500ms" } },
        { "match": { "to_suffix": "7" }, "times": 4, "outcome": { "hang_then_accept": "2500ms" } },
    ]);
    running.simulator.script(&script).unwrap();
    running.send_to_tag(tag, 200).await;
    let hidden = 20 + 4;
    running.settled(200 + hidden).await;
    assert_eq!(running.delivered(), (200 + hidden, 200));
    running.end().await;
}
