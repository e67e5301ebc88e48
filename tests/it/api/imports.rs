//! Uploading, mapping and following imports of contacts over HTTP; files that are refused.

use pombo::config::Config;
use serde_json::{Value, json};

use crate::harness::{Company, Service};
use crate::running::{until, until_soon};
use crate::scripted_driver::ScriptedDriver;

const IMPORTS: &str = "/api/v1/contacts/imports";

async fn upload(service: &Service, company: &Company, query: &str, file: impl Into<reqwest::Body>) -> Value {
    let answer = service.post(&format!("{IMPORTS}{query}"), &company.key, file).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()
}

fn path(import: &Value) -> String {
    format!("{IMPORTS}/{}", import["id"].as_str().unwrap())
}

async fn over(service: &Service, company: &Company, import: &Value) -> Value {
    let mut shown = Value::Null;
    until("the import over", async || {
        shown = service.get(&path(import), &company.key).await.json();
        shown["finished_at"].is_string()
    })
    .await;
    shown
}

#[tokio::test]
async fn a_file_is_shown_mapped_imported_and_remembered() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let file = "\u{feff}Nome;Ramal;E-mail 2;Notas\r\n\
                Ana;+55 11 98888-0001;ana@a.example;\"a\r\nb\"\r\n\
                <b>Bo</b>;+55 11 98888-0002;;\r\n\
                Caio;12;;\r\n";
    let import = upload(&service, &acme, "?file_name=feira.csv&tags=feira;%20novo", file).await;
    assert_eq!((&import["state"], &import["file_name"]), (&json!("ready"), &json!("feira.csv")));
    assert_eq!((&import["encoding"], &import["tags"]), (&json!("UTF-8"), &json!(["feira", "novo"])));
    assert_eq!(import["columns"][1], json!({"column": "Ramal", "field": null}));
    let preview = &import["preview"];
    assert!(preview["problem"].as_str().unwrap().starts_with("no column is known"), "{preview}");
    assert_eq!((&preview["rows"][1][0], &preview["is_whole"]), (&json!("<b>Bo</b>"), &json!(true)));

    let steer = async |body: Value| service.post(&path(&import), &acme.key, body.to_string()).await;
    let start = json!({"action": "start"});
    assert_eq!(steer(start.clone()).await.code().as_deref(), Some("invalid_mapping"));
    let wrong = json!({"columns": [{"column": "Ramal", "field": "fax"}]});
    assert_eq!(steer(wrong).await.code().as_deref(), Some("invalid_mapping"));
    assert_eq!(steer(json!({"encoding": "klingon"})).await.code().as_deref(), Some("invalid_mapping"));
    assert_eq!(steer(json!({"action": "fly"})).await.code().as_deref(), Some("invalid_field"));
    let columns = json!([
        {"column": "Nome", "field": "first_name"},
        {"column": "Ramal", "field": "phone_number"},
        {"column": "Notas", "field": "ignored"},
    ]);
    let mapped = steer(json!({ "columns": columns })).await.json();
    assert_eq!(mapped["columns"][1], json!({"column": "Ramal", "field": "phone_number"}));
    let preview = &mapped["preview"];
    let counts = ["looked_at", "created", "updated", "rejected"].map(|name| preview[name].as_u64().unwrap());
    assert_eq!((counts, &preview["problem"]), ([3, 2, 0, 1], &Value::Null), "{preview}");
    assert_eq!(
        service.get("/api/v1/contacts", &acme.key).await.json()["totalRecords"],
        0,
        "nothing is written"
    );

    assert_eq!(steer(start.clone()).await.status, 200);
    let shown = over(&service, &acme, &import).await;
    let counts = ["rows", "created", "rejected", "rejected_kept"].map(|name| shown[name].as_u64().unwrap());
    assert_eq!((&shown["state"], counts), (&json!("finished"), [3, 2, 1, 1]), "{shown}");
    assert_eq!(steer(start).await.code().as_deref(), Some("import_has_begun"));
    let found = service.get("/api/v1/contacts?search=novo", &acme.key).await.json();
    assert_eq!(found["totalRecords"], 2);
    let rejected = service.get(&format!("{}/rejected", path(&import)), &acme.key).await;
    assert!(rejected.header("content-type").starts_with("text/csv"));
    let lines: Vec<_> = rejected.body.lines().collect();
    assert_eq!(lines[0], "line,reason,code,Nome,Ramal,E-mail 2,Notas");
    assert!(lines[1].starts_with("5,\"the phone number has fewer than 7 digits"), "{}", rejected.body);
    assert!(lines[1].contains("\",number_too_short,"), "{}", rejected.body);
    assert_eq!(service.get(&path(&import), &globex.key).await.status, 404);
    let id = import["id"].as_str().unwrap().parse().unwrap();
    let rejects =
        async |company: &Company| service.store().of(company.id).imports().rejected(id, 0, 10).await.unwrap();
    assert_eq!((rejects(&acme).await.len(), rejects(&globex).await.len()), (1, 0));

    // The next file of the same columns needs no mapping, and tells nothing new.
    let next = upload(&service, &acme, "?start=true", "Ramal,Nome\n+55 11 98888-0001,Ana\n").await;
    let shown = over(&service, &acme, &next).await;
    assert_eq!((&shown["unchanged"], &shown["rows"]), (&json!(1), &json!(1)), "{shown}");
    let listed = service.get(IMPORTS, &acme.key).await.json();
    assert_eq!((&listed["totalRecords"], &listed["data"][0]["id"]), (&json!(2), &next["id"]));
    assert_eq!(service.get(IMPORTS, &globex.key).await.json()["totalRecords"], 0);
}

