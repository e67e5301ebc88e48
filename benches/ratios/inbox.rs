//! The inbox of a company with a million conversations and ten million messages: lists, threads and searches, in the console
//! and over the API; beside `/healthz`, in turns.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use pombo::clock::Timestamp;
use pombo::domain::event::Type;
use pombo::domain::inbound::{ConversationKind, Direction, PeerKey};
use pombo::domain::phone::PhoneNumber;
use pombo::store::conversations::Inbound;
use pombo::store::ledger::{PendingWrites, Terms};
use reqwest::Client;
use uuid::Uuid;

use crate::pages::{Shown, owner, report};
use crate::people;
use crate::receipts::signature;
use crate::seed::Seed;
use crate::service::{Ground, Service};
use crate::{Row, dispatch};

const CONVERSATIONS: u64 = 1_000_000;
/// Messages of each beside the first.
const FURTHER: u64 = 9;
/// Contacts with the numbers of the first conversations.
const CONTACTS: u64 = 100_000;
/// Messages of one commit.
const LOT: u64 = 2_000;
/// Time between the first messages of two conversations.
const STEP: Duration = Duration::from_secs(2);
/// People who wrote last, over webhooks, and how much each wrote.
const PEOPLE: u64 = 200;
const WRITTEN: u64 = 50;
/// Requests of each address.
const ROUNDS: usize = 100;
const WORDS: report::Words = report::Words {
    slowest: "the inbox's slowest list, thread or search, 1 M conversations, 10 M messages",
    heaviest: "… the heaviest of them, compressed",
    most: "≤ 60 kB",
};

pub(crate) fn measure() -> Vec<Row> {
    let provider = dispatch::provider(Arc::new(AtomicU64::new(0)));
    actix_web::rt::System::new().block_on(async {
        let ground = Ground::new(&format!("http://{provider}"), "unlimited", dispatch::CONCURRENCY).await;
        people::add(&ground.store, ground.company, CONTACTS).await;
        let channels = fill(&ground).await;
        let service = ground.serve().await;
        let session = owner(&service).await;
        write(&service).await;
        let client = Client::builder().tcp_nodelay(true).build().unwrap();
        let addresses = addresses(&client, &service, channels[1]).await;
        let mut shown: Vec<Shown> = addresses.into_iter().map(Shown::of_owner).collect();
        let (mut health, bare) = (Vec::new(), format!("http://{}/healthz", service.address));
        for round in 0..=ROUNDS {
            for page in &mut shown {
                let began = Instant::now();
                let bytes = ask(&client, &service, &session, page.path()).await;
                let took = began.elapsed();
                let began = Instant::now();
                client.get(&bare).send().await.unwrap().bytes().await.unwrap();
                // Each address was asked once before.
                if round > 0 {
                    page.note(took, bytes);
                    health.push(began.elapsed().as_secs_f64() * 1_000.0);
                }
            }
        }
        service.engine.stop().await;
        report::rows(shown, health, 0, &WORDS)
    })
}

/// Writes the conversations of the past; returns their channels.
async fn fill(ground: &Ground) -> Vec<Uuid> {
    let seed = Seed::at(&ground.database.url).await;
    let channels = seed.channels(&ground.vault, ground.company, 100, 4).await;
    let lease = ground.store.lease().acquire(&ground.database, "bench").await.unwrap();
    let terms = Terms { patience: Duration::from_secs(30), in_one_statement: false };
    let all = u32::try_from(CONVERSATIONS).unwrap();
    let begin = Timestamp::now().minus(STEP * all + Duration::from_secs(3_600));
    for first in (0..CONVERSATIONS).step_by(usize::try_from(LOT).unwrap()) {
        let lot = first..(first + LOT).min(CONVERSATIONS);
        let at = |number: u64| begin.plus(STEP * u32::try_from(number).unwrap());
        let inbound = lot.map(|number| {
            let channel = channels[usize::try_from(number).unwrap() % channels.len()];
            message(ground.company, channel, number, at(number))
        });
        let batch = PendingWrites { inbound: inbound.collect(), ..PendingWrites::default() };
        ground.store.ledger().commit_on(terms, &lease, &batch, at(first)).await.unwrap();
    }
    drop(lease);
    let content = match seed.is_sqlite() {
        true => "randomblob(160)",
        false => "decode(repeat(md5(place::text), 10), 'hex')",
    };
    // Ids are in the order of time, by which messages leave.
    let id = seed.id_at("(last_at - (n + 1) * 60000)", "(place * 16 + n)");
    seed.run(&format!(
        "INSERT INTO conversation_message (id, company_id, channel_id, conversation_id, provider_id, direction, kind, at, \
         content) {} SELECT {id}, company_id, channel_id, id, 'seed ' || n, 0, 'text', last_at - (n + 1) * 60000, {content} \
         FROM (SELECT conversation.*, row_number() OVER (ORDER BY last_at, id) AS place FROM conversation) AS placed \
         CROSS JOIN member",
        seed.counting(FURTHER)
    ))
    .await;
    let read = "UPDATE conversation SET unread = 0 WHERE last_at % 20000 > 3000";
    let closed = "UPDATE conversation SET state = 1 WHERE last_at % 30000 > 20000";
    for statement in [read, closed, "DELETE FROM event_block"] {
        seed.run(statement).await;
    }
    seed.settle().await;
    channels
}

