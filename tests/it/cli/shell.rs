//! Completions and manual pages, which are made from the command line itself.

use std::collections::BTreeSet;
use std::process::Command;

use crate::program::Place;

#[test]
fn every_shell_gets_completions_with_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = place.run(&format!("completions {shell}"));
        assert_eq!(run.code, Some(0), "{run:?}");
        for word in ["backup", "restore", "doctor", "add-business", "tier"] {
            assert!(run.stdout.contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(place.run("completions tcsh").code, Some(2));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "the command needs neither data nor key");
}

#[test]
fn bash_takes_its_completions() {
    let place = Place::new();
    place.write("pombo.bash", &place.run("completions bash").stdout);
    let shell = Command::new("bash").arg("-n").arg(place.path().join("pombo.bash")).status();
    // A machine without it has nothing to check with.
    assert!(shell.is_err() || shell.is_ok_and(|status| status.success()));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let place = Place::new();
    let main = place.run("man").stdout;
    assert!(main.contains(".TH pombo 1") && main.contains("Exit codes"), "{main}");
    assert!(main.contains("doctor") && main.contains("restore"), "{main}");
    place.json("man pages");
    let pages = std::fs::read_dir(place.path().join("pages")).unwrap();
    let pages: BTreeSet<_> = pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    for page in
        ["pombo.1", "pombo-serve.1", "pombo-backup.1", "pombo-channel.1", "pombo-channel-add-business.1"]
    {
        assert!(pages.contains(page), "{pages:?}");
    }
    let restore = std::fs::read_to_string(place.path().join("pages/pombo-restore.1")).unwrap();
    assert!(restore.contains("unknown") && restore.contains("force"), "{restore}");
    assert!(place.run("man /dev/null/pages").code == Some(1));
}
