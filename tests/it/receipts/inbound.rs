//! What people write, through the real surface: each message once, readable again, and the window that it opens.

use pombo::clock::Timestamp;
use pombo::domain::content::Content;
use pombo::domain::inbound::{ConversationState, InboundContent, WindowRule};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::request::RequestedContent;
use pombo::domain::send::Label;
use pombo::engine::Whom;
use pombo::engine::conversations::types::ConversationFilter;
use pombo::engine::conversations::{ListedConversation, Thread, ThreadEntry, ThreadFrom, WrittenEntry};
use pombo::store::changes::Who;
use serde_json::{Value, json};
use std::time::Duration;

use super::teller::{Teller, heard, rows, status};
use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};

stores!(
    what_a_person_writes_is_read_again_however_often_it_comes_and_over_a_restart,
    reactions_edits_and_deletions_are_shown_at_their_message,
    a_closed_window_refuses_a_direct_send_and_skips_people_of_a_bulk_send,
    a_provider_that_refuses_a_message_closes_the_window,
    an_answer_quotes_and_stands_in_the_thread,
    without_an_inbox_events_alone_have_what_people_write,
    notes_are_read_by_all_and_changed_by_their_authors,
    what_a_person_wrote_goes_with_the_contact,
);

const ANA: &str = "5511900000001";

fn now() -> i64 {
    Timestamp::now().millis() / 1_000
}

/// A text of hers.
fn text(id: &str, body: &str, at: i64) -> Value {
    json!({ "from": ANA, "id": id, "timestamp": at.to_string(), "type": "text", "text": { "body": body } })
}

async fn tell(running: &Running, messages: &[Value]) {
    let contacts = json!([{ "profile": { "name": "Ana" }, "wa_id": ANA }]);
    let value = json!({ "contacts": contacts, "messages": messages });
    let told = Teller::new(running).tell(running.channel, NUMBER, &value).await;
    assert_eq!(told.status, 200, "{}", told.body);
}

/// The only conversation.
async fn only(running: &Running) -> ListedConversation {
    let found = running.conversations().list(ConversationFilter::default(), None, 9).await.unwrap();
    assert_eq!((found.conversations.len(), found.next), (1, None));
    found.conversations.into_iter().next().unwrap()
}

async fn thread(running: &Running) -> Thread {
    let id = only(running).await.conversation.id;
    running.conversations().thread(id, ThreadFrom::Latest, 50).await.unwrap()
}

/// What she wrote.
async fn written(running: &Running) -> Vec<WrittenEntry> {
    let entries = thread(running).await.entries.into_iter();
    let written = entries.filter_map(|entry| match entry {
        ThreadEntry::Written(written) => Some(*written),
        ThreadEntry::Own(_) => None,
    });
    written.collect()
}

fn body(entry: &WrittenEntry) -> Option<&InboundContent> {
    entry.body.as_ref().map(|body| &body.content)
}

fn says(body: &str) -> InboundContent {
    InboundContent::Text { body: body.to_owned() }
}

async fn what_a_person_writes_is_read_again_however_often_it_comes_and_over_a_restart(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let (first, second) = (text("wamid.1", "olá \u{0} 🕊", now() - 2), text("wamid.2", "more", now() - 1));
    for _ in 0..2 {
        tell(&running, &[second.clone(), first.clone(), second.clone()]).await;
    }
    running.restart().await;
    tell(&running, &[first]).await;
    assert_eq!(heard(universe).await.len(), 2);
    let listed = only(&running).await;
    assert_eq!((listed.line.as_deref(), listed.conversation.unread), (Some("more"), 2));
    assert_eq!(listed.conversation.name.as_deref(), Some("Ana"));
    let written = written(&running).await;
    let bodies: Vec<_> = written.iter().map(body).collect();
    assert_eq!(bodies, [Some(&says("olá  🕊")), Some(&says("more"))]);
    // Nothing of it can be read in the database.
    let stored = running.store.of(running.company).conversations();
    let kept = stored.messages_before(listed.conversation.id, None, 9).await.unwrap();
    assert!(kept.iter().all(|message| !String::from_utf8_lossy(&message.content).contains("more")));
    running.end().await;
}

