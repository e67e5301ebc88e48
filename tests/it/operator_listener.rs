//! Operators' rights, where operators have a listener of their own.

use reqwest::Method;
use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::database::Universe;
use crate::harness::Answer;
use crate::serving::{SERVE, Serving};

const FORM: &str = "application/x-www-form-urlencoded";

/// A service with two listeners, and a person who is an operator and a viewer of the company Acme.
struct Stage {
    serving: Serving,
    _child: OwnedChild,
    public: String,
    operators: String,
    cookie: String,
    acme: String,
    person: String,
}

fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    client.build().unwrap()
}

impl Stage {
    async fn new(universe: &Universe) -> Self {
        let options = [("POMBO__SERVER__OPERATOR_BIND", "127.0.0.1:0")];
        let mut serving = Serving::new_with(universe, 1, "unlimited", &options).await;
        let place = &serving.place;
        place.json("company create Globex");
        let acme =
            place.json("company list").as_array().unwrap().iter().find(|one| one["name"] == "Acme").unwrap()
                ["id"]
                .as_str()
                .unwrap()
                .to_owned();
        let made = place.json("user create ana@pombo.example --operator --company Acme --role viewer");
        let person = made["id"].as_str().unwrap().to_owned();
        let link = place.json("user sign-in ana@pombo.example")["link"].as_str().unwrap().to_owned();
        let command = place.command(SERVE);
        let (child, started) = serving.serve_told(command).await;
        let [public, operators] =
            ["base_url", "operator_url"].map(|name| started[name].as_str().unwrap().to_owned());
        let path = &link[link.find("/console/").unwrap()..];
        let request = client().post(format!("{public}{path}")).header("origin", &public);
        let answer = Answer::to(request.header("content-type", FORM).body("")).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        Self { serving, _child: child, public, operators, cookie, acme, person }
    }

    async fn get(&self, url: &str, path: &str) -> Answer {
        Answer::to(client().get(format!("{url}{path}")).header("cookie", &self.cookie)).await
    }

    async fn post(&self, url: &str, path: &str, body: &str) -> Answer {
        let request = client().request(Method::POST, format!("{url}{path}")).header("cookie", &self.cookie);
        let request = request.header("origin", url).header("content-type", FORM).body(body.to_owned());
        Answer::to(request).await
    }

    /// The names of a company's keys.
    fn keys(&self, company: &str) -> Vec<Value> {
        let keys = self.serving.place.json(&format!("key list --company {company}"));
        keys.as_array().unwrap().iter().map(|key| key["name"].clone()).collect()
    }
}

#[actix_web::test]
async fn an_operator_has_an_operator_s_rights_at_the_operators_listener_alone() {
    let universe = Universe::sqlite().await;
    let stage = Stage::new(&universe).await;
    let (public, operators) = (stage.public.as_str(), stage.operators.as_str());
    for path in ["/console/operator", "/console/%6fperator", "/console/operato%72/tiers"] {
        assert_eq!(stage.get(public, path).await.status, 404, "{path}");
    }
    assert_eq!(stage.get(operators, "/console/operator").await.status, 200);
    assert_eq!(stage.get(operators, "/console/%6fperator").await.status, 404);

    // Of the companies, an operator sees at the public listener those of which they are a member.
    let listed = stage.get(public, "/console/companies").await.body;
    assert!(listed.contains("Acme") && !listed.contains("Globex"), "{listed}");
    assert!(listed.contains("at the operators’ address only"), "{listed}");
    assert!(stage.get(operators, "/console/companies").await.body.contains("Globex"));
    let globex = stage.serving.place.json("company list");
    let globex = globex.as_array().unwrap().iter().find(|one| one["name"] == "Globex").unwrap().clone();
    let choose = format!("company={}", globex["id"].as_str().unwrap());
    assert_eq!(stage.post(public, "/console/companies", &choose).await.status, 404);

    // A company that was chosen at the operators' listener does not open at the public one, and no key is minted.
    assert_eq!(stage.post(operators, "/console/companies", &choose).await.status, 303);
    let new_key = "name=mine&scope=send&expires=&once=01890a5d-ac96-774b-bcce-b302099a8057";
    let refused = stage.post(public, "/console/keys", new_key).await;
    assert!(
        refused.header("location").starts_with("/console/companies"),
        "{} {}",
        refused.status,
        refused.body
    );
    assert_eq!(stage.keys("Globex"), Vec::<Value>::new());
    assert_eq!(stage.post(operators, "/console/keys", new_key).await.status, 303);
    assert_eq!(stage.keys("Globex"), [json!("mine")]);

    // As a member, they have their own role.
    let choose = format!("company={}", stage.acme);
    assert_eq!(stage.post(public, "/console/companies", &choose).await.status, 303);
    assert_eq!(stage.get(public, "/console/contacts").await.status, 200);
    let before = stage.keys("Acme");
    assert_eq!(stage.get(public, "/console/keys").await.status, 403);
    assert_eq!(stage.post(public, "/console/keys", new_key).await.status, 403);
    assert_eq!(stage.keys("Acme"), before);
    assert_eq!(stage.get(operators, "/console/keys").await.status, 200);
    universe.end().await;
}

