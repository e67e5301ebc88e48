//! A proxy of a server, whose connections can be cut and restored, and which can make a single connection
//! hang.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use tokio::net::TcpSocket;

/// A port of loopback that stays reserved while this exists, whether a program listens on it or not.
///
/// A port that is released to refuse connections may be given to another program before it is bound again. Here a
/// second socket that never listens stays bound to it: connections are refused, and no other program gets the
/// port.
pub(crate) struct OwnPort {
    pub(crate) address: SocketAddr,
    _bound: TcpSocket,
}

impl OwnPort {
    pub(crate) fn new() -> Self {
        let bound = TcpSocket::new_v4().unwrap();
        // The standard library sets this for its listeners too: both sockets must agree to share the port.
        bound.set_reuseaddr(true).unwrap();
        bound.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        Self { address: bound.local_addr().unwrap(), _bound: bound }
    }

    /// Listens until the listener is dropped.
    fn listen(&self) -> TcpListener {
        TcpListener::bind(self.address).unwrap()
    }
}

/// Passes bytes in both directions while it is not cut; ends with the test.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    line: Arc<Mutex<Line>>,
    /// Woken when the proxy is restored, and when it stops listening.
    turned: Arc<Condvar>,
}

/// The direction of a connection that is held back. Later bytes wait behind the held ones; other connections
/// go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The server gets the bytes later, even if the client is gone by then: this simulates a server that
    /// hangs.
    Request,
    /// The server gets the bytes, and its answer is held back from the client.
    Answer,
}

#[derive(Default)]
struct Line {
    /// The bytes to the server by which the next connection to be held is recognised, and its direction to be held.
    trap: Option<(Vec<u8>, Held)>,
    /// The connection that is held, by its number.
    held: Option<(usize, Held)>,
    /// The connection that was held last, and whether the server has answered since its release.
    released: Option<(usize, bool)>,
    /// How many connections were made.
    connections: usize,
    cut: bool,
    ended: bool,
    /// Whether the proxy is to stop listening, and whether it has.
    refuses: bool,
    is_deaf: bool,
    /// Both ends of all connections.
    ends: Vec<TcpStream>,
}

impl Proxy {
    /// A proxy of `server`, an address of the form `host:port`.
    pub(crate) fn to(server: String) -> Self {
        let port = OwnPort::new();
        let address = port.address;
        let listener = port.listen();
        let line = Arc::new(Mutex::new(Line::default()));
        let turned = Arc::new(Condvar::new());
        let (own, own_turned) = (Arc::clone(&line), Arc::clone(&turned));
        std::thread::spawn(move || {
            let mut listener = Some(listener);
            loop {
                let listening = listener.take().unwrap_or_else(|| port.listen());
                serve(&listening, &server, &own, &own_turned);
                drop(listening);
                let mut line = own.lock().unwrap();
                line.is_deaf = true;
                own_turned.notify_all();
                line = own_turned.wait_while(line, |line| line.refuses && !line.ended).unwrap();
                if line.ended {
                    break;
                }
                line.is_deaf = false;
            }
        });
        Self { address, line, turned }
    }

    /// Ends every connection; new ones are closed as soon as they are made.
    pub(crate) fn cut(&self) {
        let mut line = self.line.lock().unwrap();
        line.cut = true;
        line.hang_up();
    }

    /// Ends every connection and stops listening, so that new ones are refused.
    pub(crate) fn refuse(&self) {
        let mut line = self.line.lock().unwrap();
        line.refuses = true;
        line.hang_up();
        drop(line);
        // Wakes the thread that waits for clients.
        let _ = TcpStream::connect(self.address);
        let line = self.line.lock().unwrap();
        drop(self.turned.wait_while(line, |line| !line.is_deaf).unwrap());
    }

    /// Holds back the next connection that carries these bytes to the server, from the bytes on and until
    /// [`Proxy::let_go`]. The bytes must go over the wire in one piece, as the parameters of a short
    /// statement do.
    pub(crate) fn hold(&self, held: Held, bytes: &[u8]) {
        self.line.lock().unwrap().trap = Some((bytes.to_owned(), held));
    }

    /// Whether a connection is held back now.
    pub(crate) fn holds(&self) -> bool {
        self.line.lock().unwrap().held.is_some()
    }

    /// Passes on the bytes that were held back.
    pub(crate) fn let_go(&self) {
        let mut line = self.line.lock().unwrap();
        line.released = line.held.take().map(|(number, _)| (number, false));
        self.turned.notify_all();
    }

    /// Whether the server has answered on the connection that was held last, since its release.
    pub(crate) fn is_answered(&self) -> bool {
        self.line.lock().unwrap().released.is_some_and(|(_, answered)| answered)
    }

    /// New connections get through again.
    pub(crate) fn mend(&self) {
        let mut line = self.line.lock().unwrap();
        line.cut = false;
        line.refuses = false;
        self.turned.notify_all();
    }
}

/// Connects clients with the server until the proxy stops listening.
fn serve(listener: &TcpListener, server: &str, line: &Arc<Mutex<Line>>, turned: &Arc<Condvar>) {
    for client in listener.incoming() {
        let mut open = line.lock().unwrap();
        if open.ended || open.refuses {
            return;
        }
        if open.cut {
            continue;
        }
        let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
        open.connections += 1;
        for (from, to, direction) in [(&client, &server, Held::Request), (&server, &client, Held::Answer)] {
            from.set_nodelay(true).unwrap();
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            open.ends.push(from.try_clone().unwrap());
            let (line, turned, number) = (Arc::clone(line), Arc::clone(turned), open.connections);
            std::thread::spawn(move || copy(from, to, (number, direction), &line, &turned));
        }
    }
}

/// Passes on the bytes of one direction of a connection, unless they are held back.
fn copy(
    mut from: TcpStream,
    mut to: TcpStream,
    (number, direction): (usize, Held),
    line: &Mutex<Line>,
    turned: &Condvar,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let piece = &bytes[..length];
        let mut open = line.lock().unwrap();
        if direction == Held::Request {
            open.spring(number, piece);
        }
        let is_held = |line: &mut Line| line.held == Some((number, direction)) && !line.ended;
        open = turned.wait_while(open, is_held).unwrap();
        if let Some((_, answered)) = open.released.as_mut().filter(|released| released.0 == number) {
            *answered |= direction == Held::Answer;
        }
        drop(open);
        if to.write_all(piece).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

impl Line {
    /// Holds the connection if these are the expected bytes.
    fn spring(&mut self, number: usize, piece: &[u8]) {
        let is_in = |bytes: &[u8]| piece.windows(bytes.len()).any(|window| window == bytes);
        if let Some((_, held)) = self.trap.take_if(|(bytes, _)| is_in(bytes)) {
            self.held = Some((number, held));
        }
    }

    fn hang_up(&mut self) {
        for end in self.ends.drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut line = self.line.lock().unwrap();
        line.ended = true;
        line.hang_up();
        self.turned.notify_all();
        drop(line);
        // Wakes the thread that waits for clients.
        let _ = TcpStream::connect(self.address);
    }
}

#[test]
fn a_port_whose_listener_is_gone_refuses_connections_and_can_be_listened_at_again() {
    let port = OwnPort::new();
    assert!(TcpStream::connect(port.address).is_err(), "no program listens yet");
    for _ in 0..3 {
        let listener = port.listen();
        let client = TcpStream::connect(port.address).unwrap();
        drop((listener.accept().unwrap(), client, listener));
        assert!(TcpStream::connect(port.address).is_err(), "no program listens any more");
    }
}
