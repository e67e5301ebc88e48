//! Played people who send a picture and an opt-out to a service in a process of its own, and what becomes of both: the picture
//! is kept, and the opt-out is confirmed, each once, whatever happens to the process in between.

use std::collections::BTreeMap;

use pombo::domain::automatic::{AutomaticTexts, OpeningHours};
use pombo::store::Store;
use pombo::store::changes::Who;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use serde_json::json;

use crate::database::Universe;
use crate::running::{NUMBER, until};
use crate::serving::Serving;

/// The confirmation of an opt-out.
const STOPPED: &str = "You get nothing more.";
/// What each person writes: a picture and an opt-out.
const WRITTEN: i64 = 2;
/// The first person who writes.
const FIRST: u64 = 5_511_900_000_000;

/// The people who write to the only channel of a service.
pub(crate) struct Heard {
    store: Store,
    url: String,
    people: u64,
}

impl Heard {
    /// Nobody has written yet. The company confirms opt-outs.
    pub(crate) async fn new(universe: &Universe, serving: &Serving) -> Self {
        let channel = serving.channel.parse().unwrap();
        let company = universe.store.channels().find(channel).await.unwrap().unwrap().company_id;
        let texts = AutomaticTexts::new(Some(STOPPED), None, None, OpeningHours::default()).unwrap();
        let who = Who::CommandLine("ana".to_owned());
        assert!(universe.store.of(company).automatic().set_texts(&who, &texts).await.unwrap());
        Self { store: universe.store.clone(), url: universe.url.clone(), people: 0 }
    }

    /// Another person writes. The provider tells of both messages twice, and again until they are accepted.
    pub(crate) async fn write(&mut self, serving: &Serving) {
        let from = (FIRST + self.people).to_string();
        let messages = json!([
            { "to": NUMBER, "from": from, "image": {}, "copies": 2 },
            { "to": NUMBER, "from": from, "text": "Stop", "copies": 2 },
        ]);
        let url = format!("{}/_sim/write", serving.simulator.base_url());
        let told = reqwest::Client::new().post(url).json(&messages).send().await.unwrap();
        assert_eq!(told.status().as_u16(), 200);
        self.people += 1;
    }

    /// Waits until all messages are accepted.
    pub(crate) async fn accepted(&self) {
        let (all, accepted) =
            (WRITTEN * self.people.cast_signed(), "SELECT COUNT(*) FROM conversation_message");
        until("all messages accepted", async || self.count(accepted).await == all).await;
    }

    /// Waits until the sends of all confirmations are in the ledger.
    pub(crate) async fn answered(&self) {
        let all = self.people.cast_signed();
        until("all answers accepted", async || self.count("SELECT COUNT(*) FROM send").await == all).await;
    }

    /// Waits until all pictures are kept and nothing is due any more; then each person got one message, the confirmation.
    pub(crate) async fn each_once(&self, serving: &Serving) {
        let all = self.people.cast_signed();
        let kept = "SELECT COUNT(*) FROM inbound_file WHERE state = 1";
        until("all pictures kept", async || self.count(kept).await == all).await;
        let due = "SELECT COUNT(*) FROM automatic_answer WHERE due_at IS NOT NULL";
        until("no answer due", async || self.count(due).await == 0).await;
        let channels = self.store.channels();
        until("every send finished", async || channels.working().await.unwrap().is_empty()).await;
        let mut heard = BTreeMap::<String, Vec<String>>::new();
        for message in serving.simulator.messages(0, 1_000) {
            let text = message.body.unwrap()["text"]["body"].as_str().unwrap().to_owned();
            heard.entry(message.to).or_default().push(text);
        }
        let people = FIRST..FIRST + self.people;
        let due: BTreeMap<_, _> =
            people.map(|person| (person.to_string(), vec![STOPPED.to_owned()])).collect();
        assert_eq!(heard, due);
        assert_eq!(self.count("SELECT COUNT(*) FROM inbound_file").await, all);
    }

    async fn count(&self, sql: &str) -> i64 {
        let database = Database::connect(&self.url).await.unwrap();
        let statement = Statement::from_string(database.get_database_backend(), sql);
        let row = database.query_one_raw(statement).await.unwrap().unwrap();
        let count = row.try_get_by_index(0).unwrap();
        database.close().await.unwrap();
        count
    }

    /// Has what a dead process held tried again at once, and not after some minutes.
    pub(crate) async fn let_go(&self) {
        let database = Database::connect(&self.url).await.unwrap();
        database.execute_unprepared("UPDATE inbound_file SET next_at = 0 WHERE state = 0").await.unwrap();
        let answers = "UPDATE automatic_answer SET due_at = 0 WHERE due_at IS NOT NULL";
        database.execute_unprepared(answers).await.unwrap();
        database.close().await.unwrap();
    }
}
