//! Own fields of contacts in the console: their page, the form of a contact, the filter of the list, and imports.

use pombo::accounts::Role;
use serde_json::{Value, json};

use super::browser::value_of;
use super::imports::{body, upload};
use super::world::World;
use crate::running::until;

const FIELDS: &str = "/console/contacts/fields";

async fn contacts(world: &World) -> Vec<Value> {
    let listed = world.service.get("/api/v1/contacts?limit=100", &world.acme.key).await.json();
    listed["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_field_is_added_renamed_and_deleted_after_a_question_with_its_contacts() {
    let world = World::new().await;
    let (member, viewer) = (world.signed_in(Role::Member).await, world.signed_in(Role::Viewer).await);
    let empty = member.page(FIELDS).await;
    assert!(empty.contains("Contacts have no fields of your own yet"), "{empty}");
    let once = value_of(&empty, "once").unwrap();
    let taken = member.post(FIELDS, &[("once", once.as_str()), ("name", "E-mail"), ("kind", "text")]).await;
    assert_eq!(taken.status, 422);
    assert!(taken.body.contains("every contact has a field of this name"), "{}", taken.body);
    let once = value_of(&taken.body, "once").unwrap();
    let form = [("once", once.as_str()), ("name", "Cidade <b>"), ("kind", "text")];
    assert_eq!(member.post(FIELDS, &form).await.status, 303);
    let again = member.post(FIELDS, &form).await;
    assert_eq!((again.status, again.header("location")), (303, FIELDS), "sent twice, it acts once");
    let page = member.page(FIELDS).await;
    assert!(page.contains("Cidade &lt;b&gt;") && page.contains("{{contact.cidade_b}}"), "{page}");
    assert!(!viewer.page(FIELDS).await.contains("Create field"));
    let (_, link) = page.split_once(&format!("href=\"{FIELDS}/")).unwrap();
    let place = format!("{FIELDS}/{}", link.split('"').next().unwrap());
    let given = json!({"contacts": [
        {"phone_number": "5511988880001", "fields": {"cidade_b": "Rio"}},
        {"phone_number": "5511988880002"},
    ]});
    world.service.post("/api/v1/contacts/batch", &world.acme.key, given.to_string()).await;
    let shown = member.page(&place).await;
    assert!(shown.contains("1 contact has a value of this field, and loses it."), "{shown}");
    assert!(!viewer.page(&place).await.contains("loses it"), "a viewer deletes nothing");
    assert_eq!(member.post(&place, &[("name", "Town")]).await.status, 303);
    assert!(member.page(&place).await.contains("The field was saved."));
    assert_eq!(viewer.post(&format!("{place}/delete"), &[]).await.status, 403);
    assert_eq!(member.post(&format!("{place}/delete"), &[]).await.status, 303);
    assert_eq!(member.post(&format!("{place}/delete"), &[]).await.status, 404);
    assert!(contacts(&world).await.iter().all(|contact| contact.get("fields").is_none()));
}

#[tokio::test]
async fn values_are_edited_on_a_contact_s_page_and_the_list_is_narrowed_by_them() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    for (name, kind) in [("City", "text"), ("Age", "number"), ("Born", "date")] {
        let body = json!({"name": name, "type": kind}).to_string();
        assert_eq!(world.service.post("/api/v1/contacts/fields", &world.acme.key, body).await.status, 201);
    }
    let page = member.page("/console/contacts/new").await;
    assert!(
        page.contains("type=\"number\" step=\"any\" name=\"own-age\"") && page.contains("type=\"date\""),
        "{page}"
    );
    let once = value_of(&page, "once").unwrap();
    let form = |age: &'static str| {
        [
            ("once", once.as_str()),
            ("first_name", "Ana"),
            ("phone_number", "+55 11 98888-0001"),
            ("own-city", "São Paulo"),
            ("own-age", age),
            ("own-born", "1984-02-29"),
        ]
    };
    let wrong = member.post("/console/contacts/new", &form("old")).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("Give a number with at most 15 digits"), "{}", wrong.body);
    assert_eq!(value_of(&wrong.body, "own-city").unwrap(), "São Paulo", "the words are kept");
    let added = member.post("/console/contacts/new", &form("42.5")).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let fields = json!({"city": "São Paulo", "age": 42.5, "born": "1984-02-29"});
    assert_eq!(contacts(&world).await[0]["fields"], fields);
    let other =
        json!({"contacts": [{"first_name": "Bea", "phone_number": "5511988880002", "fields": {"age": 7}}]});
    world.service.post("/api/v1/contacts/batch", &world.acme.key, other.to_string()).await;

    let place = added.header("location").to_owned();
    let page = member.page(&place).await;
    assert_eq!(value_of(&page, "own-age").unwrap(), "42.5");
    let (known, tags) = (value_of(&page, "known").unwrap(), value_of(&page, "known_tags").unwrap());
    let change = [
        ("known", known.as_str()),
        ("known_tags", tags.as_str()),
        ("first_name", "Ana"),
        ("phone_number", "+55 11 98888-0001"),
        ("own-city", ""),
        ("own-age", "43"),
        ("own-born", "1984-02-29"),
    ];
    assert_eq!(member.post(&place, &change).await.status, 303);
    assert_eq!(contacts(&world).await[1]["fields"], json!({"age": 43, "born": "1984-02-29"}));
    let outdated = member.post(&place, &change).await;
    assert_eq!(outdated.status, 409, "somebody saved meanwhile");

    for (query, has, lacks) in [
        ("on=age&test=least&value=18", "Ana", "Bea"),
        ("on=born&test=unknown", "Bea", "Ana"),
        ("field=age%3C%3D18", "Bea", "Ana"),
    ] {
        let listed = member.page(&format!("/console/contacts?{query}")).await;
        let (_, found) = listed.split_once("id=\"found\"").unwrap();
        assert!(
            found.contains(has) && !found.contains(lacks) && found.contains("1 contact<"),
            "{query}: {found}"
        );
    }
    let chips = member.page("/console/contacts?on=age&test=least&value=18").await;
    assert!(
        chips.contains("Age is at least 18") && chips.contains("name=\"of_field\" value=\"age&gt;=18\""),
        "{chips}"
    );
    let fault = member.page("/console/contacts?on=age&test=is&value=old").await;
    assert!(
        fault.contains("Give a number with at most 15 digits") && fault.contains("2 contacts"),
        "{fault}"
    );
    let export = member.get("/console/contacts/export?field=age%3E%3D18").await;
    assert!(
        export.body.contains("City") && export.body.contains("1984-02-29") && !export.body.contains("Bea")
    );
}

