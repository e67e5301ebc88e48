//! Nodes that cannot work with the others: they are refused at the start with a sentence, or give their channels up,
//! and never disconnect a channel for all.

use std::path::Path;
use std::process::Output;

use pombo::config::Config;
use pombo::store::changes::Who;
use pombo::store::sealing_keys::KeyProof;
use pombo::vault::{Vault, context};
use sea_orm::ConnectionTrait as _;

use super::*;
use crate::events::killed::metric;

/// Starts a node with these options, which does not begin to serve.
fn refused(stage: &Stage, name: &str, options: &[(&str, &str)]) -> String {
    let mut command = stage.serving.place.command(SERVE);
    command.env("POMBO__CLUSTER__NODE", name).envs(options.iter().copied());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(stdout.is_empty(), "it listened");
    said
}

/// Starts a node whose key file is in another directory.
async fn start_at(stage: &mut Stage, name: &'static str, directory: &str) {
    let mut command = stage.serving.place.command(SERVE);
    command.env("POMBO__CLUSTER__NODE", name).env("POMBO__DATA__DIR", directory);
    let (child, url) = stage.serving.serve_as(command).await;
    stage.nodes.push(Node { child, url, name });
}

/// Copies the key file of the first directory to another one.
fn copy_key(place: &Path, to: &str) {
    std::fs::create_dir_all(place.join(to)).unwrap();
    // The node reads a file that is whole at every moment.
    std::fs::copy(place.join("data/secret.key"), place.join(to).join("new")).unwrap();
    std::fs::rename(place.join(to).join("new"), place.join(to).join("secret.key")).unwrap();
}

