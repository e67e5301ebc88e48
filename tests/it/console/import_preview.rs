//! What the page of an uploaded file shows before the import: contacts, tags, and rows with problems.

use pombo::accounts::Role;
use serde_json::json;

use super::imports::{body, upload};
use super::world::World;
use crate::running::until;
use crate::workbook::{archive, workbook};

#[tokio::test]
async fn the_contacts_that_result_are_shown_with_their_tags_and_the_rows_with_problems() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let known = json!({"contacts": [
        {"first_name": "Bea", "phone_number": "+55 11 98888-0002", "tags": ["VIP", "loja"]},
    ]});
    world.service.post("/api/v1/contacts/batch", &world.acme.key, known.to_string()).await;
    let file = "Nome;Celular;E-mail;Etiquetas\n\
                Ana <b>;+55 11 98888-0001;ana@;\"vip, feira\"\n\
                Bea;5511988880002;bea@example.com;\"VIP, novo\"\n\
                Caio;12;;\n\
                Duda;;duda@example;\n";
    let sent = upload(&member, body("loja", "c.csv", file.as_bytes())).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let place = sent.header("location").to_owned();
    let page = member.page(&place).await;
    let (_, result) = page.split_once("class=\"import-result\"").expect("the result");
    for shown in [
        "Ana &lt;b&gt;",
        "+55 11 98888 0001",
        "bea@example.com",
        "<span class=\"badge good\">new</span>",
        "<span class=\"badge busy\">is updated</span>",
        "Line 2",
        "“ana@” is not an e-mail address. The contact is imported without it.",
        "Line 4",
        "The phone number has fewer than 7 digits",
        "Write the number with + and the country code, or add an e-mail address.",
        "Caio · 12",
        "Line 5",
        "Correct the address, or add a phone number.",
    ] {
        assert!(result.contains(shown), "{shown}: {result}");
    }
    // The separator is guessed; the tags are counted, and those that are new are marked.
    assert!(page.contains("<option value=\",\" selected>"), "{page}");
    let (_, tags) = result.split_once("class=\"given-tags\"").expect("the tags");
    let tags: Vec<&str> = tags.split("</ul>").next().unwrap().split("<li>").skip(1).collect();
    let tag = |name: &str| {
        let found = tags.iter().find(|tag| tag.contains(&format!("<strong>{name}</strong>")));
        found.unwrap_or_else(|| panic!("no {name}: {tags:?}"))
    };
    assert_eq!(tags.len(), 4, "{tags:?}");
    assert!(tag("vip").contains("2 contacts") && !tag("vip").contains("badge"), "{tags:?}");
    assert!(tag("loja").contains("2 contacts") && !tag("loja").contains("badge"), "{tags:?}");
    assert!(tag("feira").contains("1 contact<") && tag("feira").contains(">new<"), "{tags:?}");
    // Another separator is shown at once.
    let fields = |separator: &'static str, action: &'static str| {
        [
            ("column-0", "name"),
            ("column-1", "phone_number"),
            ("column-2", "email"),
            ("column-3", "tags"),
            ("tags", "loja"),
            ("encoding", "UTF-8"),
            ("tag_separator", separator),
            ("action", action),
        ]
    };
    let page = member.submit(&place, &fields(";", "check")).await;
    assert!(page.contains("<strong>vip, feira</strong>"), "{page}");
    member.submit(&place, &fields(",", "start")).await;
    until("the import over", async || member.page(&place).await.contains(">Finished<")).await;
    let over = member.page(&place).await;
    assert!(over.contains("Without their wrong e-mail"), "{over}");
    let tags = world.service.get("/api/v1/contacts/tags", &world.acme.key).await.json();
    let mut names: Vec<&str> =
        tags["data"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["VIP", "feira", "loja", "novo"]);
    // An export is separated like the file.
    let export = member.get("/console/contacts/export").await.body;
    assert!(export.starts_with("\u{feff}first_name;last_name;email"), "{export}");
}

