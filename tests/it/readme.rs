//! What the README explains in tables is all there is to explain.

use std::collections::BTreeSet;
use std::fs;

use pombo::domain::channel::Status;
use pombo::domain::outlook::Reason;
use pombo::domain::tier;

/// The words in backquotes in the first column of the table with this title.
fn explained(title: &str) -> BTreeSet<String> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let table = readme.lines().skip_while(|line| !line.starts_with(title)).skip(2);
    let cells = table.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[test]
fn every_reason_to_wait_is_explained() {
    assert_eq!(explained("| `reason` |"), words(Reason::ALL.iter().map(|reason| reason.as_str())));
}

#[test]
fn every_status_of_a_channel_is_explained() {
    let all = [Status::Connecting, Status::Connected, Status::Disconnected, Status::Blocked, Status::Pairing];
    assert_eq!(explained("| `status` |"), words(all.map(Status::as_str)));
}

#[test]
fn every_option_of_a_tier_is_explained() {
    let tiers = tier::parse(tier::BUILT_IN).unwrap();
    let documents: Vec<_> = tiers.iter().map(|tier| serde_json::to_value(tier).unwrap()).collect();
    let options = documents.iter().flat_map(|document| document.as_object().unwrap().keys());
    let (options, names) = (options.map(String::as_str), ["name", "kind", "description"]);
    assert_eq!(explained("| option | enforced |"), words(options.filter(|option| !names.contains(option))));
}
