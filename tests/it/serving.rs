//! The program itself, served in a process of its own, set up by the command line.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use simulator::{ReceiptOptions, Simulator};

use crate::child::OwnedChild;
use crate::database::Universe;
use crate::harness::{Answer, sign};
use crate::program::Place;
use crate::running::{APP_SECRET, NUMBER, WABA};

/// Messages of a channel between their start and their durable outcome: the most that a crash may repeat.
pub(crate) const IN_FLIGHT: u64 = 48;
/// Serves until it is killed, or until the pipe at its input ends.
pub(crate) const SERVE: &str = "serve --json --end-with-input";
/// A number of the same account that no channel has at first.
pub(crate) const OTHER_NUMBER: &str = "106540352242923";

/// A service in a process of its own, set up by the command line.
pub(crate) struct Serving {
    pub(crate) place: Place,
    pub(crate) simulator: Simulator,
    pub(crate) key: String,
    pub(crate) channel: String,
    /// The tag of everybody; known once the program was started.
    pub(crate) tag: String,
    contacts: u64,
}

impl Serving {
    /// With this many contacts under one tag, and a channel of this tier.
    pub(crate) async fn new(universe: &Universe, contacts: u64, tier: &str) -> Self {
        Self::new_with(universe, contacts, tier, &[]).await
    }

    /// The same with these options in the environment.
    pub(crate) async fn new_with(
        universe: &Universe,
        contacts: u64,
        tier: &str,
        options: &[(&str, &str)],
    ) -> Self {
        let account = simulator::Account {
            waba_id: "102290129340398".to_owned(),
            tokens: vec!["EAAG-good".to_owned()],
            numbers: vec![
                simulator::Number::new(NUMBER, "+1 555 078 3881"),
                simulator::Number::new(OTHER_NUMBER, "+1 555 078 3882"),
            ],
            templates: simulator::default_templates(),
        };
        let seed = simulator::Seed { accounts: vec![account] };
        let simulator = simulator::start(simulator::Options::default(), seed).await.unwrap();
        let place = Place::new()
            .with("POMBO__DATABASE__URL", &universe.url)
            .with("POMBO__SERVER__BIND", "127.0.0.1:0")
            .with("POMBO__CLOUD_API__BASE_URL", simulator.base_url())
            .with("POMBO__ENGINE__CONCURRENCY", "24")
            .with("POMBO__ENGINE__IN_FLIGHT", IN_FLIGHT.to_string())
            .with("POMBO__ENGINE__BLOCK_SIZE", "1000")
            .with("POMBO__RETRY__FIRST", "20ms")
            .with("POMBO__RETRY__UNKNOWN_GRACE", "0s");
        let place = options.iter().fold(place, |place, (name, value)| place.with(name, *value));
        place.write("app-secret", APP_SECRET);
        place.json("company create Acme");
        let key = place.json("key create --company Acme")["key"].as_str().unwrap().to_owned();
        let mut serving =
            Self { place, simulator, key, channel: String::new(), tag: String::new(), contacts };
        serving.channel = serving.add_channel(NUMBER, tier);
        if contacts > 0 {
            serving.import("everyone", 0, contacts);
        }
        serving
    }

    /// Adds a business account by the command line; its id.
    pub(crate) fn add_channel(&self, number: &str, tier: &str) -> String {
        self.add_channel_of("102290129340398", number, tier)
    }

    /// The same for a number of this account.
    pub(crate) fn add_channel_of(&self, account: &str, number: &str, tier: &str) -> String {
        let add = format!(
            "channel add-business --company Acme --name N{number} --phone-number {number} \
             --phone-number-id {number} --waba-id {account} --tier {tier} --token-file - \
             --app-secret-file app-secret"
        );
        self.place.json_with("EAAG-good", &add)["id"].as_str().unwrap().to_owned()
    }

