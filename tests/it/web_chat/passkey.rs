//! Accounts that are protected by a passkey, linked through the HTTP surface.

use serde_json::{Value, json};

use super::OWN;
use super::world::{Account, World};
use crate::harness::Answer;
use crate::running::until;

fn path(account: &Account) -> String {
    format!("/api/v1/web-chat/{}/pairing/passkey", account.channel)
}

impl World {
    /// The account's phone uses the code, and WhatsApp waits this long for its passkey.
    async fn scan(&self, seconds: u64) {
        self.own.phone.has_passkey(seconds);
        let code = self.code(&self.own).await;
        self.own.phone.scan(&code);
    }

    /// WhatsApp waits for the passkey; the challenge.
    async fn at_the_gate(&self) -> Value {
        self.scan(300).await;
        self.becomes(&self.own, "passkey_required", "pairing", None).await;
        let gate = self.service.get(&path(&self.own), &self.own.company.key).await.json();
        assert_eq!(gate["challenge"]["timeout"], 300_000, "{gate}");
        gate["challenge"].clone()
    }

    async fn hand_in(&self, body: Value) -> Answer {
        self.service.post(&path(&self.own), &self.own.company.key, body.to_string()).await
    }

    /// Waits until only the phone's part of the step is left.
    async fn waits_for_phone(&self) {
        until("the phone's turn", async || {
            self.pairing(&self.own).await["passkey"]["waits_for_phone"] == true
        })
        .await;
    }
}

#[tokio::test]
async fn an_account_with_a_passkey_is_linked_step_by_step() {
    let world = World::unlinked().await;
    let phone = &world.own.phone;
    let challenge = world.at_the_gate().await;
    assert_eq!(world.hand_in(json!({"assertion": phone.signs(&challenge)})).await.status, 202);
    world.waits_for_phone().await;
    let on_the_phone = phone.shows_code().await;
    let shown = world.becomes(&world.own, "passkey_confirm", "pairing", None).await;
    assert_eq!(shown["passkey"]["code"], on_the_phone);
    assert_eq!(world.hand_in(json!({"confirmed": true})).await.status, 202);
    world.waits_for_phone().await;
    phone.confirms_code().await;
    let shown = world.becomes(&world.own, "linked", "connected", None).await;
    assert_eq!((&shown["passkey"], &shown["phone_number"]), (&json!(null), &json!(format!("+{OWN}"))));
    phone.expect_online().await;
    world.ready(&world.own).await;
}

#[tokio::test]
async fn an_assertion_that_whatsapp_does_not_accept_ends_the_pairing() {
    let world = World::unlinked().await;
    let challenge = world.at_the_gate().await;
    let mut assertion = world.own.phone.signs(&challenge);
    assertion["response"]["signature"] = json!("AAAA");
    assert_eq!(world.hand_in(json!({"assertion": assertion})).await.status, 202);
    let shown = world.becomes(&world.own, "unlinked", "disconnected", Some("passkey_refused")).await;
    assert!(shown["status_reason"]["sentence"].as_str().unwrap().contains("bad-signature"), "{shown}");
    assert_eq!(world.records(&world.own).await, 0);
}

#[tokio::test]
async fn a_passkey_that_nobody_uses_in_time_ends_the_pairing() {
    let world = World::unlinked().await;
    world.scan(1).await;
    world.becomes(&world.own, "unlinked", "disconnected", Some("passkey_timed_out")).await;
    world.whatsapp.expect_no_connection().await;
    assert_eq!(world.records(&world.own).await, 0);
}
