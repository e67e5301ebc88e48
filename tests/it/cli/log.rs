//! The log of a running service.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::program::Place;

#[test]
fn faults_of_clients_are_no_errors_of_the_service() {
    let place = Place::new();
    // A first start warns of the sealing key that it makes.
    place.json("company create Acme");
    let place = place.with("POMBO__SERVER__BIND", "127.0.0.1:0").with("POMBO__LOG__FORMAT", "json");
    let mut child = place.command("serve --json").spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    let started: Value = serde_json::from_str(&first).unwrap();
    let address = started["base_url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    for request in [
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET / HTTP/1.1\r\nBad Header: x\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "POST /hooks/meta/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /hooks/meta/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nbegun and left",
    ] {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        // Read to the end; a connection that was reset ends too.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let lines = || log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    assert!(output.status.success() && lines().any(|line| line["message"] == "listening"), "{log}");
    let bad: Vec<_> = lines().filter(|line| line["level"] == "ERROR" || line["level"] == "WARN").collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
