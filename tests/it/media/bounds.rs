//! Hosts whose answers are too long, too short, too late or missing.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use pombo::config;
use pombo::connector::media::{Fetcher, Kind, Lookup, Media};
use pombo::error::{Code, Refusal};
use tokio::sync::Notify;
use url::Url;
use uuid::Uuid;

use super::host::{Host, Step, bare, ok};
use super::names::Names;
use super::{COMPANY, code, fetch, fetcher, options};

const KIB: usize = 1024;

/// Small limits and short timeouts.
fn tight() -> config::Media {
    config::Media {
        connect_timeout: Duration::from_millis(100),
        stall_timeout: Duration::from_millis(200),
        timeout: Duration::from_millis(500),
        image_limit: 64 * KIB,
        document_limit: 100 * KIB,
        memory: 100 * KIB,
        ..options()
    }
}

async fn fetch_tightly(host: &Host, wanted: Kind) -> Result<Media, Refusal> {
    let link = Url::parse(&host.link("/")).unwrap();
    fetcher(&tight(), &Names::none()).fetch(COMPANY, &link, wanted).await
}

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

#[tokio::test]
async fn a_file_that_announces_too_much_is_refused_before_it_comes() {
    let host = Host::steps(vec![send("HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n"), Step::Hang]).await;
    let refusal = fetch_tightly(&host, Kind::Image).await.unwrap_err();
    assert_eq!(refusal.code, Code::MediaTooLarge);
    assert_eq!(
        refusal.sentence,
        "the file behind the link is larger than 64 KiB, the most for an image: give a smaller one"
    );
    // No file has this many bytes; the number alone does no harm.
    let host =
        Host::steps(vec![send("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"), Step::Hang])
            .await;
    assert_eq!(code(fetch_tightly(&host, Kind::Document).await), Code::MediaTooLarge);
}

#[tokio::test]
async fn a_file_that_never_ends_is_refused_at_the_limit() {
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
    let endless = |head: &str| vec![send(head), Step::Repeat(chunk.clone(), Duration::ZERO)];
    for head in ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"] {
        let host = Host::steps(endless(head)).await;
        assert_eq!(code(fetch_tightly(&host, Kind::Document).await), Code::MediaTooLarge, "{head}");
    }
}

#[tokio::test]
async fn a_file_of_exactly_the_limit_is_taken() {
    let host = Host::body("", &[b'x'; 100 * KIB]).await;
    assert_eq!(fetch_tightly(&host, Kind::Document).await.unwrap().bytes.len(), 100 * KIB);
    let unannounced =
        [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(), &[b'x'; 100 * KIB]].concat();
    let host = Host::steps(vec![Step::Send(unannounced)]).await;
    assert_eq!(fetch_tightly(&host, Kind::Document).await.unwrap().bytes.len(), 100 * KIB);
}

#[tokio::test]
async fn a_file_is_as_long_as_its_host_announces() {
    let longer = send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfirst and more");
    let host = Host::steps(vec![longer]).await;
    assert_eq!(fetch_tightly(&host, Kind::Document).await.unwrap().bytes, b"first");
    let shorter = send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nfirst and no more");
    let host = Host::steps(vec![shorter]).await;
    let refusal = fetch_tightly(&host, Kind::Document).await.unwrap_err();
    assert_eq!(refusal.code, Code::MediaUnavailable);
    assert!(refusal.sentence.contains("before the end of the file"), "{}", refusal.sentence);
}

#[tokio::test]
async fn a_host_that_falls_silent_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    for steps in [
        vec![Step::Hang],
        vec![send("HTTP/1.1 200 OK\r\nX-"), Step::Hang],
        vec![send(head), Step::Hang],
        vec![send(head), send("some"), Step::Hang],
    ] {
        let host = Host::steps(steps).await;
        let refusal = fetch_tightly(&host, Kind::Document).await.unwrap_err();
        assert_eq!(refusal.code, Code::MediaUnavailable);
        assert!(refusal.sentence.contains("in time"), "{}", refusal.sentence);
    }
}

#[tokio::test]
async fn a_host_that_trickles_is_given_up_after_the_timeout() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n";
    let host = Host::steps(vec![send(head), Step::Repeat(b"x".to_vec(), Duration::from_millis(10))]).await;
    let refusal = fetch_tightly(&host, Kind::Document).await.unwrap_err();
    assert_eq!(refusal.code, Code::MediaUnavailable);
    assert!(refusal.sentence.contains("in time"), "{}", refusal.sentence);
}

#[tokio::test]
async fn compressed_answers_are_refused() {
    for coding in ["gzip", "br", "deflate", "zstd", "identity, gzip"] {
        let host = Host::body(&format!("Content-Encoding: {coding}\r\n"), b"\x1f\x8b\x08 a bomb").await;
        let refusal = fetch_tightly(&host, Kind::Document).await.unwrap_err();
        assert_eq!(refusal.code, Code::MediaUnavailable, "{coding}");
        assert!(refusal.sentence.contains("compressed"), "{}", refusal.sentence);
    }
    let host = Host::body("Content-Encoding: Identity\r\n", b"plain").await;
    assert_eq!(fetch_tightly(&host, Kind::Document).await.unwrap().bytes, b"plain");
}

