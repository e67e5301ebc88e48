//! How long a stop takes while clients and the provider are slow.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Universe;
use crate::running::{NUMBER, until};
use crate::serving::Serving;

const GRACE: Duration = Duration::from_secs(6);

#[cfg(unix)]
#[actix_web::test]
async fn a_stop_with_a_slow_client_and_a_slow_provider_takes_one_grace_and_not_two() {
    let universe = Universe::sqlite().await;
    let options = [("POMBO__SERVER__SHUTDOWN_GRACE", "6s"), ("POMBO__CLOUD_API__REQUEST_TIMEOUT", "60s")];
    let mut serving = Serving::new_with(&universe, 0, "unlimited", &options).await;
    let hang = json!({ "match": {}, "outcome": { "hang_then_accept": "60s" } });
    serving.simulator.script(&hang).unwrap();
    let (mut child, url) = serving.serve().await;
    let single = json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" });
    assert_eq!(serving.send_through(&serving.channel, &url, &single).await.status, 202);
    until("a message under way", async || serving.simulator.number(NUMBER).unwrap().arrivals > 0).await;
    // A body that never ends.
    let mut slow = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST /api/v1/chat/{}/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        serving.channel, serving.key
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    // This answer comes after the other request was read, so the service has both.
    assert_eq!(serving.list(&url, "/api/v1/chat").await.status, 200);

    let began = Instant::now();
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    until("the end", async || child.try_wait().unwrap().is_some()).await;
    let took = began.elapsed();
    assert!(took < GRACE * 3 / 2, "{took:?} with a grace of {GRACE:?}");
    assert!(took > GRACE / 4, "{took:?}: nothing was waited for, which proves nothing");
    assert!(child.wait().unwrap().success());
    serving.simulator.stop().await;
    universe.end().await;
}
