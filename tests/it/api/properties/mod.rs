//! Requests made from the reference, whole and damaged: each gets an answer that the reference describes.
//!
//! The harness holds each answer to the reference, and each accepted body to its schema. The seed is fixed, so that two
//! runs make the same requests; a request that fails is made smaller before it is shown.

mod generate;

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use reqwest::Method;

use self::generate::{Operation, Request};
use super::world::World;
use crate::harness::Answer;

/// Requests of each operation.
const CASES: u32 = 12;
/// Attempts to make a failing request smaller.
const SHRINKS: u32 = 60;
const SEED: u64 = 17;
/// Refusals with a status of 500 or more that name a missing or failed part; this world has no provider and
/// no web sessions.
const DOCUMENTED_FAILURES: &[&str] = &["feature_unavailable", "provider_unavailable", "service_unavailable"];

/// Sends a request with the key that its path needs.
async fn ask(world: &World, request: &Request) -> Answer {
    let key = if request.path.starts_with("/operator/") { &world.operator } else { &world.acme.key };
    let built = world.service.request(request.method.clone(), &request.path).bearer_auth(key);
    let built = built.query(&request.query);
    Answer::to(match &request.body {
        Some(body) => built.body(body.clone()),
        None => built,
    })
    .await
}

/// What an answer to any request must be.
fn judge(answer: &Answer) -> Result<(), TestCaseError> {
    let code = answer.code();
    let is_documented = code.as_deref().is_some_and(|code| DOCUMENTED_FAILURES.contains(&code));
    if answer.status >= 500 && !is_documented {
        return Err(TestCaseError::fail(format!("{} {}", answer.status, answer.body)));
    }
    if answer.status == 401 {
        return Err(TestCaseError::fail(format!("the key is valid, and {} is answered", answer.body)));
    }
    Ok(())
}

#[test]
fn every_request_made_from_the_reference_is_answered_as_the_reference_says() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _inside = runtime.enter();
    let world = runtime.block_on(World::with_webhook());
    let document = serde_json::to_value(pombo::api::document()).unwrap();
    let mut operations = generate::operations(&document);
    // Operations that read come first and operations that remove come last, so that requests find their
    // records.
    let order = [Method::GET, Method::POST, Method::PATCH, Method::PUT, Method::DELETE];
    operations.sort_by_key(|operation| order.iter().position(|method| *method == operation.method));
    let known = runtime.block_on(generate::Known::of(&world));
    let (mut accepted, mut refused) = (0, 0);
    let mut faults = Vec::new();
    for operation in &operations {
        let config = Config {
            cases: CASES,
            max_shrink_iters: SHRINKS,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(SEED),
            ..Config::default()
        };
        let counts = std::cell::Cell::new((0, 0));
        let outcome = TestRunner::new(config).run(&operation.requests(&document, &known), |request| {
            let answer = runtime.block_on(ask(&world, &request));
            let (good, bad) = counts.get();
            counts.set(if answer.status < 300 { (good + 1, bad) } else { (good, bad + 1) });
            judge(&answer)
        });
        let Operation { method, path, .. } = operation;
        if let Err(fault) = outcome {
            faults.push(format!("{method} {path}: {fault}"));
        }
        accepted += counts.get().0;
        refused += counts.get().1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    // Generated requests that are all refused, or all accepted, would prove little.
    let all = accepted + refused;
    assert!(all >= operations.len() as u32 * CASES, "{all} requests of {} operations", operations.len());
    assert!(accepted * 5 > all && refused * 5 > all, "{accepted} of {all} requests were accepted");
}
