//! Changes by the command line are in force at once in a running service.

use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::database::{Universe, stores};
use crate::running::until;
use crate::serving::{OTHER_NUMBER, Serving};

/// At one a second, so many messages take longer than the patience of a test: only a change of pace delivers them.
const MANY: u64 = 400;

stores!(
    a_tier_that_is_changed_speeds_up_a_send_under_way,
    a_tier_that_an_operator_replaces_over_http_speeds_up_a_send_under_way,
    additions_by_the_command_line_can_be_used_and_revoked_keys_cannot,
    a_number_that_the_command_line_suppresses_is_skipped_until_that_is_lifted,
);

async fn end(mut child: OwnedChild, serving: Serving) {
    child.crash();
    serving.simulator.stop().await;
}

/// Gives the standard tier another pace by the command line.
fn pace(serving: &Serving, pace: &str) {
    let tier = format!("[standard]\nkind = \"business_account\"\nmessages_per_second = \"{pace}\"\n");
    serving.place.write("tiers.toml", &tier);
    serving.place.json("tier apply tiers.toml");
}

async fn a_tier_that_is_changed_speeds_up_a_send_under_way(universe: &Universe) {
    let mut serving = Serving::new(universe, MANY, "standard").await;
    pace(&serving, "1/s");
    let (child, url) = serving.serve().await;
    assert_eq!(serving.send(&url).await.status, 202);
    until("the first messages", async || serving.figures().0 >= 2).await;
    assert!(serving.figures().0 < 100, "the slow tier was not kept");

    pace(&serving, "unlimited");
    until("everybody reached", async || serving.figures().1 == MANY).await;
    until("the send finished", async || universe.store.channels().working().await.unwrap().is_empty()).await;
    assert_eq!(serving.figures(), (MANY, MANY));
    end(child, serving).await;
}

async fn a_tier_that_an_operator_replaces_over_http_speeds_up_a_send_under_way(universe: &Universe) {
    let mut serving = Serving::new(universe, MANY, "standard").await;
    let operator = serving.place.json("operator create ana")["key"].as_str().unwrap().to_owned();
    let (child, url) = serving.serve().await;
    let put = async |path: String, body: Value| {
        let request = reqwest::Client::new().put(format!("{url}/operator/v1/{path}")).bearer_auth(&operator);
        request.json(&body).send().await.unwrap().status().as_u16()
    };
    let paced = |pace: &str| json!({ "kind": "business_account", "messages_per_second": pace });
    assert_eq!(put("tiers/slow".to_owned(), paced("1/s")).await, 201);
    assert_eq!(put(format!("channels/{}/tier", serving.channel), json!({ "tier": "slow" })).await, 200);
    let is_slow = async || {
        let channels = serving.list(&url, "/api/v1/chat").await.json();
        channels["data"][0]["tier"] == "slow"
    };
    until("the channel under its new tier", is_slow).await;
    assert_eq!(serving.send(&url).await.status, 202);
    until("the first messages", async || serving.figures().0 >= 2).await;
    assert!(serving.figures().0 < 100, "the slow tier was not kept");

    assert_eq!(put("tiers/slow".to_owned(), paced("unlimited")).await, 200);
    until("everybody reached", async || serving.figures().1 == MANY).await;
    until("the send finished", async || universe.store.channels().working().await.unwrap().is_empty()).await;
    assert_eq!(serving.figures(), (MANY, MANY));

    let history = serving.place.json("tier history --tier slow");
    let who: Vec<_> = history.as_array().unwrap().iter().map(|change| &change["who"]).collect();
    assert_eq!(who, ["ana", "ana"]);
    end(child, serving).await;
}

async fn additions_by_the_command_line_can_be_used_and_revoked_keys_cannot(universe: &Universe) {
    let mut serving = Serving::new(universe, 10, "unlimited").await;
    let (child, url) = serving.serve().await;
    assert_eq!(serving.send(&url).await.status, 202);

    // The service knows the additions without a wait.
    serving.import("late", 1_000, 30);
    let late = serving.tag_id(&url, "late").await;
    let channel = serving.add_channel(OTHER_NUMBER, "unlimited");
    let body = json!({ "type": "text", "message": "hi", "contact_tag_id": late });
    let answer = serving.send_through(&channel, &url, &body).await;
    assert_eq!((answer.status, &answer.json()["recipients_count"]), (202, &json!(30)), "{answer:?}");
    let delivered = || serving.simulator.number(OTHER_NUMBER).unwrap().unique_recipients;
    until("the late contacts reached through the late channel", async || delivered() == 30).await;
    until("everybody else reached", async || serving.figures() == (10, 10)).await;

    let created = serving.place.json("key create --company Acme --name second");
    let open = async |key: &str| {
        let request = reqwest::Client::new().get(format!("{url}/api/v1/contacts")).bearer_auth(key);
        request.send().await.unwrap().status().as_u16()
    };
    let second = created["key"].as_str().unwrap();
    assert_eq!(open(second).await, 200, "a new key opens at once");
    serving.place.json(&format!("key revoke {}", created["id"].as_str().unwrap()));
    until("the key refused", async || open(second).await == 401).await;
    assert_eq!(open(&serving.key).await, 200, "the other key still opens");
    end(child, serving).await;
}

async fn a_number_that_the_command_line_suppresses_is_skipped_until_that_is_lifted(universe: &Universe) {
    let mut serving = Serving::new(universe, 1, "unlimited").await;
    let (child, url) = serving.serve().await;
    let (stays, leaves) = ("+5511900000001", "+5511900000002");
    let body = json!({ "type": "text", "message": "hi", "phone_number": [stays, leaves] });
    let send = async || serving.send_through(&serving.channel, &url, &body).await.json();
    assert_eq!(send().await["recipients_count"], 2);

    serving.place.json(&format!("suppression add {leaves} --company Acme --everything"));
    until("the number skipped", async || send().await["recipients_count"] == 1).await;
    let reason = "is on the company's suppression list";
    assert_eq!(send().await["skipped"], json!([{ "input": leaves, "reason": reason, "code": "suppressed" }]));

    serving.place.json(&format!("suppression lift {leaves} --company Acme"));
    until("the number sent to again", async || send().await["recipients_count"] == 2).await;
    end(child, serving).await;
}
