//! What people write to sessions.

use async_trait::async_trait;
use parking_lot::Mutex;

use super::*;
use domain::inbound::{InboundContent, InboundMessage, MediaKeys};
use driver::{FetchError, Inbox, MediaKind, NotTaken, SealedFile};

/// An inbox that keeps the texts that it takes, and may refuse some batches first.
#[derive(Default)]
struct Kept {
    texts: Mutex<Vec<String>>,
    files: Mutex<Vec<MediaKeys>>,
    refusals: Mutex<u32>,
}

#[async_trait]
impl Inbox for Kept {
    async fn take(&self, messages: Vec<InboundMessage>) -> Result<(), NotTaken> {
        let mut refusals = self.refusals.lock();
        if *refusals > 0 {
            *refusals -= 1;
            return Err(NotTaken);
        }
        for message in messages {
            let keys = message.body.content.media().and_then(|media| media.keys.clone());
            self.files.lock().extend(keys);
            if let InboundContent::Text { body } = message.body.content {
                self.texts.lock().push(body);
            }
        }
        Ok(())
    }
}

/// A linked session with this inbox, for the channel.
async fn linked(stage: &Stage, channel: Uuid, records: &Arc<Memory>, inbox: &Arc<Kept>) -> Watched {
    let (events, told) = mpsc::channel(64);
    let opening = opening(channel, records, events, Arc::clone(inbox) as Arc<dyn Inbox>);
    Watched { session: stage.driver.open(opening).await.unwrap(), told }
}

async fn write(stage: &Stage, body: &Value) -> (u16, Value) {
    let url = format!("{}/_sim/write", stage.simulator.base_url());
    let answer = client().post(url).json(body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn text(channel: Uuid, text: &str) -> Value {
    json!({ "to": channel, "from": "+999900000001", "text": text })
}

#[tokio::test]
async fn what_people_write_comes_in_its_order_over_a_reconnect_and_a_refusal() {
    let stage = Stage::set().await;
    let (channel, records, inbox) = (Uuid::now_v7(), Arc::new(Memory::default()), Arc::new(Kept::default()));
    assert_eq!(write(&stage, &text(channel, "nobody")).await.0, 400, "no session was opened");
    let mut session = linked(&stage, channel, &records, &inbox).await;
    let code = session.qr().await;
    // It is written before the device is linked.
    assert_eq!(write(&stage, &text(channel, "1")).await.0, 200);
    assert!(stage.driver.scan(&code, None).await);
    assert!(matches!(session.next().await, Event::Paired { .. }));
    assert_eq!(session.next().await, Event::Connected);
    assert_eq!(session.next().await, Event::Inbound { from: number("+999900000001") });
    session.session.stop().await;
    for place in 2..9 {
        assert_eq!(write(&stage, &text(channel, &place.to_string())).await.0, 200);
    }
    *inbox.refusals.lock() = 1;
    let mut again = linked(&stage, channel, &records, &inbox).await;
    assert_eq!(again.next().await, Event::Connected);
    for _ in 2..9 {
        assert_eq!(again.next().await, Event::Inbound { from: number("+999900000001") });
    }
    assert_eq!(*inbox.texts.lock(), ["1", "2", "3", "4", "5", "6", "7", "8"]);
}

#[tokio::test]
async fn a_session_fetches_the_file_of_a_message_unless_it_is_gone() {
    let stage = Stage::set().await;
    let (channel, records, inbox) = (Uuid::now_v7(), Arc::new(Memory::default()), Arc::new(Kept::default()));
    let mut session = linked(&stage, channel, &records, &inbox).await;
    let code = session.qr().await;
    assert!(stage.driver.scan(&code, None).await);
    let image = |file: Value| json!({ "to": channel, "from": "999900000001", "image": file, "copies": 2 });
    let both = [image(json!({ "data": "aGk=" })), image(json!({ "gone": true }))];
    assert_eq!(write(&stage, &json!(both)).await.0, 200);
    while session.next().await != (Event::Inbound { from: number("+999900000001") }) {}
    for _ in 1..4 {
        session.next().await;
    }
    let files = inbox.files.lock().clone();
    assert_eq!((files.len(), &files[0], &files[2]), (4, &files[1], &files[3]), "each message twice");
    let fetch = async |place: usize| {
        let keys = files[place].clone();
        session.session.fetch(SealedFile { kind: MediaKind::Image, keys, sha256: None, size: 2 }).await
    };
    assert_eq!(fetch(0).await, Ok(b"hi".to_vec()));
    assert_eq!(fetch(2).await, Err(FetchError::Gone));
}

#[tokio::test]
async fn people_answer_a_share_of_the_messages_once_each() {
    let options = WebSessionOptions { answer_probability: 1.0, ..WebSessionOptions::default() };
    let stage = Stage::with(options).await;
    let (channel, records, inbox) = (Uuid::now_v7(), Arc::new(Memory::default()), Arc::new(Kept::default()));
    let mut session = linked(&stage, channel, &records, &inbox).await;
    let code = session.qr().await;
    assert!(stage.driver.scan(&code, None).await);
    while session.next().await != Event::Connected {}
    let id = MessageId::generate();
    let to = people::hidden(number("+999900000001")).unwrap();
    for to in [&to, &to, &Jid::group("120363000000000001").unwrap(), &Jid::person(number("+999900000000"))] {
        let id = if to.is_group() { MessageId::generate() } else { id.clone() };
        session.session.send(to, &id, Content::Text("Hello".to_owned())).await.unwrap();
    }
    while session.next().await != (Event::Inbound { from: number("+999900000001") }) {}
    assert_eq!(*inbox.texts.lock(), ["Thank you for your message."]);
    let path = format!("/_sim/conversation?channel={channel}&person=%2B999900000001");
    let url = format!("{}{path}", stage.simulator.base_url());
    let shown: Value = client().get(url).send().await.unwrap().json().await.unwrap();
    let by: Vec<_> = shown["data"].as_array().unwrap().iter().map(|line| line["by"].clone()).collect();
    assert_eq!(by, ["channel", "person"]);
    assert_eq!(shown["data"][1]["about"], id.as_str());
}
