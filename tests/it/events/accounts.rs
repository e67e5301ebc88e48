//! The accounts and permissions of the documents: what nodes say and the events that others read are apart.

use std::fs;
use std::time::Duration;

use async_nats::jetstream::{self, consumer};
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt as _;
use pombo::config::Config;
use pombo::connector::nats::{Carries, Nats, Outgoing, Published, Reply};
use pombo::domain::secret::Secret;
use tempfile::TempDir;

use super::server::{NatsServer, options};
use crate::running::until;

/// A server with the configuration of the documents, and the passwords `nodes`, `publisher` and `reader`.
async fn documented() -> (NatsServer, TempDir) {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/events.md")).unwrap();
    let (_, rest) = text.split_once("<!-- A test starts a server with this. -->\n```text\n").unwrap();
    let (mut block, _) = rest.split_once("```").map(|(block, rest)| (block.to_owned(), rest)).unwrap();
    for user in ["nodes", "publisher", "reader"] {
        block = block.replace(&format!("${}_PASSWORD", user.to_uppercase()), user);
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nats.conf");
    fs::write(&file, block).unwrap();
    (NatsServer::start_with(&["-c", file.to_str().unwrap()]).await, directory)
}

fn address(server: &NatsServer, user: &str) -> String {
    server.url().replace("nats://", &format!("nats://{user}:{user}@"))
}

async fn client(server: &NatsServer, user: &str) -> Client {
    let options = ConnectOptions::with_user_and_password(user.to_owned(), user.to_owned());
    options.connect(server.url()).await.unwrap()
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn with_the_permissions_of_the_documents_nodes_speak_and_events_are_published_and_read() {
    let (server, _directory) = documented().await;
    let mut config = Config { nats: options(&address(&server, "nodes")), ..Config::default() };
    config.events.url = Some(Secret::new(address(&server, "publisher")));
    let own = config.events.own_nats(&config.nats).unwrap();
    let cluster = Some("production");
    let nodes = Nats::connect(&config.nats, cluster).await.unwrap().unwrap();
    let events = Nats::connect_to_carry(Carries::Events, &own, cluster).await.unwrap().unwrap();
    until("both connections", async || nodes.is_connected() && events.is_connected()).await;

    // A question and its answer.
    let mut owned = nodes.subscribe("channel.7.*").await.unwrap();
    let mut replies = nodes.ask("channel.7.limits", b"?".to_vec()).await.unwrap();
    owned.next().await.unwrap().reply.unwrap().give(b"!".to_vec()).await.unwrap();
    let reply = replies.next().await.unwrap();
    assert_eq!(reply, Reply::Said(b"!".to_vec()));

    // The stream is made, takes an event, and the reader reads it.
    let stream = events.events(&config.events);
    stream.prepare().await.unwrap();
    let event =
        Outgoing { subject: "company.message.sent".to_owned(), id: "1".to_owned(), body: b"{}".to_vec() };
    assert_eq!(stream.publish(vec![event]).await, [Published::Taken]);
    let reader = client(&server, "reader").await;
    let context = jetstream::new(reader.clone());
    let read = context.get_stream("POMBO_EVENTS").await.unwrap();
    let durable = consumer::pull::Config { durable_name: Some("reader".to_owned()), ..Default::default() };
    let mut messages = read.create_consumer(durable).await.unwrap().messages().await.unwrap();
    let message = messages.next().await.unwrap().unwrap();
    assert_eq!(message.subject.as_str(), "pombo.production.events.company.message.sent");
    message.double_ack().await.unwrap();
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn who_reads_events_can_neither_hear_nodes_nor_speak_to_them_nor_write_events() {
    let (server, _directory) = documented().await;
    let nodes =
        Nats::connect(&options(&address(&server, "nodes")), Some("production")).await.unwrap().unwrap();
    until("a connection", async || nodes.is_connected()).await;
    let mut owned = nodes.subscribe("channel.7.*").await.unwrap();
    let publisher = options(&address(&server, "publisher"));
    let publisher = Nats::connect(&publisher, Some("production")).await.unwrap().unwrap();
    let stream = publisher.events(&Config::default().events);
    until("the stream", async || stream.prepare().await.is_ok()).await;
    for user in ["reader", "publisher"] {
        let stranger = client(&server, user).await;
        let mut heard = stranger.subscribe("pombo.>").await.unwrap();
        let subject = "pombo.production.channel.7.unlink";
        stranger.publish_with_reply(subject, "pombo.production.answer.x", "{}".into()).await.unwrap();
        if user == "reader" {
            stranger.publish("pombo.production.events.company.message.sent", "{}".into()).await.unwrap();
        }
        // The server has refused all of it once it answers this.
        stranger.flush().await.unwrap();
        let mut replies = nodes.ask("channel.7.limits", b"?".to_vec()).await.unwrap();
        let question = owned.next().await.unwrap();
        assert_eq!(question.name, "limits", "a stranger's message came first");
        question.reply.unwrap().give(b"!".to_vec()).await.unwrap();
        replies.next().await.unwrap();
        stranger.flush().await.unwrap();
        let unheard = futures_util::FutureExt::now_or_never(heard.next());
        assert!(unheard.is_none_or(|ended| ended.is_none()), "{user} heard the nodes");
    }
    let reader = jetstream::new(client(&server, "reader").await);
    let stream = reader.get_stream("POMBO_EVENTS").await.unwrap();
    assert_eq!(stream.cached_info().state.messages, 0, "the reader wrote an event");
    // What is refused gets no answer.
    let hasty = jetstream::context::ContextBuilder::new().timeout(Duration::from_millis(200));
    assert!(hasty.build(client(&server, "reader").await).delete_stream("POMBO_EVENTS").await.is_err());
    assert!(reader.get_stream("POMBO_EVENTS").await.is_ok());
}