#[tokio::test]
async fn an_answer_without_a_file_says_what_to_do() {
    for (status, mend) in [
        (401, "signing in"),
        (403, "signing in"),
        (404, "is there"),
        (503, "try again"),
        (204, "own"),
        (206, "own"),
    ] {
        let host = Host::steps(bare(status, "")).await;
        let refusal = fetch(&host.link("/"), Kind::Image).await.unwrap_err();
        assert_eq!(refusal.code, Code::MediaUnavailable);
        assert!(refusal.sentence.contains(&format!("status {status}")), "{}", refusal.sentence);
        assert!(refusal.sentence.contains(mend), "{}", refusal.sentence);
    }
    let host = Host::body("", b"").await;
    let refusal = fetch(&host.link("/"), Kind::Document).await.unwrap_err();
    assert!(refusal.sentence.contains("empty"), "{}", refusal.sentence);
}

#[tokio::test]
async fn unreachable_hosts_and_invalid_answers_are_unusable_links() {
    let gone = {
        let host = Host::body("", b"x").await;
        host.link("/")
    };
    assert_eq!(code(fetch("http://nobody.example/", Kind::Image).await), Code::MediaUnavailable);
    let nonsense = Host::steps(vec![send("220 mail.example ESMTP\r\n")]).await;
    assert_eq!(code(fetch(&nonsense.link("/"), Kind::Image).await), Code::MediaUnavailable);
    let secure = nonsense.link("/").replace("http://", "https://");
    let options = config::Media { timeout: Duration::from_millis(500), ..options() };
    for link in [gone, secure] {
        let fetched =
            fetcher(&options, &Names::none()).fetch(COMPANY, &Url::parse(&link).unwrap(), Kind::Image).await;
        assert_eq!(code(fetched), Code::MediaUnavailable, "{link}");
    }
}

#[tokio::test]
async fn a_fetch_beyond_the_concurrency_limit_is_refused() {
    let options = config::Media {
        concurrency: 1,
        connect_timeout: Duration::from_secs(60),
        stall_timeout: Duration::from_millis(50),
        ..options()
    };
    let fetcher = Arc::new(fetcher(&options, &Names::none()));
    let busy = Host::steps(vec![Step::Hang]).await;
    let first = {
        let (fetcher, link) = (Arc::clone(&fetcher), Url::parse(&busy.link("/")).unwrap());
        tokio::spawn(async move { fetcher.fetch(COMPANY, &link, Kind::Document).await })
    };
    busy.was_asked().await;
    let host = Host::body("", b"x").await;
    let link = Url::parse(&host.link("/")).unwrap();
    assert_eq!(code(fetcher.fetch(COMPANY, &link, Kind::Document).await), Code::ServiceUnavailable);
    assert_eq!(host.connections(), 0);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(fetcher.fetch(COMPANY, &link, Kind::Document).await.is_ok());
}

#[tokio::test]
async fn files_that_wait_to_be_sent_count_until_they_are_dropped() {
    let fetcher = fetcher(&tight(), &Names::none());
    let host = Host::steps(vec![Step::Send(ok("", &[b'x'; 60 * KIB]))]).await;
    let link = Url::parse(&host.link("/")).unwrap();
    let first = fetcher.fetch(COMPANY, &link, Kind::Document).await.unwrap();
    assert_eq!(code(fetcher.fetch(COMPANY, &link, Kind::Document).await), Code::ServiceUnavailable);
    drop(first);
    assert!(fetcher.fetch(COMPANY, &link, Kind::Document).await.is_ok());
}

/// A resolver that never answers, and whose lookups cannot be canceled.
#[derive(Default)]
struct Silence {
    asked: AtomicUsize,
    answer: Notify,
}

#[async_trait]
impl Lookup for Silence {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answer.notified().await;
        Err(io::ErrorKind::NotFound.into())
    }

    fn own_addresses(&self) -> io::Result<Vec<IpAddr>> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn names_that_do_not_resolve_use_a_company_s_own_permits_until_their_lookups_end() {
    let options = config::Media {
        concurrency: 4,
        connect_timeout: Duration::from_millis(50),
        stall_timeout: Duration::from_millis(50),
        timeout: Duration::from_millis(200),
        ..options()
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let silence = Arc::new(Silence::default());
    let fetcher = Fetcher::with_lookup(&options, Arc::<Silence>::clone(&silence)).unwrap();
    let link = Url::parse("http://nobody.example/").unwrap();
    let host = Host::body("", b"x").await;
    let by_number = Url::parse(&host.link("/")).unwrap();
    let codes = async |company: Uuid| {
        let mut codes = Vec::new();
        for _ in 0..4 {
            codes.push(code(fetcher.fetch(company, &link, Kind::Document).await));
        }
        codes
    };
    let [slow, busy] = [Code::MediaUnavailable, Code::ServiceUnavailable];
    assert_eq!(codes(COMPANY).await, [slow, slow, busy, busy]);
    assert_eq!(silence.asked.load(Ordering::SeqCst), 2);
    let other = Uuid::from_u128(2);
    assert!(fetcher.fetch(other, &by_number, Kind::Document).await.is_ok());
    assert_eq!(codes(other).await, [slow, busy, busy, busy]);
    silence.answer.notify_waiters();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    while fetcher.fetch(COMPANY, &by_number, Kind::Document).await.is_err() {
        assert!(tokio::time::Instant::now() < deadline, "the places did not come back");
    }
}
