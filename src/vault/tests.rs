//! Sealing, opening, and the key file.

use std::fs;

use super::*;
use crate::config::Config;
use crate::domain::secret::SealingKey;

fn keyed(byte: u8) -> Vault {
    let secrets = Secrets { key: Some(SealingKey::new([byte; 32])), key_file: None };
    Vault::open(&secrets, Path::new("/nowhere")).unwrap().0
}

fn open(directory: &Path) -> Result<(Vault, KeyOrigin), Error> {
    Vault::open(&Config::default().secrets, directory)
}

#[test]
fn what_is_sealed_opens_only_with_its_key_and_in_its_place() {
    let sealed = keyed(1).seal(b"EAAG-token", "channel:7:token");
    assert_eq!(keyed(1).unseal(&sealed, "channel:7:token").unwrap().expose(), "EAAG-token");
    assert!(matches!(keyed(1).unseal(&sealed, "channel:8:token"), Err(Error::DoesNotOpen)));
    assert!(matches!(keyed(2).unseal(&sealed, "channel:7:token"), Err(Error::DoesNotOpen)));
}

#[test]
fn a_sealed_value_shows_nothing_and_never_looks_the_same_twice() {
    let vault = keyed(1);
    let (one, other) = (vault.seal(b"EAAG-token", "x"), vault.seal(b"EAAG-token", "x"));
    assert_ne!(one, other);
    assert!(!one.windows(4).any(|window| window == b"EAAG"));
    assert_eq!(one.len(), 1 + NONCE_BYTES + "EAAG-token".len() + 16);
}

#[test]
fn every_altered_or_missing_byte_is_noticed() {
    let vault = keyed(1);
    let sealed = vault.seal(b"EAAG", "x");
    for position in 0..sealed.len() {
        let mut altered = sealed.clone();
        altered[position] ^= 1;
        assert!(vault.unseal(&altered, "x").is_err(), "byte {position}");
        assert!(vault.unseal(&sealed[..position], "x").is_err(), "cut at {position}");
    }
    assert!(matches!(vault.unseal(&[9; 60], "x"), Err(Error::NotSealed)));
    assert!(matches!(vault.unseal(&vault.seal(&[0xff], "x"), "x"), Err(Error::NotText)));
}

#[test]
fn a_verify_token_belongs_to_one_key_and_one_channel_for_ever() {
    let token = keyed(1).verify_token(Uuid::from_u128(7));
    assert_eq!(token, "85ffae43213ac58b4a3d1d103c82b9ab9ea0f9f4a34e52c167214705a15d3cbf");
    assert_ne!(token, keyed(1).verify_token(Uuid::from_u128(8)));
    assert_ne!(token, keyed(2).verify_token(Uuid::from_u128(7)));
}

#[test]
fn the_key_file_is_made_once_and_read_ever_after() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("var/pombo");
    let path = data.join("secret.key");
    let (first, origin) = open(&data).unwrap();
    assert_eq!(origin, KeyOrigin::Created { path: path.clone() });
    let (second, origin) = open(&data).unwrap();
    assert_eq!(origin, KeyOrigin::File { path: path.clone(), exposed: false });
    assert_eq!(second.unseal(&first.seal(b"EAAG", "x"), "x").unwrap().expose(), "EAAG");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "the draft is gone");
    assert!(SealingKey::parse(&fs::read_to_string(path).unwrap()).is_ok());
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_key_and_another_s_reading_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    open(&data).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("secret.key"))), (0o700, 0o600));

    fs::set_permissions(data.join("secret.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let (_, origin) = open(&data).unwrap();
    assert!(matches!(origin, KeyOrigin::File { exposed: true, .. }));
    assert!(origin.to_string().contains("chmod 600"));
}

#[test]
fn a_malformed_key_file_is_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    for content in ["", "hunter2", "\u{0}\u{1}"] {
        fs::write(directory.path().join("secret.key"), content).unwrap();
        let error = open(directory.path()).unwrap_err();
        assert!(matches!(error, Error::MalformedKey(_)), "{content:?}");
        assert!(!error.to_string().contains("hunter2"));
        assert_eq!(fs::read_to_string(directory.path().join("secret.key")).unwrap(), content);
    }
}

#[test]
fn processes_that_start_together_end_with_one_key() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let barrier = std::sync::Barrier::new(8);
    let opened: Vec<(Vault, KeyOrigin)> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    open(&data).unwrap()
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    let sealed = opened[0].0.seal(b"EAAG", "x");
    assert!(opened.iter().all(|(vault, _)| vault.unseal(&sealed, "x").is_ok()));
    assert_eq!(opened.iter().filter(|(_, origin)| matches!(origin, KeyOrigin::Created { .. })).count(), 1);
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
}
