//! A restore or a backup that is killed leaves the old database or the new one, and no service on half of one.

use std::time::Duration;

use sea_orm::{ConnectionTrait as _, Database};
use serde_json::Value;

use super::world::{World, restore};
use crate::child::OwnedChild;
use crate::database::{Universe, stores};

stores!(
    a_restore_that_is_killed_leaves_the_old_database_or_the_new_one,
    a_backup_that_is_killed_leaves_no_file_under_its_name,
    no_service_begins_on_a_database_whose_restore_was_broken_off,
);

/// Milliseconds after which a command is killed: before it begins, in the middle, near its end.
const MOMENTS: [u64; 4] = [0, 60, 150, 400];

fn companies(world: &World) -> Vec<String> {
    let listed = world.place().json("company list");
    let names = listed.as_array().unwrap().iter().map(|company| company["name"].as_str().unwrap().to_owned());
    names.collect()
}

async fn a_restore_that_is_killed_leaves_the_old_database_or_the_new_one(universe: &Universe) {
    let world = World::new(universe, 2_000).await;
    world.place().json("backup one.backup");
    world.place().json("company create Later");
    for moment in MOMENTS {
        let mut child = OwnedChild::spawn(&mut world.place().command("restore one.backup --force"));
        tokio::time::sleep(Duration::from_millis(moment)).await;
        child.crash();
        // On PostgreSQL, the statement of the killed command ends by itself.
        let found = companies(&world);
        assert!(
            ["Acme", "Acme Later", "Later Acme"].contains(&found.join(" ").as_str()),
            "{moment}: {found:?}"
        );
        let exported = world.place().run(&format!("contacts export --company Acme --output {moment}.csv"));
        assert_eq!(exported.code, Some(0), "{exported:?}");
        let rows = std::fs::read_to_string(world.place().path().join(format!("{moment}.csv")))
            .unwrap()
            .lines()
            .count();
        assert_eq!(rows, 2_001, "after {moment} ms");
    }
    restore(&world, "one.backup --force");
    assert_eq!(companies(&world), ["Acme"]);
    // The drafts of the killed commands are gone.
    if universe.url.starts_with("sqlite:") {
        let directory = universe.url.trim_start_matches("sqlite://").rsplit_once('/').unwrap().0.to_owned();
        let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        assert!(names.iter().all(|name| !name.contains("restoring")), "{names:?}");
    }
}

async fn a_backup_that_is_killed_leaves_no_file_under_its_name(universe: &Universe) {
    let world = World::new(universe, 2_000).await;
    for moment in MOMENTS {
        let file = world.place().path().join(format!("{moment}.backup"));
        let mut child = OwnedChild::spawn(&mut world.place().command(&format!("backup {moment}.backup")));
        tokio::time::sleep(Duration::from_millis(moment)).await;
        child.crash();
        if file.exists() {
            // The backup was complete.
            restore(&world, &format!("{moment}.backup --force"));
        }
    }
    world.place().json("backup whole.backup");
    restore(&world, "whole.backup --force");
}

async fn no_service_begins_on_a_database_whose_restore_was_broken_off(universe: &Universe) {
    let world = World::new(universe, 0).await;
    world.place().json("backup one.backup");
    let connection = Database::connect(&universe.url).await.unwrap();
    let mark = "INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ('restore', 0, 'test', 0)";
    connection.execute_unprepared(mark).await.unwrap();
    connection.close().await.unwrap();
    let refused = world.place().run("serve");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("interrupted") && refused.stderr.contains("pombo restore"),
        "{refused:?}"
    );
    let doctor = world.place().run("doctor --json");
    let findings: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let told = findings.as_array().unwrap().iter().any(|finding| {
        finding["check"] == "database"
            && finding["state"] == "bad"
            && finding["finding"].to_string().contains("restore")
    });
    assert!(told && doctor.code == Some(1), "{doctor:?}");
    // Another copy of all its data exists, so it needs no --force.
    restore(&world, "one.backup");
    let mut served = OwnedChild::spawn(&mut world.place().command(crate::serving::SERVE));
    assert!(served.first_line().contains("base_url"));
    served.crash();
}
