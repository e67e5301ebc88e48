//! The tests' WhatsApp in a process of its own, which ends when its input does.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Row;
use crate::fake_whatsapp::FakeWhatsApp;

/// The argument that starts this process.
pub(crate) const NAME: &str = "web-sessions-whatsapp";

/// Prints its address, and scans the codes of its input: a number and a code on each line.
pub(crate) fn serve() -> Vec<Row> {
    let whatsapp = FakeWhatsApp::start();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} {}", whatsapp.url(), whatsapp.media_host()).unwrap();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let (number, code) = line.split_once(' ').unwrap();
        whatsapp.phone(number).scan(code);
    }
    Vec::new()
}

pub(super) struct Whatsapp {
    child: Child,
    input: RefCell<ChildStdin>,
    pub(super) url: String,
    pub(super) media_host: String,
}

impl Whatsapp {
    pub(super) fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(NAME)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = RefCell::new(child.stdin.take().unwrap());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (url, media_host) = line.trim().split_once(' ').unwrap();
        Self { url: url.to_owned(), media_host: media_host.to_owned(), child, input }
    }

    /// The phone with this number scans this code.
    pub(super) fn scan(&self, number: &str, code: &str) {
        writeln!(self.input.borrow_mut(), "{number} {code}").unwrap();
    }
}

impl Drop for Whatsapp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