#[actix_web::test]
async fn an_operator_s_key_and_session_token_open_nothing_more_at_the_public_listener() {
    let universe = Universe::sqlite().await;
    let stage = Stage::new(&universe).await;
    let (public, operators) = (stage.public.as_str(), stage.operators.as_str());
    let key = stage.serving.place.json("operator create bot")["key"].as_str().unwrap().to_owned();
    let ask = async |url: &str, path: &str, key: &str| {
        // The reference describes the operators' listener, so it knows no answers of the other one.
        client().get(format!("{url}{path}")).bearer_auth(key).send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask(operators, "/operator/v1/companies", &key).await, 200);
    assert_eq!(ask(public, "/operator/v1/companies", &key).await, 404);
    assert_eq!(ask(public, "/%6fperator/v1/companies", &key).await, 404);
    assert_eq!(ask(public, "/api/v1/contacts", &key).await, 401);

    // The token of a member works until the membership ends; that the person is an operator opens nothing here.
    assert_eq!(
        stage.post(public, "/console/companies", &format!("company={}", stage.acme)).await.status,
        303
    );
    assert_eq!(stage.post(public, "/console/company/token", "").await.status, 303);
    let page = stage.get(public, "/console/company").await.body;
    let token = page.split("aria-label=\"Session token\"><code>").nth(1).unwrap().split('<').next().unwrap();
    assert_eq!(ask(public, "/api/v1/contacts", token).await, 200);
    let remove = format!("/console/company/members/{}/remove", stage.person);
    let removed = stage.post(operators, &remove, "").await;
    assert_eq!(removed.status, 303, "{}", removed.body);
    assert_eq!(ask(public, "/api/v1/contacts", token).await, 401);
    let gone = stage.get(public, "/console/contacts").await;
    assert!(gone.header("location").starts_with("/console/companies"), "{}", gone.status);
    // An operator may choose the company again, there.
    let choose = format!("company={}", stage.acme);
    assert_eq!(stage.post(operators, "/console/companies", &choose).await.status, 303);
    assert_eq!(stage.get(operators, "/console/contacts").await.status, 200);
    universe.end().await;
}

#[actix_web::test]
async fn each_listener_shows_the_reference_of_its_own_routes_alone() {
    let universe = Universe::sqlite().await;
    let stage = Stage::new(&universe).await;
    let read = async |url: &str| -> Value {
        let answer = client().get(format!("{url}/openapi.json")).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        answer.json().await.unwrap()
    };
    let (company, operator) = (read(&stage.public).await, read(&stage.operators).await);
    let has = |document: &Value, beginning: &str| {
        document["paths"].as_object().unwrap().keys().any(|path| path.starts_with(beginning))
    };
    for (beginning, at_public, at_operators) in [
        ("/api/v1/chat", true, false),
        ("/hooks", true, false),
        ("/operator/", false, true),
        ("/metrics", false, true),
        ("/healthz", true, true),
    ] {
        assert_eq!(
            (has(&company, beginning), has(&operator, beginning)),
            (at_public, at_operators),
            "{beginning}"
        );
    }
    let introduced =
        |document: &Value, word: &str| document["info"]["description"].as_str().unwrap().contains(word);
    for (word, at_public, at_operators) in
        [("/api/v1", true, false), ("/operator/v1", false, true), ("## Errors", true, true)]
    {
        assert_eq!(
            (introduced(&company, word), introduced(&operator, word)),
            (at_public, at_operators),
            "{word}"
        );
    }
    assert!(company["webhooks"].is_object() && operator.get("webhooks").is_none());
    for (document, scheme, other) in
        [(&company, "api_key", "operator_key"), (&operator, "operator_key", "api_key")]
    {
        let schemes = &document["components"]["securitySchemes"];
        assert!(schemes[scheme].is_object() && schemes[other].is_null(), "{schemes}");
        let schemas = document["components"]["schemas"].as_object().unwrap();
        // Everything that is left is described, and nothing of the other part is.
        let text = document.to_string();
        for name in schemas.keys() {
            assert!(text.contains(&format!("\"#/components/schemas/{name}\"")), "{name}");
        }
        for reference in text.split("\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }
    for url in [&stage.public, &stage.operators] {
        let page = client().get(format!("{url}/docs/index.html")).send().await.unwrap();
        assert_eq!(page.status().as_u16(), 200);
        let directory: Value = client().get(url.as_str()).send().await.unwrap().json().await.unwrap();
        assert_eq!((&directory["docs"], &directory["openapi"]), (&json!("/docs"), &json!("/openapi.json")));
    }
    universe.end().await;
}
