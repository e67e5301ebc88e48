//! Contacts from workbooks (xlsx) over HTTP, and the options of tags and addresses.

use serde_json::{Value, json};

use crate::harness::{Company, Service};
use crate::running::until;
use crate::workbook::{archive, workbook};

const IMPORTS: &str = "/api/v1/contacts/imports";

async fn over(service: &Service, company: &Company, import: &Value) -> Value {
    let path = format!("{IMPORTS}/{}", import["id"].as_str().unwrap());
    let mut shown = Value::Null;
    until("the import over", async || {
        shown = service.get(&path, &company.key).await.json();
        shown["finished_at"].is_string()
    })
    .await;
    shown
}

#[tokio::test]
async fn the_first_sheet_of_a_workbook_is_imported_with_numbers_as_the_spreadsheet_means_them() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let rows: &[&[&str]] = &[
        &["Clientes 2026"],
        &[],
        &["Nome", "Telefone", "Tags"],
        &["Ana", "3.4612345678E10", "VIP;feira"],
        &["Bea", "<c><f>A1</f><v>5511988880002</v></c>", ""],
        &["Caio; o \"bom\"", "+55 11 98888-0003", ""],
        &["Duda", "12", ""],
        &["Eva", "5511988880004123456", ""],
    ];
    let file = workbook(&[("Clientes", rows), ("Notas", &[&["x"]])]);
    let answer = service.post(&format!("{IMPORTS}?start=true&file_name=c.xlsx"), &acme.key, file).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.json()["sheet"], "Clientes");
    let shown = over(&service, &acme, &answer.json()).await;
    let counts = ["rows", "created", "rejected"].map(|name| shown[name].as_u64().unwrap());
    assert_eq!((&shown["state"], counts), (&json!("finished"), [5, 3, 2]), "{shown}");
    assert_eq!((&shown["encoding"], &shown["bytes_read"]), (&json!("UTF-8"), &shown["bytes"]));
    for (search, number) in [("Ana", "34612345678"), ("Bea", "5511988880002"), ("Caio", "+55 11 98888-0003")]
    {
        let found = service.get(&format!("/api/v1/contacts?search={search}"), &acme.key).await.json();
        assert_eq!(found["data"][0]["phone_number"], number, "{found}");
    }
    // The lines of the rejected rows are the rows of the sheet.
    let rejected = format!("{IMPORTS}/{}/rejected", shown["id"].as_str().unwrap());
    let rejected = service.get(&rejected, &acme.key).await.body;
    assert!(rejected.contains("\n7,") && rejected.contains(",number_too_short,Duda,12"), "{rejected}");
    assert!(rejected.contains("\n8,") && rejected.contains(",number_rounded,Eva,"), "{rejected}");
}

#[tokio::test]
async fn a_workbook_of_many_pieces_is_converted_and_its_own_pieces_go() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    // The CSV is larger than a stored piece, and so is the workbook: its texts hardly compress.
    let mut state = 1_u64;
    let rows: Vec<[String; 2]> = (0..14_000)
        .map(|row| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            [format!("N{state:x}{:x}", state.rotate_left(29) ^ row), format!("55119{row:08}")]
        })
        .collect();
    let mut cells = vec![vec!["name", "phone"]];
    cells.extend(rows.iter().map(|row| row.iter().map(String::as_str).collect()));
    let cells: Vec<&[&str]> = cells.iter().map(Vec::as_slice).collect();
    let file = workbook(&[("Sheet1", cells.as_slice())]);
    assert!(file.len() > 256 * 1024, "{} bytes", file.len());
    let answer = service.post(&format!("{IMPORTS}?start=true"), &acme.key, file).await;
    let shown = over(&service, &acme, &answer.json()).await;
    assert_eq!((&shown["state"], &shown["created"]), (&json!("finished"), &json!(14_000)), "{shown}");
}

