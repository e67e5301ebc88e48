//! A service that is killed and started again, while its provider goes on sending receipts.

use std::time::Duration;

use entity::message::{Column, Entity};
use pombo::clock::Timestamp;
use pombo::domain::message::State;
use sea_orm::sea_query::IntoCondition;
use sea_orm::{
    ColumnTrait as _, Condition, Database, EntityTrait as _, PaginatorTrait as _, QueryFilter as _,
};
use serde_json::Value;
use simulator::ReceiptOptions;

use super::watch::{checked, count_of, soon};
use crate::child::OwnedChild;
use crate::database::Universe;
use crate::running::{NUMBER, until};
use crate::serving::Serving;

/// How long a message's outcome stays unknown before the message goes again; receipts come sooner.
pub(super) const GRACE: &str = "6s";

pub(super) struct Killed<'a> {
    universe: &'a Universe,
    pub(super) serving: Serving,
    child: OwnedChild,
    pub(super) url: String,
    /// Messages that the provider had at some kill and the ledger had not recorded.
    pub(super) in_doubt: u64,
}

impl<'a> Killed<'a> {
    /// Serves these contacts; receipts come back while a service runs.
    pub(super) async fn start(
        universe: &'a Universe,
        contacts: u64,
        tier: &str,
        options: &[(&str, &str)],
    ) -> Self {
        let options: Vec<_> =
            [("POMBO__RETRY__UNKNOWN_GRACE", GRACE)].iter().chain(options).copied().collect();
        let mut serving = Serving::new_with(universe, contacts, tier, &options).await;
        let (child, url) = serving.serve().await;
        let killed = Self { universe, serving, child, url, in_doubt: 0 };
        killed.aim();
        killed
    }

    /// The provider's webhooks come to the service that runs now.
    pub(super) fn aim(&self) {
        // Like the provider, it repeats unaccepted webhooks for longer than any service is down.
        let receipts = ReceiptOptions { attempts: 10_000, ..soon(self.serving.receipts(&self.url)) };
        self.serving.simulator.aim_receipts(Some(receipts)).unwrap();
    }

    /// Ends the service as a crash does, and waits until it is gone.
    pub(super) async fn kill(&mut self) {
        self.child.crash();
        let taken = self.messages();
        let known = self.known().await;
        self.in_doubt += taken.saturating_sub(known);
    }

    /// Starts the service again, perhaps at another address.
    pub(super) async fn start_again(&mut self) {
        (self.child, self.url) = self.serving.serve().await;
    }

    /// Ends the service as a crash does and starts it again; the provider finds it there.
    pub(super) async fn kill_and_start_again(&mut self) {
        self.kill().await;
        self.start_again().await;
        self.aim();
    }

    /// Messages that the provider accepted.
    pub(super) fn messages(&self) -> u64 {
        self.serving.simulator.number(NUMBER).unwrap().messages
    }

    /// Messages that the provider has by the ledger's record.
    async fn known(&self) -> u64 {
        let states = [State::Sent, State::Delivered, State::Read].map(State::as_i16);
        self.count(Column::State.is_in(states)).await
    }

    /// Messages whose outcome the ledger records as unknown.
    pub(super) async fn doubts(&self) -> u64 {
        self.count(Column::State.eq(State::Unknown.as_i16())).await
    }

    /// Messages among them that are not due to be sent again.
    pub(super) async fn doubts_within_grace(&self) -> u64 {
        let unknown = Condition::all().add(Column::State.eq(State::Unknown.as_i16()));
        self.count(unknown.add(Column::RetryAt.gt(Timestamp::now().millis()))).await
    }

    async fn count(&self, which: impl IntoCondition) -> u64 {
        let database = Database::connect(&self.universe.url).await.unwrap();
        let count = Entity::find().filter(which).count(&database).await.unwrap();
        database.close().await.unwrap();
        count
    }

    /// The company's only send as it is shown now.
    pub(super) async fn shown(&self, id: &str) -> Value {
        checked(&self.serving.list(&self.url, &format!("/api/v1/sends/{id}")).await)
    }

    /// Waits until the send is finished and every message is reported as delivered.
    pub(super) async fn finished(&self, id: &str, messages: u64) {
        until("the send finished", async || self.shown(id).await["state"] == "finished").await;
        until("every message delivered", async || {
            count_of(&self.shown(id).await, &["delivered", "read"]) == messages
        })
        .await;
    }

    /// Ends everything.
    pub(super) async fn end(mut self) {
        self.child.crash();
        self.serving.simulator.stop().await;
    }
}

/// A provider that takes this long for an answer: messages are in flight whenever the service is killed.
pub(super) fn slow(killed: &Killed<'_>, latency: Duration) {
    let switch = serde_json::json!({ "latency": format!("{}ms", latency.as_millis()) });
    killed.serving.simulator.script(&switch).unwrap();
}
