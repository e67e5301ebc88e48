//! The log of events as a program of the company reads it by the API, beside what a receiver got: nothing is lost, and
//! what came again is the same event.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::receiver::Receiver;
use crate::harness::Answer;

/// The types that are compared, as the command line and the API read them.
pub(crate) const TYPES: &str = "message.*,send.*";

/// The events of a company.
pub(crate) struct LoggedEvents {
    key: String,
    after: String,
    /// In the order of the log.
    events: Vec<Value>,
}

impl LoggedEvents {
    /// Begins with what happens from now on.
    pub(crate) async fn from_now(url: &str, key: &str) -> Self {
        let mut log = Self { key: key.to_owned(), after: "latest".to_owned(), events: Vec::new() };
        log.read_on(url).await;
        assert_ne!(log.after, "latest", "the service cannot read its log");
        log
    }

    /// Reads what came into the log since, by the service at this address. One that cannot reach its database is asked again
    /// with the next call.
    pub(crate) async fn read_on(&mut self, url: &str) {
        loop {
            let path = format!("{url}/api/v1/events?types={TYPES}&limit=1000&after={}", self.after);
            let answer = Answer::to(reqwest::Client::new().get(path).bearer_auth(&self.key)).await;
            if answer.status == 503 {
                return;
            }
            assert_eq!(answer.status, 200, "{}", answer.body);
            let page = answer.json();
            self.after = page["next_cursor"].as_str().unwrap().to_owned();
            self.events.extend(page["data"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                return;
            }
        }
    }

    /// Whether the log is complete for one send to this many people, all of whom read their message.
    pub(crate) fn is_complete(&self, people: u64) -> bool {
        let count = |r#type: &str| self.events.iter().filter(|event| event["type"] == r#type).count() as u64;
        count("message.read") == people && count("send.finished") == 1
    }

    /// Whether the receiver accepted every event of the log.
    pub(crate) fn has_arrived(&self, at: &Receiver) -> bool {
        at.accepted().is_superset(&self.ids())
    }

    fn ids(&self) -> BTreeSet<String> {
        self.events.iter().map(|event| text(event, "id")).collect()
    }

    /// Checks that the receiver accepted every event of the log and got no others, each under its id however often it came,
    /// and that the events of each person came in their order when they came first.
    pub(crate) fn assert_arrived(&self, at: &Receiver) {
        let logged: BTreeMap<_, _> = self.events.iter().map(|event| (text(event, "id"), event)).collect();
        assert_eq!(logged.len(), self.events.len(), "two events of the log have one id");
        let (mut seen, mut last) = (BTreeSet::new(), BTreeMap::new());
        for got in at.got() {
            let (id, event) = (got.header("webhook-id").to_owned(), got.json());
            assert_eq!(text(&event, "id"), id);
            let in_log = logged.get(&id).unwrap_or_else(|| panic!("the log does not have {event}"));
            // What else an event tells of its message is read from the ledger, which may know more by now.
            for field in ["sequence", "type", "at"] {
                assert_eq!(event[field], in_log[field], "{id}: {field}");
            }
            assert_eq!(event["data"]["recipient"], in_log["data"]["recipient"], "{id}");
            if !seen.insert(id) {
                continue;
            }
            if let Some(recipient) = event["data"]["recipient"].as_str() {
                let sequence = event["sequence"].as_i64().unwrap();
                let before = last.insert(recipient.to_owned(), sequence);
                assert!(before.is_none_or(|before| before < sequence), "{recipient}: {before:?}, {sequence}");
            }
        }
        assert_eq!(at.accepted(), self.ids());
    }
}

fn text(event: &Value, field: &str) -> String {
    event[field].as_str().unwrap_or_else(|| panic!("{event} has no {field}")).to_owned()
}
