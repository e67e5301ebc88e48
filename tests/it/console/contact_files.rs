//! Files as people have them, imported in the console with the form as it is shown.

use pombo::accounts::Role;
use serde_json::Value;

use super::browser::Browser;
use super::imports::{body, upload};
use super::world::World;
use crate::contact_files::{CASES, numbers, one_wrong_byte, path};
use crate::running::until;

/// The fields of a page's selects, radio buttons and hidden inputs, with the values that a browser would send unchanged.
fn selected(page: &str) -> Vec<(String, String)> {
    let value = |tag: &str, name: &str| {
        let value = tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?;
        Some(value.to_owned())
    };
    let mut fields = Vec::new();
    for select in page.split("<select ").skip(1) {
        let (head, options) = select.split_once('>').unwrap();
        let options = options.split("</select>").next().unwrap();
        let chosen =
            options.split("<option ").find(|option| option.split('>').next().unwrap().contains(" selected"));
        let chosen = chosen.or_else(|| options.split("<option ").nth(1)).unwrap();
        let name = value(&format!(" {head}"), "name").unwrap();
        fields.push((name, value(&format!(" {chosen}"), "value").unwrap()));
    }
    for input in page.split("<input ").skip(1) {
        let tag = format!(" {}", input.split('>').next().unwrap());
        if tag.contains("type=\"radio\"") && tag.contains(" checked") {
            fields.push((value(&tag, "name").unwrap(), value(&tag, "value").unwrap()));
        }
    }
    fields
}

/// Uploads a file, sends the form as it is shown with `changes`, and waits for the end. Returns the import.
async fn import(
    world: &World,
    member: &Browser<'_>,
    file: &[u8],
    changes: &[(&str, &str)],
) -> (String, Value) {
    let sent = upload(member, body("", "people.csv", file)).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let place = sent.header("location").to_owned();
    let page = send(member, &place, &[changes, &[("action", "start")]].concat()).await;
    (page, over(world, &place).await)
}

/// Sends the form of an import as it is shown, with `changes`. Returns the page that showed it.
async fn send(member: &Browser<'_>, place: &str, changes: &[(&str, &str)]) -> String {
    let page = member.page(place).await;
    let mut fields = selected(&page);
    fields.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    let unchanged = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields: Vec<_> = unchanged.chain(changes.iter().copied()).collect();
    let sent = member.post(place, &fields).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    page
}

/// Waits for the end of an import. Returns the import.
async fn over(world: &World, place: &str) -> Value {
    let id = place.rsplit('/').next().unwrap();
    let path = format!("/api/v1/contacts/imports/{id}");
    let mut shown = Value::Null;
    until("the import over", async || {
        shown = world.service.get(&path, &world.acme.key).await.json();
        shown["finished_at"].is_string()
    })
    .await;
    shown
}

#[tokio::test]
async fn the_console_makes_the_right_contacts_of_every_file_with_the_form_as_it_is_shown() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let mut all: Vec<u64> = Vec::new();
    for case in CASES {
        let national = case.country.map(|country| [("numbers", "national"), ("country", country)]);
        let changes = national.as_ref().map_or(&[][..], |changes| &changes[..]);
        let (page, shown) = import(&world, &member, &std::fs::read(path(case)).unwrap(), changes).await;
        let counts = ["rows", "created", "updated", "rejected"].map(|name| shown[name].as_u64().unwrap());
        let (created, rejected) = (case.numbers.len() as u64, case.rejected.len() as u64);
        assert_eq!(shown["state"], "finished", "{}: {shown}", case.file);
        assert_eq!(counts, [created + rejected, created, 0, rejected], "{}: {shown}", case.file);
        if case.country.is_none() {
            // The run does what the page promised.
            let said = |count: u64, one: &str, more: &str| match count {
                1 => format!("1 {one}"),
                _ => format!("{count} {more}"),
            };
            let created = said(created, "new contact", "new contacts");
            let rejected = said(rejected, "row is rejected", "rows are rejected");
            assert!(page.contains(&created) && page.contains(&rejected), "{}: {page}", case.file);
        }
        let list = format!("/api/v1/contacts/imports/{}/rejected", shown["id"].as_str().unwrap());
        let list = world.service.get(&list, &world.acme.key).await.body;
        let mut list = csv::ReaderBuilder::new().flexible(true).from_reader(list.as_bytes());
        let codes: Vec<String> = list.records().map(|row| row.unwrap()[2].to_owned()).collect();
        assert_eq!(codes, case.rejected, "{}", case.file);
        all.extend(case.numbers);
    }
    let export = member.get("/console/contacts/export").await.body;
    assert!(export.starts_with("\u{feff}first_name,"), "spreadsheets know by the mark that it is UTF-8");
    assert_eq!(numbers(&export), all);
    assert!(export.contains("Ana Space,,a1401@example.com"), "{export}");
    assert!(export.contains("Only,home1902@example.com") && export.contains("Clientes;VIP"), "{export}");
}

