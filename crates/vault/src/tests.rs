//! Sealing, opening, and the key file.

use std::fs;

use super::*;
use config::Config;
use domain::secret::SealingKey;

/// `EAAG`, sealed by the first versions for the context `x` with a key of 32 ones.
const BEFORE_IDS_SEALED: &str = "01000102030405060708090a0b0c0d0e0f10111213141\
    516173d919ac25e21e2e0168237af2f467d06c4dd9460";

fn configured(current: u8, previous: &[u8]) -> Secrets {
    let key = |byte| SealingKey::new([byte; 32]);
    let previous_keys = previous.iter().map(|byte| key(*byte)).collect();
    Secrets { key: Some(key(current)), previous_keys, key_file: None }
}

fn keyed(byte: u8) -> Vault {
    Vault::open(&configured(byte, &[]), Path::new("/nowhere")).unwrap().0
}

fn open(directory: &Path) -> Result<(Vault, KeyOrigin), Error> {
    Vault::open(&Config::default().secrets, directory)
}

#[test]
fn a_sealed_value_opens_only_with_its_key_and_in_its_context() {
    let sealed = keyed(1).seal(b"EAAG-token", "channel:7:token");
    assert_eq!(keyed(1).unseal(&sealed, "channel:7:token").unwrap().expose(), "EAAG-token");
    assert!(matches!(keyed(1).unseal(&sealed, "channel:8:token"), Err(Error::DoesNotOpen)));
    assert!(matches!(keyed(2).unseal(&sealed, "channel:7:token"), Err(Error::UnknownKey(_))));
}

#[test]
fn a_sealed_value_shows_nothing_and_never_looks_the_same_twice() {
    let vault = keyed(1);
    let (one, other) = (vault.seal(b"EAAG-token", "x"), vault.seal(b"EAAG-token", "x"));
    assert_ne!(one, other);
    assert!(!one.windows(4).any(|window| window == b"EAAG"));
    assert_eq!(one.len(), 1 + KeyId::BYTES + 24 + "EAAG-token".len() + 16);
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
fn a_value_that_was_sealed_before_keys_had_ids_still_opens() {
    let sealed = hex::decode(BEFORE_IDS_SEALED).unwrap();
    assert_eq!(keyed(1).unseal(&sealed, "x").unwrap().expose(), "EAAG");
    let both = Vault::open(&configured(2, &[3, 1]), Path::new("/nowhere")).unwrap().0;
    assert_eq!(both.unseal(&sealed, "x").unwrap().expose(), "EAAG");
    assert!(matches!(keyed(2).unseal(&sealed, "x"), Err(Error::DoesNotOpen)));
}

#[tokio::test]
async fn the_current_key_seals_and_the_ones_before_it_only_open() {
    let old = keyed(1).seal(b"EAAG", "x");
    let both = Vault::open(&configured(2, &[1]), Path::new("/nowhere")).unwrap().0;
    assert_eq!(both.unseal(&old, "x").unwrap().expose(), "EAAG");
    assert_eq!(
        (both.current_key(), both.previous_keys()),
        (keyed(2).current_key(), vec![keyed(1).current_key()])
    );
    assert_eq!(keyed(2).unseal(&both.seal(b"EAAG", "x"), "x").unwrap().expose(), "EAAG");
    let missing = keyed(1).current_key();
    assert!(matches!(keyed(2).unseal(&old, "x"), Err(Error::UnknownKey(id)) if id == missing));
    assert!(matches!(both.add_key().await, Err(Error::Configured)));
}

#[tokio::test]
async fn a_process_uses_a_key_that_another_one_added_and_keeps_the_former_ones() {
    let directory = tempfile::tempdir().unwrap();
    let service = open(directory.path()).unwrap().0;
    let first = service.current_key();
    let old = service.seal(b"EAAG", "x");

    let command = open(directory.path()).unwrap().0;
    let second = command.add_key().await.unwrap();
    assert_ne!(first, second);
    assert_eq!((command.current_key(), command.former_keys().unwrap()), (second, vec![first]));
    let new = command.seal(b"EAAG", "x");
    assert!(new.starts_with(&beginning(second)));
    // Opened before and after the service looked at the file, and sealed with the new key.
    assert_eq!(service.unseal(&new, "x").unwrap().expose(), "EAAG");
    assert!(service.seal(b"EAAG", "x").starts_with(&beginning(second)));

    command.discard_key(first).await.unwrap();
    // The current key stays whatever is asked.
    command.discard_key(second).await.unwrap();
    assert_eq!((command.current_key(), command.previous_keys()), (second, Vec::new()));
    assert!(service.seal(b"EAAG", "x").starts_with(&beginning(second)));
    assert_eq!(service.unseal(&old, "x").unwrap().expose(), "EAAG", "read before it was sealed again");
    let later = open(directory.path()).unwrap().0;
    assert!(matches!(later.unseal(&old, "x"), Err(Error::UnknownKey(id)) if id == first));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no draft is left");
}

#[tokio::test]
async fn adding_a_key_waits_for_values_that_are_being_sealed_with_the_former_one() {
    let directory = tempfile::tempdir().unwrap();
    let service = open(directory.path()).unwrap().0;
    let first = service.current_key();
    let hold = service.hold();
    let sealed = service.seal(b"EAAG", "x");
    assert!(sealed.starts_with(&beginning(first)));
    let command = open(directory.path()).unwrap().0;
    let mut adding = std::pin::pin!(command.add_key());
    // The new key seals at once; the command goes on only when no more values come with the old key.
    while service.current_key() == first {
        assert!(futures_util::poll!(adding.as_mut()).is_pending());
    }
    let _newer = service.hold();
    assert!(futures_util::poll!(adding.as_mut()).is_pending());
    drop(hold);
    let added = tokio::time::timeout(std::time::Duration::from_secs(30), adding).await.unwrap();
    assert_eq!(added.unwrap(), service.current_key());
}

#[test]
fn a_key_file_that_becomes_unreadable_leaves_a_running_process_its_keys() {
    let directory = tempfile::tempdir().unwrap();
    let service = open(directory.path()).unwrap().0;
    let sealed = service.seal(b"EAAG", "x");
    let path = directory.path().join("secret.key");
    fs::write(&path, "hunter2").unwrap();
    assert_eq!(service.unseal(&sealed, "x").unwrap().expose(), "EAAG");
    fs::remove_file(&path).unwrap();
    let _hold = service.hold();
    assert_eq!(service.unseal(&service.seal(b"EAAG", "x"), "x").unwrap().expose(), "EAAG");
}

#[cfg(unix)]
#[tokio::test]
async fn a_replaced_key_file_keeps_its_permissions_and_the_link_to_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let (data, elsewhere) = (directory.path().join("data"), directory.path().join("kept.key"));
    fs::create_dir(&data).unwrap();
    fs::write(&elsewhere, "11".repeat(32)).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, data.join("secret.key")).unwrap();
    open(&data).unwrap().0.add_key().await.unwrap();
    assert!(fs::symlink_metadata(data.join("secret.key")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap().lines().nth(1).unwrap(), "11".repeat(32));
}

#[test]
fn the_key_file_is_created_once_and_then_only_read() {
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
fn only_the_owner_can_read_the_key_file_and_wider_permissions_are_reported() {
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
