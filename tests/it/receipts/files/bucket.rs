//! Files in a bucket: of a server by others that keeps objects as S3 does.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use pombo::config;
use pombo::connector::file_store::{Bytes, FileStore};
use pombo::domain::inbound::InboundFile;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::secret::Secret;
use pombo::store::changes::Who;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{ANA, files, picture, read, tell, upload};
use crate::child::OwnedChild;
use crate::database::Universe;
use crate::proxy::OwnPort;
use crate::running::{Running, until};

/// A server of a test's own, with an empty bucket.
struct Bucket {
    port: OwnPort,
    child: OwnedChild,
}

impl Bucket {
    fn start() -> Self {
        let python = std::env::var("POMBO_TEST_S3").expect("POMBO_TEST_S3 names a Python with moto");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/s3/server.py");
        let port = OwnPort::new();
        let mut command = Command::new(python);
        command.arg(script).arg(port.address.port().to_string());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = OwnedChild::spawn(&mut command);
        assert_eq!(child.first_line(), "listening\n");
        Self { port, child }
    }

    fn configure(&self, options: &mut config::Media) {
        options.s3_bucket = "media".to_owned();
        options.s3_endpoint = format!("http://{}", self.port.address);
        options.s3_access_key = "an-id".to_owned();
        options.s3_secret_key = Some(Secret::new("hush".to_owned()));
    }

    /// The keys in the bucket, with those of uploads that were not completed.
    fn keys(&mut self) -> Vec<String> {
        self.child.stdin.as_mut().unwrap().write_all(b"list\n").unwrap();
        serde_json::from_str(&self.child.first_line()).unwrap()
    }
}

#[actix_web::test]
#[ignore = "needs a server of the S3 protocol: run scripts/test"]
async fn a_picture_is_kept_in_the_bucket_given_out_and_deleted_with_its_person() {
    let universe = Universe::sqlite().await;
    let (mut bucket, media) = (Bucket::start(), tempfile::tempdir().unwrap());
    let running = Running::start(&universe, |config| {
        config.media.directory = Some(media.path().join("files"));
        bucket.configure(&mut config.media);
    })
    .await;
    let bytes = picture();
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let id = upload(&running, "image/png", &bytes).await;
    tell(&running, "wamid.1", "image", json!({ "id": id, "mime_type": "image/png", "sha256": sha256 })).await;
    until("the file", async || matches!(files(&running).await.as_slice(), [InboundFile::Kept { .. }])).await;
    assert_eq!(bucket.keys(), [format!("{}/{sha256}", running.company.simple())]);
    let told = files(&running).await;
    let [InboundFile::Kept { path, .. }] = &told[..] else { panic!("{told:?}") };
    assert_eq!(read(&running, path).await.bytes().await.unwrap(), bytes);

    let number = PhoneNumber::parse(ANA).unwrap();
    assert_eq!(running.conversations().erase(&Who::Pombo, number).await.unwrap().len(), 1);
    until("no content", async || bucket.keys().is_empty()).await;
    assert_eq!(read(&running, path).await.status(), 404);
    running.end().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs a server of the S3 protocol: run scripts/test"]
async fn a_large_file_goes_in_parts_and_is_read_across_them() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (mut bucket, directory) = (Bucket::start(), tempfile::tempdir().unwrap());
    let mut options = config::Config::default().media;
    bucket.configure(&mut options);
    let store = FileStore::open(&options, directory.path()).unwrap();
    let mut file = store.begin().await.unwrap();
    let piece = Bytes::from(vec![7; 1 << 20]);
    for _ in 0..16 {
        file.write(piece.clone()).await.unwrap();
    }
    file.write(Bytes::from_static(b"the end")).await.unwrap();
    let (company, digest) = (Uuid::from_u128(1), file.digest().unwrap());
    store.keep(company, &digest, file).await.unwrap();
    assert_eq!(bucket.keys(), [format!("{}/{}", company.simple(), hex::encode(digest))]);
    let border = piece.len() as u64 * 16;
    let across = store.read(company, &digest, border - 1..border + 7).await.unwrap();
    assert_eq!(across, &b"\x07the end"[..]);
    store.delete(company, &digest).await.unwrap();
    assert_eq!(bucket.keys(), [""; 0]);
}
