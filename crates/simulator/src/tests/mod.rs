//! The simulator through real HTTP, as connectors and tests use it.

use serde_json::{Value, json};

use super::{Account, Number, Options, ReceiptOptions, Seed, Simulator, Template, default_templates, start};

mod clients;
mod inspection;
mod management;
mod misbehaviour;
mod options;
mod pacing;
mod receipts;
mod receiver;
mod refusals;
mod sends;
mod storms;
mod upkeep;
mod uploads;
mod webhooks;
mod writing;

const TOKEN: &str = "T-1";
const NUMBER: &str = "2001";
const WABA: &str = "1001";

/// A simulator of a test's own, and its client.
struct Universe {
    simulator: Simulator,
    client: reqwest::Client,
}

fn client() -> reqwest::Client {
    // Another test may have installed it first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

fn seed() -> Seed {
    let account = |waba_id: &str, token: &str, numbers: &[&str]| Account {
        waba_id: waba_id.to_owned(),
        tokens: vec![token.to_owned()],
        numbers: numbers.iter().map(|id| Number::new(*id, format!("+1 555 000 {id}"))).collect(),
        templates: default_templates(),
    };
    Seed { accounts: vec![account(WABA, TOKEN, &[NUMBER, "2002"]), account("1002", "T-2", &["2003"])] }
}

async fn universe() -> Universe {
    universe_with(Options::default()).await
}

async fn universe_with(options: Options) -> Universe {
    let client = client();
    Universe { simulator: start(options, seed()).await.unwrap(), client }
}

fn text(to: &str) -> Value {
    json!({ "messaging_product": "whatsapp", "to": to, "type": "text", "text": { "body": "hi" } })
}

fn template(name: &str, components: Value) -> Value {
    let mut body = json!({
        "messaging_product": "whatsapp", "to": "+5511999990001", "type": "template",
        "template": { "name": name, "language": { "code": "en_US" } },
    });
    body["template"]["components"] = components;
    body
}

impl Universe {
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.simulator.base_url())
    }

    async fn post(&self, path: &str, token: &str, body: &Value) -> (u16, Value) {
        let request = self.client.post(self.url(path)).bearer_auth(token).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.client.get(self.url(path)).bearer_auth(TOKEN).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn send(&self, body: &Value) -> (u16, Value) {
        self.post(&format!("/v25.0/{NUMBER}/messages"), TOKEN, body).await
    }

    /// Sends and returns status and code of the refusal; code 0 is an acceptance.
    async fn code(&self, body: &Value) -> (u16, u64) {
        let (status, answer) = self.send(body).await;
        (status, answer["error"]["code"].as_u64().unwrap_or(0))
    }

    fn script(&self, script: &Value) {
        self.simulator.script(script).unwrap();
    }

    fn figures(&self) -> super::NumberFigures {
        self.simulator.number(NUMBER).unwrap()
    }
}
