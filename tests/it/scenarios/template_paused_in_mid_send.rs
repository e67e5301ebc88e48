//! The provider pauses a template in the middle of a send: only messages with this template wait.

use pombo::domain::template::{ListedTemplate, ParameterFormat, Status};
use serde_json::{Value, json};
use uuid::Uuid;

use super::stage::{
    FIRST, listen, plain_template, run_under, send_to, show, taken, template, text, until_it_waits_for,
};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, WABA, until};

stores!(
    a_paused_template_stops_its_own_messages_until_the_provider_allows_it_again,
    a_template_that_the_provider_does_not_know_stops_until_it_is_listed_again,
);

const EACH: u64 = 150;

/// Sends of one channel under way together: of the template that will be paused, of another, and a text.
struct Sends {
    running: Running,
    hello: i64,
    paused: String,
    others: [String; 2],
}

impl Sends {
    async fn begin(universe: &Universe) -> Self {
        let running = Running::start(universe, |config| config.engine.concurrency = 16).await;
        run_under(&running, "brisk", json!({ "messages_per_second": "100/s", "pair_interval": "0s" })).await;
        let (hello, order) =
            (template(&running, "hello_world").await, template(&running, "order_update").await);
        let value = |text: &str| json!({ "type": "text", "text": text });
        let order = json!({ "type": "template", "template_id": order, "components": [
            { "type": "body", "parameters": [value("Priya"), value("A-1042")] },
        ] });
        let mut sends = Vec::new();
        for (place, content) in [plain_template(hello), order, text()].into_iter().enumerate() {
            let tag = running.tag(&format!("tag {place}"), FIRST + 1_000 * place as u64, EACH).await;
            sends.push(send_to(&running, running.channel, tag, content).await);
        }
        until("some messages taken", async || running.delivered().0 > EACH / 4).await;
        let [paused, first, second] = sends.try_into().unwrap();
        Self { running, hello, paused, others: [first, second] }
    }

    async fn status(&self) -> Status {
        let found = self.running.store.of(self.running.company).templates().find(self.hello).await.unwrap();
        found.unwrap().status
    }

    /// Checks that the template's messages wait without a failure, and that the others are all sent.
    async fn assert_it_stops_alone(&self) {
        until("the template kept back", async || self.status().await == Status::Paused).await;
        let shown = until_it_waits_for(&self.running, &self.paused, "template_paused").await;
        assert!(shown["waiting"]["sentence"].as_str().unwrap().contains("hello_world"), "{shown}");
        for other in &self.others {
            until("the other sends finished", async || {
                show(&self.running, other).await["state"] == "finished"
            })
            .await;
            let shown = show(&self.running, other).await;
            assert_eq!(shown["counts"]["sent"], EACH, "{shown}");
        }
        let mut shown = Value::Null;
        until("the outcome of the template's messages written", async || {
            shown = show(&self.running, &self.paused).await;
            self.running.delivered().0 == 2 * EACH + shown["counts"]["sent"].as_u64().unwrap()
        })
        .await;
        assert_eq!((&shown["state"], &shown["counts"]["failed"]), (&json!("active"), &json!(0)), "{shown}");
        assert!(
            shown["counts"]["queued"].as_u64().unwrap() > 0,
            "the template was paused too late to prove anything"
        );
        let mut again = plain_template(self.hello);
        again["phone_number"] = json!(FIRST);
        let (status, answer) = self.running.send(&again).await;
        assert_eq!((status, answer["code"].as_str()), (400, Some("template_not_approved")), "{answer}");
    }

    async fn assert_all_once(self) {
        self.running.settled(3 * EACH).await;
        assert_eq!(taken(&self.running, NUMBER), (3 * EACH, 3 * EACH, 0));
        let shown = show(&self.running, &self.paused).await;
        assert_eq!((&shown["state"], &shown["counts"]["failed"]), (&json!("finished"), &json!(0)), "{shown}");
        self.running.end().await;
    }
}

async fn a_paused_template_stops_its_own_messages_until_the_provider_allows_it_again(universe: &Universe) {
    let sends = Sends::begin(universe).await;
    let status = |status: &str| {
        let template =
            json!({ "waba_id": WABA, "name": "hello_world", "language": "en_US", "status": status });
        sends.running.simulator.script(&json!({ "template": template })).unwrap();
    };
    // Only the answers to its messages report the pause.
    status("PAUSED");
    sends.assert_it_stops_alone().await;
    listen(&sends.running);
    status("APPROVED");
    sends.assert_all_once().await;
}

async fn a_template_that_the_provider_does_not_know_stops_until_it_is_listed_again(universe: &Universe) {
    let sends = Sends::begin(universe).await;
    let unknown = json!({ "match": { "template": "hello_world" }, "outcome": { "error": { "code": 132_001, "http": 404 } } });
    sends.running.simulator.script(&unknown).unwrap();
    sends.assert_it_stops_alone().await;
    sends.running.simulator.end_script();
    let listed = listed(&sends.running, sends.running.company).await;
    sends.running.store.of(sends.running.company).templates().sync(WABA, &listed).await.unwrap();
    sends.assert_all_once().await;
}

/// The known templates, with the state that they have once the provider allows them again.
async fn listed(running: &Running, company: Uuid) -> Vec<ListedTemplate> {
    let known = running.store.of(company).templates().all().await.unwrap().into_iter();
    known
        .map(|known| ListedTemplate {
            provider_id: known.provider_id,
            name: known.name,
            language: known.language,
            category: known.category,
            status: Status::Approved,
            parameter_format: ParameterFormat::Positional,
            components: serde_json::value::to_raw_value(&known.components).unwrap(),
            rejected_reason: known.rejected_reason,
            quality_score: known.quality_score,
        })
        .collect()
}
