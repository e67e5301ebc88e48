//! Importing a file in the console, without script.

use pombo::accounts::Role;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::browser::Browser;
use super::world::World;
use crate::harness::Answer;
use crate::running::until;

const PLACE: &str = "/console/contacts/import";
const BOUNDARY: &str = "----pombo7MA4YWxkTrZu0gW";

/// The body that a browser sends for the form.
pub(super) fn body(tags: &str, name: &str, file: &[u8]) -> Vec<u8> {
    let mut body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\n{tags}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: text/csv\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(file);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// Sends the form with a file.
pub(super) async fn upload(browser: &Browser<'_>, body: Vec<u8>) -> Answer {
    let request = browser
        .request(Method::POST, PLACE)
        .header("origin", browser.origin())
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    browser.ask(request.body(body)).await
}

#[tokio::test]
async fn a_file_is_uploaded_looked_at_and_imported() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    assert!(member.page(PLACE).await.contains("<button type=\"submit\">Import</button>"));
    let rows: String = (0..3_000).map(|i| format!("<b>P{i}</b>;+55 11 9{i:08};\r\n")).collect();
    let file = format!("Nome;Ramal;Nada\r\n{rows}Jo\u{e3}o;12;\r\n");
    // The format of a spreadsheet in Brazil.
    let file: Vec<u8> = file.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let sent = upload(&member, body("feira", "lista <x>.csv", &file)).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let place = sent.header("location").to_owned();
    let shown = member.page(&place).await;
    assert!(shown.contains("lista &lt;x&gt;.csv") && shown.contains("&lt;b&gt;P0&lt;/b&gt;"), "{shown}");
    assert!(shown.contains("Say which column holds the phone number"), "{shown}");
    assert!(shown.contains("<option value=\"windows-1252\" selected>"), "{shown}");
    let columns = |phone| {
        [
            ("column-0", "first_name"),
            ("column-1", phone),
            ("column-2", "ignored"),
            ("tags", "feira"),
            ("encoding", "windows-1252"),
        ]
    };
    let steer = async |phone, action| {
        member.post(&place, &[&columns(phone)[..], &[("action", action)]].concat()).await
    };
    let missing = steer("ignored", "start").await;
    assert!(missing.status == 422 && missing.body.contains("Say which column holds"), "{}", missing.body);
    assert!(missing.body.contains("<option value=\"first_name\" selected>"), "the chosen fields are kept");
    assert_eq!(steer("phone_number", "check").await.status, 303);
    let checked = member.page(&place).await;
    assert!(checked.contains("Of the first 500 rows:") && checked.contains("500 new contacts"), "{checked}");
    assert_eq!(steer("phone_number", "start").await.header("location"), place);
    assert_eq!(steer("phone_number", "start").await.status, 303, "sent twice, it acts once");
    until("the import over", async || member.page(&place).await.contains(">Finished<")).await;
    let over = member.page(&place).await;
    assert!(over.contains("<dd>3,000</dd>") && over.contains("Download the rejected row"), "{over}");
    let tags = world.service.get("/api/v1/contacts/tags", &world.acme.key).await.json();
    let tag = tags["data"][0]["id"].as_str().unwrap();
    assert!(over.contains(&format!("href=\"/console/contacts?tag={tag}\"")), "{over}");
    assert!(!over.contains("Stop the import"), "{over}");
    let rejected = member.get(&format!("{place}/rejected")).await;
    assert_eq!(rejected.header("content-disposition"), "attachment; filename=\"rejected.csv\"");
    // It has the separator and the encoding of the upload.
    assert_eq!(rejected.header("content-type"), "text/csv; charset=windows-1252");
    let in_its_encoding = |body: &str| body.replace(['ã', 'í', '\u{fffd}'], "?");
    assert!(in_its_encoding(&rejected.body).lines().nth(1).unwrap().contains("Jo?o;12"), "{}", rejected.body);
    for (language, header, reason) in [
        ("en", "line;reason;Nome", "has fewer than 7 digits"),
        ("pt-BR", "linha;motivo;Nome", "tem menos de 7 d?gitos"),
        ("es", "l?nea;motivo;Nome", "tiene menos de 7 d?gitos"),
    ] {
        member.post("/console/language", &[("language", language), ("next", "/console")]).await;
        let rejected = in_its_encoding(&member.get(&format!("{place}/rejected")).await.body);
        assert!(rejected.starts_with(header) && rejected.contains(reason), "{language}: {rejected}");
    }
    member.post("/console/language", &[("language", "en"), ("next", "/console")]).await;
    let found = world.service.get("/api/v1/contacts?search=feira", &world.acme.key).await.json();
    assert_eq!(found["totalRecords"], 3_000);
    let listed = member.page(PLACE).await;
    assert!(listed.contains("lista &lt;x&gt;.csv") && listed.contains(">Finished<"), "{listed}");
    let outsider = world.outsider().await;
    for path in [place.clone(), format!("{place}/rejected"), format!("{place}/live")] {
        assert_eq!(outsider.get(&path).await.status, 404, "{path}");
    }
    // The next file with these columns needs only a confirmation.
    let next = upload(&member, body("", "next.csv", b"Ramal,Nome\n+55 11 900000001,Ana\n")).await;
    let shown = member.page(next.header("location")).await;
    assert!(!shown.contains("Say which column") && shown.contains("1 known contact is updated"), "{shown}");
    let canceled = member.submit(next.header("location"), &[("action", "cancel")]).await;
    assert!(canceled.contains(">Stopped<"), "{canceled}");
}

