//! A line to a server that can be cut and mended.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let line = Arc::new(Mutex::new(Line::default()));
        let turned = Arc::new(Condvar::new());
        let (own, own_turned) = (Arc::clone(&line), Arc::clone(&turned));
        std::thread::spawn(move || {
            let mut listener = Some(listener);
            loop {
                let listening = listener.take().unwrap_or_else(|| TcpListener::bind(address).unwrap());
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
