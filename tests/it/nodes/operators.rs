//! The operators' view of several nodes, over HTTP and in the console, and the drain of one.

use reqwest::Method;

use super::*;
use crate::events::killed::metric;

const NODES: &str = "/console/operator/nodes";
const FORM: &str = "application/x-www-form-urlencoded";

/// An operator with a key, and signed in to the console; sessions are the same on every node.
struct Operator {
    key: String,
    cookie: String,
}

impl Operator {
    async fn new(stage: &Stage) -> Self {
        let place = &stage.serving.place;
        let key = place.json("operator create ana")["key"].as_str().unwrap().to_owned();
        place.json("user create ana@pombo.example --operator");
        let link = place.json("user sign-in ana@pombo.example")["link"].as_str().unwrap().to_owned();
        let (url, path) = (&stage.nodes[0].url, link.find("/console/").map(|at| &link[at..]).unwrap());
        let request = client().post(format!("{url}{path}")).header("origin", url);
        let answer = Answer::to(request.header("content-type", FORM).body("")).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        Self { key, cookie }
    }

    /// Asks the operator API of a node.
    async fn ask(&self, node: &Node, method: Method, path: &str) -> Answer {
        let request = client().request(method, format!("{}/operator/v1{path}", node.url));
        Answer::to(request.bearer_auth(&self.key)).await
    }

    /// A page of the console.
    async fn page(&self, node: &Node, path: &str) -> String {
        let request = client().get(format!("{}{path}", node.url)).header("cookie", &self.cookie);
        let answer = Answer::to(request).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Sends a form of the console.
    async fn post(&self, node: &Node, path: &str) -> Answer {
        let request = client().post(format!("{}{path}", node.url)).header("cookie", &self.cookie);
        Answer::to(request.header("origin", &node.url).header("content-type", FORM).body("")).await
    }
}

fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    client.build().unwrap()
}

/// The node of this name in an answer.
fn named<'a>(cluster: &'a Value, name: &str) -> &'a Value {
    cluster["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).unwrap()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn operators_see_every_node_and_drain_one_from_another() {
    let mut stage = Stage::new(0, &["a", "b"]).await;
    let operator = Operator::new(&stage).await;
    let owner = stage.take_owner().await;
    let other = &stage.nodes[0];

    let cluster = operator.ask(other, Method::GET, "/nodes").await.json();
    assert_eq!((&cluster["cluster"], &cluster["nats"]), (&json!("test"), &Value::Null), "{cluster}");
    assert_eq!(cluster["answered_by"], named(&cluster, other.name)["id"], "{cluster}");
    let counts = [owner.name, other.name].map(|name| named(&cluster, name)["channels"].as_u64());
    assert_eq!(counts, [Some(1), Some(0)], "{cluster}");
    assert!(cluster["postgresql"]["connections"].as_i64().unwrap() > 0, "{cluster}");
    assert!(metric(&other.url, "pombo_cluster_lease_seconds").await.is_some_and(|left| left > 0.0));
    let id = named(&cluster, owner.name)["id"].as_str().unwrap().to_owned();
    let channels = operator.ask(other, Method::GET, &format!("/nodes/{id}/channels")).await.json();
    assert_eq!(channels["totalRecords"], 1, "{channels}");
    assert_eq!(channels["data"][0]["id"], stage.serving.channel.as_str());

    let page = operator.page(other, NODES).await;
    let drain = format!("{NODES}/{id}/drain");
    for shown in
        [">serving</span>", "PostgreSQL", "not configured", "(this node)", &format!("action=\"{drain}\"")]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("data-live=\"/console/operator/nodes/live\""), "{page}");
    let page = operator.page(other, &format!("{NODES}/{id}")).await;
    assert!(
        page.contains(&format!("<h1>{}</h1>", owner.name)) && page.contains(&stage.serving.channel),
        "{page}"
    );

    let answer = operator.post(other, &drain).await;
    assert_eq!((answer.status, answer.header("location")), (303, NODES), "{}", answer.body);
    let limits = format!("/api/v1/chat/{}/limits", stage.serving.channel);
    until("another owner", async || {
        // A channel without work is claimed when a request needs it.
        stage.ask(other, Method::GET, &limits, &Value::Null).await;
        stage.has_other_owner(&owner).await
    })
    .await;
    until("the node not ready", async || owner.is_ready().await.status == 503).await;
    until("the page to show it", async || operator.page(other, NODES).await.contains(">draining</span>"))
        .await;
    assert!(!operator.page(other, NODES).await.contains(&drain), "the node drains already");

    // A second drain changes nothing, and is not recorded.
    let again = operator.ask(other, Method::POST, &format!("/nodes/{id}/drain")).await;
    assert_eq!((again.status, &again.json()["state"]), (200, &json!("draining")), "{}", again.body);
    let changes = operator.ask(other, Method::GET, "/changes?what=node").await.json();
    let change = &changes["data"][0];
    assert_eq!((&changes["totalRecords"], &change["who"]), (&json!(1), &json!("user:ana@pombo.example")));
    assert_eq!((&change["subject"], &change["before"]["state"]), (&json!(id), &json!("serving")), "{change}");
    assert_eq!(change["after"], json!({ "name": owner.name, "state": "draining" }), "{change}");

    // The drained node takes channels again, by the console, the API and the command line.
    let page = operator.page(other, NODES).await;
    let undrain = format!("{NODES}/{id}/undrain");
    assert!(page.contains(&format!("action=\"{undrain}\"")), "{page}");
    assert_eq!(operator.post(other, &undrain).await.status, 303);
    until("the node ready again", async || owner.is_ready().await.status == 200).await;
    let again = operator.ask(other, Method::POST, &format!("/nodes/{id}/undrain")).await;
    assert_eq!((again.status, &again.json()["state"]), (200, &json!("serving")), "{}", again.body);
    let place = &stage.serving.place;
    assert_eq!(place.json(&format!("cluster drain {}", owner.name))["state"], "draining");
    let said = place.run(&format!("cluster undrain {}", owner.name));
    assert!(said.stdout.contains("takes channels again"), "{said:?}");
    let changes = operator.ask(other, Method::GET, "/changes?what=node").await.json();
    assert_eq!(changes["totalRecords"], 4, "{changes}");
    assert_eq!(changes["data"][0]["after"]["state"], "serving", "{changes}");
    until("the channels back", async || {
        stage.ask(&owner, Method::GET, &limits, &Value::Null).await;
        !stage.has_other_owner(&owner).await
    })
    .await;

    // A node that ended is gone from the list, and cannot be drained.
    owner.stop().await;
    until("the node gone", async || {
        let cluster = operator.ask(other, Method::GET, "/nodes").await.json();
        cluster["nodes"].as_array().unwrap().len() == 1
    })
    .await;
    let gone = operator.ask(other, Method::POST, &format!("/nodes/{id}/drain")).await;
    assert_eq!((gone.status, gone.code().as_deref()), (404, Some("node_not_found")), "{}", gone.body);
    stage.end().await;
}
