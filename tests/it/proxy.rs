//! A line to a server that can be cut and mended.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use tokio::net::TcpSocket;

/// A port of loopback that is ours for as long as this lives, whether anybody listens or not.
///
/// A port that is released to refuse connections may be given to somebody else before it is bound again. Here a second
/// socket that never listens stays bound to it: connections are refused, and nobody else gets the port.
pub(crate) struct OwnPort {
    pub(crate) address: SocketAddr,
    _bound: TcpSocket,
}

impl OwnPort {
    pub(crate) fn new() -> Self {
        let bound = TcpSocket::new_v4().unwrap();
        // As the standard library does for those that listen: both must agree to share the port.
        bound.set_reuseaddr(true).unwrap();
        bound.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        Self { address: bound.local_addr().unwrap(), _bound: bound }
    }

    /// Listens until the listener is dropped.
    fn listen(&self) -> TcpListener {
        TcpListener::bind(self.address).unwrap()
    }
}

/// Passes bytes on both ways while it is not cut; ends with the test.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    line: Arc<Mutex<Line>>,
    /// Told when it is mended, and when nobody listens any more.
    turned: Arc<Condvar>,
}

#[derive(Default)]
struct Line {
    cut: bool,
    ended: bool,
    /// Nobody is to listen, and whether that is so.
    refuses: bool,
    is_deaf: bool,
    /// Both ends of everything that goes through.
    ends: Vec<TcpStream>,
}

impl Proxy {
    /// A line to `server`, an address of the form `host:port`.
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
                serve(&listening, &server, &own);
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

    /// Ends every connection, and new ones are refused: nobody listens.
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

    /// New connections get through again.
    pub(crate) fn mend(&self) {
        let mut line = self.line.lock().unwrap();
        line.cut = false;
        line.refuses = false;
        self.turned.notify_all();
    }
}

/// Connects clients with the server until nobody is to listen any more.
fn serve(listener: &TcpListener, server: &str, line: &Mutex<Line>) {
    for client in listener.incoming() {
        let mut line = line.lock().unwrap();
        if line.ended || line.refuses {
            return;
        }
        if !line.cut {
            line.connect(&client.unwrap(), &TcpStream::connect(server).unwrap());
        }
    }
}

impl Line {
    fn connect(&mut self, client: &TcpStream, server: &TcpStream) {
        for (from, to) in [(client, server), (server, client)] {
            from.set_nodelay(true).unwrap();
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            self.ends.push(from.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
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
    assert!(TcpStream::connect(port.address).is_err(), "nobody listens yet");
    for _ in 0..3 {
        let listener = port.listen();
        let client = TcpStream::connect(port.address).unwrap();
        drop((listener.accept().unwrap(), client, listener));
        assert!(TcpStream::connect(port.address).is_err(), "nobody listens any more");
    }
}