#[tokio::test]
async fn a_file_that_is_none_is_refused_with_a_sentence_and_leaves_nothing() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let zeros = vec![0_u8; 3 * 1024 * 1024];
    let endless = vec![b'x'; 3 * 1024 * 1024];
    let mut late_zeros = b"phone\n5511988880001\n".to_vec();
    late_zeros.extend(&zeros);
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("", zeros.clone(), "line 1 holds NUL characters"),
        ("?encoding=auto", zeros, "line 1 holds NUL characters"),
        ("", late_zeros, "line 3 holds NUL characters"),
        ("", endless, "line 1 is longer than 1 MiB"),
        ("", Vec::new(), "the file is empty"),
        ("", b"\n\n\n".to_vec(), "the file is empty"),
        ("", b"\"phone\n1\n".to_vec(), "line 1: the header cannot be read"),
        ("", b"phone\nJo\xe3o\n".to_vec(), "line 2: the byte at position 8 is not valid UTF-8"),
        ("?encoding=klingon", b"phone\n1\n".to_vec(), "\"klingon\" is no known text encoding"),
    ];
    for (query, file, sentence) in cases {
        let mut answer = service.post(&format!("{IMPORTS}{query}"), &acme.key, file.clone()).await;
        // The parts of a refused file are removed after the answer, and count until then.
        until("fewer than too many imports", async || {
            let is_full = answer.code().as_deref() == Some("too_many_imports");
            if is_full {
                answer = service.post(&format!("{IMPORTS}{query}"), &acme.key, file.clone()).await;
            }
            !is_full
        })
        .await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_file")), "{sentence}");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(sentence), "{error}");
    }
    until("the imports removed", async || service.get(IMPORTS, &acme.key).await.json()["totalRecords"] == 0)
        .await;
    for query in ["?start=maybe", "?tags=a%00", "?file_name=%ff"] {
        let answer = service.post(&format!("{IMPORTS}{query}"), &acme.key, "phone\n1\n").await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{query}");
    }
}

#[tokio::test]
async fn hostile_rows_are_rejected_alone_and_encodings_are_read() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let long = "y".repeat(300 * 1024);
    let file = format!(
        "name,phone,email\n\
         =cmd|'/c calc'!A1,5511988880001,\n\
         \"never closed,5511988880002,\n\
         {long},5511988880003,\n\
         a,b,c,d,e\n\
         {},5511988880004,\n\
         \u{202e}🕊 عمر,5511988880005,x@y.example\n\
         Bob,5.51199E+12,\n",
        "z".repeat(201)
    );
    let import = upload(&service, &acme, "?start=true", file).await;
    let shown = over(&service, &acme, &import).await;
    assert_eq!((&shown["created"], &shown["rejected"]), (&json!(2), &json!(5)), "{shown}");
    let rejected = service.get(&format!("{}/rejected", path(&import)), &acme.key).await.body;
    assert_eq!(rejected.lines().count(), 6, "{}", &rejected[..2_000.min(rejected.len())]);
    assert!(rejected.len() < 20_000, "of a long row only the beginning is kept");
    for (encoding, file) in [
        ("?encoding=windows-1252&start=true", b"name,phone\nJo\xe3o,5511988880011\n".to_vec()),
        ("?encoding=auto&start=true", b"name,phone\nJos\xe9,5511988880012\n".to_vec()),
        (
            "?start=true",
            "\u{feff}name\tphone\r\nZoë\t5511988880013\r\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
        ),
    ] {
        let import = upload(&service, &acme, encoding, file).await;
        let shown = over(&service, &acme, &import).await;
        assert_eq!((&shown["state"], &shown["created"]), (&json!("finished"), &json!(1)), "{shown}");
    }
    for name in ["jo%C3%A3o", "Jos%C3%A9", "Zo%C3%AB"] {
        let found = service.get(&format!("/api/v1/contacts?search={name}"), &acme.key).await.json();
        assert_eq!(found["totalRecords"], 1, "{name}");
    }
}

