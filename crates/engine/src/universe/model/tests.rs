//! The model is honest: the same random operations drive it and the real store, and every answer and every table agree.

mod generate;
mod inbound;
mod operation;
mod pairs;
mod personal;
mod real;
mod rows;

use std::collections::BTreeSet;

use self::generate::Generator;
use self::operation::{Operation, ask_model};
use self::real::Real;
use super::Model;
use super::personal::PersonalRows;

/// Cases of one test; each begins with empty tables.
const CASES: u64 = 80;
/// Operations of one case.
const OPERATIONS: usize = 80;

#[actix_web::test]
async fn the_model_answers_and_keeps_what_sqlite_does() {
    compare(&Real::sqlite().await).await;
}

#[actix_web::test]
async fn the_model_answers_and_keeps_what_sqlite_does_with_events() {
    compare(&Real::sqlite().await.with_events().await).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn the_model_answers_and_keeps_what_postgresql_does() {
    let real = Real::postgres().await;
    compare(&real).await;
    real.remove().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn the_model_answers_and_keeps_what_postgresql_does_with_events() {
    let real = Real::postgres().await.with_events().await;
    compare(&real).await;
    real.remove().await;
}

async fn compare(real: &Real) {
    let (mut met, mut differences) = (BTreeSet::new(), Vec::new());
    for seed in 0..CASES {
        real.clear().await;
        differences.extend(case(real, seed, &mut met).await.err());
    }
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n\n"));
    // An operation that never happens is not compared.
    let loses_leases = real.loses_leases();
    let missing: Vec<_> = operation::EXPECTED
        .iter()
        .filter(|expected| !met.contains(**expected) && (loses_leases || **expected != "fenced"))
        .collect();
    assert!(missing.is_empty(), "no operation met: {missing:?}");
}

/// One case, to its first difference.
async fn case(real: &Real, seed: u64, met: &mut BTreeSet<&'static str>) -> Result<(), String> {
    let mut model = Model::default();
    let mut epoch = model.take_lease();
    let mut generator = Generator::new(seed, real.loses_leases());
    let mut trace = Vec::new();
    let mut difference = None;
    for step in 0..OPERATIONS {
        let operation = generator.next(&model);
        trace.push(format!("{operation:?}"));
        let told = real.ask(&operation).await;
        let numbers = real.template_numbers().await;
        let modelled = ask_model(&mut model, &mut epoch, &operation, &numbers);
        operation::note(&operation, &modelled, met);
        let kept = if operation.writes() { real.tables(&model).await } else { model.clone() };
        // Only what differs is worth reading.
        let (kept, own) = (kept.as_text(), model.as_text());
        let in_store: Vec<_> = kept.difference(&own).collect();
        let in_model: Vec<_> = own.difference(&kept).collect();
        if told != modelled || !in_store.is_empty() || !in_model.is_empty() {
            difference = Some(format!(
                "seed {seed}, step {step}, after\n{}\nthe store answers {told}\nthe model answers {modelled}\n\
                 the store has {in_store:#?}\nthe model has {in_model:#?}",
                last(&trace)
            ));
            break;
        }
    }
    if let Some(regain) = generator.regain() {
        assert_eq!(real.ask(&regain).await, "done");
    }
    difference.map_or(Ok(()), Err)
}

fn last(trace: &[String]) -> String {
    trace[trace.len().saturating_sub(3)..].join("\n")
}

impl Model {
    /// Every row of every table, as text.
    fn as_text(&self) -> BTreeSet<String> {
        let Self {
            sends,
            blocks,
            personal,
            messages,
            events,
            suppressions,
            inbound,
            templates,
            epoch: _,
            open: _,
        } = self;
        let PersonalRows { sends: personal, values, references, skipped } = personal;
        let personal = personal.iter().map(|row| format!("personal {row:?}"));
        let values = values.iter().map(|row| format!("values {row:?}"));
        let references = references.iter().map(|row| format!("reference {row:?}"));
        let skipped = skipped.iter().map(|row| format!("skipped {row:?}"));
        let own = personal.chain(values).chain(references).chain(skipped);
        let sends = sends.iter().map(|row| format!("send {row:?}"));
        let blocks = blocks.iter().map(|row| format!("block {row:?}"));
        let messages = messages.iter().map(|row| format!("message {row:?}"));
        let events = events.iter().map(|row| format!("events {row:?}"));
        let suppressions = suppressions.iter().map(|row| format!("suppression {row:?}"));
        let inbound = inbound.iter().map(|row| format!("inbound {row:?}"));
        let templates = templates.iter().map(|row| format!("template {row:?}"));
        let told = messages.chain(events).chain(suppressions).chain(inbound);
        sends.chain(blocks).chain(own).chain(told).chain(templates).collect()
    }
}

impl Operation {
    /// Whether a table may differ after it.
    const fn writes(&self) -> bool {
        !matches!(self, Self::Read(_))
    }
}
