//! A line to a server that can be cut and mended.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Passes bytes on both ways while it is not cut; ends with the test.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    line: Arc<Mutex<Line>>,
}

#[derive(Default)]
struct Line {
    cut: bool,
    ended: bool,
    /// Both ends of everything that goes through.
    ends: Vec<TcpStream>,
}

impl Proxy {
    /// A line to `server`, an address of the form `host:port`.
    pub(crate) fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let line = Arc::new(Mutex::new(Line::default()));
        let own = Arc::clone(&line);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let mut line = own.lock().unwrap();
                if line.ended {
                    break;
                }
                if !line.cut {
                    line.connect(&client.unwrap(), &TcpStream::connect(&server).unwrap());
                }
            }
        });
        Self { address, line }
    }

    /// Ends every connection; new ones are closed as soon as they are made.
    pub(crate) fn cut(&self) {
        let mut line = self.line.lock().unwrap();
        line.cut = true;
        line.hang_up();
    }

    /// New connections get through again.
    pub(crate) fn mend(&self) {
        self.line.lock().unwrap().cut = false;
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
        drop(line);
        // Wakes the thread that waits for clients.
        let _ = TcpStream::connect(self.address);
    }
}
