//! A new send whose recipients come in a file: each person gets their own values, the rows with problems are told before, and
//! the results come back in the file's own form.

use pombo::accounts::Role;
use reqwest::Method;
use serde_json::json;

use super::browser::{Browser, value_of};
use super::compose::{NEW, sends, with};
use super::world::World;
use crate::api::past_send::FIRST;
use crate::harness::{Answer, Provider};
use crate::running::until;

const BOUNDARY: &str = "----pombo7MA4YWxkTrZu0gW";

/// A file as a spreadsheet in Brazil writes it.
fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

/// Uploads a file for the draft to whose page `place` leads.
async fn upload(browser: &Browser<'_>, place: &str, name: &str, file: &[u8]) -> Answer {
    let draft = place.rsplit('=').next().unwrap();
    let mut body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"draft\"\r\n\r\n{draft}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: text/csv\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(file);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    let request = browser
        .request(Method::POST, "/console/sends/new/list")
        .header("origin", browser.origin())
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    browser.ask(request.body(body)).await
}

/// The fields of the form that the page has, for these names.
fn taken<'a>(page: &str, names: &[&'a str]) -> Vec<(&'a str, String)> {
    names.iter().filter_map(|name| Some((*name, value_of(page, name)?))).collect()
}

fn as_fields<'a>(fields: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    fields.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