#[tokio::test]
async fn one_wrong_byte_rejects_one_row_in_the_console_whatever_encoding_is_chosen_then() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (page, shown) = import(&world, &member, &one_wrong_byte(), &[]).await;
    assert!(
        page.contains("line 2,602 has a byte that is not valid") || page.contains("line 2602 has a byte"),
        "{page}"
    );
    let counts = |shown: &Value| {
        ["rows", "created", "unchanged", "rejected"].map(|name| shown[name].as_u64().unwrap())
    };
    assert_eq!((&shown["state"], counts(&shown)), (&"finished".into(), [4_001, 4_000, 0, 1]), "{shown}");
    assert_eq!((&shown["encoding"], &shown["wrong_bytes"]["line"]), (&"UTF-8".into(), &2_602.into()));
    // In another encoding every name would be a worse one, and the contacts keep theirs.
    let (_, shown) = import(&world, &member, &one_wrong_byte(), &[("encoding", "windows-1252")]).await;
    assert_eq!((&shown["state"], counts(&shown)), (&"finished".into(), [4_001, 1, 4_000, 0]), "{shown}");
    assert_eq!(shown["names_kept"], 4_000, "{shown}");
    // After a guess, a person chooses UTF-8.
    let latin = b"name;phone\nJos\xe9;+55 11 988880001\nAna;+55 11 988880002\n";
    let (_, shown) = import(&world, &member, latin, &[("encoding", "UTF-8")]).await;
    assert_eq!((&shown["state"], counts(&shown)), (&"finished".into(), [2, 1, 0, 1]), "{shown}");
}

#[tokio::test]
async fn columns_keep_their_fields_when_a_person_corrects_the_encoding() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let file = "Nome,Teléfono,Número\nAna,,+55 11 98888-0001\n";
    let sent = upload(&member, body("", "people.csv", file.as_bytes())).await;
    let place = sent.header("location").to_owned();
    send(&member, &place, &[("encoding", "windows-1252"), ("action", "check")]).await;
    // The person maps a column of the wrong encoding, and then corrects the encoding.
    let page = send(&member, &place, &[("column-2", "phone_number"), ("action", "check")]).await;
    assert!(page.contains("TelÃ©fono") && page.contains("NÃºmero"), "{page}");
    send(&member, &place, &[("encoding", "UTF-8"), ("action", "start")]).await;
    let shown = over(&world, &place).await;
    assert_eq!((&shown["state"], &shown["created"]), (&"finished".into(), &1.into()), "{shown}");
    let column = serde_json::json!({"column": "Número", "field": "phone_number"});
    assert_eq!(shown["columns"][2], column, "{shown}");

    // The right name is remembered, and known once the encoding is right; known names have their fields then, too.
    let file = "Nome,Teléfono,Número\nBia,+55 11 98888-0002,\nCid,,+55 11 98888-0003\n";
    let sent = upload(&member, body("", "people.csv", file.as_bytes())).await;
    let place = sent.header("location").to_owned();
    send(&member, &place, &[("encoding", "windows-1252"), ("action", "check")]).await;
    send(&member, &place, &[("encoding", "UTF-8"), ("action", "start")]).await;
    let shown = over(&world, &place).await;
    assert_eq!((&shown["state"], &shown["created"]), (&"finished".into(), &2.into()), "{shown}");
}

#[tokio::test]
async fn the_country_is_asked_at_the_first_import_and_remembered_for_the_company() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let file = std::fs::read(path(&CASES[15])).unwrap();
    let sent = upload(&member, body("", "people.csv", &file)).await;
    let place = sent.header("location").to_owned();
    let missing =
        member.post(&place, &[("numbers", "national"), ("encoding", "UTF-8"), ("action", "start")]).await;
    assert!(
        missing.status == 422 && missing.body.contains("Choose the country of the numbers"),
        "{}",
        missing.body
    );
    member.submit(&place, &[("action", "cancel")]).await;
    let (_, shown) = import(&world, &member, &file, &[("numbers", "national"), ("country", "BR")]).await;
    assert_eq!((&shown["created"], &shown["country"]), (&3.into(), &"BR".into()), "{shown}");
    let company = member.page("/console/company").await;
    assert!(company.contains("<option value=\"BR\" selected>Brazil (+55)</option>"), "{company}");
    // The next file offers it, and says that its numbers look national.
    let sent = upload(&member, body("", "people.csv", &file)).await;
    let page = member.page(sent.header("location")).await;
    assert!(
        page.contains("<option value=\"BR\" selected>")
            && page.contains("3 of these rows have numbers that look national"),
        "{page}"
    );
    let changed = member.submit("/console/company/country", &[("country", "PT")]).await;
    assert!(
        changed.contains("The country is saved.") && changed.contains("<option value=\"PT\" selected>"),
        "{changed}"
    );
    assert_eq!(member.post("/console/company/country", &[("country", "XX")]).await.status, 400);
    let viewer = world.signed_in(Role::Viewer).await;
    assert_eq!(viewer.post("/console/company/country", &[("country", "BR")]).await.status, 403);
}