    /// Imports contacts by the command line, counted from `first` on.
    pub(crate) fn import(&self, tag: &str, first: u64, count: u64) {
        let row = |row: u64| format!("Ana {row},+55 11 9{:08}\n", row * 7);
        let rows: String = (first..first + count).map(row).collect();
        self.place.write("contacts.csv", &format!("first_name,phone_number\n{rows}"));
        let imported = self.place.json(&format!("contacts import contacts.csv --company Acme --tag {tag}"));
        assert_eq!(imported["created"], count);
    }

    /// Starts the program and waits for its address.
    pub(crate) async fn serve(&mut self) -> (OwnedChild, String) {
        let command = self.place.command(SERVE);
        self.serve_as(command).await
    }

    /// Starts the program by this command and waits for its address.
    pub(crate) async fn serve_as(&mut self, command: Command) -> (OwnedChild, String) {
        let (child, started) = self.serve_told(command).await;
        (child, started["base_url"].as_str().unwrap().to_owned())
    }

    /// Starts the program, and returns everything that it says once it listens.
    pub(crate) async fn serve_told(&mut self, mut command: Command) -> (OwnedChild, Value) {
        // The rest is not used, but a full pipe would block the program.
        let mut child = OwnedChild::spawn(command.stderr(Stdio::null()));
        let first = child.first_line();
        let started: Value = serde_json::from_str(&first).unwrap_or_default();
        let url = started["base_url"].as_str().unwrap_or_else(|| panic!("no address: {first}"));
        if self.tag.is_empty() && self.contacts > 0 {
            self.tag = self.tag_id(url, "everyone").await;
        }
        (child, started)
    }

    /// The address of the first channel's webhooks.
    pub(crate) fn receipts(&self, url: &str) -> ReceiptOptions {
        ReceiptOptions::to(format!("{url}/hooks/meta/{}", self.channel), APP_SECRET)
    }

    /// The id of a tag, as the service lists it.
    pub(crate) async fn tag_id(&self, url: &str, name: &str) -> String {
        let tags = self.list(url, "/api/v1/contacts/tags").await.json();
        let mut tags = tags["data"].as_array().unwrap().iter();
        tags.find(|tag| tag["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// The answer to `GET path`.
    pub(crate) async fn list(&self, url: &str, path: &str) -> Answer {
        let request = reqwest::Client::new().get(format!("{url}{path}")).bearer_auth(&self.key);
        Answer::to(request).await
    }

    /// Sends a text to everybody.
    pub(crate) async fn send(&self, url: &str) -> Answer {
        let everyone = json!({ "type": "text", "message": "hi", "contact_tag_id": self.tag });
        self.send_through(&self.channel, url, &everyone).await
    }

    /// Sends through this channel.
    pub(crate) async fn send_through(&self, channel: &str, url: &str, body: &Value) -> Answer {
        let post = reqwest::Client::new().post(format!("{url}/api/v1/chat/{channel}/messages"));
        Answer::to(post.bearer_auth(&self.key).json(body)).await
    }

    /// Tells the first channel of messages that people wrote, signed as the provider signs.
    pub(crate) async fn tell(&self, url: &str, messages: &[Value]) -> Answer {
        let value = json!({
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "15550783881", "phone_number_id": NUMBER },
            "messages": messages,
        });
        let entry = json!({ "id": WABA, "changes": [{ "field": "messages", "value": value }] });
        let body = json!({ "object": "whatsapp_business_account", "entry": [entry] }).to_string();
        let hook = reqwest::Client::new().post(format!("{url}/hooks/meta/{}", self.channel));
        Answer::to(hook.header("X-Hub-Signature-256", sign(APP_SECRET, &body)).body(body)).await
    }

    /// The number of messages that the simulator accepted from the first channel, and of their recipients.
    pub(crate) fn figures(&self) -> (u64, u64) {
        let figures = self.simulator.number(NUMBER).unwrap();
        (figures.messages, figures.unique_recipients)
    }
}
