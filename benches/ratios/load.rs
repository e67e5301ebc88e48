//! A lean HTTP load: many connections on one thread, the request prepared, the answer skipped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Requests answered per second with `connections` at once, for `lasting`. Answers must have `status`.
pub(crate) fn drive(
    address: &str,
    request: &[u8],
    connections: usize,
    lasting: Duration,
    status: &str,
) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answered = Arc::new(AtomicU64::new(0));
    let expected: Arc<[u8]> = format!("HTTP/1.1 {status}").into_bytes().into();
    let request: Arc<[u8]> = request.into();
    let started = Instant::now();
    runtime.block_on(async {
        let end = started + lasting;
        let clients = (0..connections).map(|_| {
            let (answered, expected, request) = (answered.clone(), expected.clone(), request.clone());
            let address = address.to_owned();
            async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let mut buffer = vec![0; 8192];
                while Instant::now() < end {
                    stream.write_all(&request).await.unwrap();
                    read_answer(&mut stream, &mut buffer, &expected).await;
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        futures_util::future::join_all(clients.map(tokio::spawn))
            .await
            .into_iter()
            .for_each(|end| end.unwrap());
    });
    answered.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}

/// Makes these requests one after the other. Answers must have `status`.
pub(crate) async fn each(address: &str, requests: &[Vec<u8>], status: &str) {
    let expected = format!("HTTP/1.1 {status}").into_bytes();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 8192];
    for request in requests {
        stream.write_all(request).await.unwrap();
        read_answer(&mut stream, &mut buffer, &expected).await;
    }
}

/// Reads one answer, which must begin as expected.
pub(crate) async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8], expected: &[u8]) {
    let mut have = 0;
    loop {
        let read = stream.read(&mut buffer[have..]).await.unwrap();
        assert!(read > 0, "the server closed the connection");
        have += read;
        let Some(head) = buffer[..have].windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        assert!(buffer.starts_with(expected), "{}", String::from_utf8_lossy(&buffer[..have]));
        let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if have >= head + 4 + length.parse::<usize>().unwrap() {
            return;
        }
    }
}