#[tokio::test]
async fn contacts_of_the_api_are_the_same_after_an_export_and_an_import() {
    let world = World::new().await;
    let contacts = serde_json::json!([
        {"first_name": "* VIP", "phone_number": "5511900002801", "tags": ["* VIP", "*", "* myContacts"]},
        {"first_name": "n/a", "last_name": "-", "email": "n/a", "phone_number": "n/a"},
        {"first_name": "Dot", "phone_number": "5511900002803.0"},
        {"first_name": "Sem", "email": "sem@example.com", "phone_number": "12"},
        {"first_name": "=1+1", "last_name": "'@x", "phone_number": "+55 (11) 90000-2805", "tags": ["=t", "-x, +y", "'="]},
        {"email": "familia@example.com", "phone_number": "5511900002806", "tags": ["a, b"]},
        {"email": "FAMILIA@example.com", "phone_number": "5511900002807", "phone_number_lid": "123456789012345@lid"},
        {"first_name": "Linha\nnova", "last_name": "a;b,c\"d\"", "phone_number": "+966 ٥٠ 123 4567"},
        {"first_name": "🎉", "profile_picture": "https://example.com/a.png?x=1;y", "phone_number": 5_511_900_002_809_u64},
        {"email": "not an address", "phone_number": "Cel 2: +55 11 90000-0105"},
    ]);
    let written = serde_json::json!({ "contacts": contacts }).to_string();
    let written = world.service.post("/api/v1/contacts/batch", &world.acme.key, written).await;
    assert_eq!((written.status, &written.json()["rejected"]), (200, &0.into()), "{}", written.body);
    // What a spreadsheet destroyed is refused by both.
    let figures = r#"{"contacts": [{"email": "x@example.com", "phone_number": "5.51E+12"}, {"phone_number": "5511900002811", "phone_number_lid": "1.23457E+14"}]}"#;
    let refused = world.service.post("/api/v1/contacts/batch", &world.acme.key, figures).await.json();
    assert_eq!(refused["rejected"], 2, "{refused}");
    let export = world.signed_in(Role::Member).await.get("/console/contacts/export").await.body;
    let import = async |query: &str| {
        let place = format!("/api/v1/contacts/imports?start=true{query}");
        let uploaded = world.service.post(&place, &world.globex.key, export.clone()).await.json();
        let path = format!("/api/v1/contacts/imports/{}", uploaded["id"].as_str().unwrap());
        until("the import over", async || {
            world.service.get(&path, &world.globex.key).await.json()["finished_at"].is_string()
        })
        .await;
        let shown = world.service.get(&path, &world.globex.key).await.json();
        ["created", "rejected"].map(|count| shown[count].as_u64().unwrap())
    };
    assert_eq!(import("").await, [10, 0], "{export}");
    let list = async |key: &str| {
        let listed = world.service.get("/api/v1/contacts?limit=100", key).await.json();
        let fields =
            ["first_name", "last_name", "email", "phone_number", "phone_number_lid", "profile_picture"];
        let people = listed["data"].as_array().unwrap().iter().map(|contact| {
            let tags = contact["tags"].as_array().unwrap().iter();
            let mut tags: Vec<String> = tags.map(|tag| tag["name"].to_string()).collect();
            tags.sort();
            (fields.map(|field| contact[field].clone()), tags)
        });
        people.collect::<Vec<_>>()
    };
    let original = list(&world.acme.key).await;
    assert_eq!(original.len(), 10);
    assert_eq!(list(&world.globex.key).await, original, "{export}");
    // The rules of a country change no number of an export.
    assert_eq!(import("&country=BR").await, [0, 0], "{export}");
    assert_eq!(list(&world.globex.key).await, original, "{export}");
}
