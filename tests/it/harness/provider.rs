//! A provider for a service: a simulator whose business account has the templates of a test.

use serde_json::{Value, json};
use simulator::{Simulator, Template};
use uuid::Uuid;

use super::{Company, Service, WABA};
use crate::running::{NUMBER, TOKEN, until};

/// The language of the templates.
const LANGUAGE: &str = "en_US";
/// More messages than a test sends.
const MESSAGES: usize = 1_000;

/// The simulated provider; stops with the test.
pub(crate) struct Provider(Simulator);

impl Provider {
    /// A provider with these approved templates, each given as its name and its components, and a service that sends
    /// through it.
    pub(crate) async fn start(templates: Vec<(&str, Value)>) -> (Self, Service) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let template = |(name, components): (&str, Value)| Template::new(name, LANGUAGE, components);
        let account = simulator::Account {
            waba_id: WABA.to_owned(),
            tokens: vec![TOKEN.to_owned()],
            numbers: vec![simulator::Number::new(NUMBER, "+1 555 078 3881")],
            templates: templates.into_iter().map(template).collect(),
        };
        let seed = simulator::Seed { accounts: vec![account] };
        let simulator = simulator::start(simulator::Options::default(), seed).await.unwrap();
        let (driver, base_url) = (simulator.web_sessions(), simulator.base_url());
        let service = Service::start_configured(driver, |config| config.cloud_api.base_url = base_url).await;
        (Self(simulator), service)
    }

    /// Adds the provider's number as a channel of the company; its id.
    pub(crate) async fn channel(service: &Service, company: &Company) -> Uuid {
        let key = service.operator("ana", None).await;
        let body = json!({
            "company_id": company.id, "kind": "business_account", "name": "Shop", "phone_number_id": NUMBER,
            "waba_id": WABA, "token": TOKEN,
        });
        let made = service.post("/operator/v1/channels", &key, body.to_string()).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()["id"].as_str().unwrap().parse().unwrap()
    }

    /// The service's id of a template, once the service has the provider's list.
    pub(crate) async fn template(service: &Service, company: &Company, name: &str) -> i64 {
        let store = service.store();
        let find = async || store.of(company.id).templates().named(WABA, name, LANGUAGE).await.unwrap();
        until("the provider's templates", async || find().await.is_some()).await;
        find().await.unwrap().id
    }

    /// The message that the provider got for this recipient, once it has one.
    pub(crate) async fn message(&self, to: u64) -> Value {
        let (to, mut got) = (to.to_string(), None);
        until(&format!("a message to {to}"), async || {
            let messages = self.0.messages(0, MESSAGES);
            got = messages.into_iter().find(|message| message.to == to).and_then(|message| message.body);
            got.is_some()
        })
        .await;
        got.unwrap()
    }

    /// All messages that the provider got for this recipient, the newest last.
    pub(crate) fn bodies(&self, to: u64) -> Vec<Value> {
        let messages = self.0.messages(0, MESSAGES).into_iter();
        messages.filter(|message| message.to == to.to_string()).filter_map(|message| message.body).collect()
    }
}