#[tokio::test]
async fn an_import_is_canceled_and_another_takes_its_place() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let mut last = Value::Null;
    for _ in 0..5 {
        last = upload(&service, &acme, "", "phone\n5511988880001\n").await;
    }
    let sixth = service.post(IMPORTS, &acme.key, "phone\n1\n").await;
    assert_eq!((sixth.status, sixth.code().as_deref()), (409, Some("too_many_imports")));
    let canceled = service.post(&path(&last), &acme.key, r#"{"action": "cancel"}"#).await.json();
    assert_eq!(canceled["state"], "canceled");
    let again = service.post(&path(&last), &acme.key, r#"{"action": "cancel"}"#).await;
    assert_eq!((again.status, &again.json()["state"]), (200, &json!("canceled")));
    let start = service.post(&path(&last), &acme.key, r#"{"action": "start"}"#).await;
    assert_eq!(start.code().as_deref(), Some("import_has_begun"));
    upload(&service, &acme, "", "phone\n5511988880001\n").await;
    assert_eq!(service.get("/api/v1/contacts", &acme.key).await.json()["totalRecords"], 0);
}

#[tokio::test]
async fn a_file_over_the_configured_size_is_refused() {
    let small = |config: &mut Config| config.imports.max_bytes = 1_000;
    let service = Service::start_configured(ScriptedDriver::default(), small).await;
    let acme = service.company("acme").await;
    let answer = service.post(IMPORTS, &acme.key, "x".repeat(1_001)).await;
    assert_eq!((answer.status, answer.code().as_deref()), (413, Some("body_too_large")));
    upload(&service, &acme, "", "phone\n5511988880001\n").await;
}

#[tokio::test]
async fn columns_and_mappings_beyond_their_bounds_are_refused_with_codes_of_their_own() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let header = |columns: usize| {
        let names: Vec<_> = (1..=columns).map(|index| format!("Phone {index} - Value")).collect();
        format!("{}\n", names.join(","))
    };
    for (file, code) in [
        (header(501), "too_many_columns"),
        (format!("phone{}\n", ",".repeat(60_000)), "too_many_columns"),
        (format!("phone,{}\n", "x".repeat(65_536)), "invalid_file"),
    ] {
        let answer = service.post(IMPORTS, &acme.key, file).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{}", answer.body);
    }
    let import = upload(&service, &acme, "", format!("{}{}\n", header(500), ",".repeat(499))).await;
    assert_eq!(import["columns"].as_array().unwrap().len(), 500);
    let steer = async |columns: usize| {
        let column = |index| json!({"column": format!("phone{index}value"), "field": "email"});
        let columns: Vec<_> = (1..=columns).map(column).collect();
        service.post(&path(&import), &acme.key, json!({ "columns": columns }).to_string()).await
    };
    let refused = steer(501).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("too_many_mappings")), "{refused:?}");
    let mapped = steer(500).await.json();
    assert!(mapped["columns"].as_array().unwrap().iter().all(|column| column["field"] == "email"));
}

#[tokio::test]
async fn a_contact_gets_a_bounded_number_of_tags_from_its_row_and_the_whole_import_together() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let names = |prefix: &str, count: usize| -> String {
        (0..count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(";")
    };
    let refused = service
        .post(&format!("{IMPORTS}?tags={}", names("t", 101)), &acme.key, "phone\n5511988880001\n")
        .await;
    assert_eq!(refused.code().as_deref(), Some("invalid_field"), "{refused:?}");
    let file = format!(
        "phone,tags\n5511988880001,{}\n5511988880002,{}\n5511988880003,\n",
        names("own", 60),
        names("own", 61)
    );
    let import = upload(&service, &acme, &format!("?start=true&tags={}", names("t", 40)), file).await;
    let shown = over(&service, &acme, &import).await;
    assert_eq!((&shown["created"], &shown["rejected"]), (&json!(2), &json!(1)), "{shown}");
    let rejected = service.get(&format!("{}/rejected", path(&import)), &acme.key).await.body;
    assert!(rejected.contains("3,has more than 100 tags,too_many_tags,"), "{rejected}");
    let found = service.get("/api/v1/contacts?search=5511988880001", &acme.key).await.json();
    assert_eq!(found["data"][0]["tags"].as_array().unwrap().len(), 100, "{found}");
}