/// The first message of a person, who has the number of the contact of this number.
fn message(company_id: Uuid, channel_id: Uuid, number: u64, at: Timestamp) -> Inbound {
    let person = people::person(number);
    let digits: String = person.phone_number.chars().filter(char::is_ascii_digit).collect();
    let phone = PhoneNumber::parse(&digits).unwrap();
    Inbound {
        id: Uuid::now_v7(),
        company_id,
        channel_id,
        with: ConversationKind::Person,
        peer: PeerKey::of_number(phone),
        others: Vec::new(),
        number: Some(phone),
        user_id: None,
        name: Some(format!("{} {}", person.first_name, person.last_name)),
        provider_id: "first".to_owned(),
        direction: Direction::In,
        kind: "text",
        r#type: Type::MessageReceived,
        target: None,
        at,
        is_past: true,
        is_to_be_read: true,
        window_until: Some(at.plus(Duration::from_secs(24 * 3_600))),
        is_referred: false,
        body: vec![0; 160],
        line: Vec::new(),
        answer: None,
        is_kept: true,
        file: Vec::new(),
    }
}

/// Lets people write, so that the newest conversations have contents that can be shown.
async fn write(service: &Service) {
    let client = Client::new();
    for turn in 0..WRITTEN {
        let mut messages = String::new();
        for person in 0..PEOPLE {
            let comma = if person > 0 { "," } else { "" };
            let _ = write!(
                messages,
                r#"{comma}{{"from":"5521{:09}","id":"wamid.{person}.{turn}","timestamp":"{}","type":"text","text":{{"body":"Do you have it in blue, and when could it be here? I would come by on Friday. ({turn})"}}}}"#,
                910_000_000 + person,
                Timestamp::now().millis() / 1_000,
            );
        }
        let body = format!(
            r#"{{"object":"whatsapp_business_account","entry":[{{"id":"2","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"15550783881","phone_number_id":"1"}},"messages":[{messages}]}}}}]}}]}}"#
        );
        let post = client.post(service.hook()).header("X-Hub-Signature-256", signature(&body)).body(body);
        assert_eq!(post.send().await.unwrap().status(), 200);
    }
}

/// The bytes of an answer.
async fn ask(client: &Client, service: &Service, session: &str, path: &str) -> usize {
    let request = client.get(format!("http://{}{path}", service.address)).header("accept-encoding", "gzip");
    let request = if path.starts_with("/api/") {
        request.bearer_auth(&service.key)
    } else {
        request.header("cookie", format!("pombo_session={session}"))
    };
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.bytes().await.unwrap().len()
}

/// The lists, searches and threads.
async fn addresses(client: &Client, service: &Service, channel: Uuid) -> Vec<String> {
    let get = async |path: &str| {
        let request = client.get(format!("http://{}{path}", service.address)).bearer_auth(&service.key);
        request.send().await.unwrap().json::<serde_json::Value>().await.unwrap()
    };
    let list = get("/api/v1/conversations").await;
    let open = list["data"][0]["id"].as_str().unwrap();
    let next = list["next_cursor"].as_str().unwrap();
    let thread = get(&format!("/api/v1/conversations/{open}/messages?limit=10")).await;
    let before = thread["previous_cursor"].as_str().unwrap();
    let tags = get("/api/v1/contacts/tags").await;
    let tag = tags["data"][0]["id"].as_str().unwrap();
    let searches =
        ["search=quiteria", "search=a", "search=wexford", "search=xqxqxq", "search=551190077", "search=0077"];
    let console = ["", "view=unread", "view=mine", "view=unassigned", "view=closed", "view=groups"];
    let (by_channel, by_tag) = (format!("channel={channel}"), format!("tag={tag}"));
    let console = console.into_iter().chain(searches).chain([by_channel.as_str(), by_tag.as_str()]);
    let mut all: Vec<_> = console.map(|query| format!("/console/inbox?{query}")).collect();
    all.push(format!("/console/inbox/{open}"));
    all.push(format!("/console/inbox/{open}?search=quiteria"));
    let (by_channel, by_tag) = (format!("channel_id={channel}"), format!("contact_tag_id={tag}"));
    let after = format!("cursor={next}");
    let api = ["", "unread=true", "state=closed", "assigned_to=nobody", &by_channel, &by_tag, &after];
    all.extend(api.into_iter().chain(searches).map(|query| format!("/api/v1/conversations?{query}")));
    all.push(format!("/api/v1/conversations/{open}/messages"));
    all.push(format!("/api/v1/conversations/{open}/messages?limit=10&before={before}"));
    all
}
