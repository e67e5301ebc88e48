//! A proxy of a PostgreSQL server that reads the protocol, so that a test can interfere at one exact moment.
//! It holds a statement back before the server has it, or the server's answer before the client has it, and
//! then passes it on or loses it.
//!
//! It understands only this part of the protocol: the beginning of a message, the client's statement and its
//! transaction, and the server's answer at its end. It does not speak TLS.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use url::Url;

use crate::running::until;

/// A moment between client and server. The words are part of a statement's text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// The server does not have the statement yet.
    Request(&'static str),
    /// The server does not have the COMMIT yet of a transaction in which the statement ran.
    CommitRequest(&'static str),
    /// The statement is durable and the client does not know: the server's answer to the COMMIT of its transaction, or
    /// to the statement itself outside of one.
    CommitAnswer(&'static str),
}

/// Ends with the test.
pub(crate) struct PostgresProxy {
    /// The database behind the proxy, as its clients connect to it.
    pub(crate) url: String,
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    traps: Mutex<Vec<Arc<Trap>>>,
    conversations: Mutex<Vec<Arc<Conversation>>>,
    /// New connections are refused.
    is_closed: AtomicBool,
    ended: AtomicBool,
}

/// A moment that a test waits for.
struct Trap {
    moment: Moment,
    /// The number of times that it passes before it is held.
    passes: Mutex<u32>,
    stage: Mutex<Stage>,
    turned: Condvar,
}

enum Stage {
    /// The moment has not come.
    Set,
    /// The moment has come: the conversation is held.
    Caught(Arc<Conversation>),
    PassedOn,
    Lost,
}

/// A moment that a test asked for. When it is dropped, it passes on the message that it holds.
pub(crate) struct Caught {
    trap: Arc<Trap>,
    shared: Arc<Shared>,
}

impl PostgresProxy {
    /// A proxy of the database at `url`.
    pub(crate) fn to(url: &str) -> Self {
        let mut url = Url::parse(url).unwrap();
        let server = format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(address.port())).unwrap();
        url.query_pairs_mut().append_pair("sslmode", "disable");
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if own.ended.load(Ordering::SeqCst) {
                    break;
                }
                if !own.is_closed.load(Ordering::SeqCst) {
                    own.connect(client.unwrap(), &server);
                }
            }
        });
        Self { url: url.into(), address, shared }
    }

    /// From now on, new connections end at once; existing connections go on.
    pub(crate) fn close(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
    }

    /// From now on clients can connect again.
    pub(crate) fn open(&self) {
        self.shared.is_closed.store(false, Ordering::SeqCst);
    }

    /// Holds the next conversation that comes to this moment.
    pub(crate) fn catch(&self, moment: Moment) -> Caught {
        self.catch_after(0, moment)
    }

    /// Holds the conversation that comes to this moment after this many others did.
    pub(crate) fn catch_after(&self, passes: u32, moment: Moment) -> Caught {
        let (stage, turned) = (Mutex::new(Stage::Set), Condvar::new());
        let trap = Arc::new(Trap { moment, passes: Mutex::new(passes), stage, turned });
        self.shared.traps.lock().unwrap().push(Arc::clone(&trap));
        Caught { trap, shared: Arc::clone(&self.shared) }
    }
}

impl Drop for PostgresProxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        for trap in self.shared.traps.lock().unwrap().drain(..) {
            trap.turn(Stage::Lost);
        }
        for conversation in self.shared.conversations.lock().unwrap().drain(..) {
            conversation.hang_up();
        }
        // Wakes the thread that waits for clients.
        let _ = TcpStream::connect(self.address);
    }
}

impl Caught {
    /// Whether the moment has come, and is held.
    pub(crate) fn is_held(&self) -> bool {
        matches!(*self.trap.stage.lock().unwrap(), Stage::Caught(_))
    }

    /// Waits until the moment has come.
    pub(crate) async fn held(&self) {
        until(&format!("{:?}", self.trap.moment), async || self.is_held()).await;
    }

    /// Ends the client's connection. The held message stays held, and reaches the server when it is passed
    /// on.
    pub(crate) fn hang_up_client(&self) {
        if let Stage::Caught(conversation) = &*self.trap.stage.lock().unwrap() {
            let _ = conversation.client.shutdown(Shutdown::Write);
        }
    }

    /// Passes on the held message.
    pub(crate) fn pass_on(self) {
        drop(self);
    }

    /// Drops the held message, and ends the connection on both sides.
    pub(crate) fn lose(self) {
        self.trap.turn(Stage::Lost);
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        self.shared.traps.lock().unwrap().retain(|trap| !Arc::ptr_eq(trap, &self.trap));
        if !matches!(*self.trap.stage.lock().unwrap(), Stage::Lost) {
            self.trap.turn(Stage::PassedOn);
        }
    }
}

impl Trap {
    fn turn(&self, stage: Stage) {
        *self.stage.lock().unwrap() = stage;
        self.turned.notify_all();
    }

    /// Takes the conversation when this is the moment that is waited for.
    fn takes(&self, conversation: &Arc<Conversation>, is_there: impl FnOnce(Moment) -> bool) -> bool {
        let mut stage = self.stage.lock().unwrap();
        if !matches!(*stage, Stage::Set) || !is_there(self.moment) {
            return false;
        }
        let mut passes = self.passes.lock().unwrap();
        if *passes > 0 {
            *passes -= 1;
            return false;
        }
        *stage = Stage::Caught(Arc::clone(conversation));
        true
    }