async fn reactions_edits_and_deletions_are_shown_at_their_message(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let change = |id: &str, fields: Value| {
        let mut message = json!({ "from": ANA, "id": id, "timestamp": now().to_string() });
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        message
    };
    let edit = json!({ "type": "edit", "edit": { "original_message_id": "wamid.1",
        "message": { "type": "text", "text": { "body": "now" } } } });
    // The changes come before what they change.
    tell(&running, &[change("wamid.3", edit)]).await;
    tell(&running, &[text("wamid.1", "then", now() - 9), text("wamid.2", "gone", now() - 8)]).await;
    let reaction = json!({ "type": "reaction", "reaction": { "message_id": "wamid.1", "emoji": "👍" } });
    let revoked = json!({ "type": "revoke", "revoke": { "original_message_id": "wamid.2" } });
    tell(&running, &[change("wamid.4", reaction), change("wamid.5", revoked)]).await;
    let written = written(&running).await;
    let [one, two] = &written[..] else { panic!("{written:?}") };
    assert_eq!((body(one), one.edited_at.is_some()), (Some(&says("now")), true));
    assert_eq!(one.reactions.iter().map(|reaction| reaction.emoji.as_str()).collect::<Vec<_>>(), ["👍"]);
    assert_eq!((body(two), two.deleted_at.is_some()), (None, true));
    running.end().await;
}

fn free(to: &Value) -> Value {
    json!({ "type": "text", "message": "hi", "phone_number": to })
}

async fn a_closed_window_refuses_a_direct_send_and_skips_people_of_a_bulk_send(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let stranger = "5511900000002";
    tell(&running, &[text("wamid.1", "hi", now())]).await;
    assert_eq!(running.send(&free(&json!(stranger))).await.0, 202, "nobody knows who wrote before");
    let who = Who::CommandLine("ana".to_owned());
    running.conversations().set_window_rule(&who, running.channel, WindowRule::Enforce).await.unwrap();
    assert_eq!(running.send(&free(&json!(ANA))).await.0, 202);
    let (status, answer) = running.send(&free(&json!(stranger))).await;
    assert_eq!((status, &answer["code"]), (409, &json!("window_closed")), "{answer}");
    let both = free(&json!([ANA, stranger]));
    let (status, answer) = running.send(&both).await;
    assert_eq!((status, &answer["recipients_count"]), (202, &json!(1)), "{answer}");
    assert_eq!(answer["skipped"][0]["code"], "window_closed", "{answer}");
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", running.channel);
    let planned = running.ask(reqwest::Method::POST, &path, &both).await.json();
    assert_eq!(
        (&planned["recipients_count"], &planned["skipped_count"]),
        (&json!(1), &json!(1)),
        "{planned}"
    );
    running.end().await;
}

async fn a_provider_that_refuses_a_message_closes_the_window(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    tell(&running, &[text("wamid.1", "hi", now())]).await;
    assert_eq!(running.send(&free(&json!(ANA))).await.0, 202);
    running.settled(1).await;
    let open = only(&running).await.conversation.window_until.unwrap();
    assert!(open > Timestamp::now().plus(Duration::from_secs(3_600)));
    let refused = status(&rows(universe).await[0], "failed", Some(131_047));
    let told = json!({ "statuses": [refused] });
    assert_eq!(Teller::new(&running).tell(running.channel, NUMBER, &told).await.status, 200);
    let closed = only(&running).await.conversation.window_until.unwrap();
    assert!(closed <= Timestamp::now(), "{closed}");
    // Her next message opens it again.
    tell(&running, &[text("wamid.2", "still here", now() + 1)]).await;
    assert!(only(&running).await.conversation.window_until.unwrap() > Timestamp::now());
    running.end().await;
}