#[tokio::test]
async fn a_column_of_a_file_becomes_a_new_field() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let file = "Nome;Celular;Pontos\nAna;+55 11 98888-0001;1.234,5\nBea;+55 11 98888-0002;muitos\n";
    let sent = upload(&member, body("", "c.csv", file.as_bytes())).await;
    let place = sent.header("location").to_owned();
    let page = member.page(&place).await;
    assert!(page.contains("<option value=\"new.number\">New field: Number</option>"), "{page}");
    let form = |action: &'static str, column: &'static str| {
        [
            ("column-0", "name"),
            ("column-1", "phone_number"),
            ("column-2", column),
            ("tags", ""),
            ("encoding", "UTF-8"),
            ("action", action),
        ]
    };
    assert_eq!(member.post(&place, &form("check", "new.number")).await.status, 303);
    let page = member.page(&place).await;
    assert!(page.contains("<option value=\"fields.pontos\" selected>Pontos</option>"), "{page}");
    assert!(page.contains("Pontos: “muitos” is not a number."), "{page}");
    assert_eq!(member.post(&place, &form("start", "fields.pontos")).await.status, 303);
    until("the import over", async || contacts(&world).await.len() == 1).await;
    assert_eq!(contacts(&world).await[0]["fields"], json!({"pontos": 1234.5}));
}
