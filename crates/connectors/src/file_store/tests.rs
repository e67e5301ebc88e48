//! Files in a directory, and in a bucket of a service of the test's own.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;

const ONE: Uuid = Uuid::from_u128(1);
const OTHER: Uuid = Uuid::from_u128(2);

fn names(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() { found.extend(names(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

#[tokio::test]
async fn a_file_has_a_name_once_it_is_whole_and_belongs_to_its_company() {
    let data = tempfile::tempdir().unwrap();
    let options = config::Config::default().media;
    let store = FileStore::open(&options, data.path()).unwrap();
    let directory = data.path().join("media");
    let mut file = store.begin().await.unwrap();
    for piece in ["hel", "lo"] {
        file.write(Bytes::from_static(piece.as_bytes())).await.unwrap();
    }
    assert_eq!((file.beginning(4).await.unwrap(), file.bytes()), (b"hell".to_vec(), 5));
    file.write(Bytes::from_static(b"!")).await.unwrap();
    let digest = file.digest().unwrap();
    assert_eq!(digest, <[u8; 32]>::from(Sha256::digest(b"hello!")));
    store.keep(ONE, &digest, file).await.unwrap();
    assert_eq!(store.read(ONE, &digest, 1..4).await.unwrap(), "ell");
    assert!(matches!(store.read(OTHER, &digest, 0..1).await, Err(StoreFault::Missing(_))));
    let mut broken_off = store.begin().await.unwrap();
    broken_off.write(Bytes::from_static(b"x")).await.unwrap();
    assert_eq!(names(&directory).len(), 2);
    drop(broken_off);
    assert_eq!(names(&directory).len(), 1);
    #[cfg(unix)]
    assert!(!files::is_exposed(&names(&directory)[0]) && !files::is_exposed(&directory));
    for _ in 0..2 {
        store.delete(ONE, &digest).await.unwrap();
    }
    assert!(matches!(store.read(ONE, &digest, 0..1).await, Err(StoreFault::Missing(_))));
}

/// What the service keeps, by path.
type Objects = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// Answers requests for objects as such a service does, as far as the store needs it.
async fn answer(connection: TcpStream, objects: Objects) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if connection.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_owned());
        }
        let field = |name: &str| {
            let fields = head.iter().filter_map(|line| line.split_once(": "));
            fields
                .filter(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
                .next()
        };
        let length = field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await?;
        let mut words = head[0].split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap().to_owned());
        assert!(
            field("authorization").unwrap().starts_with("AWS4-HMAC-SHA256 Credential=an-id/"),
            "{head:?}"
        );
        let known = objects.lock().get(&path).cloned();
        let (status, fields, content) = match (method, known) {
            ("PUT", _) => {
                objects.lock().insert(path, body);
                ("200 OK", String::new(), Vec::new())
            }
            ("DELETE", _) => {
                objects.lock().remove(&path);
                ("204 No Content", String::new(), Vec::new())
            }
            ("GET", Some(object)) => {
                let range = field("range").unwrap();
                let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                let content = object[first..=last].to_vec();
                (
                    "206 Partial Content",
                    format!("Content-Range: bytes {first}-{last}/{}\r\n", object.len()),
                    content,
                )
            }
            _ => ("404 Not Found", String::new(), Vec::new()),
        };
        let length = content.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nETag: \"1\"\r\nLast-Modified: Fri, 27 Nov 2026 00:00:00 GMT\r\n{fields}\
             Content-Length: {length}\r\n\r\n"
        );
        connection.write_all(&[head.as_bytes(), &content].concat()).await?;
    }
}

#[tokio::test]
async fn a_bucket_keeps_files_under_the_same_names() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let objects = Objects::default();
    let shared = Arc::clone(&objects);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(answer(connection, Arc::clone(&shared)));
        }
    });
    let data = tempfile::tempdir().unwrap();
    let options = config::Media {
        s3_bucket: "media".to_owned(),
        s3_endpoint: endpoint,
        s3_access_key: "an-id".to_owned(),
        s3_secret_key: Some(domain::secret::Secret::new("hush".to_owned())),
        ..config::Config::default().media
    };
    let store = FileStore::open(&options, data.path()).unwrap();
    let mut file = store.begin().await.unwrap();
    file.write(Bytes::from_static(b"hello")).await.unwrap();
    let digest = file.digest().unwrap();
    store.keep(ONE, &digest, file).await.unwrap();
    let path = format!("/media/{}/{}", ONE.simple(), hex::encode(digest));
    assert_eq!(objects.lock().get(&path).map(Vec::as_slice), Some(&b"hello"[..]));
    assert_eq!(names(data.path()).len(), 0, "nothing is left where it arrived");
    assert_eq!(store.read(ONE, &digest, 1..3).await.unwrap(), "el");
    assert!(matches!(store.read(OTHER, &digest, 0..1).await, Err(StoreFault::Missing(_))));
    store.delete(ONE, &digest).await.unwrap();
    assert!(objects.lock().is_empty());
}