#[tokio::test]
async fn an_ended_import_leads_to_its_own_contacts_and_to_no_others() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let others = json!({"contacts": [
        {"first_name": "Feira Silva", "phone_number": "5511988880001"},
        {"first_name": "Ana", "phone_number": "5511988880002", "tags": ["feira 2024"]},
    ]});
    world.service.post("/api/v1/contacts/batch", &world.acme.key, others.to_string()).await;
    let sent = upload(&member, body("feira", "a.csv", b"phone\n+55 11 988880003\n+55 11 988880004\n")).await;
    let place = sent.header("location").to_owned();
    let start = [("column-0", "phone_number"), ("tags", "feira"), ("encoding", "UTF-8"), ("action", "start")];
    member.submit(&place, &start).await;
    until("the import over", async || member.page(&place).await.contains(">Finished<")).await;
    let over = member.page(&place).await;
    let link = over.split("href=\"").find(|rest| rest.starts_with("/console/contacts?")).expect("a link");
    let list = link.split('"').next().unwrap();
    let page = member.page(list).await;
    assert!(page.contains("All 2 contacts with this tag"), "{page}");
    assert!(!page.contains("Feira Silva") && !page.contains(">Ana<"), "{page}");
    // A tag that is gone does not lead to everybody.
    let tag = list.split("tag=").nth(1).expect("the tag's id");
    member.submit(&format!("/console/contacts/tags/{tag}/delete"), &[]).await;
    let over = member.page(&place).await;
    let (_, progress) = over.split_once("id=\"progress\"").expect("the progress");
    assert!(progress.contains(">Finished<") && !progress.contains("class=\"button plain\""), "{over}");
}

#[tokio::test]
async fn columns_with_the_usual_names_are_guessed_and_a_missing_number_is_reported() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    for (file, fields) in [
        ("Nome;Sobrenome;Telefone\nAna;Lima;+5511988880001\n", ["first_name", "last_name", "phone_number"]),
        (
            "Nombre completo;Correo electrónico;Móvil\nAna;;+5215588880001\n",
            ["name", "email", "phone_number"],
        ),
    ] {
        let sent = upload(&member, body("", "a.csv", file.as_bytes())).await;
        let place = sent.header("location").to_owned();
        let shown = member.page(&place).await;
        for field in fields {
            assert!(shown.contains(&format!("<option value=\"{field}\" selected>")), "{field}: {shown}");
        }
        assert!(!shown.contains("No column holds phone numbers"), "{shown}");
        member.submit(&place, &[("action", "cancel")]).await;
    }
    let sent = upload(&member, body("", "a.csv", b"E-mail,Ramal\nana@example.com,12\n")).await;
    let shown = member.page(sent.header("location")).await;
    assert!(shown.contains("No column holds phone numbers."), "{shown}");
}

#[tokio::test]
async fn columns_and_tags_beyond_their_bounds_are_refused_and_a_long_header_is_shown_in_part() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let tags = |count: usize| (0..count).map(|index| format!("t{index}")).collect::<Vec<_>>().join(";");
    let header = |columns: usize| {
        let names: Vec<_> = (0..columns).map(|index| format!("Phone {index} - Value")).collect();
        format!("{}\n", names.join(";"))
    };
    for (tags, columns, sentence) in [
        (tags(101), 3, "A contact gets at most 100 tags at once."),
        (String::new(), 501, "The file has more than 500 columns."),
    ] {
        let answer = upload(&member, body(&tags, "a.csv", header(columns).as_bytes())).await;
        assert!(answer.status == 422 && answer.body.contains(sentence), "{sentence}: {}", answer.body);
    }
    // The second row has far more cells than the header.
    let file = format!("{}+5511988880001{}\n{}\n", header(500), ";".repeat(499), ";".repeat(100_000));
    let sent = upload(&member, body(&tags(100), "a.csv", file.as_bytes())).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let place = sent.header("location").to_owned();
    let shown = member.page(&place).await;
    assert_eq!(shown.matches("<select name=\"column-").count(), 200);
    // The first cell of a row is its heading: 200 columns with two more cells, and a contact with two.
    assert_eq!(shown.matches("<td").count(), 200 * 2 + 2, "{} bytes", shown.len());
    assert!(shown.contains("Only the first 200 columns are shown"), "{shown}");
    let refused =
        member.post(&place, &[("tags", &tags(101)), ("encoding", "UTF-8"), ("action", "check")]).await;
    assert!(refused.status == 422 && refused.body.contains("at most 100 tags at once"), "{}", refused.body);
    let contact = [("phone_number", "+5511988880009"), ("tags", &tags(101))];
    let refused = member.post("/console/contacts/new", &contact).await;
    assert!(refused.status == 422 && refused.body.contains("at most 100 tags at once"), "{}", refused.body);
}