#[tokio::test]
async fn an_export_is_separated_by_a_comma_where_only_a_line_of_the_file_names_what_separates_it() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let sent = upload(&member, body("", "a.csv", b"sep=#\nphone#name\n+5511988880001#Ana\n")).await;
    let page = member.page(sent.header("location")).await;
    assert!(page.contains("name=\"column-1\""), "{page}");
    let export = member.get("/console/contacts/export").await.body;
    assert!(export.starts_with("\u{feff}first_name,last_name,email"), "{export}");
}

#[tokio::test]
async fn the_separator_of_tags_is_guessed_again_when_another_column_holds_them() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let sent = upload(&member, body("", "a.csv", b"phone;x\n+5511988880001;a|b\n+5511988880002;c\n")).await;
    let place = sent.header("location").to_owned();
    assert!(!member.page(&place).await.contains("name=\"tag_separator\""));
    let fields =
        [("column-0", "phone_number"), ("column-1", "tags"), ("encoding", "UTF-8"), ("action", "check")];
    let page = member.submit(&place, &fields).await;
    assert!(page.contains("<option value=\"|\" selected>") && page.contains("<strong>a</strong>"), "{page}");
}

#[tokio::test]
async fn a_workbook_is_imported_and_its_rejected_rows_come_back_as_a_file_for_spreadsheets() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let rows: &[&[&str]] = &[
        &["Nome", "Celular", "Aniversário"],
        &["João", "5.511988880001E12", "1"],
        &["Zoë; Łucja", "12", "2"],
    ];
    let file = workbook(&[("Clientes", rows), ("Outra", &[])]);
    let sent = upload(&member, body("", "clientes.xlsx", &file)).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let place = sent.header("location").to_owned();
    let page = member.page(&place).await;
    for shown in ["Clientes", "The file has", "+55 11 98888 0001", "Row 3", "João"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("<input type=\"hidden\" name=\"encoding\" value=\"UTF-8\">"), "{page}");
    let start = [
        ("column-0", "name"),
        ("column-1", "phone_number"),
        ("column-2", "ignored"),
        ("encoding", "UTF-8"),
        ("action", "start"),
    ];
    member.submit(&place, &start).await;
    until("the import over", async || member.page(&place).await.contains(">Finished<")).await;
    let rejected = member.get(&format!("{place}/rejected")).await;
    assert_eq!(rejected.header("content-type"), "text/csv; charset=UTF-8");
    let body = rejected.body.trim_start_matches('\u{feff}');
    assert!(body.starts_with("line;reason;Nome;Celular;Aniversário"), "{body}");
    assert!(body.contains("\n3;") && body.contains(";\"Zoë; Łucja\";12;2"), "{body}");
}

#[tokio::test]
async fn a_file_of_another_program_is_refused_in_the_person_s_words() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let part = |name: &str, content: &str| (name.to_owned(), content.to_owned());
    let ods = archive(&[part("mimetype", "application/vnd.oasis"), part("content.xml", "<x/>")]);
    let numbers = archive(&[part("Index/Document.iwa", "x")]);
    let whole = workbook(&[("Sheet1", &[&["phone"], &["5511988880001"]])]);
    let mut old = b"\xd0\xcf\x11\xe0".to_vec();
    old.resize(4_096, 1);
    member.post("/console/language", &[("language", "es"), ("next", "/console")]).await;
    for (file, sentence) in [
        (&ods[..], "Este es un archivo OpenDocument (.ods)."),
        (&numbers[..], "Este es un archivo de Numbers."),
        (&old[..], "Este es un archivo antiguo de Excel (.xls) o uno con contraseña."),
        (&whole[..whole.len() / 2], "No se puede leer este archivo de Excel"),
    ] {
        let answer = upload(&member, body("", "a.xlsx", file)).await;
        assert!(answer.status == 422 && answer.body.contains(sentence), "{sentence}: {}", answer.body);
    }
}
