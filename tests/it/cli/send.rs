//! Sends from the command line: from a file to its results, by a key and without one.

use std::process::{Command, Stdio};
use std::time::Duration;

use pombo::clock::Timestamp;
use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::database::Universe;
use crate::harness::Answer;
use crate::program::{Place, Run};
use crate::running::until;
use crate::serving::Serving;

/// Five rows: two who get it, one without a number, one who is given again with another order, one without an order.
const PEOPLE: &str = "Customer;Phone;Order no.\n\
    Ana;(11) 98888-7777;A-1\n\
    Bia;+351 912 345 678;A-2\n\
    Carl;none;A-3\n\
    Ana;+55 11 98888-7777;A-9\n\
    Dora;+351 912 345 679;\n";
const TEMPLATE: &str = "--template order_update --parameter customer --parameter order_no --country BR";

/// A service that knows its templates, with a key and a file beside it.
struct Stage {
    universe: Universe,
    serving: Serving,
    url: String,
    child: OwnedChild,
}

impl Stage {
    async fn new() -> Self {
        let universe = Universe::sqlite().await;
        let mut serving = Serving::new(&universe, 0, "unlimited").await;
        let (child, url) = serving.serve().await;
        serving.place.write("key", &serving.key);
        serving.place.write("people.csv", PEOPLE);
        until("the channel is connected and its templates are known", async || {
            let channels = serving.list(&url, "/api/v1/chat").await.json();
            let path = format!("/api/v1/chat/{}/templates?search=order_update", serving.channel);
            let templates = serving.list(&url, &path).await.json();
            channels["data"][0]["status"] == "connected" && templates["totalRecords"] == 1
        })
        .await;
        Self { universe, serving, url, child }
    }

    async fn end(self) {
        drop(self.child);
        self.universe.end().await;
    }
}

/// The texts that the provider got, by recipient.
fn texts(serving: &Serving) -> Vec<(String, Vec<String>)> {
    let messages = serving.simulator.messages(0, 1_000).into_iter();
    let mut texts: Vec<_> = messages
        .map(|message| {
            let body = message.body.unwrap();
            let parameters = body["template"]["components"][0]["parameters"].as_array().unwrap();
            let texts = parameters.iter().map(|parameter| parameter["text"].as_str().unwrap().to_owned());
            (message.to, texts.collect())
        })
        .collect();
    texts.sort();
    texts
}

