//! The parts of every answer: the request's id, and after a failure of the service a text without details.

use std::sync::Arc;

use metrics_exporter_prometheus::PrometheusBuilder;
use pombo::api::{DURATION_SECONDS, Measures, Options, REQUESTS_TOTAL};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::json;
use uuid::Uuid;

use super::world::World;
use crate::harness::{Answer, Service};

#[tokio::test]
async fn every_answer_carries_a_request_id() {
    let world = World::new().await;
    let ask = async |method: Method, path: &str, id: Option<&str>| {
        let mut request = world.service.request(method, path);
        if let Some(id) = id {
            request = request.header("x-request-id", id);
        }
        Answer::to(request).await.header("x-request-id").to_owned()
    };
    for (method, path) in [
        (Method::GET, "/healthz"),
        (Method::GET, "/nothing"),
        (Method::GET, "/api/v1/contacts"),
        (Method::DELETE, "/api/v1/contacts"),
        (Method::OPTIONS, "/api/v1/contacts"),
        (Method::POST, "/api/v1/chat/x/messages"),
    ] {
        let fresh = ask(method.clone(), path, None).await;
        assert_eq!(Uuid::parse_str(&fresh).unwrap().get_version_num(), 7, "{method} {path}");
        assert_eq!(ask(method.clone(), path, Some("order-7_a.B")).await, "order-7_a.B");
        assert_ne!(ask(method, path, Some("<script>")).await, "<script>");
    }
}

#[tokio::test]
async fn a_failure_of_ours_says_only_that_it_is_one() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let database = Database::connect(&service.universe.url).await.unwrap();
    database.execute_unprepared("ALTER TABLE api_key RENAME TO lost").await.unwrap();

    let list = service.get("/api/v1/contacts", &acme.key).await;
    let apology = |answer: &Answer| json!({"error": "internal server error", "request_id": answer.header("x-request-id")});
    assert_eq!((list.status, list.json()), (500, apology(&list)));
    let business = service.post(&World::send(Uuid::nil()), &acme.key, "{}").await;
    assert_eq!((business.status, business.json()), (500, apology(&business)));
    let web = service.post(&World::web_send(Uuid::nil()), &acme.key, "{}").await;
    let apology = r#"{"message":"Something went wrong and the team has been notified"}"#;
    assert_eq!((web.status, web.body.as_str()), (500, apology));
    for answer in [list, business, web] {
        assert_eq!(answer.header("content-type"), "application/json");
        assert_ne!(answer.header("x-request-id"), "");
    }
}

#[tokio::test]
async fn requests_are_counted_by_route_and_never_by_path() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let measures = Measures { detail: 1, render: Arc::new(move |_| handle.render()) };
    let options = Options { metrics: Some(measures), ..Options::default() };
    // No other test of this binary installs a recorder.
    metrics::set_global_recorder(recorder).unwrap();
    let service = Service::start_with(options).await;
    let acme = service.company("acme").await;
    for _ in 0..2 {
        service.post(&World::send(Uuid::nil()), &acme.key, "{}").await;
    }
    service.get("/api/v1/nothing", &acme.key).await;
    let metrics = service.get("/metrics", "").await;
    assert_eq!(metrics.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let line = |labels: &str, name: &str| {
        let line = metrics.body.lines().find(|line| line.starts_with(name) && line.contains(labels));
        line.and_then(|line| line.rsplit(' ').next()).unwrap_or_default().to_owned()
    };
    let sends = r#"route="/api/v1/chat/{id}/messages",method="POST",status="404""#;
    let unmatched = r#"route="unmatched",method="GET",status="404""#;
    assert!(line(sends, REQUESTS_TOTAL).parse::<u64>().unwrap() >= 2, "{}", metrics.body);
    assert!(line(unmatched, REQUESTS_TOTAL).parse::<u64>().unwrap() >= 1, "{}", metrics.body);
    assert!(line(sends, &format!("{DURATION_SECONDS}_count")).parse::<u64>().unwrap() >= 2);
    assert!(!metrics.body.contains(&Uuid::nil().to_string()));
}
