//! The provider's library of templates through the door: searched there, and copied into an account.

use pombo::domain::channel::{Kind, Status};
use pombo::domain::page::PageRequest;
use pombo::domain::template;
use pombo::engine::records::templates::Listed;
use pombo::store::changes::{Filter, What};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{Program, read, refused};
use crate::database::{Universe, stores};
use crate::harness::Service;
use crate::running::{Running, WABA};

stores!(a_program_searches_the_library_and_copies_a_template_of_it);

const LIBRARY: &str = "/message_template_library";

/// The names in a part of the library, each with its language.
fn names((status, body): &(u16, Value)) -> Vec<String> {
    assert_eq!(*status, 200, "{body}");
    let shown =
        |one: &Value| format!("{} {}", one["name"].as_str().unwrap(), one["language"].as_str().unwrap());
    body["data"].as_array().unwrap().iter().map(shown).collect()
}

async fn a_program_searches_the_library_and_copies_a_template_of_it(universe: &Universe) {
    let running = Running::start(universe, |config| config.graph.enabled = true).await;
    let program = Program::new(running.address(), &running.key);
    let found = program.get(&format!("{LIBRARY}?search=venceram")).await;
    assert_eq!(names(&found), ["payment_overdue_1 pt_BR"]);
    assert_eq!(found.1["data"][0]["buttons"][1]["type"], "PHONE_NUMBER", "it is the provider's answer");
    let first = program.get(&format!("/{WABA}{LIBRARY}?topic=ORDER_MANAGEMENT&limit=2")).await;
    assert_eq!(names(&first).len(), 2);
    // Programs that follow addresses stay here, with their own key.
    let next = first.1["paging"]["next"].as_str().unwrap();
    assert!(next.starts_with(running.address()), "{next}");
    let rest = read(Client::new().get(next).bearer_auth(&running.key)).await;
    assert_eq!(names(&rest), ["delivery_update_1 pt_BR", "order_pick_up_1 en_US"]);
    let (status, wrong) = program.get(&format!("{LIBRARY}?limit=few")).await;
    assert_eq!((status, &wrong["error"]["code"]), (400, &json!(100)), "{wrong}");

    let list = format!("/{WABA}/message_templates");
    let address =
        json!({ "base_url": "https://shop.example/{{1}}", "url_suffix_example": "https://shop.example/7" });
    let inputs = json!([{ "type": "URL", "url": address }]);
    let copy = |name: &str, inputs: &Value| {
        json!({
            "name": name, "language": "en_US", "category": "UTILITY", "library_template_name": "delivery_update_1",
            "library_template_button_inputs": inputs,
        })
    };
    for (name, inputs) in [("as_it_is", inputs.clone()), ("as_a_text", inputs.to_string().into())] {
        let (status, created) = program.post(&list, &copy(name, &inputs)).await;
        assert_eq!((status, &created["status"]), (200, &json!("APPROVED")), "{created}");
        let (_, shown) = program.get(&format!("/{}", created["id"].as_str().unwrap())).await;
        assert_eq!(shown["components"][1]["buttons"][0]["url"], "https://shop.example/{{1}}", "{shown}");
        let filter = Listed { search: Some(name), ..Listed::default() };
        let page = PageRequest { page: 1, limit: 2 };
        let here = running.store.of(running.company).templates().page(page, filter).await.unwrap().records;
        assert_eq!(here.len(), 1);
        assert_eq!(here[0].status, template::Status::Approved);
    }
    // The provider says what it misses.
    assert_eq!(refused(&program.post(&list, &copy("another", &json!([]))).await), (400, 100, None));
    assert_eq!(refused(&program.post(&list, &copy("Another", &inputs)).await), (400, 100, None));
    let filter = Filter { what: &[What::Templates], ..Filter::default() };
    let changes = running.store.changes().page(filter, PageRequest { page: 1, limit: 9 }).await.unwrap();
    assert_eq!(changes.records.len(), 2, "{changes:?}");
    running.end().await;
}

#[tokio::test]
async fn web_sessions_have_no_library_and_say_so() {
    let service = Service::start_changed(|config| config.graph.enabled = true).await;
    let acme = service.company("acme").await;
    service.channel(&acme, Kind::WebSession, "Counter", Status::Connected).await;
    let program = Program::new(service.url(), &acme.key);
    let (_, accounts) = program.get("/me/whatsapp_business_accounts").await;
    let account = accounts["data"][0]["id"].as_str().unwrap();
    let copy = json!({
        "name": "mine", "language": "en_US", "category": "UTILITY", "library_template_name": "delivery_update_1",
    });
    for (method, path, body) in [
        (Method::GET, LIBRARY.to_owned(), Value::Null),
        (Method::GET, format!("/{account}{LIBRARY}"), Value::Null),
        (Method::POST, format!("/{account}/message_templates"), copy),
    ] {
        let answer = program.ask(method, &path, &body).await;
        assert_eq!(refused(&answer), (400, 100, None), "{path}");
        let details = answer.1["error"]["error_data"]["details"].as_str().unwrap();
        assert!(details.contains("web session") && details.contains("`components`"), "{details}");
    }
}
