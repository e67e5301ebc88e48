//! What the program keeps to itself: files that hold people's data, and keys that it sends.

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::program::Place;

const ROWS: &str = "first_name,phone_number\nAna,+5511988887777\nBob,12\n";

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn files_with_people_s_data_are_their_owner_s_alone_in_a_directory_that_is_not() {
    let place = Place::new();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let created = place.run("company create Acme");
    assert!(created.stderr.contains(&format!("run `chmod 700 {}`", "data")), "{created:?}");
    place.write("people.csv", ROWS);
    // One that an earlier program left, readable by everybody.
    place.write("people.rejects.csv", "");
    fs::set_permissions(place.path().join("people.rejects.csv"), Permissions::from_mode(0o644)).unwrap();
    place.json("contacts import people.csv --company Acme");
    place.json("contacts export --company Acme --output out.csv");
    for file in ["data/pombo.db", "data/secret.key", "people.rejects.csv", "out.csv"] {
        assert_eq!(mode(&place.path().join(file)), 0o600, "{file}");
    }
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
    let listed = place.run("company list");
    assert!(!listed.stderr.contains("chmod"), "{listed:?}");
}

#[test]
fn a_key_is_not_handed_to_a_proxy_of_the_environment() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let mut place = Place::new();
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        place = place.with(name, &address);
    }
    place.json("company create Acme");
    let channel = place.json("channel add-web --company Acme --name Phone");
    // Nobody listens there: without the proxy there is no answer, with it the key would have gone.
    let url = "http://127.0.0.1:1";
    let pairing = place.run(&format!("channel pair {} --url {url}", channel["id"].as_str().unwrap()));
    assert_ne!(pairing.code, Some(0), "{pairing:?}");
    assert!(pairing.stderr.contains("no service answers"), "{pairing:?}");
    proxy.set_nonblocking(true).unwrap();
    if let Ok((mut stream, _)) = proxy.accept() {
        let mut said = [0; 64];
        let length = stream.read(&mut said).unwrap_or_default();
        panic!("the proxy was asked: {:?}", String::from_utf8_lossy(&said[..length]));
    }
}
