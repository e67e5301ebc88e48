//! The connector with a provider that gives prepared answers.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::file_store::FileStore;
use crate::guard::Lookup;

/// Gives one answer for each connection, in this order. Returns the first lines of the requests.
async fn provider(answers: Vec<String>) -> (CloudApi, JoinHandle<Vec<String>>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = config::Config::default().cloud_api;
    options.base_url = format!("http://{}", listener.local_addr().unwrap());
    let connector = CloudApi::new(
        Connections::new(&options, &config::Network::default()).unwrap(),
        &options,
        "1065",
        "1022",
        &Secret::new("token".to_owned()),
    );
    let asked = tokio::spawn(async move {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 16 * 1024];
            let length = stream.read(&mut bytes).await.unwrap();
            asked.push(String::from_utf8_lossy(&bytes[..length]).lines().next().unwrap().to_owned());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        asked
    });
    (connector.unwrap(), asked)
}

fn answer(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}")
}

#[tokio::test]
async fn a_refusal_says_when_to_come_back() {
    let throttled = r#"{"error":{"message":"x","code":80007}}"#;
    let usage = r#"{"1022":[{"type":"whatsapp","estimated_time_to_regain_access":9}]}"#;
    let (connector, asked) = provider(vec![
        answer(400, &format!("X-Business-Use-Case-Usage: {usage}\r\n"), throttled),
        answer(429, "Retry-After: 7\r\n", "slow down"),
        answer(503, "Retry-After: 7\r\n", "<html>"),
    ])
    .await;
    let retry_after = |reply| match reply {
        Reply::Refused { disposition, retry_after, .. } => Some((disposition, retry_after)),
        _ => None,
    };
    let (minutes, seconds) = (Duration::from_secs(540), Duration::from_secs(7));
    let first = connector.send(b"{}".to_vec()).await;
    assert_eq!(retry_after(first), Some((Disposition::SlowAccount, Some(minutes))));
    let second = connector.send(b"{}".to_vec()).await;
    assert_eq!(retry_after(second), Some((Disposition::Wait, Some(seconds))));
    assert!(matches!(connector.send(b"{}".to_vec()).await, Reply::Uncertain(_)));
    asked.await.unwrap();
}

#[tokio::test]
async fn fields_that_a_version_does_not_have_are_not_asked_for_again() {
    let unknown =
        r#"{"error":{"message":"(#100) Tried accessing nonexisting field (throughput)","code":100}}"#;
    let (connector, asked) = provider(vec![
        answer(400, "", unknown),
        answer(200, "", r#"{"id":"1065","quality_rating":"GREEN"}"#),
    ])
    .await;
    let Health::Healthy(number) = connector.health().await else { panic!("the number is healthy") };
    assert_eq!(number.quality_rating.as_deref(), Some("GREEN"));
    let asked = asked.await.unwrap();
    assert!(asked[0].contains("fields=id") && asked[0].contains("health_status"), "{asked:?}");
    assert_eq!(asked[1], "GET /v26.0/1065 HTTP/1.1");
}

#[tokio::test]
async fn a_number_that_is_gone_is_not_asked_twice() {
    let gone =
        r#"{"error":{"message":"Object with ID '1065' does not exist","code":100,"error_subcode":33}}"#;
    let (connector, asked) = provider(vec![answer(400, "", gone)]).await;
    assert!(matches!(connector.health().await, Health::Refused(Disposition::Disconnect, _)));
    assert_eq!(asked.await.unwrap().len(), 1);
}

/// Every name leads to this machine.
struct Inside;

#[async_trait]
impl Lookup for Inside {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

#[tokio::test]
async fn a_file_comes_from_the_provider_s_own_host_and_from_no_other_inside_the_network() {
    let (connector, asked) = provider(vec![answer(200, "", "a file")]).await;
    let (data, options) = (tempfile::tempdir().unwrap(), config::Config::default().media);
    let store = FileStore::open(&options, data.path()).unwrap();
    let hosts = FileHosts::with_lookup(&options, &config::Network::default(), Arc::new(Inside)).unwrap();
    let download = async |url: &str| {
        let media = FoundMedia { url: Url::parse(url).unwrap(), sha256: None, size: None };
        let mut file = store.begin().await.unwrap();
        let patience = (Duration::from_secs(30), Duration::from_secs(30));
        connector.download(&media, &hosts, &mut file, 100, patience).await.map(|()| file.bytes())
    };
    let own = connector.number.join("/media/7").unwrap();
    assert_eq!(download(own.as_str()).await.unwrap(), 6);
    asked.await.unwrap();

    let inside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("https://[::ffff:127.0.0.1]:{port}/"),
        format!("https://inside.example:{port}/"),
        "https://169.254.169.254/latest".to_owned(),
        "http://files.example/7".to_owned(),
    ] {
        assert!(matches!(download(&url).await, Err(MediaFault::NotAllowed)), "{url}");
    }
    assert!(inside.accept().is_err(), "a request with the token went inside");
}
