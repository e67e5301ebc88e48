//! Searching people as other people write their names and numbers, and tags that were typed on different devices.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Company, Service};
use crate::running::until;

const IMPORTS: &str = "/api/v1/contacts/imports";

async fn import(service: &Service, company: &Company, file: &str) -> Value {
    let uploaded = service.post(IMPORTS, &company.key, file.to_owned()).await.json();
    let path = format!("{IMPORTS}/{}", uploaded["id"].as_str().unwrap());
    let started = service.post(&path, &company.key, json!({"action": "start"}).to_string()).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let mut shown = Value::Null;
    until("the import over", async || {
        shown = service.get(&path, &company.key).await.json();
        shown["finished_at"].is_string()
    })
    .await;
    shown
}

/// The numbers of the contacts that a search finds, ascending.
async fn found(service: &Service, company: &Company, search: &str) -> Vec<String> {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("search", search).finish();
    let page = service.get(&format!("/api/v1/contacts?limit=100&{query}"), &company.key).await.json();
    let numbers = page["data"].as_array().unwrap_or_else(|| panic!("{search}: {page}")).iter();
    let mut numbers: Vec<_> =
        numbers.map(|contact| contact["phone_number"].as_str().unwrap().to_owned()).collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn several_words_find_the_person_in_any_order_and_field() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    import(
        &service,
        &acme,
        "First Name,Last Name,Phone,Email\nMarina,Albuquerque,5511900000701,m@a.example\n\
         Marina,Costa,5511900000702,\nJoana,Albuquerque,5511900000703,\n",
    )
    .await;
    for search in [
        "Marina Albuquerque",
        "albuquerque  MARINA",
        "marina 900000701",
        "Marina Albuquerque m@a.example",
        "mar +55-11-90000-0701",
    ] {
        assert_eq!(found(&service, &acme, search).await, ["5511900000701"], "{search}");
    }
    assert_eq!(found(&service, &acme, "marina").await.len(), 2);
    assert_eq!(found(&service, &acme, "marina joana").await, Vec::<String>::new());
    assert_eq!(found(&service, &acme, "a b c d e f g h i j").await, Vec::<String>::new());
}

#[tokio::test]
async fn names_are_found_as_people_type_them_in_any_script() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    import(
        &service,
        &acme,
        "name,phone\nΓιώργος Παπαδόπουλος,5511900000801\nHans Großmann,5511900000802\n\
         IŞIK Yılmaz,5511900000803\nŁukasz Wójcik,5511900000804\nNguyễn Đức,5511900000805\n\
         Søren Ørsted,5511900000806\n",
    )
    .await;
    for (searches, number) in [
        (["ΓΙΏΡΓΟΣ", "γιωργος παπαδοπουλος"], "5511900000801"),
        (["GROSSMANN", "großmann"], "5511900000802"),
        (["ışık yilmaz", "ISIK YILMAZ"], "5511900000803"),
        (["lukasz wojcik", "ŁUKASZ"], "5511900000804"),
        (["nguyen duc", "NGUYỄN ĐỨC"], "5511900000805"),
        (["soren orsted", "ØRSTED"], "5511900000806"),
    ] {
        for search in searches {
            assert_eq!(found(&service, &acme, search).await, [number], "{search}");
        }
    }
}

#[tokio::test]
async fn a_number_is_found_as_it_was_copied() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let contacts = json!({"contacts": [
        {"phone_number": "+55 (11) 90000-0901", "first_name": "Ana"},
        {"phone_number": "5511900000902", "first_name": "Bia"},
    ]});
    let written = service.post("/api/v1/contacts/batch", &acme.key, contacts.to_string()).await;
    assert_eq!(written.status, 200, "{}", written.body);
    for (search, expected) in [
        ("\u{202a}+55 11 90000\u{2011}0901\u{202c}", "+55 (11) 90000-0901"),
        ("\u{2068}+55\u{a0}11\u{a0}90000–0902\u{2069}", "5511900000902"),
        ("٥٥١١٩٠٠٠٠٠٩٠٢", "5511900000902"),
        ("\u{feff}90000.0902", "5511900000902"),
    ] {
        assert_eq!(found(&service, &acme, search).await, [expected], "{search:?}");
    }
}

#[tokio::test]
async fn a_tag_is_one_tag_however_its_name_was_typed() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let file = "name,phone,tags\nT1,5511900001601,Promoção\nT2,5511900001602,Promoc\u{327}a\u{303}o\n\
                T3,5511900001603,promoção\nT4,5511900001604,\"a, b\"\nT5,5511900001605,🎉 festa\n\
                T6,5511900001606,\"VIP , vip\"\nT7,5511900001607,\u{200b}VIP\n";
    let over = import(&service, &acme, file).await;
    assert_eq!(over["state"], "finished", "{over}");
    let batch = json!({"contacts": [
        {"phone_number": "5511900001608", "tags": ["Promoc\u{327}a\u{303}o", "VIP\u{feff}"]},
    ]});
    let written = service.post("/api/v1/contacts/batch", &acme.key, batch.to_string()).await.json();
    assert_eq!(written["created"], 1, "{written}");
    let tags = json!({"tags": [{"name": "Promoc\u{327}a\u{303}o"}]});
    let written = service.post("/api/v1/contacts/tags/batch", &acme.key, tags.to_string()).await.json();
    assert_eq!(written["unchanged"], 1, "{written}");
    let listed = service.get("/api/v1/contacts/tags?limit=100", &acme.key).await.json();
    let members = |name: &str| -> Vec<u64> {
        let tags = listed["data"].as_array().unwrap().iter().filter(|tag| tag["name"] == name);
        tags.map(|tag| tag["_count"]["contact_tag"].as_u64().unwrap()).collect()
    };
    assert_eq!((members("Promoção"), members("promoção")), (vec![4], Vec::new()), "{listed}");
    assert_eq!((members("VIP"), members("vip")), (vec![2], Vec::new()), "{listed}");
    // Its own name may be written in another case; another tag's may not be taken.
    let id = |name: &str| {
        let tags = listed["data"].as_array().unwrap();
        tags.iter().find(|tag| tag["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let rename = async |id: &str, name: &str| {
        let request = service.request(Method::PATCH, &format!("/api/v1/contacts/tags/{id}"));
        Answer::to(request.bearer_auth(&acme.key).json(&json!({ "name": name }))).await.status
    };
    assert_eq!(rename(&id("VIP"), "Vip").await, 200);
    assert_eq!(rename(&id("Promoção"), "VIP").await, 409);
    let both = json!({"tags": [{"name": "New"}, {"name": "NEW"}, {"name": "vip"}]});
    let written = service.post("/api/v1/contacts/tags/batch", &acme.key, both.to_string()).await.json();
    assert_eq!(written["unchanged"], 1, "{written}");
    let listed = service.get("/api/v1/contacts/tags?search=new", &acme.key).await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{listed}");
}