#[tokio::test]
async fn a_file_of_recipients_is_checked_sent_once_and_comes_back_with_its_results() {
    let body = json!([{"type": "BODY", "text": "Hi {{1}}, you pay {{2}}"}]);
    let (provider, service) = Provider::start(vec![("bill", body)]).await;
    let world = World::on(service).await;
    let channel = Provider::channel(&world.service, &world.acme).await.to_string();
    let template = Provider::template(&world.service, &world.acme, "bill").await.to_string();
    let member = world.signed_in(Role::Member).await;
    let own = [("channel", channel.as_str()), ("type", "template"), ("template", template.as_str())];

    let begun = member.post(NEW, &with(&own, &[("step", "who"), ("action", "upload")])).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let place = begun.header("location").to_owned();
    let page = member.page(&place).await;
    assert!(page.contains("Sample file for a template") && page.contains(">bill</option>"), "{page}");
    let sample = member.get(&format!("/console/sends/new/sample/file?template={template}")).await;
    assert!(sample.body.contains("phone_number;1;2"), "{}", sample.body);

    let none = upload(&member, &place, "", b"").await;
    assert_eq!(none.status, 422, "{}", none.body);
    let (first, second) = (FIRST, FIRST + 1);
    let file = format!(
        "Telefone;Nome;Valor;Nota\r\n+{first};Jo\u{e3}o;10,00;a\r\n+{second};Ana;;b\r\nabc;Eva;5;c\r\n\
         +{first};Bia;7;d\r\n"
    );
    let uploaded = upload(&member, &place, "contas.csv", &latin(&file)).await;
    assert_eq!(uploaded.status, 303, "{}", uploaded.body);
    let who = member.page(uploaded.header("location")).await;
    assert!(who.contains("contas.csv") && who.contains("Telefone (+"), "{who}");
    let list = taken(&who, &["draft", "list", "list_name"]);
    assert_eq!(list.len(), 3, "{who}");
    let list = with(&own, &with(&as_fields(&list), &[("list_phone", "0"), ("list_reference", "3")]));

    let what = member.check(NEW, &with(&list, &[("step", "who"), ("action", "what")])).await.body;
    assert!(what.contains("name=\"from_body_1\"") && what.contains("{{value.nome}}"), "{what}");
    let mapped = with(&list, &[("from_body_1", "nome"), ("from_body_2", "valor")]);
    let unknown = with(&list, &[("from_body_1", "nome"), ("body_2", "{{value.price}}"), ("action", "check")]);
    let unknown = member.post(NEW, &unknown).await;
    assert!(
        unknown.status == 422 && unknown.body.contains("The file has no such column."),
        "{}",
        unknown.body
    );

    let checked = member.check(NEW, &with(&mapped, &[("step", "what"), ("action", "check")])).await.body;
    for shown in [
        "4 rows",
        "1 recipient",
        "Hi João, you pay 10,00",
        "Nothing in the column Valor",
        "This person is in the file before.",
        "Download the rows with problems",
    ] {
        assert!(checked.contains(shown), "{shown}: {checked}");
    }
    let kept = value_of(&checked, "kept").unwrap();
    let problems = member.get(&format!("/console/sends/new/problems/{kept}")).await;
    assert_eq!(problems.header("content-type"), "text/csv; charset=windows-1252");
    assert!(problems.body.contains(";Ana;;b") && problems.body.contains(";Eva;5;c"), "{}", problems.body);
    assert!(!problems.body.contains("10,00"), "{}", problems.body);

    let digest = value_of(&checked, "checked").unwrap();
    let once = value_of(&checked, "once").unwrap();
    let send = [("action", "send"), ("step", "when"), ("checked", digest.as_str()), ("once", once.as_str())];
    let sent = member.post(NEW, &with(&mapped, &send)).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let page = sent.header("location").to_owned();
    let again = member.post(NEW, &with(&mapped, &send)).await;
    assert_eq!(again.header("location"), page, "sent twice, it acts once: {}", again.body);
    assert_eq!(sends(&world).await["totalRecords"], 1);
    let parameters = provider.message(first).await["template"]["components"][0]["parameters"].clone();
    assert_eq!(parameters, json!([{"type": "text", "text": "João"}, {"type": "text", "text": "10,00"}]));
    assert!(provider.bodies(second).is_empty(), "nobody gets braces");

    let results = format!("{page}/results.csv");
    let results = member.get(&results).await;
    assert_eq!(results.header("content-type"), "text/csv; charset=windows-1252");
    let lines: Vec<&str> = results.body.lines().collect();
    assert_eq!(lines[0], "Telefone;Nome;Valor;Nota;State;Error;Time");
    assert!(lines[1].contains(";10,00;a;"), "the columns that nothing reads come back, too: {lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains(";Skipped;")).count(), 3, "{lines:?}");
    assert!(member.page(&page).await.contains("Results in your file"));

    // The file is gone after its send, and its columns are known for the next one.
    let gone = member.post(NEW, &with(&mapped, &[("step", "who"), ("action", "what")])).await;
    assert!(gone.status == 422 && gone.body.contains("The file is not kept any more."), "{}", gone.body);
    let begun = member.post(NEW, &with(&own, &[("step", "who"), ("action", "upload")])).await;
    let uploaded = upload(&member, begun.header("location"), "b.csv", &latin(&file)).await;
    let who = member.page(uploaded.header("location")).await;
    let list = taken(&who, &["draft", "list", "list_name"]);
    let next =
        with(&own, &with(&as_fields(&list), &[("list_phone", "0"), ("step", "who"), ("action", "what")]));
    let what = member.check(NEW, &next).await.body;
    assert!(what.contains("<option value=\"valor\" selected>"), "{what}");
    let other = world.member_of(world.globex.id, Role::Member, "eva@globex.example").await;
    let id = value_of(&who, "list").unwrap();
    let foreign = other.page(&format!("{NEW}?list={id}&list_phone=0")).await;
    assert!(!foreign.contains("Telefone"), "{foreign}");
}

#[tokio::test]
async fn a_file_without_a_row_that_can_be_sent_to_shows_what_is_wrong_with_them() {
    let body = json!([{"type": "BODY", "text": "Hi {{1}}!"}]);
    let (_provider, service) = Provider::start(vec![("hello", body)]).await;
    let world = World::on(service).await;
    let channel = Provider::channel(&world.service, &world.acme).await.to_string();
    let template = Provider::template(&world.service, &world.acme, "hello").await.to_string();
    let member = world.signed_in(Role::Member).await;
    let own = [("channel", channel.as_str()), ("type", "template"), ("template", template.as_str())];
    let begun = member.post(NEW, &with(&own, &[("step", "who"), ("action", "upload")])).await;
    let file = format!("phone,name\nabc,Eva\n+{FIRST},\n");
    let uploaded = upload(&member, begun.header("location"), "a.csv", file.as_bytes()).await;
    let who = member.page(uploaded.header("location")).await;
    assert!(who.contains("The people of the file are counted by the check."), "{who}");
    assert!(!who.contains("Nobody is chosen yet."), "{who}");
    let list = taken(&who, &["draft", "list", "list_name"]);
    let all = with(&own, &with(&as_fields(&list), &[("list_phone", "0"), ("from_body_1", "name")]));
    let checked = member.check(NEW, &with(&all, &[("action", "check")])).await.body;
    for shown in [
        "No message can go to anybody in the file.",
        "2 rows",
        "This is no whole phone number.",
        "Nothing in the column name",
        "Download the rows with problems",
    ] {
        assert!(checked.contains(shown), "{shown}: {checked}");
    }
    assert_eq!(value_of(&checked, "checked"), None, "what goes to nobody cannot be sent");
    let long = "x".repeat(101);
    let tagged = with(&all, &[("list_tag", long.as_str()), ("step", "who"), ("action", "what")]);
    let refused = member.post(NEW, &tagged).await;
    assert!(refused.status == 422 && refused.body.contains("at most 100 characters"), "{}", refused.body);
}

#[tokio::test]
async fn people_of_a_file_become_contacts_only_when_the_form_says_so() {
    let (_provider, service) =
        Provider::start(vec![("note", json!([{"type": "BODY", "text": "Hello"}]))]).await;
    let world = World::on(service).await;
    let channel = Provider::channel(&world.service, &world.acme).await.to_string();
    let template = Provider::template(&world.service, &world.acme, "note").await.to_string();
    let member = world.signed_in(Role::Member).await;
    let own = [("channel", channel.as_str()), ("type", "template"), ("template", template.as_str())];
    for (tag, contacts) in [("", 0), ("fair", 1)] {
        let begun = member.post(NEW, &with(&own, &[("step", "who"), ("action", "upload")])).await;
        let file = format!("phone,first name\n+{FIRST},Zulmira\n");
        let uploaded = upload(&member, begun.header("location"), "a.csv", file.as_bytes()).await;
        let who = member.page(uploaded.header("location")).await;
        let list = taken(&who, &["draft", "list", "list_name"]);
        let all = with(&own, &with(&as_fields(&list), &[("list_phone", "0"), ("list_tag", tag)]));
        let checked = member.check(NEW, &with(&all, &[("action", "check")])).await.body;
        let digest = value_of(&checked, "checked").unwrap();
        let sent = member.post(NEW, &with(&all, &[("action", "send"), ("checked", digest.as_str())])).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
        until("the contacts", async || {
            let page = member.page("/console/contacts").await;
            page.contains("Zulmira") == (contacts == 1)
        })
        .await;
    }
}

#[tokio::test]
async fn a_text_with_a_column_and_no_file_is_refused() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let channel = super::compose::shop(&world).await;
    let number = FIRST.to_string();
    let text = [
        ("channel", channel.as_str()),
        ("type", "text"),
        ("message", "Hi {{value.name}}"),
        ("numbers", &number),
        ("action", "check"),
    ];
    let refused = member.post(NEW, &text).await;
    assert!(refused.status == 422 && refused.body.contains("the send has no file"), "{}", refused.body);
}
