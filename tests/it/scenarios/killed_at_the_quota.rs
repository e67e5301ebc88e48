//! The service is killed while it uses up its quota of templates, and no receipts of messages in flight
//! arrive: exactly as many people get a template as the quota allows.

use std::time::Duration;

use serde_json::{Value, json};

use super::killed::{Killed, slow};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, until};

stores!(a_service_that_is_killed_writes_to_no_more_people_than_the_quota);

const QUOTA: u64 = 150;
const CONTACTS: u64 = 400;
const KILLS: u64 = 2;

/// Recipients of the messages that the provider accepted.
fn people(killed: &Killed<'_>) -> u64 {
    killed.serving.simulator.number(NUMBER).unwrap().unique_recipients
}

async fn hello_world(killed: &Killed<'_>) -> Value {
    let path = format!("/api/v1/chat/{}/templates", killed.serving.channel);
    let mut template = Value::Null;
    until("the templates known", async || {
        let templates = killed.serving.list(&killed.url, &path).await.json();
        let mut templates = templates["data"].as_array().unwrap().iter();
        template =
            templates.find(|it| it["name"] == "hello_world").map_or(Value::Null, |it| it["id"].clone());
        !template.is_null()
    })
    .await;
    template
}

async fn a_service_that_is_killed_writes_to_no_more_people_than_the_quota(universe: &Universe) {
    let options = [("POMBO__RETRY__UNKNOWN_GRACE", "1s")];
    let mut killed = Killed::start(universe, CONTACTS, "unlimited", &options).await;
    let tier = format!(
        "[unlimited]\nkind = \"business_account\"\nmessages_per_second = \"unlimited\"\n\
         pair_interval = \"0s\"\ntemplate_quota = {QUOTA}\n"
    );
    killed.serving.place.write("tiers.toml", &tier);
    killed.serving.place.json("tier apply tiers.toml");
    let template = hello_world(&killed).await;
    killed.kill_and_start_again().await;
    // No receipts of the messages in flight arrive.
    killed.serving.simulator.aim_receipts(None).unwrap();
    slow(&killed, Duration::from_millis(100));
    let body = json!({ "type": "template", "template_id": template, "components": [],
        "contact_tag_id": killed.serving.tag });
    let answer = killed.serving.send_through(&killed.serving.channel, &killed.url, &body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let send = answer.json()["send_id"].as_str().unwrap().to_owned();
    for kill in 1..=KILLS {
        until("some people written to", async || people(&killed) >= kill * QUOTA / 3).await;
        assert!(people(&killed) < QUOTA, "kill {kill} came too late to be before the end of the quota");
        killed.kill().await;
        killed.start_again().await;
    }
    until("the quota used", async || people(&killed) >= QUOTA).await;
    let reason = async || killed.shown(&send).await["waiting"]["reason"].clone();
    until("the others wait", async || reason().await == "template_quota").await;
    assert_eq!(people(&killed), QUOTA);
    killed.end().await;
}
