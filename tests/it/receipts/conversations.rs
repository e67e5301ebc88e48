//! Conversations over HTTP: listed, read, answered, dealt with, exported and erased.

use pombo::accounts::{Email, Role};
use pombo::clock::Timestamp;
use pombo::domain::page::PageRequest;
use pombo::domain::phone::PhoneNumber;
use pombo::store::changes::{Filter, What, Who};
use pombo::store::users::NewUser;
use reqwest::Method;
use serde_json::{Value, json};

use super::teller::Teller;
use crate::database::{Universe, stores};
use crate::harness::Answer;
use crate::running::{NUMBER, Running, until};
use crate::scenarios::stage::template;

stores!(
    conversations_are_listed_by_filters_and_read_in_both_directions,
    an_answer_goes_once_quotes_and_needs_an_open_window,
    people_see_that_messages_were_read_and_that_somebody_types,
    a_conversation_is_assigned_closed_noted_and_opened_again,
    what_a_person_wrote_is_exported_and_erased_by_the_contact,
    a_send_says_how_many_answered_it_and_who,
    a_conversation_shows_the_text_that_its_person_got,
);

const ANA: &str = "5511900000001";
const BEA: &str = "5511900000002";
const LID: &str = "200000000000001@lid";
const USER: &str = "BR.13491208655302741918";
const LIST: &str = "/api/v1/conversations";
const HOUR: i64 = 3_600;

/// A text by this person, some seconds ago.
async fn writes(running: &Running, (number, name): (&str, &str), (id, text): (&str, &str), ago: i64) {
    let at = Timestamp::now().millis() / 1_000 - ago;
    let message = json!({
        "from": number, "id": id, "timestamp": at.to_string(), "type": "text", "text": { "body": text },
    });
    let contact = json!({ "profile": { "name": name }, "wa_id": number });
    let value = json!({ "contacts": [contact], "messages": [message] });
    let told = Teller::new(running).tell(running.channel, NUMBER, &value).await;
    assert_eq!(told.status, 200, "{}", told.body);
}

