//! A service for the tests of backups and restores.

use serde_json::{Value, json};

use crate::database::Universe;
use crate::harness::Answer;
use crate::program::Place;
use crate::running::until;
use crate::serving::Serving;

pub(super) struct World {
    pub(super) serving: Serving,
}

impl World {
    /// With this many contacts under one tag. From here on, only the program has the database open, as a
    /// restore requires.
    pub(super) async fn new(universe: &Universe, contacts: u64) -> Self {
        let serving = Serving::new(universe, contacts, "standard").await;
        universe.store.clone().close().await;
        Self { serving }
    }

    pub(super) fn place(&self) -> &Place {
        &self.serving.place
    }

    /// Sets the channel's rate.
    pub(super) fn pace(&self, rate: &str) {
        let tier =
            format!("[standard]\nkind = \"business_account\"\nmessages_per_second = \"{rate}\"\nburst = 2\n");
        self.place().write("tier.toml", &tier);
        self.place().json("tier apply tier.toml");
    }

    /// Sends a text to everybody, with these fields besides; the id of the send.
    pub(super) async fn send(&self, url: &str, fields: Value) -> String {
        let mut body = json!({ "type": "text", "message": "hi", "contact_tag_id": self.serving.tag });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = self.serving.send_through(&self.serving.channel, url, &body).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.json()["send_id"].as_str().unwrap().to_owned()
    }

    /// Sends a text to a new recipient.
    pub(super) async fn to_one(&self, url: &str) -> String {
        let body = json!({ "type": "text", "message": "hi", "phone_number": "+5511777770000" });
        let answer = self.serving.send_through(&self.serving.channel, url, &body).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.json()["send_id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn cancel(&self, url: &str, send: &str) {
        let request = reqwest::Client::new().post(format!("{url}/api/v1/sends/{send}/cancel"));
        let answer = Answer::to(request.bearer_auth(&self.serving.key)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    /// Sends the unknown messages of a send again, or tries that in a dry run.
    pub(super) async fn retry(&self, url: &str, send: &str, dry_run: bool) -> Answer {
        let address = format!("{url}/api/v1/sends/{send}/retry?dry_run={dry_run}");
        let request = reqwest::Client::new().post(address).json(&json!({ "state": "unknown" }));
        Answer::to(request.bearer_auth(&self.serving.key)).await
    }

    pub(super) async fn delivered(&self, messages: u64) {
        let what = format!("{messages} messages delivered");
        until(&what, async || self.serving.figures().0 >= messages).await;
    }

    pub(super) async fn finished(&self, url: &str, send: &str) {
        until("the send finished", async || {
            self.serving.list(url, &format!("/api/v1/sends/{send}")).await.json()["state"] == "finished"
        })
        .await;
    }
}

/// Restores; it must succeed.
pub(super) fn restore(world: &World, line: &str) -> Value {
    world.place().json(&format!("restore {line}"))
}
