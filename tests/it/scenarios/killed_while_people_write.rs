//! The service is killed again and again while it takes in what people write. The provider repeats each webhook until it
//! is answered with 200, and some that were: each message is in its conversation once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use pombo::clock::Timestamp;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinSet;

use super::killed::Killed;
use crate::database::{Universe, stores};
use crate::harness::sign;
use crate::running::{APP_SECRET, NUMBER, WABA, until};

stores!(what_people_write_while_the_service_is_killed_is_in_their_conversations_once);

const KILLS: usize = 4;
/// Webhooks that are answered before a kill: more than are repeated, so that there are new ones each time.
const ANSWERED: usize = 30;
/// Webhooks that are on their way at the same time.
const AT_ONCE: usize = 6;
/// One in this many answered webhooks is repeated.
const REPEATED: usize = 3;
/// The people who write, counted from the first.
const PEOPLE: u64 = 5;
const FIRST: u64 = 5_511_900_000_000;
const LIST: &str = "/api/v1/conversations";

/// What each person wrote, or what is in the conversation: the provider's ids with the texts.
type Written = BTreeMap<String, Vec<(String, String)>>;

/// The provider's webhooks, each with a number.
struct Webhooks {
    /// The numbers of those to repeat, before new ones.
    repeated: VecDeque<u64>,
    /// How many there are.
    all: u64,
    /// When the first one was written, in seconds since 1970.
    since: i64,
}

impl Webhooks {
    /// The number and the body of the next webhook.
    fn take(&mut self) -> (u64, String) {
        let number = self.repeated.pop_front().unwrap_or_else(|| {
            self.all += 1;
            self.all - 1
        });
        (number, self.body(number))
    }

    /// The same bytes each time that the webhook is posted.
    fn body(&self, number: u64) -> String {
        let at = (self.since + number.cast_signed()).to_string();
        let (mut contacts, mut messages) = (Vec::new(), Vec::new());
        for (from, id, text) in written(number) {
            contacts.push(json!({ "profile": { "name": "Ana" }, "wa_id": from }));
            let text = json!({ "body": text });
            messages.push(json!({ "from": from, "id": id, "timestamp": at, "type": "text", "text": text }));
        }
        let value = json!({
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "15550783881", "phone_number_id": NUMBER },
            "contacts": contacts,
            "messages": messages,
        });
        let entry = json!([{ "id": WABA, "changes": [{ "field": "messages", "value": value }] }]);
        json!({ "object": "whatsapp_business_account", "entry": entry }).to_string()
    }

    /// What the people wrote in all of them.
    fn written(&self) -> Written {
        let mut all = Written::new();
        for (from, id, text) in (0..self.all).flat_map(written) {
            all.entry(format!("+{from}")).or_default().push((id, text));
        }
        all.values_mut().for_each(|messages| messages.sort());
        all
    }
}

/// The messages of a webhook: their writers, ids and texts. Two people wrote one each.
fn written(number: u64) -> impl Iterator<Item = (String, String, String)> {
    (number..number + 2).map(move |nth| {
        let from = (FIRST + nth % PEOPLE).to_string();
        let id = format!("wamid.{number}.{from}");
        let text = format!("message {number} of {from}");
        (from, id, text)
    })
}

/// Posts one webhook; whether it is answered with 200.
async fn is_taken(client: &Client, hook: &str, body: String) -> bool {
    let signature = sign(APP_SECRET, &body);
    let request = client.post(hook).header("X-Hub-Signature-256", signature).body(body);
    request.send().await.is_ok_and(|answer| answer.status() == 200)
}

/// Posts webhooks one after the other, and tells of those that are answered. Returns the number of the first that is not.
async fn post(webhooks: Arc<Mutex<Webhooks>>, hook: String, answered: UnboundedSender<u64>) -> u64 {
    let client = Client::new();
    loop {
        let (number, body) = webhooks.lock().unwrap().take();
        if !is_taken(&client, &hook, body).await {
            return number;
        }
        answered.send(number).unwrap();
    }
}

/// The address of the channel's webhooks.
fn hook(killed: &Killed<'_>) -> String {
    format!("{}/hooks/meta/{}", killed.url, killed.serving.channel)
}

/// Webhooks come from several sides until the service is killed.
async fn kill_in_the_midst(killed: &mut Killed<'_>, webhooks: &Arc<Mutex<Webhooks>>) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut posting = JoinSet::new();
    for _ in 0..AT_ONCE {
        posting.spawn(post(Arc::clone(webhooks), hook(killed), tell.clone()));
    }
    drop(tell);
    let mut answered = Vec::new();
    while answered.len() < ANSWERED {
        answered.push(told.recv().await.unwrap_or_else(|| panic!("webhooks are refused")));
    }
    killed.kill().await;
    let left = posting.join_all().await;
    while let Some(number) = told.recv().await {
        answered.push(number);
    }
    let mut webhooks = webhooks.lock().unwrap();
    webhooks.repeated.extend(left);
    webhooks.repeated.extend(answered.into_iter().step_by(REPEATED));
}

/// The answer to a request of the company.
async fn read(killed: &Killed<'_>, path: &str) -> Value {
    let answer = killed.serving.list(&killed.url, path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

/// All messages of a conversation.
async fn thread(killed: &Killed<'_>, id: &str) -> Vec<(String, String)> {
    let path = format!("{LIST}/{id}/messages?limit=50");
    let mut messages = Vec::new();
    let mut page = read(killed, &path).await;
    loop {
        for message in page["data"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
            messages.push((text(&message["provider_id"]), text(&message["received"]["content"]["body"])));
        }
        let Some(before) = page["previous_cursor"].as_str() else { break };
        page = read(killed, &format!("{path}&before={before}")).await;
    }
    messages.sort();
    messages
}

async fn what_people_write_while_the_service_is_killed_is_in_their_conversations_once(universe: &Universe) {
    let mut killed = Killed::start(universe, 0, "unlimited", &[]).await;
    let since = Timestamp::now().millis() / 1_000 - 3_600;
    let webhooks = Arc::new(Mutex::new(Webhooks { repeated: VecDeque::new(), all: 0, since }));
    for _ in 0..KILLS {
        kill_in_the_midst(&mut killed, &webhooks).await;
        killed.start_again().await;
    }
    let (client, hook) = (Client::new(), hook(&killed));
    let webhooks = Arc::into_inner(webhooks).unwrap().into_inner().unwrap();
    for number in &webhooks.repeated {
        let what = format!("webhook {number} answered");
        until(&what, async || is_taken(&client, &hook, webhooks.body(*number)).await).await;
    }
    let written = webhooks.written();
    let listed = read(&killed, &format!("{LIST}?limit=50")).await;
    let mut found = Written::new();
    for conversation in listed["data"].as_array().unwrap() {
        let messages = thread(&killed, conversation["id"].as_str().unwrap()).await;
        assert_eq!(conversation["unread"], messages.len(), "{conversation}");
        let person = conversation["phone_number"].as_str().unwrap().to_owned();
        let before = found.insert(person, messages);
        assert_eq!(before, None, "a person has one conversation: {conversation}");
    }
    assert_eq!(found, written);
    killed.end().await;
}
