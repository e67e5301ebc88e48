//! The command line's output about a cluster, and the services that may share a database.

use super::*;

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn the_nodes_are_listed_with_their_leases_and_their_channels() {
    let stage = Stage::new(0, &["a", "b"]).await;
    until("everything owned", async || {
        let status = stage.serving.place.json("cluster status");
        let nodes = status["nodes"].as_array().unwrap().clone();
        assert_eq!((status["cluster"].as_str(), nodes.len()), (Some("test"), 2), "{status}");
        let sum = |field: &str| nodes.iter().map(|node| node[field].as_f64().unwrap()).sum::<f64>();
        let lease = sum("lease_seconds");
        // The channel of the business account.
        let is_counted = (sum("channels") - 1.0).abs() < 0.5;
        // The business account, and the work that one node does for all.
        is_counted && (sum("shards") - 2.0).abs() < 0.5 && lease > 0.0 && lease <= 12.0
    })
    .await;
    let table = stage.serving.place.run("cluster status").stdout;
    assert!(table.contains("NAME") && table.contains("serving"), "{table}");
    assert!(table.contains("connections are open") && table.contains("NATS is not configured"), "{table}");
    let missing = stage.serving.place.run("cluster drain nobody");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("there is no node `nobody`"), "{}", missing.stderr);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_service_outside_of_the_cluster_does_not_start_beside_it() {
    let stage = Stage::new(0, &["a"]).await;
    let refused = |name: &str| {
        let mut command = stage.serving.place.command(SERVE);
        command.env("POMBO__CLUSTER__NAME", name);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let alone = refused("");
    assert!(alone.contains("already dispatches from this database"), "{alone}");
    let other = refused("another");
    assert!(other.contains("nodes of the cluster `test` serve on this database"), "{other}");
    stage.end().await;
}

#[test]
fn a_cluster_needs_postgresql() {
    let place = crate::program::Place::new().with("POMBO__CLUSTER__NAME", "test");
    let refused = place.run("serve");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("a cluster needs PostgreSQL"), "{}", refused.stderr);
    let place = crate::program::Place::new();
    assert_eq!(place.run("migrate up").code, Some(0));
    let none = place.run("cluster status");
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("set cluster.name"), "{}", none.stderr);
}