#[tokio::test]
async fn an_upload_that_ends_in_the_middle_leaves_nothing_behind() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let rows: String = (0..20_000).map(|i| format!("+55 11 9{i:08}\n")).collect();
    let form = body("feira", "numbers.csv", format!("phone\n{rows}").as_bytes());
    let head = format!(
        "POST {PLACE} HTTP/1.1\r\nHost: h\r\nSec-Fetch-Site: same-origin\r\nCookie: pombo_session={}\r\n\
         Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {}\r\n\r\n",
        member.cookie("pombo_session").unwrap(),
        form.len()
    );
    let uploads = async || {
        world.service.get("/api/v1/contacts/imports", &world.acme.key).await.json()["totalRecords"].clone()
    };
    // More files than may wait for their import.
    for _ in 0..7 {
        let mut stream = TcpStream::connect(member.origin().trim_start_matches("http://")).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&form[..form.len() * 3 / 4]).await.unwrap();
        until("the upload begun", async || uploads().await == 1).await;
        drop(stream);
        until("the upload removed", async || uploads().await == 0).await;
    }
    let whole = upload(&member, form).await;
    assert_eq!(whole.status, 303, "{}", whole.body);
}

#[tokio::test]
async fn an_upload_that_is_none_is_refused_beside_its_field() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    for (file, sentence) in [
        (&b""[..], "the file is empty"),
        (&[0_u8; 600_000][..], "line 1 holds NUL characters"),
        (&[b'x'; 1_200_000][..], "line 1 is longer than 1 MiB"),
        (&b"\"phone\n1"[..], "the header cannot be read"),
    ] {
        let answer = upload(&member, body("feira", "a.csv", file)).await;
        assert_eq!(answer.status, 422, "{sentence}: {}", answer.body);
        assert!(answer.body.contains(sentence) && answer.body.contains("value=\"feira\""), "{}", answer.body);
    }
    let nothing = upload(&member, body("", "", b"")).await;
    assert!(nothing.status == 422 && nothing.body.contains("Choose a file."), "{}", nothing.body);
    // Bodies that are not forms, and forms that end early.
    let whole = body("", "a.csv", b"phone\n5511988880001\n");
    for broken in [&whole[..whole.len() - 8], &whole[..60], b"", b"--x"] {
        let answer = upload(&member, broken.to_vec()).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    let plain = member.post(PLACE, &[("file", "x")]).await;
    assert_eq!(plain.status, 400);
    until("the uploads removed", async || {
        world.service.get("/api/v1/contacts/imports", &world.acme.key).await.json()["totalRecords"] == 0
    })
    .await;
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_before_it_comes_and_received_all_the_same() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let form = body("feira", "zeros.csv", b"");
    let beginning = &form[..form.len() - format!("\r\n--{BOUNDARY}--\r\n").len()];
    let head = format!(
        "POST {PLACE} HTTP/1.1\r\nHost: h\r\nSec-Fetch-Site: same-origin\r\nCookie: pombo_session={}\r\n\
         Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: 2147483648\r\n\r\n",
        member.cookie("pombo_session").unwrap()
    );
    let mut stream = TcpStream::connect(member.origin().trim_start_matches("http://")).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(beginning).await.unwrap();
    let mut answer = Vec::new();
    until("the answer, though no byte of the file came", async || {
        stream.read_buf(&mut answer).await.unwrap();
        answer.ends_with(b"</html>")
    })
    .await;
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    assert!(answer.contains("value=\"feira\"") && answer.contains("class=\"fault\""), "{answer}");
    // A browser reads the answer only after it has sent everything.
    for _ in 0..256 {
        stream.write_all(&[0; 64 * 1024]).await.unwrap();
    }
    drop(stream);
    assert!(!member.page(PLACE).await.contains("class=\"fault\""), "the fault was shown once");
}

#[tokio::test]
async fn the_page_of_a_running_import_is_kept_up_to_date() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let rows: String = (0..20_000).map(|i| format!("+55 11 9{i:08}\n")).collect();
    let imports = "/api/v1/contacts/imports?start=true";
    let begun = world.service.post(imports, &world.acme.key, format!("phone\n{rows}")).await.json();
    let place = format!("{PLACE}/{}", begun["id"].as_str().unwrap());
    let mut stream = member.request(Method::GET, &format!("{place}/live")).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut told = String::new();
    until("the end shown", async || {
        told.push_str(&String::from_utf8_lossy(&stream.chunk().await.unwrap().unwrap_or_default()));
        told.contains(">Finished<")
    })
    .await;
    assert!(told.contains("data: <div id=\"progress\">") && told.contains("<dd>20,000</dd>"), "{told}");
    let last = told.rsplit("id=\"progress\"").next().unwrap();
    assert!(!last.contains("Stop the import"), "an ended import cannot be stopped: {last}");
}