#[tokio::test]
async fn numbers_are_read_by_the_rules_of_a_country_only_where_a_client_says_so() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let file = "name,phone\nNac,(11) 90000-2701\nNacTrunk,(011) 90000-2702\nForeign,+1 212 555 0101\n";
    let import = upload(&service, &acme, "", file).await;
    assert_eq!((&import["country"], &import["preview"]["rejected"]), (&Value::Null, &json!(2)), "{import}");
    let steer = async |body: Value| service.post(&path(&import), &acme.key, body.to_string()).await;
    assert_eq!(steer(json!({"country": "Brazil"})).await.code().as_deref(), Some("invalid_field"));
    let changed = steer(json!({"country": "br"})).await.json();
    let preview = &changed["preview"];
    assert_eq!(
        (&changed["country"], &preview["created"], &preview["rejected"]),
        (&json!("BR"), &json!(3), &json!(0))
    );
    assert_eq!(steer(json!({"country": ""})).await.json()["country"], Value::Null);
    assert_eq!(steer(json!({"action": "cancel"})).await.status, 200);
    let import = upload(&service, &acme, "?country=BR&start=true", file).await;
    let shown = over(&service, &acme, &import).await;
    assert_eq!((&shown["created"], &shown["rejected"]), (&json!(3), &json!(0)), "{shown}");
    let listed = service.get("/api/v1/contacts?search=Nac", &acme.key).await.json();
    let mut numbers: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|it| it["phone_number"].clone()).collect();
    numbers.sort_by_key(Value::to_string);
    assert_eq!(numbers, ["+5511900002701", "+5511900002702"]);
    let wrong = service.post(&format!("{IMPORTS}?country=BRA"), &acme.key, file).await;
    assert_eq!((wrong.status, wrong.code().as_deref()), (400, Some("invalid_field")));
}

#[tokio::test]
async fn an_unnamed_column_is_mapped_by_its_place_and_what_was_mapped_hides_no_better_column() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let import = upload(&service, &acme, "", "Nome,,Ramal\nAna,+55 11 98888-0001,\n").await;
    let columns =
        json!([{"column": "#2", "field": "phone_number"}, {"column": "Ramal", "field": "phone_number"}]);
    let body = json!({"columns": columns, "action": "start"}).to_string();
    assert_eq!(service.post(&path(&import), &acme.key, body).await.status, 200);
    assert_eq!(over(&service, &acme, &import).await["created"], 1);
    let next =
        upload(&service, &acme, "?start=true", "Nome,WhatsApp,Ramal\nBea,+55 11 98888-0002,1130000212\n")
            .await;
    let shown = over(&service, &acme, &next).await;
    assert_eq!(
        (&shown["created"], &shown["columns"][2]["field"]),
        (&json!(1), &json!("phone_number")),
        "{shown}"
    );
    let found = service.get("/api/v1/contacts?search=Bea", &acme.key).await.json();
    assert_eq!(found["data"][0]["phone_number"], "+55 11 98888-0002");
}

#[tokio::test]
async fn a_file_in_a_form_is_the_file_alone() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let post = async |query: &str, form: String| {
        let request = service.request(reqwest::Method::POST, &format!("{IMPORTS}{query}"));
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        crate::harness::Answer::to(request.bearer_auth(&acme.key).body(form)).await
    };
    let part = |name: &str, file: &str| {
        format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n")
    };
    let file = part("file", "; filename=\"feira.csv\"\r\nContent-Type: text/csv");
    let rows = "phone\r\n+55 11 98888-0001\r\n--edg\r\n";
    let whole = format!("{}1\r\n{file}{rows}\r\n--edge--\r\n", part("note", ""));
    let import = post("?start=true", whole).await;
    assert_eq!((import.status, &import.json()["file_name"]), (201, &json!("feira.csv")), "{}", import.body);
    let shown = over(&service, &acme, &import.json()).await;
    assert_eq!(
        (&shown["rows"], &shown["created"], &shown["bytes"]),
        (&json!(2), &json!(1), &json!(rows.len()))
    );
    let named = post("?file_name=other.csv", format!("{file}{rows}\r\n--edge--\r\n")).await;
    assert_eq!(named.json()["file_name"], "other.csv");
    // A form that breaks off leaves nothing, and a form without the file says so.
    let broken = post("", format!("{file}{rows}")).await;
    assert_eq!((broken.status, broken.code().as_deref()), (400, Some("invalid_body")), "{}", broken.body);
    let nameless = post("", format!("{}x\r\n--edge--\r\n", part("upload", ""))).await;
    assert_eq!(
        (nameless.status, nameless.code().as_deref()),
        (400, Some("invalid_field")),
        "{}",
        nameless.body
    );
    until_soon("only the whole imports there", async || {
        service.get(IMPORTS, &acme.key).await.json()["totalRecords"] == 2
    })
    .await;
}