#[tokio::test]
async fn files_that_are_no_workbooks_and_workbooks_that_are_hostile_are_refused_with_what_to_do() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let whole = workbook(&[("Sheet1", &[&["phone"], &["5511988880001"]])]);
    let part = |name: &str, content: &str| (name.to_owned(), content.to_owned());
    let ods = archive(&[part("mimetype", "application/vnd.oasis"), part("content.xml", "<x/>")]);
    let bomb =
        archive(&[part("_rels/.rels", "<x/>"), part("xl/sharedStrings.xml", &"0".repeat(65 * 1024 * 1024))]);
    for (file, said) in [
        (whole[..whole.len() - 30].to_vec(), "is incomplete or damaged"),
        (whole[..100].to_vec(), "is incomplete or damaged"),
        (ods, "(.ods)"),
        (bomb, "holds too much"),
        (archive(&[part("people.csv", "phone\n1\n")]), "an archive (.zip)"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 with more bytes than that, as such files have, and more"
                .to_vec(),
            "a password",
        ),
        (workbook(&[("Sheet1", &[])]), "the file is empty"),
    ] {
        let mut answer = service.post(IMPORTS, &acme.key, file.clone()).await;
        // The parts of a refused file are removed after the answer, and count until then.
        until("fewer than too many imports", async || {
            let is_full = answer.code().as_deref() == Some("too_many_imports");
            if is_full {
                answer = service.post(IMPORTS, &acme.key, file.clone()).await;
            }
            !is_full
        })
        .await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_file")), "{said}");
        assert!(answer.body.contains(said), "{said}: {}", answer.body);
    }
    until("the imports removed", async || service.get(IMPORTS, &acme.key).await.json()["totalRecords"] == 0)
        .await;
}

#[tokio::test]
async fn the_encoding_of_a_workbook_may_be_sent_back_but_not_changed() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let file = workbook(&[("Sheet1", &[&["phone"], &["5511988880001"]])]);
    let import = service.post(IMPORTS, &acme.key, file).await.json();
    let path = format!("{IMPORTS}/{}", import["id"].as_str().unwrap());
    let steer = async |body: Value| service.post(&path, &acme.key, body.to_string()).await;
    let answer = steer(json!({"encoding": "windows-1252"})).await;
    assert_eq!(answer.code().as_deref(), Some("invalid_mapping"), "{}", answer.body);
    let answer = steer(json!({"encoding": import["encoding"], "country": "BR"})).await;
    assert_eq!((answer.status, &answer.json()["country"]), (200, &json!("BR")), "{}", answer.body);
}

#[tokio::test]
async fn tags_are_separated_by_what_a_client_says_and_wrong_addresses_are_counted() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let file = "name;phone;email;tags\n\
                Ana;5511988880001;ana@example;\"VIP, feira\"\n\
                Bea;5511988880002;bea@example.com;\"VIP;a|b\"\n\
                Cid;;cid@;\n";
    let answer = service.post(IMPORTS, &acme.key, file).await;
    let import = answer.json();
    assert_eq!((&import["tag_separator"], &import["preview"]["emails_left_out"]), (&Value::Null, &json!(1)));
    let path = format!("{IMPORTS}/{}", import["id"].as_str().unwrap());
    let steer = async |body: Value| service.post(&path, &acme.key, body.to_string()).await;
    assert_eq!(steer(json!({"tag_separator": "-"})).await.code().as_deref(), Some("invalid_field"));
    assert_eq!(steer(json!({"tag_separator": ",", "action": "start"})).await.json()["tag_separator"], ",");
    let shown = over(&service, &acme, &import).await;
    assert_eq!((&shown["created"], &shown["rejected"]), (&json!(2), &json!(1)), "{shown}");
    assert_eq!(shown["emails_left_out"], 1, "{shown}");
    let contact = async |name: &str| {
        service.get(&format!("/api/v1/contacts?search={name}"), &acme.key).await.json()["data"][0].clone()
    };
    let tags = |contact: &Value| {
        let tags =
            contact["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap().to_owned());
        let mut tags: Vec<String> = tags.collect();
        tags.sort();
        tags
    };
    let (ana, bea) = (contact("Ana").await, contact("Bea").await);
    assert_eq!((&ana["email"], tags(&ana)), (&json!(""), vec!["VIP".to_owned(), "feira".to_owned()]));
    assert_eq!(tags(&bea), ["VIP", "a|b"]);
    let rejected = service.get(&format!("{path}/rejected"), &acme.key).await.body;
    assert!(rejected.contains("is no e-mail address") && rejected.contains(",wrong_address,"), "{rejected}");

    // Without the option, only a semicolon separates.
    let answer = service
        .post(
            &format!("{IMPORTS}?start=true&tag_separator=%7C"),
            &acme.key,
            "phone,tags\n5511988880005,\"x, y|z\"\n",
        )
        .await;
    over(&service, &acme, &answer.json()).await;
    let found = service.get("/api/v1/contacts?search=5511988880005", &acme.key).await.json();
    assert_eq!(tags(&found["data"][0]), ["x, y", "z"]);
}