async fn get(running: &Running, path: &str) -> Value {
    let answer = running.ask(Method::GET, path, &Value::Null).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

async fn post(running: &Running, path: &str, body: Value) -> Answer {
    running.ask(Method::POST, path, &body).await
}

/// The path of the only conversation.
async fn only(running: &Running) -> String {
    let listed = get(running, LIST).await;
    let [one] = &listed["data"].as_array().unwrap()[..] else { panic!("{listed}") };
    format!("{LIST}/{}", one["id"].as_str().unwrap())
}

fn names(listed: &Value) -> Vec<&str> {
    listed["data"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

fn ids(page: &Value) -> Vec<&str> {
    let messages = page["data"].as_array().unwrap().iter();
    messages.map(|message| message["provider_id"].as_str().unwrap()).collect()
}

async fn conversations_are_listed_by_filters_and_read_in_both_directions(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    writes(&running, (ANA, "Ana"), ("wamid.1", "olá"), 30).await;
    writes(&running, (ANA, "Ana"), ("wamid.2", "where is it?"), 20).await;
    writes(&running, (BEA, "Bea"), ("wamid.3", "hi"), 10).await;
    let first = get(&running, &format!("{LIST}?limit=1")).await;
    assert_eq!(names(&first), ["Bea"]);
    let next = first["next_cursor"].as_str().unwrap();
    let second = get(&running, &format!("{LIST}?limit=1&cursor={next}")).await;
    assert_eq!((names(&second), second.get("next_cursor")), (vec!["Ana"], None));
    let ana = &second["data"][0];
    assert_eq!((&ana["unread"], &ana["phone_number"]), (&json!(2), &json!(format!("+{ANA}"))));
    let last = json!({ "direction": "in", "type": "text", "line": "where is it?" });
    assert_eq!(ana["last_message"], last);
    let channel = running.channel;
    for (query, found) in [
        ("search=an".to_owned(), vec!["Ana"]),
        (format!("search={}", &BEA[5..]), vec!["Bea"]),
        ("search=nobody".to_owned(), vec![]),
        ("unread=true&state=open&assigned_to=nobody".to_owned(), vec!["Bea", "Ana"]),
        ("state=closed".to_owned(), vec![]),
        ("groups=true".to_owned(), vec![]),
        (format!("channel_id={channel}"), vec!["Bea", "Ana"]),
    ] {
        assert_eq!(names(&get(&running, &format!("{LIST}?{query}")).await), found, "{query}");
    }
    for (query, code) in [
        ("cursor=x", "invalid_pagination"),
        ("state=done", "invalid_field"),
        ("assigned_to=nobody@example.com", "invalid_field"),
        ("contact_tag_id=0190a0c4-7c1b-7f00-8f4e-2a9f54b2c001", "invalid_field"),
    ] {
        let refused = running.ask(Method::GET, &format!("{LIST}?{query}"), &Value::Null).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some(code)), "{query}");
    }

    let thread = format!("{LIST}/{}/messages", ana["id"].as_str().unwrap());
    let latest = get(&running, &format!("{thread}?limit=1")).await;
    assert_eq!(ids(&latest), ["wamid.2"]);
    assert_eq!(latest["data"][0]["received"]["content"], json!({ "type": "text", "body": "where is it?" }));
    let before = latest["previous_cursor"].as_str().unwrap();
    let earlier = get(&running, &format!("{thread}?before={before}")).await;
    assert_eq!((ids(&earlier), earlier.get("previous_cursor")), (vec!["wamid.1"], None));
    let after = latest["next_cursor"].as_str().unwrap();
    let later = format!("{thread}?after={after}");
    assert_eq!(get(&running, &later).await["data"], json!([]));
    writes(&running, (ANA, "Ana"), ("wamid.4", "hello?"), 0).await;
    assert_eq!(ids(&get(&running, &later).await), ["wamid.4"]);
    let both = running.ask(Method::GET, &format!("{later}&before={before}"), &Value::Null).await;
    assert_eq!(both.code().as_deref(), Some("invalid_pagination"));
    running.end().await;
}

async fn an_answer_goes_once_quotes_and_needs_an_open_window(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    writes(&running, (ANA, "Ana"), ("wamid.1", "where is it?"), 5).await;
    let conversation = only(&running).await;
    let path = format!("{conversation}/messages");
    let body = json!({ "type": "text", "message": "on its way", "reply_to": "wamid.1", "phone_number": BEA });
    let first = running.ask_once(&path, "once", &body).await;
    let again = running.ask_once(&path, "once", &body).await;
    assert_eq!((first.status, again.status), (202, 202), "{} {}", first.body, again.body);
    assert_eq!((&first.body, again.header("idempotency-replayed")), (&again.body, "true"));
    assert_eq!(first.json()["ignored"], json!(["phone_number"]), "the conversation says to whom it goes");
    running.settled(1).await;
    let sent = running.simulator.messages(0, 9);
    let [sent] = &sent[..] else { panic!("{sent:?}") };
    let sent_body = sent.body.as_ref().unwrap();
    assert_eq!((sent.to.as_str(), &sent_body["context"]["message_id"]), (ANA, &json!("wamid.1")));
    let thread = get(&running, &path).await;
    let own = &thread["data"][1];
    assert_eq!((&own["direction"], &own["id"]), (&json!("out"), &first.json()["send_id"]));
    assert_eq!(own["sent"]["content"]["message"], "on its way");
    assert_eq!((&own["sent"]["is_bulk"], &own["sent"]["message"]["state"]), (&json!(false), &json!("sent")));
    let listed = get(&running, &conversation).await;
    assert_eq!((&listed["unread"], &listed["last_message"]["direction"]), (&json!(0), &json!("out")));

    writes(&running, (BEA, "Bea"), ("wamid.9", "hi"), 30 * HOUR).await;
    let bea = get(&running, &format!("{LIST}?search=bea")).await["data"][0].clone();
    assert_eq!(bea["window_until"], Value::Null);
    let rule = format!("/api/v1/chat/{}/window-rule", running.channel);
    assert_eq!(get(&running, &rule).await["rule"], "auto");
    let wrong = running.ask(Method::PUT, &rule, &json!({ "rule": "always" })).await;
    assert_eq!(wrong.code().as_deref(), Some("invalid_field"));
    let set = running.ask(Method::PUT, &rule, &json!({ "rule": "enforce" })).await;
    assert_eq!((set.status, &set.json()["is_enforced"]), (200, &json!(true)), "{}", set.body);
    let to_bea = format!("{LIST}/{}/messages", bea["id"].as_str().unwrap());
    let closed = post(&running, &to_bea, json!({ "type": "text", "message": "hi" })).await;
    assert_eq!((closed.status, closed.code().as_deref()), (409, Some("window_closed")), "{}", closed.body);

    let hello = template(&running, "hello_world").await;
    let either = json!({
        "type": "text", "message": "hi", "template_instead": { "template_id": hello, "components": [] },
    });
    for to in [&to_bea, &path] {
        let accepted = post(&running, to, either.clone()).await;
        assert_eq!(accepted.status, 202, "{}", accepted.body);
    }
    running.settled(3).await;
    let sent = running.simulator.messages(0, 9);
    let types = |to: &str| {
        let bodies = sent.iter().filter(|sent| sent.to == to).map(|sent| sent.body.as_ref().unwrap());
        bodies.map(|body| body["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((types(BEA), types(ANA)), (vec!["template".to_owned()], vec!["text".to_owned(); 2]));
    running.end().await;
}

async fn people_see_that_messages_were_read_and_that_somebody_types(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    writes(&running, (ANA, "Ana"), ("wamid.1", "hi"), 9).await;
    writes(&running, (ANA, "Ana"), ("wamid.2", "hi?"), 5).await;
    let conversation = only(&running).await;
    let signs = || {
        let signs = running.simulator.signs().into_iter();
        signs.map(|sign| (sign.kind, sign.messages.concat())).collect::<Vec<_>>()
    };
    let read = format!("{conversation}/read");
    let quiet = post(&running, &read, json!({ "tell": false })).await;
    assert_eq!((quiet.status, &quiet.json()["unread"]), (200, &json!(0)), "{}", quiet.body);
    let unread = post(&running, &format!("{conversation}/unread"), Value::Null).await;
    assert_eq!((&unread.json()["unread"], signs()), (&json!(1), vec![]));
    // The channel may still be connecting.
    until("the person is told", async || post(&running, &read, Value::Null).await.status == 200).await;
    assert_eq!(signs(), [("read", "wamid.2".to_owned())]);
    assert_eq!(get(&running, &conversation).await["unread"], 0);
    let typing = post(&running, &format!("{conversation}/typing"), json!({})).await;
    assert_eq!(typing.status, 204, "{}", typing.body);
    let shown = [("read", "wamid.2"), ("read", "wamid.2"), ("typing", "wamid.2")];
    assert_eq!(signs(), shown.map(|(kind, id)| (kind, id.to_owned())));
    let ended = post(&running, &format!("{conversation}/typing"), json!({ "typing": false })).await;
    assert_eq!((ended.status, signs().len()), (204, 3), "it ends by itself");
    // The company hides read marks; a request with `tell` sends one nevertheless.
    let answers = "/api/v1/automatic-answers";
    let hidden = running.ask(Method::PUT, answers, &json!({ "read_marks": false })).await;
    assert_eq!(hidden.status, 200, "{}", hidden.body);
    assert_eq!((post(&running, &read, Value::Null).await.status, signs().len()), (200, 3));
    let id = conversation.rsplit('/').next().unwrap().parse().unwrap();
    running.conversations().show_typing_as_chosen(id).await.unwrap();
    assert_eq!(signs().len(), 3, "typing would show that the messages were read");
    let told = post(&running, &read, json!({ "tell": true })).await;
    assert_eq!((told.status, signs().len()), (200, 4), "{}", told.body);
    let wrong = post(&running, &read, json!({ "up_to": "now" })).await;
    assert_eq!(wrong.code().as_deref(), Some("invalid_field"));
    running.end().await;
}

async fn a_conversation_is_assigned_closed_noted_and_opened_again(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let email = Email::parse("rui@example.com").unwrap();
    let reader = Email::parse("lia@example.com").unwrap();
    let new = NewUser {
        email: &email,
        name: "Rui",
        password: None,
        language: None,
        time_zone: None,
        is_operator: false,
        membership: Some((running.company, Role::Member)),
        vouched_by: None,
    };
    let reads = NewUser { email: &reader, membership: Some((running.company, Role::Viewer)), ..new.clone() };
    running.store.users().add(&Who::Pombo, reads).await.unwrap();
    let user = running.store.users().add(&Who::Pombo, new).await.unwrap();
    writes(&running, (ANA, "Ana"), ("wamid.1", "hi"), 9).await;
    let conversation = only(&running).await;
    let assign = format!("{conversation}/assign");
    let stranger = post(&running, &assign, json!({ "user": "eva@example.com" })).await;
    assert_eq!((stranger.status, stranger.code().as_deref()), (404, Some("user_not_found")));
    let assigned = post(&running, &assign, json!({ "user": "Rui@example.com" })).await;
    let assignee = json!({ "user_id": user.id, "email": "rui@example.com" });
    assert_eq!((assigned.status, &assigned.json()["assigned_to"]), (200, &assignee), "{}", assigned.body);
    assert_eq!(names(&get(&running, &format!("{LIST}?assigned_to=rui@example.com")).await), ["Ana"]);
    assert_eq!(names(&get(&running, &format!("{LIST}?assigned_to=nobody")).await), [""; 0]);
    let viewer = post(&running, &assign, json!({ "user": "lia@example.com" })).await;
    assert_eq!(
        (viewer.status, viewer.code().as_deref()),
        (409, Some("user_cannot_answer")),
        "{}",
        viewer.body
    );
    assert_eq!(viewer.json()["param"], "user");
    let freed = post(&running, &assign, json!({ "user": null })).await;
    assert_eq!(freed.json()["assigned_to"], Value::Null);
    // Who loses the right to answer, loses the conversations.
    let members = running.store.of(running.company).members();
    for what in ["viewer", "disabled"] {
        assert_eq!(post(&running, &assign, json!({ "user": user.id })).await.status, 200, "{what}");
        if what == "viewer" {
            members.set_role(&Who::Pombo, &user, Role::Viewer).await.unwrap();
        } else {
            running.store.users().set_disabled(&Who::Pombo, &user, true).await.unwrap();
        }
        assert_eq!(get(&running, &conversation).await["assigned_to"], Value::Null, "{what}");
        members.set_role(&Who::Pombo, &user, Role::Agent).await.unwrap();
    }
    let disabled = post(&running, &assign, json!({ "user": user.id })).await;
    assert_eq!((disabled.status, disabled.code().as_deref()), (409, Some("user_cannot_answer")));

    let closed = post(&running, &format!("{conversation}/close"), Value::Null).await.json();
    assert_eq!((&closed["state"], &closed["unread"]), (&json!("closed"), &json!(0)));
    let opened = post(&running, &format!("{conversation}/reopen"), Value::Null).await.json();
    assert_eq!(opened["state"], "open");
    post(&running, &format!("{conversation}/close"), Value::Null).await;
    writes(&running, (ANA, "Ana"), ("wamid.2", "still there?"), 0).await;
    assert_eq!(get(&running, &conversation).await["state"], "open", "a message opens it again");

    let notes = format!("{conversation}/notes");
    let note = post(&running, &notes, json!({ "text": " the blue one " })).await;
    assert_eq!((note.status, &note.json()["text"]), (201, &json!("the blue one")), "{}", note.body);
    assert_eq!(note.json()["author"], "key:test");
    let own = format!("{notes}/{}", note.json()["id"].as_str().unwrap());
    let changed = running.ask(Method::PATCH, &own, &json!({ "text": "the red one" })).await.json();
    assert_eq!(get(&running, &notes).await["data"], json!([changed]));
    assert_eq!(running.ask(Method::DELETE, &own, &Value::Null).await.status, 204);
    assert_eq!(
        running.ask(Method::DELETE, &own, &Value::Null).await.code().as_deref(),
        Some("note_not_found")
    );
    assert_eq!(get(&running, &notes).await["data"], json!([]));
    running.end().await;
}

async fn what_a_person_wrote_is_exported_and_erased_by_the_contact(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    for (id, text) in [("wamid.1", "one"), ("wamid.2", "two")] {
        writes(&running, (ANA, "Ana"), (id, text), 9).await;
    }
    writes(&running, (BEA, "Bea"), ("wamid.3", "three"), 5).await;
    // She also wrote while her number was hidden.
    let at = (Timestamp::now().millis() / 1_000 - 20).to_string();
    for (user, name, id, text) in [(LID, "A.", "wamid.4", "four"), (USER, "B.", "wamid.5", "five")] {
        let hidden = json!({
            "contacts": [{ "profile": { "name": name }, "user_id": user }],
            "messages": [{
                "from_user_id": user, "id": id, "timestamp": at, "type": "text", "text": { "body": text },
            }],
        });
        assert_eq!(Teller::new(&running).tell(running.channel, NUMBER, &hidden).await.status, 200);
    }
    // Another channel was told whose id this is.
    let known = [(USER.to_owned(), PhoneNumber::parse(ANA).unwrap())];
    running.store.of(running.company).persons().keep_users(&known).await.unwrap();
    let contact = json!({ "first_name": "Ana", "phone_number": format!("+{ANA}"), "phone_number_lid": LID });
    let contacts = json!({ "contacts": [contact] });
    let written = post(&running, "/api/v1/contacts/batch", contacts).await.json();
    let contact = format!("/api/v1/contacts/{}", written["results"][0]["id"].as_str().unwrap());
    let path = format!("{contact}/conversations");
    let found = get(&running, &path).await;
    let mut found = names(&found);
    found.sort_unstable();
    assert_eq!(found, ["A.", "Ana", "B."]);
    let request = running.request(Method::GET, &path).header("accept", "application/x-ndjson");
    let exported = Answer::to(request).await;
    assert_eq!(exported.status, 200, "{}", exported.body);
    let lines: Vec<Value> = exported.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut texts: Vec<_> = lines.iter().map(|line| line["received"]["content"]["body"].clone()).collect();
    texts.sort_by_key(ToString::to_string);
    assert_eq!(texts, ["five", "four", "one", "two"]);
    for _ in 0..2 {
        assert_eq!(running.ask(Method::DELETE, &path, &Value::Null).await.status, 204);
        assert_eq!(get(&running, &path).await["data"], json!([]));
    }
    assert_eq!(names(&get(&running, LIST).await), ["Bea"]);
    // Once, because the second time erased nothing; and nothing of what she wrote.
    let (filter, all) =
        (Filter { what: &[What::Contacts], ..Filter::default() }, PageRequest { page: 1, limit: 9 });
    let recorded = running.store.changes().page(filter, all).await.unwrap().records;
    let erased: Vec<_> =
        recorded.iter().filter(|change| change.after["erased_messages"] != Value::Null).collect();
    let [erased] = &erased[..] else { panic!("{recorded:?}") };
    let id = contact.rsplit('/').next().unwrap();
    let expected = json!({ "contact": id, "erased_conversations": 3, "erased_messages": 4 });
    assert_eq!((erased.who.as_str(), &erased.after), ("key:test", &expected));
    assert_eq!(get(&running, &contact).await["first_name"], "Ana", "the contact stays");
    running.end().await;
}

async fn a_send_says_how_many_answered_it_and_who(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let contact =
        |(number, name): (&str, &str)| json!({ "first_name": name, "phone_number": format!("+{number}") });
    let both = [(ANA, "Ana"), (BEA, "Bea")].map(contact);
    let contacts = json!({ "contacts": both });
    assert_eq!(post(&running, "/api/v1/contacts/batch", contacts).await.status, 200);
    let body = json!({ "type": "text", "message": "Shall we?", "phone_number": [ANA, BEA] });
    let (status, sent) = running.send(&body).await;
    assert_eq!(status, 202, "{sent}");
    running.settled(2).await;
    for id in ["wamid.1", "wamid.2", "wamid.1"] {
        writes(&running, (ANA, "Ana"), (id, "yes"), 0).await;
    }
    let send = sent["send_id"].as_str().unwrap();
    let shown = get(&running, &format!("/api/v1/sends/{send}")).await;
    assert_eq!((&shown["counts"]["sent"], &shown["answered_count"]), (&json!(2), &json!(1)), "{shown}");
    for (outcome, name) in [("answered", "Ana"), ("not_answered", "Bea")] {
        let found = get(&running, &format!("/api/v1/contacts?send_id={send}&send_outcome={outcome}")).await;
        let names: Vec<_> = found["data"].as_array().unwrap().iter().map(|one| &one["first_name"]).collect();
        assert_eq!(names, [name], "{outcome}: {found}");
    }
    running.end().await;
}

async fn a_conversation_shows_the_text_that_its_person_got(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    writes(&running, (ANA, "A."), ("wamid.1", "hi"), 9).await;
    let contacts = json!({ "contacts": [{ "first_name": "Ana", "phone_number": format!("+{ANA}") }] });
    assert_eq!(post(&running, "/api/v1/contacts/batch", contacts).await.status, 200);
    let text = |text: &str| json!({ "type": "text", "text": text });
    let values = [text("{{contact.first_name}}"), text("{{contact.last_name|A-1}}")];
    let body = json!({
        "type": "template",
        "template_id": template(&running, "order_update").await,
        "components": [{ "type": "body", "parameters": values }],
        "contact_fields": true,
        "phone_number": ANA,
    });
    let (status, sent) = running.send(&body).await;
    assert_eq!(status, 202, "{sent}");
    running.settled(1).await;
    let thread = get(&running, &format!("{}/messages", only(&running).await)).await;
    let content = &thread["data"][1]["sent"]["content"];
    assert_eq!(content["components"][0]["parameters"], json!([text("Ana"), text("A-1")]), "{thread}");
    running.end().await;
}