/// Standard output and standard error of a run with this exit code.
fn ran(place: &Place, line: &str, code: i32) -> Run {
    let run = place.run(line);
    assert_eq!(run.code, Some(code), "{line}: {run:?}");
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_file_are_sent_with_their_values_and_come_back_with_their_results() {
    let stage = Stage::new().await;
    let (serving, url) = (&stage.serving, &stage.url);
    let place = &serving.place;
    let by_key = format!("send people.csv {TEMPLATE} --url {url} --key-file key");

    let tried = ran(place, &format!("{by_key} --dry-run"), 0).stdout;
    for words in ["given before", "values.order_no", "nothing was sent", "to +5511988887777", "A-1"] {
        assert!(tried.contains(words), "{words}: {tried}");
    }
    // The lines of the file, not the places in the request.
    let lines: Vec<_> =
        tried.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok()).collect();
    assert!([4, 5, 6].iter().all(|line| lines.contains(line)), "{tried}");
    let tried: Value = place.json(&format!("{by_key} --dry-run"));
    assert_eq!((&tried["recipients_count"], &tried["skipped_count"]), (&json!(2), &json!(3)), "{tried}");
    assert!(serving.figures().0 == 0 && !place.path().join("results.csv").exists());

    let refused = ran(place, &format!("{by_key} --on-skipped refuse"), 1);
    assert!(refused.stdout.contains("values.order_no") && refused.stderr.contains("422"), "{refused:?}");
    assert_eq!(serving.figures().0, 0);

    let sent = ran(place, &format!("{by_key} --results results.csv --reference spring"), 3);
    assert!(sent.stderr.contains("3 of 5 did not get it"), "{sent:?}");
    let text = |number: &str, words: [&str; 2]| (number.to_owned(), words.map(str::to_owned).to_vec());
    let all = [text("351912345678", ["Bia", "A-2"]), text("5511988887777", ["Ana", "A-1"])];
    assert_eq!(texts(serving), all);
    let results = std::fs::read_to_string(place.path().join("results.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(results.as_bytes());
    assert_eq!(rows.headers().unwrap(), vec!["Customer", "Phone", "Order no.", "state", "error", "time"]);
    let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
    let cells: Vec<_> = rows.iter().map(|row| (row[0].to_owned(), row[3].to_owned())).collect();
    let is_out = |state: &str| matches!(state, "sent" | "delivered" | "read");
    assert!(is_out(&cells[0].1) && is_out(&cells[1].1), "{results}");
    assert!(cells[2..].iter().all(|(_, state)| state == "skipped"), "{results}");
    assert!(!rows[0][5].is_empty() && rows[4][4].contains("order_no") && rows[4][5].is_empty(), "{results}");
    let again = ran(place, &format!("{by_key} --results results.csv"), 2);
    assert!(again.stderr.contains("exists already"), "{again:?}");

    // What was accepted before is followed, and its results are written beside the file.
    let listed = serving.list(url, "/api/v1/sends?reference=spring").await.json();
    let send = listed["data"][0]["id"].as_str().unwrap();
    let follow = format!(
        "send people.csv --country BR --follow {send} --url {url} --key-file key --results again.csv"
    );
    let run = ran(place, &format!("{follow} --json"), 3);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&record["id"], &record["results_file"]), (&json!(send), &json!("again.csv")));
    let again = std::fs::read_to_string(place.path().join("again.csv")).unwrap();
    assert_eq!(again.lines().count(), results.lines().count());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_get_a_text_by_a_key_of_the_command_s_own_and_a_repeated_request_sends_once() {
    let stage = Stage::new().await;
    let (serving, url) = (&stage.serving, &stage.url);
    let place = &serving.place;
    let line = format!(
        "send --to +5511988887777 --text Hello~{{{{value.name|you}}}} --value name=Ana --company Acme --url {url} \
         --idempotency-key one"
    );
    let first = place.json(&line);
    assert_eq!((&first["state"], &first["recipients_count"]), (&json!("finished"), &json!(1)), "{first}");
    assert_eq!(place.json(&line)["id"], first["id"], "carried out once");
    let messages = serving.simulator.messages(0, 10);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].body.as_ref().unwrap()["text"]["body"], "Hello Ana");
    // The command's key is revoked; the company's own is not.
    let keys = place.json("key list");
    let own = keys.as_array().unwrap().iter().filter(|key| key["name"] == "pombo send");
    assert_eq!(own.map(|key| key["status"].as_str().unwrap()).collect::<Vec<_>>(), ["revoked", "revoked"]);

    let at = in_a_month();
    let later = place.json(&format!("{} --at {at} --detach", line.replace("one", "two")));
    assert_eq!((later["send_at"].as_str(), &later["recipients_count"]), (Some(at.as_str()), &json!(1)));
    stage.end().await;
}

