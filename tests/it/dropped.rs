//! A service that ends while its threads have work.

use std::fs;

use crate::commit_answers::behind;
use crate::database::Universe;
use crate::own_process;
use crate::postgres_proxy::Moment;
use crate::running::until_soon;

const NAME: &str = "dropped::a_service_that_ends_in_the_middle_of_a_query_panics_nowhere";

/// The number of actor threads in this process. The system keeps only the first letters of their names.
fn actor_threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("actix-rt|")).count()
}

/// The sentinel waits for an answer of the database when its service stops.
async fn end_in_the_middle_of_a_query() {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let caught = proxy.catch(Moment::Request("FROM revision"));
    caught.held().await;
    running.end().await;
    until_soon("the service's threads ended", async || actor_threads() == 0).await;
    caught.lose();
    universe.end().await;
}

#[cfg(target_os = "linux")]
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_service_that_ends_in_the_middle_of_a_query_panics_nowhere() {
    if own_process::is_alone() {
        return end_in_the_middle_of_a_query().await;
    }
    let output = own_process::run(NAME).await;
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stdout));
    assert!(!told.contains("panicked"), "{told}");
}