async fn execute(stage: &Stage, sql: &str) {
    let database = Database::connect(&stage.universe.url).await.unwrap();
    database.execute_unprepared(sql).await.unwrap();
    database.close().await.unwrap();
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_with_another_sealing_key_is_refused_and_disconnects_no_channel() {
    let stage = Stage::new(0, &["a"]).await;
    let key = stage.serving.place.json("secrets list")[0]["id"].as_str().unwrap().to_owned();
    let configured = "77".repeat(32);
    for option in [("POMBO__DATA__DIR", "elsewhere"), ("POMBO__SECRETS__KEY", configured.as_str())] {
        let said = refused(&stage, "b", &[option]);
        assert!(
            said.contains(&format!("sealed with the key {key}, which this process does not have")),
            "{said}"
        );
        assert!(!said.contains(&configured), "{said}");
    }
    // A node that opens everything, and would seal with a key that the others do not have.
    let own = std::fs::read_to_string(stage.serving.place.path().join("data/secret.key")).unwrap();
    let both = [("POMBO__SECRETS__KEY", configured.as_str()), ("POMBO__SECRETS__PREVIOUS_KEYS", own.trim())];
    let said = refused(&stage, "b", &both);
    assert!(said.contains("which the node `a` does not have"), "{said}");
    // Neither does a command seal with such a key.
    let mut command = stage.serving.place.command(&format!("channel webhook {}", stage.serving.channel));
    let output = command.env("POMBO__DATA__DIR", "elsewhere").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");

    assert_eq!(stage.universe.store.nodes().all().await.unwrap().len(), 1, "no other node joined");
    assert_eq!(stage.channel_state().await, "connected");
    stage.send(&stage.nodes[0], SINGLE).await;
    stage.all_heard_once(1).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_lacks_a_key_gives_its_channels_to_one_that_has_it_and_changes_no_state() {
    let mut stage = Stage::new(0, &[]).await;
    let (place, channel) = (stage.serving.place.path().to_owned(), stage.serving.channel.clone());
    copy_key(&place, "b");
    start_at(&mut stage, "b", "b").await;
    stage.is_connected().await;

    // Somebody replaces the token under a new key, which this node's key file does not have.
    let old = std::fs::read_to_string(place.join("data/secret.key")).unwrap();
    std::fs::write(place.join("data/secret.key"), format!("{}\n{old}", "ab".repeat(32))).unwrap();
    let (vault, _) = Vault::open(&Config::default().secrets, &place.join("data")).unwrap();
    let new = vault.current_key();
    let proof = KeyProof { key_id: new.as_slice().to_vec(), proof: vault.prove(new).unwrap() };
    stage.universe.store.sealing_keys().add(&proof).await.unwrap();
    let id = channel.parse().unwrap();
    let token = vault.seal(b"EAAG-good", &context::token(id));
    stage.universe.store.channels().reconnect(&Who::Pombo, id, Some(token)).await.unwrap();
    until("the node not ready", async || stage.nodes[0].is_ready().await.status == 503).await;
    let said = stage.nodes[0].is_ready().await.body;
    assert!(said.contains(&format!("lacks the sealing key {new}")), "{said}");
    let missing = metric(&stage.nodes[0].url, "pombo_sealing_keys_missing").await;
    assert!(missing.is_some_and(|missing| (missing - 1.0).abs() < 0.1), "{missing:?}");
    until("the channel released", async || stage.owner().await.is_none()).await;
    assert_eq!(stage.channel_state().await, "connecting", "the node cannot tell whether the token is good");
    // It seals nothing that nobody else opens, and a send to it waits for a node that can.
    stage.send(&stage.nodes[0], SINGLE).await;
    let shown = stage.serving.place.json("cluster status");
    assert_eq!(shown["nodes"][0]["state"], "lacks_key", "{shown}");
    let table = stage.serving.place.run("cluster status").stdout;
    assert!(table.contains("b lacks a sealing key"), "{table}");
    let found = stage.serving.place.run("doctor").stdout;
    assert!(found.contains("the node `b` lacks a sealing key"), "{found}");

    stage.start("a").await;
    stage.is_connected().await;
    stage.all_heard_once(1).await;
    assert_eq!(stage.owner().await.as_deref(), Some("a"));

    // With the key, the node takes channels again, also those of a node that is gone.
    copy_key(&place, "b");
    until("the node ready", async || stage.nodes[0].is_ready().await.status == 200).await;
    let mut gone = stage.nodes.pop().unwrap();
    gone.child.crash();
    stage.send(&stage.nodes[0], SINGLE + 1).await;
    stage.all_heard_once(2).await;
    assert_eq!(stage.channel_state().await, "connected");
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_rotation_names_the_node_that_does_not_have_the_new_key_and_goes_on_once_it_has() {
    let mut stage = Stage::new(0, &["a"]).await;
    let place = stage.serving.place.path().to_owned();
    copy_key(&place, "b");
    start_at(&mut stage, "b", "b").await;
    let halted = stage.serving.place.run("secrets rotate");
    assert_eq!(halted.code, Some(1), "{halted:?}");
    assert!(
        halted.stderr.contains("the node `b`") && halted.stderr.contains("copy the key file"),
        "{halted:?}"
    );
    until("b without its key", async || stage.nodes[1].is_ready().await.status == 503).await;
    assert_eq!(stage.nodes[0].is_ready().await.status, 200);
    stage.send(&stage.nodes[1], SINGLE).await;
    stage.all_heard_once(1).await;
    copy_key(&place, "b");
    until("b ready", async || stage.nodes[1].is_ready().await.status == 200).await;
    let rotated = stage.serving.place.json("secrets rotate");
    assert_eq!((&rotated["added"], rotated["retired"].as_array().unwrap().len()), (&json!(false), 1));
    copy_key(&place, "b");
    let keys = stage.universe.store.sealing_keys().all().await.unwrap();
    assert_eq!(hex::encode(&keys[0].key_id), rotated["key"].as_str().unwrap());
    assert_eq!(keys.len(), 1, "nothing is sealed with the old key");
    assert_eq!(stage.channel_state().await, "connected");
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_name_in_use_is_refused_and_a_killed_node_comes_back_under_its_own() {
    let mut stage = Stage::new(0, &["a"]).await;
    let said = refused(&stage, "a", &[]);
    assert!(said.contains("a node with the name `a` serves at") && said.contains("cluster.node"), "{said}");
    let mut killed = stage.nodes.pop().unwrap();
    killed.child.crash();
    // The lease of the killed node has not lapsed: only the lock on its name is free.
    stage.start("a").await;
    let alive = stage.universe.store.nodes().all().await.unwrap().into_iter().filter(|node| node.name == "a");
    assert_eq!(alive.count(), 2, "one of them is gone");
    stage.send(&stage.nodes[0], SINGLE).await;
    stage.all_heard_once(1).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn another_provider_and_other_rules_between_nodes_are_refused() {
    let mut stage = Stage::new(0, &["a"]).await;
    let said = refused(&stage, "b", &[("POMBO__CLOUD_API__BASE_URL", "http://127.0.0.1:9")]);
    let both = said.contains(&stage.serving.simulator.base_url()) && said.contains("http://127.0.0.1:9");
    assert!(both && said.contains("set the same cloud_api.base_url"), "{said}");
    execute(&stage, "UPDATE node SET protocol = 99, protocol_from = 99, version = '99.0'").await;
    let said = refused(&stage, "b", &[]);
    assert!(said.contains("version 99.0") && said.contains("stop all nodes of that version"), "{said}");
    let found = stage.serving.place.run("doctor").stdout;
    assert!(found.contains("stop all nodes of that version"), "{found}");
    // A newer version that still works with this one.
    execute(&stage, "UPDATE node SET protocol_from = 0").await;
    stage.start("b").await;
    stage.send(&stage.nodes[1], SINGLE).await;
    stage.all_heard_once(1).await;
    stage.end().await;
}
