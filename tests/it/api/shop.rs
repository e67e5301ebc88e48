//! A company with a channel whose provider shows what it got.

use serde_json::{Value, json};

use super::past_send::FIRST;
use super::world::World;
use crate::harness::{Answer, Company, Provider, Service};

pub(crate) struct Shop {
    pub(crate) service: Service,
    pub(crate) provider: Provider,
    pub(crate) acme: Company,
    /// The path of a send.
    path: String,
}

impl Shop {
    /// With these templates, each given as its name and its components.
    pub(crate) async fn open(templates: Vec<(&str, Value)>) -> Self {
        let (provider, service) = Provider::start(templates).await;
        let acme = service.company("acme").await;
        let path = World::send(Provider::channel(&service, &acme).await);
        Self { service, provider, acme, path }
    }

    /// The content of a send of this template with these values.
    pub(crate) async fn template(&self, name: &str, components: &Value) -> Value {
        let id = Provider::template(&self.service, &self.acme, name).await;
        json!({"type": "template", "template_id": id, "components": components})
    }

    /// The answer to a send of this content to these numbers.
    pub(crate) async fn send(&self, content: &Value, to: &[u64]) -> Answer {
        let mut body = content.clone();
        body["phone_number"] = json!(to);
        self.service.post(&self.path, &self.acme.key, body.to_string()).await
    }

    /// The answer to a dry run of this content to this number.
    pub(crate) async fn tried(&self, content: &Value, to: u64) -> Answer {
        let mut body = content.clone();
        body["phone_number"] = json!(to);
        let path = format!("{}?dry_run=true", self.path);
        self.service.post(&path, &self.acme.key, body.to_string()).await
    }

    /// Sends this content, which must be accepted; the message that the provider got.
    pub(crate) async fn sent(&self, content: &Value, to: u64) -> Value {
        let answer = self.send(content, &[to]).await;
        assert_eq!(answer.status, 202, "{content}: {}", answer.body);
        self.provider.message(to).await
    }

    /// Sends this content, which must be refused with this code; the sentence.
    pub(crate) async fn refused(&self, content: &Value, code: &str) -> String {
        let answer = self.send(content, &[FIRST]).await;
        let told = (answer.status, answer.code());
        assert_eq!(told, (400, Some(code.to_owned())), "{content}: {}", answer.body);
        answer.json()["error"].as_str().unwrap().to_owned()
    }

    /// How many sends there are.
    pub(crate) async fn sends(&self) -> Value {
        self.service.get("/api/v1/sends", &self.acme.key).await.json()["totalRecords"].clone()
    }
}
