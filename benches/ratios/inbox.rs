//! The inbox of a company with a million conversations and ten million messages: lists, threads and searches, in the console
//! and over the API; beside `/healthz`, in turns. `POMBO_BENCH_CONVERSATIONS` is another number of conversations.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use reqwest::Client;
use uuid::Uuid;

use crate::conversations::{self, RARE};
use crate::pages::{Shown, owner, report};
use crate::seed::Seed;
use crate::service::{Ground, Service};
use crate::writers::Writers;
use crate::{Row, dispatch, people};

const CONVERSATIONS: u64 = 1_000_000;
/// Contacts with the numbers of the first conversations.
const CONTACTS: u64 = 100_000;
/// Contacts of a tag whose conversations are not fetched one by one: they are the oldest ones, so that none is found.
const TAGGED: u64 = 20_000;
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
        let count = std::env::var("POMBO_BENCH_CONVERSATIONS").ok().map(|count| count.parse().unwrap());
        let ground = Ground::new(&format!("http://{provider}"), "unlimited", dispatch::CONCURRENCY).await;
        people::add(&ground.store, ground.company, CONTACTS).await;
        let seed = Seed::at(&ground.database.url).await;
        let channels = seed.channels(&ground.vault, ground.company, 100, 5).await;
        conversations::add(&ground, &seed, &channels, count.unwrap_or(CONVERSATIONS)).await;
        let tags = ground.store.of(ground.company).tags();
        let few = tags.ensure(&people::tag(0), None).await.unwrap();
        let many = tags.ensure("Many", None).await.unwrap();
        seed.run(&format!(
            "INSERT INTO contact_tag (tag_id, contact_id, company_id, phone) SELECT {}, id, company_id, phone \
             FROM contact WHERE phone IS NOT NULL LIMIT {TAGGED}",
            seed.uuid(many)
        ))
        .await;
        let service = ground.serve().await;
        let session = owner(&service).await;
        let user = service.accounts.session(&session).await.unwrap().unwrap().user.id;
        seed.run(&format!(
            "UPDATE conversation SET assigned_to = {} WHERE last_at / 2000 % 50 = 7",
            seed.uuid(user)
        ))
        .await;
        seed.settle().await;
        Writers::new(&service, PEOPLE).write_each(WRITTEN).await;
        let client = Client::builder().tcp_nodelay(true).build().unwrap();
        let asked = Asked { channel: channels[1], rare: channels[4], few, many, user };
        let addresses = asked.addresses(&client, &service).await;
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

/// What the filters are of.
struct Asked {
    channel: Uuid,
    /// A channel with the oldest conversations alone.
    rare: Uuid,
    /// A tag with a thousand contacts, and one with more than are looked up.
    few: Uuid,
    many: Uuid,
    user: Uuid,
}

impl Asked {
    /// The lists, searches and threads.
    async fn addresses(&self, client: &Client, service: &Service) -> Vec<String> {
        let Self { channel, rare, few, many, user } = self;
        let get = async |path: &str| {
            let request = client.get(format!("http://{}{path}", service.address)).bearer_auth(&service.key);
            request.send().await.unwrap().json::<serde_json::Value>().await.unwrap()
        };
        let list = get("/api/v1/conversations").await;
        let open: Uuid = list["data"][0]["id"].as_str().unwrap().parse().unwrap();
        let next = list["next_cursor"].as_str().unwrap();
        let thread = get(&format!("/api/v1/conversations/{open}/messages?limit=10")).await;
        let before = thread["previous_cursor"].as_str().unwrap();
        let conversations = service.store.of(service.company).conversations();
        let rare_ones = get(&format!("/api/v1/conversations?channel_id={rare}")).await;
        assert!(
            rare_ones["data"].as_array().unwrap().len() as u64 <= RARE && rare_ones["data"][0].is_object()
        );
        let last = conversations.messages_before(open, None, 10).await.unwrap().pop().unwrap();
        let searches = [
            "search=quiteria",
            "search=quiteria+wexford",
            "search=a",
            "search=wexford",
            "search=xqxqxq",
            "search=551190077",
            "search=0077",
        ];
        let views = ["", "view=unread", "view=mine", "view=unassigned", "view=closed", "view=groups"];
        let filters = [
            format!("channel={channel}"),
            format!("channel={rare}"),
            format!("view=unread&channel={rare}"),
            format!("tag={few}"),
            format!("tag={many}"),
            format!("tag={few}&search=wexford"),
        ];
        let console = views.into_iter().chain(searches).chain(filters.iter().map(String::as_str));
        let mut all: Vec<_> = console.map(|query| format!("/console/inbox?{query}")).collect();
        all.push(format!("/console/inbox/{open}"));
        all.push(format!("/console/inbox/{open}?search=quiteria"));
        all.push(format!("/console/inbox/{open}?before={}.{}", last.at.millis(), last.id));
        let filters = [
            format!("assigned_to={user}"),
            format!("channel_id={channel}"),
            format!("channel_id={rare}"),
            format!("contact_tag_id={few}"),
            format!("contact_tag_id={many}"),
            format!("cursor={next}"),
        ];
        let api = ["", "unread=true", "state=closed", "assigned_to=nobody"].into_iter().chain(searches);
        let api = api.chain(filters.iter().map(String::as_str));
        all.extend(api.map(|query| format!("/api/v1/conversations?{query}")));
        all.push(format!("/api/v1/conversations/{open}/messages"));
        all.push(format!("/api/v1/conversations/{open}/messages?limit=10&before={before}"));
        all
    }
}
