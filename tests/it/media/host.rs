//! A host of files that sends exactly the bytes of a test, correct or not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

/// One step of a host's answer to a request; after the last step it closes the connection.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Sends the same bytes again and again, with a pause before each, until the client is gone.
    Repeat(Vec<u8>, Duration),
    /// Sends nothing more, and leaves the connection open.
    Hang,
}

/// Listens until it is dropped.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    was_asked: Arc<Notify>,
    listening: JoinHandle<()>,
}

impl Host {
    /// Answers each path as `answer` says.
    pub(crate) async fn new(answer: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answer).await
    }

    /// Gives every path the same answer.
    pub(crate) async fn steps(steps: Vec<Step>) -> Self {
        Self::new(move |_| steps.clone()).await
    }

    /// Gives every path this body.
    pub(crate) async fn body(headers: &str, body: &[u8]) -> Self {
        Self::steps(vec![Step::Send(ok(headers, body))]).await
    }

    pub(crate) async fn at(
        address: impl tokio::net::ToSocketAddrs,
        answer: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, was_asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (count, told, answer) = (Arc::clone(&connections), Arc::clone(&was_asked), Arc::new(answer));
        let listening = tokio::spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (told, answer) = (Arc::clone(&told), Arc::clone(&answer));
                served.spawn(async move { serve(stream, &told, answer.as_ref()).await });
            }
        });
        Self { address, connections, was_asked, listening }
    }

    pub(crate) fn link(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address of this host under a name, or in another form.
    pub(crate) fn link_as(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// The number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits for the next request.
    pub(crate) async fn was_asked(&self) {
        self.was_asked.notified().await;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// A whole answer with a length.
pub(crate) fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// An answer without body.
pub(crate) fn bare(status: u16, headers: &str) -> Vec<Step> {
    vec![Step::Send(format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n{headers}\r\n").into_bytes())]
}

/// A redirect.
pub(crate) fn to(location: &str) -> Vec<Step> {
    bare(302, &format!("Location: {location}\r\n"))
}

async fn serve(mut stream: TcpStream, told: &Notify, answer: &(dyn Fn(&str) -> Vec<Step> + Send + Sync)) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    told.notify_one();
    let path = head.split(' ').nth(1).unwrap();
    for step in answer(path) {
        match step {
            Step::Send(bytes) => {
                let _ = stream.write_all(&bytes).await;
            }
            Step::Repeat(bytes, wait) => loop {
                tokio::time::sleep(wait).await;
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            },
            Step::Hang => std::future::pending().await,
        }
    }
}
