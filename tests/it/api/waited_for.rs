//! Requests that wait until a send changes.

use pombo::domain::channel::{Kind, Status};
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

use super::world::World;
use crate::harness::{Answer, Company, Service};
use crate::running::until;

/// A company, and the path of a send of it that goes in an hour.
async fn scheduled(service: &Service) -> (Company, String) {
    let acme = service.company("acme").await;
    let channel = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let send_at = pombo::clock::Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string();
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777", "send_at": send_at});
    let accepted = service.post(&World::send(channel), &acme.key, body.to_string()).await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    let path = accepted.header("location").to_owned();
    (acme, path)
}

/// A request for a send's record that waits as long as it may.
fn waiting(service: &Service, company: &Company, path: &str) -> JoinHandle<Answer> {
    let request = service.request(Method::GET, &format!("{path}?wait=60s")).bearer_auth(&company.key);
    tokio::spawn(Answer::to(request))
}

async fn wait(service: &Service, callers: usize) {
    until("the callers wait", async || service.engine().sends().waiting_callers() == callers).await;
}

#[tokio::test]
async fn callers_that_wait_for_a_send_are_answered_when_it_changes_and_when_it_ends() {
    let service = Service::start().await;
    let (acme, path) = scheduled(&service).await;
    for (action, state) in [("pause", "paused"), ("resume", "scheduled"), ("cancel", "canceled")] {
        let callers: Vec<_> = (0..3).map(|_| waiting(&service, &acme, &path)).collect();
        wait(&service, 3).await;
        service.post(&format!("{path}/{action}"), &acme.key, "").await;
        for caller in callers {
            let answer = caller.await.unwrap();
            assert_eq!((answer.status, &answer.json()["state"]), (200, &json!(state)), "{action}");
        }
        wait(&service, 0).await;
    }
    // A send that is over does not change any more.
    assert_eq!(waiting(&service, &acme, &path).await.unwrap().json()["state"], "canceled");
}

#[tokio::test]
async fn a_wait_that_ends_without_a_change_shows_the_send_as_it_is() {
    let service = Service::start().await;
    let (acme, path) = scheduled(&service).await;
    for span in ["1ms", "0s"] {
        let answer = service.get(&format!("{path}?wait={span}"), &acme.key).await;
        assert_eq!((answer.status, &answer.json()["state"]), (200, &json!("scheduled")), "{span}");
    }
    for span in ["61s", "2m", "30", "x", "-1s", "%ff"] {
        let answer = service.get(&format!("{path}?wait={span}"), &acme.key).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{span}");
    }
    let globex = service.company("globex").await;
    let foreign = service.get(&format!("{path}?wait=60s"), &globex.key).await;
    assert_eq!((foreign.status, foreign.code().as_deref()), (404, Some("send_not_found")));
}

#[tokio::test]
async fn a_service_that_stops_answers_the_callers_that_wait() {
    let mut service = Service::start().await;
    let (acme, path) = scheduled(&service).await;
    let caller = waiting(&service, &acme, &path);
    wait(&service, 1).await;
    service.stop().await;
    assert_eq!(caller.await.unwrap().json()["state"], "scheduled");
}