    /// Waits until the test decides, and returns whether the message is passed on.
    fn hold(&self) -> bool {
        let stage = self.stage.lock().unwrap();
        let stage = self.turned.wait_while(stage, |stage| matches!(stage, Stage::Caught(_))).unwrap();
        matches!(*stage, Stage::PassedOn)
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream, server: &str) {
        let server = TcpStream::connect(server).unwrap();
        for end in [&client, &server] {
            end.set_nodelay(true).unwrap();
        }
        let conversation = Arc::new(Conversation { client, server, said: Mutex::default() });
        self.conversations.lock().unwrap().push(Arc::clone(&conversation));
        let (asking, asked) = (Arc::clone(self), Arc::clone(&conversation));
        std::thread::spawn(move || {
            let _ = asked.requests(&asking);
            // Messages that were passed on still reach the server.
            let _ = asked.server.shutdown(Shutdown::Write);
        });
        let answering = Arc::clone(self);
        std::thread::spawn(move || {
            let _ = conversation.answers(&answering);
            conversation.hang_up();
        });
    }

    /// Holds the message if a test waits for this moment, and returns whether the message is passed on.
    fn passes(&self, conversation: &Arc<Conversation>, is_there: impl Fn(Moment) -> bool) -> bool {
        let trap =
            self.traps.lock().unwrap().iter().find(|trap| trap.takes(conversation, &is_there)).cloned();
        trap.is_none_or(|trap| trap.hold())
    }
}

/// A client's connection and its other half to the server.
struct Conversation {
    client: TcpStream,
    server: TcpStream,
    said: Mutex<Said>,
}

/// Which statements a client runs.
#[derive(Default)]
struct Said {
    /// The texts of prepared statements, by their names.
    prepared: HashMap<String, String>,
    /// The statement that runs.
    current: String,
    is_in_transaction: bool,
    /// The statements of the transaction.
    transaction: String,
}

impl Said {
    /// Whether the statement that a client is about to run is the moment.
    fn is_at_request(&self, moment: Moment) -> bool {
        match moment {
            Moment::Request(words) => self.current.contains(words),
            Moment::CommitRequest(words) => self.current == "COMMIT" && self.transaction.contains(words),
            Moment::CommitAnswer(_) => false,
        }
    }

    /// Whether the end of the statement that ran is the moment.
    fn is_at_answer(&self, moment: Moment) -> bool {
        match moment {
            Moment::CommitAnswer(words) if self.current == "COMMIT" => self.transaction.contains(words),
            Moment::CommitAnswer(words) => !self.is_in_transaction && self.current.contains(words),
            Moment::Request(_) | Moment::CommitRequest(_) => false,
        }
    }

    fn run(&mut self, statement: String) {
        if statement.starts_with("BEGIN") {
            self.is_in_transaction = true;
            self.transaction.clear();
        } else if self.is_in_transaction {
            self.transaction.push_str(&statement);
            self.transaction.push('\n');
        }
        self.current = statement;
    }
}

impl Conversation {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap()
    }

    fn hang_up(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    /// From the client to the server.
    fn requests(self: &Arc<Self>, shared: &Shared) -> io::Result<()> {
        let (mut client, mut server) = (&self.client, &self.server);
        // The first message has no type.
        let mut length = [0; 4];
        client.read_exact(&mut length)?;
        server.write_all(&[length.as_slice(), body(client, length)?.as_slice()].concat())?;
        loop {
            let (kind, message) = message(client)?;
            let text = &message[5..];
            let runs = match kind {
                // Parse
                b'P' => {
                    let (name, rest) = word(text);
                    self.said().prepared.insert(name, word(rest).0);
                    None
                }
                // Bind
                b'B' => {
                    let (name, _) = word(word(text).1);
                    Some(self.said().prepared.get(&name).cloned().unwrap_or_default())
                }
                // A simple query
                b'Q' => Some(word(text).0.trim_end_matches([';', ' ']).to_owned()),
                _ => None,
            };
            if let Some(statement) = runs {
                self.said().run(statement);
                if !shared.passes(self, |moment| self.said().is_at_request(moment)) {
                    self.hang_up();
                    return Ok(());
                }
            }
            server.write_all(&message)?;
        }
    }

    /// From the server to the client.
    fn answers(self: &Arc<Self>, shared: &Shared) -> io::Result<()> {
        let (mut client, server) = (&self.client, &self.server);
        let mut has_gone = false;
        loop {
            let (kind, message) = message(server)?;
            // A statement is complete.
            if kind == b'C' {
                if !shared.passes(self, |moment| self.said().is_at_answer(moment)) {
                    return Ok(());
                }
                let mut said = self.said();
                said.is_in_transaction &= said.current != "COMMIT" && said.current != "ROLLBACK";
            }
            // The server goes on with the requests of a client that is gone, and its answers are read to
            // their end.
            has_gone = has_gone || client.write_all(&message).is_err();
        }
    }
}

/// A message with its type and length.
fn message(mut from: &TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    Ok((kind, [head.as_slice(), body(from, length)?.as_slice()].concat()))
}

/// What follows a length, which counts itself.
fn body(mut from: &TcpStream, length: [u8; 4]) -> io::Result<Vec<u8>> {
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap();
    let mut body = vec![0; length.checked_sub(4).ok_or(io::ErrorKind::InvalidData)?];
    from.read_exact(&mut body)?;
    Ok(body)
}

/// The text until the next zero byte, and what follows it.
fn word(text: &[u8]) -> (String, &[u8]) {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    (String::from_utf8_lossy(&text[..end]).into_owned(), text.get(end + 1..).unwrap_or_default())
}