async fn an_answer_quotes_and_stands_in_the_thread(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    tell(&running, &[text("wamid.1", "where is it?", now() - 5)]).await;
    let id = only(&running).await.conversation.id;
    let content = Content::Text { body: "on its way".to_owned(), preview_url: None };
    let quotes = Some("wamid.1".to_owned());
    let conversations = running.conversations();
    let ready = RequestedContent::Ready(content.clone());
    let accepted = conversations.reply(id, ready, quotes, Label::default(), None).await.unwrap();
    running.settled(1).await;
    let listed = only(&running).await;
    assert_eq!((listed.line.as_deref(), listed.conversation.unread), (Some("on its way"), 0));
    until("the answer sent", async || rows(universe).await[0].provider_message_id.is_some()).await;
    let thread = thread(&running).await;
    let [ThreadEntry::Written(_), ThreadEntry::Own(own)] = &thread.entries[..] else { panic!("{thread:?}") };
    assert_eq!((own.message.send_id, own.is_bulk), (accepted.send_id, false));
    assert_eq!(own.content.as_ref(), Some(&content));
    // She reacts to it.
    let to = rows(universe).await[0].provider_message_id.clone().unwrap();
    let reaction = json!({ "from": ANA, "id": "wamid.2", "timestamp": now().to_string(), "type": "reaction",
        "reaction": { "message_id": to, "emoji": "🙏" } });
    tell(&running, &[reaction]).await;
    let last = conversations.thread(id, ThreadFrom::Latest, 1).await.unwrap();
    let [ThreadEntry::Own(own)] = &last.entries[..] else { panic!("{last:?}") };
    assert_eq!(own.reactions[0].emoji, "🙏");
    let earlier = last.earlier.unwrap();
    let before = conversations.thread(id, ThreadFrom::Before(earlier), 9).await.unwrap();
    assert_eq!((before.entries.len(), before.earlier), (1, None));
    let after = conversations.thread(id, ThreadFrom::After(before.later.unwrap()), 9).await.unwrap();
    assert_eq!(after.entries.len(), 1);
    // Closed, until she writes again.
    let who = Who::CommandLine("ana".to_owned());
    conversations.set_state(&who, id, ConversationState::Closed).await.unwrap();
    tell(&running, &[text("wamid.3", "thanks", now())]).await;
    assert_eq!(only(&running).await.conversation.state, ConversationState::Open);
    running.end().await;
}

async fn without_an_inbox_events_alone_have_what_people_write(universe: &Universe) {
    let running = Running::start(universe, |config| config.inbox.keep = Duration::ZERO).await;
    let events = async || {
        running.ask(reqwest::Method::GET, "/api/v1/events?types=message.received", &Value::Null).await.json()
    };
    events().await;
    tell(&running, &[text("wamid.1", "a secret", now())]).await;
    let written = written(&running).await;
    assert_eq!((written.len(), body(&written[0])), (1, None));
    assert_eq!(only(&running).await.line, None);
    let told = events().await;
    assert_eq!(told["data"][0]["data"]["message"]["content"], json!({ "type": "text", "body": "a secret" }));
    running.end().await;
}

async fn notes_are_read_by_all_and_changed_by_their_authors(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    tell(&running, &[text("wamid.1", "hi", now())]).await;
    let id = only(&running).await.conversation.id;
    let (ana, bo) = (Who::CommandLine("ana".to_owned()), Who::CommandLine("bo".to_owned()));
    let conversations = running.conversations();
    let note = conversations.add_note(&ana, id, " prefers mornings ").await.unwrap();
    assert!(conversations.add_note(&ana, id, "  ").await.is_err());
    assert!(conversations.edit_note(&bo, (id, note), "no").await.is_err());
    let notes = conversations.notes(id).await.unwrap();
    assert_eq!((notes[0].text.as_deref(), notes[0].author.as_str()), (Some("prefers mornings"), "cli:ana"));
    assert!(conversations.remove_note(&bo, (id, note), false).await.is_err());
    conversations.remove_note(&bo, (id, note), true).await.unwrap();
    running.end().await;
}

async fn what_a_person_wrote_goes_with_the_contact(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let people = json!({ "contacts": [{ "first_name": "Ana", "phone_number": "5511988880001" }] });
    let added = running.ask(reqwest::Method::POST, "/api/v1/contacts/batch", &people).await;
    assert!(added.status < 300, "{}", added.body);
    // WhatsApp knows her by the older form of her number.
    let by =
        |from: &str, id: &str| json!({ "from": from, "id": id, "type": "text", "text": { "body": "hi" } });
    tell(&running, &[by("551188880001", "wamid.1"), by("551188880002", "wamid.2")]).await;
    let who = Who::CommandLine("ana".to_owned());
    let numbers = vec![PhoneNumber::parse("5511988880001").unwrap()];
    let whom = Whom::Named { ids: Vec::new(), numbers };
    assert_eq!(running.engine().contacts().delete(&who, running.company, whom).await.unwrap(), 1);
    assert_eq!(heard(universe).await, ["wamid.2"]);
    assert_eq!(only(&running).await.conversation.peer.as_str(), "5511988880002");
    running.end().await;
}
