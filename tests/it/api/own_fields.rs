//! Own fields of contacts over HTTP: defining them, their values in contacts and files, and lists by them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Company, Service};
use crate::running::until;

const FIELDS: &str = "/api/v1/contacts/fields";

async fn ask(service: &Service, company: &Company, method: Method, path: &str, body: &Value) -> Answer {
    let request = service.request(method, path).bearer_auth(&company.key).body(body.to_string());
    Answer::to(request).await
}

async fn field(service: &Service, company: &Company, name: &str, kind: &str) -> Value {
    let made = ask(service, company, Method::POST, FIELDS, &json!({"name": name, "type": kind})).await;
    assert_eq!(made.status, 201, "{}", made.body);
    made.json()
}

async fn names(service: &Service, company: &Company, query: &str) -> Vec<String> {
    let path = format!("/api/v1/contacts?limit=100&{query}");
    let answer = service.get(&path, &company.key).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    let listed = answer.json();
    assert_eq!(listed["totalRecords"], listed["data"].as_array().unwrap().len(), "{query}");
    let contacts = listed["data"].as_array().unwrap().iter();
    contacts.map(|contact| contact["first_name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_field_is_made_renamed_and_deleted_by_its_company_alone() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let born = field(&service, &acme, " Data de nascimento ", "date").await;
    assert_eq!(
        (&born["key"], &born["name"], &born["type"]),
        (&json!("data_de_nascimento"), &json!("Data de nascimento"), &json!("date"))
    );
    let place = format!("{FIELDS}/{}", born["id"].as_str().unwrap());
    for (body, code) in [
        (json!({"name": "DATA DE NASCIMENTO", "type": "text"}), "field_name_taken"),
        (json!({"name": "Telefone", "type": "text"}), "field_name_taken"),
        (json!({"name": "City"}), "invalid_field"),
        (json!({"name": "City", "type": "colour"}), "invalid_field"),
        (json!({"name": " ", "type": "text"}), "invalid_field"),
        (json!({"name": "x".repeat(61), "type": "text"}), "invalid_field"),
    ] {
        let refused = ask(&service, &acme, Method::POST, FIELDS, &body).await;
        assert_eq!(refused.code().as_deref(), Some(code), "{body}: {}", refused.body);
    }
    let stranger = ask(&service, &globex, Method::PATCH, &place, &json!({"name": "x"})).await;
    assert_eq!((stranger.status, stranger.code().as_deref()), (404, Some("field_not_found")));
    let renamed = ask(&service, &acme, Method::PATCH, &place, &json!({"name": "Aniversário"})).await.json();
    assert_eq!((&renamed["name"], &renamed["key"]), (&json!("Aniversário"), &born["key"]));
    let listed = service.get(FIELDS, &acme.key).await.json();
    assert_eq!((&listed["totalRecords"], &listed["data"]), (&json!(1), &json!([renamed])));
    assert_eq!(service.get(FIELDS, &globex.key).await.json()["totalRecords"], 0);
    assert_eq!(ask(&service, &acme, Method::DELETE, &place, &json!("")).await.status, 204);
    assert_eq!(service.get(FIELDS, &acme.key).await.json()["totalRecords"], 0);
}

#[tokio::test]
async fn values_are_given_read_changed_and_erased_and_lists_are_narrowed_by_them() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    for (name, kind) in [("City", "text"), ("Age", "number"), ("Born", "date")] {
        field(&service, &acme, name, kind).await;
    }
    let contacts = json!({"contacts": [
        {"first_name": "Ana", "phone_number": "5511988880001", "fields": {"city": "São Paulo", "age": 42, "born": "1984-02-29"}},
        {"first_name": "Bea", "phone_number": "5511988880002", "fields": {"city": "Rio", "age": "12.50", "born": null}},
        {"first_name": "Caio", "phone_number": "5511988880003", "fields": {}},
        {"first_name": "Duda", "phone_number": "5511988880004", "fields": {"age": "old"}},
        {"first_name": "Edu", "phone_number": "5511988880005", "fields": {"born": 1984}},
        {"first_name": "Fred", "phone_number": "5511988880006", "fields": {"town": "Rio"}},
    ]});
    let written = ask(&service, &acme, Method::POST, "/api/v1/contacts/batch", &contacts).await.json();
    assert_eq!((&written["created"], &written["rejected"]), (&json!(3), &json!(3)), "{written}");
    for (index, words) in
        [(3, "`fields.age` is no number"), (4, "`fields.born` must be a date"), (5, "names `town`")]
    {
        let error = written["results"][index]["error"].as_str().unwrap();
        assert!(error.contains(words), "{error}");
    }
    let id = |index: usize| written["results"][index]["id"].as_str().unwrap().to_owned();
    let one = |index: usize| format!("/api/v1/contacts/{}", id(index));
    let ana = service.get(&one(0), &acme.key).await.json();
    assert_eq!(ana["fields"], json!({"age": 42, "born": "1984-02-29", "city": "São Paulo"}), "{ana}");
    assert_eq!(service.get(&one(1), &acme.key).await.json()["fields"], json!({"age": 12.5, "city": "Rio"}));
    // A contact without values has the shape that it always had.
    assert!(service.get(&one(2), &acme.key).await.json().get("fields").is_none());

    for (query, found) in [
        ("field=city%3Dsao%20paulo", &["Ana"][..]),
        ("field=city!=Rio", &["Caio", "Ana"]),
        ("field=age>=12.5&field=age<=30", &["Bea"]),
        ("field=born<=1990-01-01", &["Ana"]),
        ("field=born=*", &["Ana"]),
        ("field=born!=*", &["Caio", "Bea"]),
        ("field=age=*&search=rio", &[]),
        ("field=age=*&search=bea", &["Bea"]),
        ("field=", &["Caio", "Bea", "Ana"]),
    ] {
        assert_eq!(names(&service, &acme, query).await, found, "{query}");
    }
    for query in ["field=city", "field=town=Rio", "field=city>=Rio", "field=age=old", "field=born=31/01/1990"]
    {
        let refused = service.get(&format!("/api/v1/contacts?{query}"), &acme.key).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")), "{query}");
        assert_eq!(refused.json()["param"], "field", "{query}");
    }
    let many = ["field=city=*"; 11].join("&");
    assert_eq!(service.get(&format!("/api/v1/contacts?{many}"), &acme.key).await.status, 400);
    let others = service.get("/api/v1/contacts?field=city=*", &globex.key).await;
    assert_eq!(others.code().as_deref(), Some("invalid_field"), "another company has no such field");

    let patch =
        async |fields: Value| ask(&service, &acme, Method::PATCH, &one(0), &json!({"fields": fields})).await;
    assert_eq!(patch(json!({"age": "x"})).await.code().as_deref(), Some("invalid_field"));
    let changed = patch(json!({"age": null, "city": "", "born": "1985-01-01"})).await.json();
    assert_eq!((&changed["fields"], &changed["first_name"]), (&json!({"born": "1985-01-01"}), &json!("Ana")));
    assert_eq!(names(&service, &acme, "field=city=*").await, ["Bea"]);
}

#[tokio::test]
async fn a_file_has_columns_for_own_fields_and_a_wrong_cell_is_told() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    for (name, kind) in [("Cidade", "text"), ("Valor", "number"), ("Nascimento", "date")] {
        field(&service, &acme, name, kind).await;
    }
    let file = "Nome;Telefone;cidade;Valor;Nasc.;Outra\n\
                Ana;+5511988880001;Rio;1.234,56;31/01/1990;x\n\
                Bea;+5511988880002;;12;2001-05-06;\n\
                Caio;+5511988880003;;muito;;\n\
                Duda;+5511988880004;;1.234;;\n\
                Edu;+5511988880005;;;ontem;\n\
                Fred;+5511988880006;;;03/04/1990;\n";
    let import = service.post("/api/v1/contacts/imports", &acme.key, file).await.json();
    let column = |import: &Value, index: usize| import["columns"][index]["field"].clone();
    assert_eq!(
        [2, 3, 4, 5].map(|index| column(&import, index)),
        [json!("fields.cidade"), json!("fields.valor"), Value::Null, Value::Null]
    );
    let place = format!("/api/v1/contacts/imports/{}", import["id"].as_str().unwrap());
    let choose = |field: &str| json!({"columns": [{"column": "Nasc.", "field": field}]});
    let refused = ask(&service, &acme, Method::POST, &place, &choose("fields.gone")).await;
    assert_eq!(refused.code().as_deref(), Some("invalid_mapping"), "{}", refused.body);
    let mut start = choose("fields.nascimento");
    start["action"] = json!("start");
    assert_eq!(ask(&service, &acme, Method::POST, &place, &start).await.status, 200);
    let over = async || service.get(&place, &acme.key).await.json()["state"] == "finished";
    until("the import over", over).await;
    let done = service.get(&place, &acme.key).await.json();
    assert_eq!((&done["created"], &done["rejected"]), (&json!(2), &json!(4)), "{done}");
    let rejected = service.get(&format!("{place}/rejected"), &acme.key).await.body;
    for code in ["field_not_number", "field_number_unclear", "field_not_date", "field_date_unclear"] {
        assert!(rejected.contains(code), "{code}: {rejected}");
    }
    let listed = service.get("/api/v1/contacts", &acme.key).await.json();
    assert_eq!(
        listed["data"][1]["fields"],
        json!({"cidade": "Rio", "valor": 1234.56, "nascimento": "1990-01-31"}),
        "{listed}"
    );
    assert_eq!(listed["data"][0]["fields"], json!({"valor": 12, "nascimento": "2001-05-06"}));
}