/// Only this number wrote to the channel, whose windows are enforced.
async fn only_wrote(serving: &Serving, url: &str, number: &str) {
    let at = (Timestamp::now().millis() / 1_000).to_string();
    let text =
        json!({ "from": number, "id": "wamid.1", "timestamp": at, "type": "text", "text": { "body": "hi" } });
    let told = serving.tell(url, &[text]).await;
    assert_eq!(told.status, 200, "{}", told.body);
    let client = reqwest::Client::new();
    let rule = client.put(format!("{url}/api/v1/chat/{}/window-rule", serving.channel));
    let rule = rule.bearer_auth(&serving.key).json(&json!({ "rule": "enforce" }));
    assert_eq!(Answer::to(rule).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_did_not_write_lately_get_the_template_and_both_sends_are_followed() {
    let stage = Stage::new().await;
    let (serving, url) = (&stage.serving, &stage.url);
    let place = &serving.place;
    only_wrote(serving, url, "5511988887777").await;
    let service = format!("--country BR --url {url} --key-file key");
    let text = "send people.csv --text Order~{{value.order_no}}~is~ready";
    let template = "--template-instead order_update --parameter customer --parameter order_no";
    let line = format!("{text} {template} {service}");

    let tried = place.json(&format!("{line} --dry-run"));
    let counts = [&tried["recipients_count"], &tried["template_instead"]["recipients_count"]];
    assert_eq!(counts, [&json!(2), &json!(1)], "{tried}");
    let shown = ran(place, &format!("{line} --dry-run"), 0).stdout;
    for words in ["of them the template instead", "Order A-1 is ready", "Bia", "A-2"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let run = ran(place, &format!("{line} --results results.csv --json"), 3);
    assert!(run.stderr.contains("3 of 5 did not get it"), "{run:?}");
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    let instead = &record["template_instead"];
    assert_eq!((&record["type"], &instead["type"]), (&json!("text"), &json!("template")), "{record}");
    assert_eq!([&record["recipients_count"], &instead["recipients_count"]], [&json!(1); 2], "{record}");
    let types = serving.simulator.messages(0, 10).into_iter();
    let mut types: Vec<_> =
        types.map(|sent| (sent.to, sent.body.unwrap()["type"].as_str().unwrap().to_owned())).collect();
    types.sort();
    let sent = |number: &str, kind: &str| (number.to_owned(), kind.to_owned());
    assert_eq!(types, [sent("351912345678", "template"), sent("5511988887777", "text")]);
    let results = std::fs::read_to_string(place.path().join("results.csv")).unwrap();
    let skipped: Vec<_> = results.lines().skip(1).map(|row| row.contains("skipped")).collect();
    assert_eq!(skipped, [false, false, true, true, true], "{results}");
    let follow = format!("send --follow {} {service}", record["id"].as_str().unwrap());
    let again = ran(place, &follow.replace("--country BR ", ""), 3);
    assert!(again.stderr.contains("3 of 5 did not get it"), "{again:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_rows_are_uploaded_and_lines_of_json_are_taken_as_they_are() {
    let stage = Stage::new().await;
    let (serving, url) = (&stage.serving, &stage.url);
    let place = &serving.place;
    let row =
        |row: u64| format!("{{\"phone_number\": \"+9991{row:08}\", \"values\": {{\"name\": \"N{row}\"}}}}\n");
    place.write("many.ndjson", &(0..12_000).map(row).collect::<String>());
    let tried = place.json(&format!(
        "send many.ndjson --template order_update --parameter name --parameter name --url {url} --key-file key --dry-run"
    ));
    assert_eq!((&tried["recipients_count"], &tried["skipped_count"]), (&json!(12_000), &json!(0)), "{tried}");
    stage.end().await;
}

/// A moment that a send may wait for.
fn in_a_month() -> String {
    Timestamp::now().plus(Duration::from_hours(30 * 24)).to_string()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_command_leaves_the_send_running_and_says_how_to_follow_it() {
    let stage = Stage::new().await;
    let (serving, url) = (&stage.serving, &stage.url);
    let line = format!(
        "send --to +5511988887777 --text hello --at {} --reference later --url {url} --key-file key",
        in_a_month()
    );
    let command = serving.place.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut send = String::new();
    until("the send is accepted", async || {
        let listed = serving.list(url, "/api/v1/sends?reference=later").await.json();
        send = listed["data"][0]["id"].as_str().unwrap_or_default().to_owned();
        !send.is_empty()
    })
    .await;
    let interrupted = Command::new("kill").args(["-INT", &command.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = command.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    // The command may not have its answer yet.
    let is_told = told.contains(&format!("pombo send --follow {send}")) || told.contains("--idempotency-key");
    assert!(is_told, "{told}");
    let record = serving.list(url, &format!("/api/v1/sends/{send}")).await.json();
    assert_eq!(record["state"], "scheduled", "{record}");
    stage.end().await;
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_is_asked_for() {
    let place = Place::new().with("POMBO_API_KEY", "pombo_none");
    place.write("people.csv", "Name,Order\nAna,A-1\n");
    for (line, words) in [
        ("send people.csv --text hello", "--map \"COLUMN=phone_number\""),
        ("send people.csv --text hello --map Fone=phone_number", "`Fone`"),
        ("send none.csv --text hello", "cannot read none.csv"),
        ("send --to +5511988887777 --text hello --company Acme", "a key is of one company"),
        ("send --text hello", "--to"),
    ] {
        let run = ran(&place, line, 2);
        assert!(run.stderr.contains(words) && run.stdout.is_empty(), "{line}: {run:?}");
    }
    let unanswered = ran(&place, "send --to +5511988887777 --text hello --url http://127.0.0.1:1", 1);
    assert!(unanswered.stderr.contains("no service answers") && !unanswered.stderr.contains("pombo_none"));
}
