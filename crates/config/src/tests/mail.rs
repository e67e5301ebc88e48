//! The section about e-mail.

use super::{load, shown};
use crate::{Config, Encryption};

const GOOD: &str = "[server]\npublic_url = \"https://pombo.example\"\n[mail]\nhost = \"smtp.example.com\"\n\
                    from = \"Pombo <alerts@Example.com>\"\n";

#[test]
fn no_mail_is_sent_unless_a_server_is_named() {
    let mail = Config::default().mail;
    assert!(!mail.is_on() && mail.encryption == Encryption::StartTls && mail.port == 587);
}

#[test]
fn a_mail_server_has_a_sender_and_its_password_is_never_shown() {
    let variables = [("POMBO__MAIL__USER", "pombo"), ("POMBO__MAIL__PASSWORD", "s3cret")];
    let config = load(GOOD, &variables).unwrap();
    let (name, address) = config.mail.sender().unwrap();
    assert_eq!((name, address.as_str()), (Some("Pombo"), "alerts@example.com"));
    assert_eq!(config.mail.password.as_ref().unwrap().expose(), "s3cret");
    assert!(config.mail.is_on() && !format!("{config:?}").contains("s3cret"));
    let plain = load(&GOOD.replace("Pombo <alerts@Example.com>", "a@b.example"), &[]).unwrap();
    assert_eq!(plain.mail.sender().map(|(name, _)| name.is_none()), Some(true));
}

#[test]
fn each_fault_of_the_mail_server_is_told_with_its_option() {
    let told = shown(
        "[mail]\nhost = \"smtp://example.com\"\nport = 0\nencryption = \"none\"\nuser = \"pombo\"\n\
         password = \"s3cret\"\nfrom = \"nobody\"\ntimeout = \"0s\"",
        &[],
    );
    assert!(!told.contains("s3cret"), "{told}");
    let options =
        ["mail.host", "mail.port", "mail.encryption", "mail.from", "mail.timeout", "server.public_url"];
    for option in options {
        assert!(told.contains(option), "{option}: {told}");
    }
    let alone = shown(&format!("{GOOD}user = \"pombo\""), &[]);
    assert!(alone.contains("mail.password"), "{alone}");
    let unknown = shown("[mail]\nencryption = \"ssl\"", &[]);
    assert!(unknown.contains("starttls, tls, none"), "{unknown}");
}
